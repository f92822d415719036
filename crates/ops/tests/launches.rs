//! One call is one launch, without anything between operands and results.

use crate::allocations;
use crate::support::{Random, gpu};
use std::sync::{Arc, Mutex};
use tilewright_dims::{Dims, dims};
use tilewright_expr::{In, Rect};
use tilewright_ops::{Device, Known, LaunchKind, LaunchRecord, Tensor, fuse, record};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber, span};

dims! { N, Y, X, C }

fn random<const R: usize, L: Dims>(seed: u64, extents: [usize; R], device: &Device) -> Tensor<f32, L> {
    let values = Random(seed).vec(extents.iter().product(), |r| r.unit() as f32);
    Tensor::from_vec(extents, values).unwrap().to(device).unwrap()
}

/// What each of the representative pipelines launches: into new tensors, with the bytes of those, and into tensors that are there.
fn pipelines(device: &Device) -> Vec<(&'static str, usize, [Vec<LaunchRecord>; 2])> {
    let (x, row) = (random::<2, (Y, X)>(1, [70, 129], device), random::<1, (X,)>(2, [129], device));
    let mut list = Vec::new();
    macro_rules! pipeline {
        ($name:literal, $bytes:expr, $f:expr, $($arg:expr),*) => {{
            let f = $f;
            let mut results = f.call($($arg),*).unwrap();
            // Operands that exceed the parameter block go through a ring of four buffers, made when they are first used.
            (0..4).for_each(|_| f.call_into(&mut results, $($arg),*).unwrap());
            let new = record(|| drop(f.call($($arg),*).unwrap()));
            let into = record(|| f.call_into(&mut results, $($arg),*).unwrap());
            list.push(($name, $bytes, [new, into]));
        }};
    }
    let plane = 70 * 129 * 4;
    pipeline!(
        "a chain",
        plane,
        fuse(|x: In<f32, (Y, X)>, row: In<f32, (X,)>| {
            ((x * 2.0 + row).exp() / (row.sqrt() + 1.0) - x).clamp(0.0, 9.0).store::<(X, Y)>()
        }),
        &x,
        &row
    );
    let pixels = Random(3).vec(90 * 120 * 3, |r| r.bits() as u8);
    let picture = Tensor::<u8, (Y, X, C)>::from_vec([90, 120, 3], pixels).unwrap().to(device).unwrap();
    let boxes: Vec<Rect> = (0..600).map(|i| Rect::new(i % 50, i % 30, 20 + i % 41, 10 + i % 47)).collect();
    let boxes = Tensor::<Rect, (N,)>::from_vec([600], boxes).unwrap();
    let colour = random::<1, (C,)>(4, [3], &Device::Cpu);
    pipeline!(
        "crops",
        600 * 3 * 16 * 8 * 4,
        fuse(|pic: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>, mul: In<f32, (C,)>| {
            (pic.crop::<Y, X, _>(boxes).resize::<Y, X>(16, 8).reverse::<C>() * mul).store::<(N, C, Y, X)>()
        }),
        &picture,
        &boxes,
        &colour
    );
    pipeline!("softmax", plane, fuse(|x: In<f32, (Y, X)>| x.softmax::<X>().store::<(Y, X)>()), &x);
    pipeline!("a sum", 4, fuse(|x: In<f32, (Y, X)>| (x * x).sum::<(Y, X)>().store::<()>()), &x);
    pipeline!(
        "three results",
        plane + plane / 4 + 129 * 4,
        fuse(|x: In<f32, (Y, X)>, row: In<f32, (X,)>| {
            ((x + row).store::<(Y, X)>(), (x * 255.0).to::<u8>().store::<(X, Y)>(), (row * 3.0).store::<(X,)>())
        }),
        &x,
        &row
    );
    list
}

#[test]
fn one_launch_on_the_host() {
    for (name, _, both) in pipelines(&Device::Cpu) {
        for launches in both {
            let [launch] = &launches[..] else { panic!("{name}: {launches:?}") };
            assert_eq!((launch.kind, launch.known, launch.device_bytes), (LaunchKind::Host, Known::Call, 0), "{name}");
            assert!(launch.name.contains("launches::pipelines"), "{}", launch.name);
        }
    }
}

#[test]
fn one_launch_and_nothing_allocated_but_results() {
    let Some((device, _lock)) = gpu("launches::one_launch_and_nothing_allocated_but_results") else { return };
    for (name, bytes, [new, into]) in pipelines(&device) {
        for (launches, bytes) in [(new, bytes), (into, 0)] {
            let [launch] = &launches[..] else { panic!("{name}: {launches:?}") };
            assert_eq!((launch.kind, launch.known), (LaunchKind::Fused, Known::Call), "{name}");
            // Each result is rounded up to 16 bytes.
            let (least, most) = (bytes as u64, bytes as u64 + if bytes == 0 { 0 } else { 48 });
            assert!((least..most + 1).contains(&launch.device_bytes), "{name}: {} bytes", launch.device_bytes);
            assert!(launch.block[0] > 1 || launch.grid[0] > 0, "{name}");
        }
    }
}

#[test]
fn a_launch_allocates_nothing_on_the_host_side() {
    let Some((device, _lock)) = gpu("launches::a_launch_allocates_nothing_on_the_host_side") else { return };
    let x = random::<2, (Y, X)>(1, [70, 129], &device);
    let f = fuse(|x: In<f32, (Y, X)>, a: In<f32, ()>| (x * a + 1.0).store::<(Y, X)>());
    let mut y = f.call(&x, 2.0).unwrap();
    f.call_into(&mut y, &x, 2.0).unwrap();
    let count = allocations::during(|| (0..100).for_each(|i| f.call_into(&mut y, &x, i as f32).unwrap()));
    assert_eq!(count, 0);
}

#[test]
fn what_was_known_of_a_call() {
    let f = fuse(|x: In<f32, (Y, X)>| (x + 1.0).store::<(Y, X)>());
    let (small, large) = (random::<2, (Y, X)>(1, [2, 3], &Device::Cpu), random::<2, (Y, X)>(1, [5, 4], &Device::Cpu));
    let known: Vec<Known> = record(|| {
        for x in [&small, &small, &large, &small] {
            f.call(x).unwrap();
        }
    })
    .iter()
    .map(|l| l.known)
    .collect();
    assert_eq!(known, [Known::Kernel, Known::Call, Known::Kernel, Known::Call]);
}

#[test]
fn recordings_stand_in_each_other_and_end() {
    let f = fuse(|x: In<f32, (X,)>| (x + 1.0).store::<(X,)>());
    let x = random::<1, (X,)>(1, [3], &Device::Cpu);
    let call = || drop(f.call(&x).unwrap());
    let mut inner = Vec::new();
    let outer = record(|| {
        call();
        inner = record(|| (0..2).for_each(|_| call()));
        let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            record(|| {
                call();
                std::panic::resume_unwind(Box::new("over"));
            })
        }));
        assert!(broken.is_err());
    });
    assert_eq!((inner.len(), outer.len()), (2, 4));
    call();
    assert_eq!(record(|| ()).len(), 0);
    let empty = Tensor::<f32, (X,)>::from_vec([0], vec![]).unwrap();
    assert_eq!(record(|| drop(f.call(&empty).unwrap())).len(), 0, "nothing is computed, nothing launched");
}

/// Keeps events as text.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<String>>>);

impl Visit for Listener {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push(format!("{field}={value:?}"));
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::TRACE && metadata.target().starts_with("tilewright_ops")
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[test]
fn a_listener_hears_of_a_launch() {
    let f = fuse(|x: In<f32, (X,)>| (x + 1.0).store::<(X,)>());
    let x = random::<1, (X,)>(1, [3], &Device::Cpu);
    let listener = Listener::default();
    // Another thread that meets the event first, with no listener of its own, switches it off for all: the second call is
    // heard then, after the events have been asked again.
    tracing::subscriber::with_default(listener.clone(), || {
        f.call(&x).unwrap();
        tracing::callsite::rebuild_interest_cache();
        f.call(&x).unwrap();
    });
    let heard = listener.0.lock().unwrap().join(" ");
    for expected in ["message=launched", "kind=Host", "known=Kernel", "name=\"main::launches"] {
        assert!(heard.contains(expected), "{expected} in {heard}");
    }
    f.call(&x).unwrap();
    assert_eq!(heard, listener.0.lock().unwrap().join(" "), "nobody listens any more");
}
