//! Copies and products at the same time: right, and traced. How fast they are is what benchmarks say (suite `hybrid`: `matmul/..`); what plans expect of
//! tiles is in `matmul_plan.rs`. On stubs the same products are small.

use super::matrix;
use tilewright_driver::PinnedBuffer;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, ProductExtents, Rates, Tiles, Trace, last_decision};
use tilewright_hybrid::faults::{Breaker, Settings};
use tilewright_hybrid::linear::{Gpu, Precision};
use tilewright_hybrid::store::{Extents, PinnedSink, PinnedSource, Sink};
use tilewright_hybrid::stream::{self, Budgets, Control, Factor, MatmulPlan, Product, STAGES};
use tilewright_hybrid::{Device, Target};

/// Whole numbers, other than zeros, again and again: sums of their products are exact, and a GPU takes its full power for them.
fn locked(gpu: &Gpu, size: usize) -> PinnedBuffer<f64> {
    let block = matrix(size.min(512), size, 1).into_raw_vec_and_offset().0;
    let mut buffer = gpu.stream().device().pinned(size * size).unwrap();
    buffer.chunks_mut(block.len()).for_each(|part| part.copy_from_slice(&block[..part.len()]));
    buffer
}

/// Some rows of `a b` as they should be.
fn is_product(size: usize, [a, b, c]: [&[f64]; 3]) {
    for i in [0, size / 3, size - 1] {
        let mut row = vec![0.0; size];
        for (k, factor) in a[i * size..][..size].iter().enumerate() {
            row.iter_mut().zip(&b[k * size..][..size]).for_each(|(sum, b)| *sum += factor * b);
        }
        assert_eq!(c[i * size..][..size], row, "row {i} of {size}");
    }
}

fn is_stub() -> bool {
    std::env::var_os(crate::linear::GPU_ALONE).is_some()
}

/// A trace of it, for a browser, goes where results go.
fn keep(trace: &Trace, name: &str) {
    if let Some(folder) = std::env::var_os("TILEWRIGHT_OUT") {
        trace.write(&std::path::Path::new(&folder).join(name)).unwrap();
    }
}

/// Six times the memory that it may use.
#[test]
fn g6_copies_run_beside_products() {
    let Some(gpu) = crate::gpu("device::overlap::g6_copies_run_beside_products") else { return };
    let (size, bytes) = if is_stub() { (96, 100 << 10) } else { (8192, 256 << 20) };
    let (a, b, mut c) = (locked(&gpu, size), locked(&gpu, size), locked(&gpu, size));
    let budgets =
        Budgets { device: Budget::new(Memory::Device, bytes), pinned: Budget::new(Memory::Pinned, 256 << 20) };
    let device = Device::with(&gpu).rated(Rates::h200()).within(budgets.clone()).choosing(Choice::Gpu);
    let device = device.guarded(Breaker::new(0, Settings::default()));
    let extents = Extents::new(size, size);
    let trace = Trace::begin();
    c.fill(f64::NAN);
    let (of_a, of_b) = (PinnedSource::new(&a, extents).unwrap(), PinnedSource::new(&b, extents).unwrap());
    let target: Target<'_, f64> = Target::from(PinnedSink::new(&mut c, extents).unwrap());
    device.matmul(Precision::Auto, 1.0, (&of_a).into(), (&of_b).into(), 0.0, target).unwrap();
    is_product(size, [&a, &b, &c]);
    assert!(budgets.device.peak() <= bytes && budgets.device.used() == 0);
    let text = trace.json();
    assert!(text.contains("decided: gpu.matmul.f64") && text.contains("\"gpu.matmul.f64\""), "it leaves a trace");
    keep(&trace, "overlap.json");
    let Some(Tiles::Product(plan)) = last_decision().unwrap().gpu.unwrap().tiles else { panic!("in tiles") };
    assert!(plan.stages == STAGES && plan.counts().into_iter().product::<usize>() > 1, "{plan:?}");
}

/// Tiles of any height, in the memory that their plan says and no more.
#[test]
fn g9_tiles_of_any_height_are_right() {
    let Some(gpu) = crate::gpu("device::overlap::g9_tiles_of_any_height_are_right") else { return };
    let (size, panel, heights) =
        if is_stub() { (64, 16, &[8, 16, 32][..]) } else { (4096, 512, &[128, 512, 1024, 2048][..]) };
    let (a, b, mut c) = (locked(&gpu, size), locked(&gpu, size), locked(&gpu, size));
    let (extents, whole) = (ProductExtents { rows: size, columns: size, depth: size }, Extents::new(size, size));
    for &height in heights {
        let plan = MatmulPlan { extents, element_bytes: 8, tile: [height, size], panel, stages: STAGES };
        let (of_a, of_b) = (PinnedSource::new(&a, whole).unwrap(), PinnedSource::new(&b, whole).unwrap());
        let factors = (Factor::plain(&of_a), Factor::plain(&of_b));
        let product = Product { a: factors.0, b: factors.1, c: None, alpha: 1.0, beta: 0.0 };
        let budgets = Budgets {
            device: Budget::new(Memory::Device, plan.device_bytes() as u64),
            pinned: Budget::new(Memory::Pinned, 64 << 20),
        };
        c.fill(f64::NAN);
        let sink = PinnedSink::new(&mut c, whole).unwrap();
        stream::matmul_by(&plan, &gpu, &budgets, Precision::Auto, &product, &sink, Control::default()).unwrap();
        Box::new(sink).commit().unwrap();
        is_product(size, [&a, &b, &c]);
        assert!(budgets.device.peak() <= plan.device_bytes() as u64, "{height} rows");
    }
}
