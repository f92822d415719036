//! The pipeline on a device that does everything as late as it may, and the bands on the CPU, against the expression on the whole.

use super::array::Array;
use super::bytes::Bytes;
use super::evaluation::{Evaluation, On};
use super::host::{HostWindows, run_on_host};
use super::plan::ExpressionPlan;
use super::run::{Compute, run};
use super::window::{Band, Window};
use crate::store::{Element, Extents, MemorySink, MemorySource, Sink, Source, Stored, Tile};
use crate::stream::control::Control;
use crate::stream::engine::Queue;
use crate::stream::late::{Buffer, Device, Memory, Order};
use crate::stream::staging::Staging;
use crate::{Class, Error};
use ndarray::{Array2, ArrayView2};
use std::sync::{Arc, Mutex};
use tilewright_dims::dims;
use tilewright_expr::{bf16, f16};

dims! { Y, X, C, K }

const ORDERS: [Order; 3] = [Order::Late, Order::Random(1), Order::Random(2)];

/// The evaluator of the host on the memory of a device that is late.
struct Interpreted<'a> {
    windows: HostWindows<'a>,
    /// Whether bands behind the first one go into what those before left.
    keeps: bool,
    failed: Arc<Mutex<Option<Error>>>,
}

impl Compute<Device> for Interpreted<'_> {
    fn evaluate(
        &self,
        device: &Device,
        band: &Band,
        operands: &[&Buffer<u8>],
        results: &mut [Buffer<u8>],
    ) -> Result<(), Error> {
        let (window, failed) = (self.windows.of(band)?, self.failed.clone());
        let keeps = self.keeps && band.indices.start > 0;
        let operands: Vec<Memory<u8>> = operands.iter().map(|buffer| Memory::clone(buffer)).collect();
        let results: Vec<Memory<u8>> = results.iter().map(|buffer| Memory::clone(buffer)).collect();
        device.queue(Queue::Compute, move || {
            let aligned = |memory: &Memory<u8>| {
                let memory = memory.lock();
                let mut bytes = Bytes::new(memory.len());
                bytes.copy_from_slice(&memory);
                bytes
            };
            let operands: Vec<Bytes> = operands.iter().map(aligned).collect();
            let zeros = |memory: &Memory<u8>| Bytes::new(memory.lock().len());
            let mut written: Vec<Bytes> =
                results.iter().map(|memory| if keeps { aligned(memory) } else { zeros(memory) }).collect();
            let read: Vec<&[u8]> = operands.iter().map(|bytes| &bytes[..]).collect();
            let mut write: Vec<&mut [u8]> = written.iter_mut().map(|bytes| &mut bytes[..]).collect();
            if let Err(error) = window.run(&read, &mut write) {
                failed.lock().unwrap().get_or_insert(error);
            }
            for (memory, bytes) in results.iter().zip(&written) {
                memory.lock().copy_from_slice(bytes);
            }
        });
        Ok(())
    }

    fn outcome(&self) -> Result<(), Error> {
        self.failed.lock().unwrap().clone().map_or(Ok(()), Err)
    }
}

const STAGING: Staging = Staging { slots: 3, slots_back: 2, elements: 96, threads: 2, is_locked: true, releases: true };

fn on_late(
    device: &Device,
    evaluation: &Evaluation<'_>,
    plan: &ExpressionPlan,
    staging: Staging,
    control: Control<'_>,
) -> Result<(), Error> {
    let (windows, keeps) = (HostWindows::new(evaluation), evaluation.is_scattered());
    let compute = Interpreted { windows, keeps, failed: Arc::default() };
    let traffic = run(device, &compute, (evaluation, plan, On::HOST), staging, control)?;
    let counts = device.counts.lock().unwrap();
    assert_eq!((traffic.to_gpu, traffic.to_host), (counts.brought as u64, counts.taken_back as u64));
    assert_eq!(traffic.to_gpu as u128, plan.bytes_to_gpu());
    assert_eq!(counts.device as u128, plan.device_bytes());
    Ok(())
}

/// The same plan in bands of another length.
fn in_bands(plan: ExpressionPlan, band: usize) -> ExpressionPlan {
    let plan = ExpressionPlan { band: band.min(plan.extent), ..plan };
    ExpressionPlan { stages: plan.count().clamp(1, 3), ..plan }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn unit(&mut self) -> f32 {
        self.next() as f32 / (1u64 << 31) as f32 * 4.0 - 2.0
    }

    fn of<T>(&mut self, n: usize, value: impl Fn(&mut Random) -> T) -> Vec<T> {
        (0..n).map(|_| value(self)).collect()
    }
}

/// Values that are the same in every bit.
trait Bits: Stored + std::fmt::Debug {
    fn assert_same(got: &[Self], expected: &[Self], what: &str) {
        assert_eq!(got.len(), expected.len(), "{what}");
        let (a, b) = (Self::bytes(got), Self::bytes(expected));
        if let Some(at) = a.iter().zip(b).position(|(a, b)| a != b) {
            let at = at / size_of::<Self>();
            panic!("{what}: element {at} is {:?}, expected {:?}", got[at], expected[at]);
        }
    }
}

impl<T: Stored + std::fmt::Debug> Bits for T {}

/// A matrix of these extents in memory.
fn matrix<T>(values: &[T], [rows, columns]: [usize; 2]) -> ArrayView2<'_, T> {
    ArrayView2::from_shape((rows, columns), values).unwrap()
}

/// Computes an evaluation of sinks of its own in every way, and compares each with what is expected.
macro_rules! compare {
    ($what:expr, bands $bands:expr, $expected:ident: [$($t:ty, $shape:expr),*], |$sinks:ident| $evaluation:expr) => {{
        let expected = $expected;
        let mut runs: Vec<(usize, Option<Order>)> = Vec::new();
        for band in $bands {
            runs.push((band, None));
            runs.extend(ORDERS.map(|order| (band, Some(order))));
        }
        for (band, order) in runs {
            let what = format!("{}, bands of {band}, {order:?}", $what);
            let mut results = ($({
                let [rows, columns]: [usize; 2] = $shape;
                Array2::<$t>::from_elem((rows, columns), <$t>::poison())
            },)*);
            compare!(@run results, expected, what, band, order, |$sinks| $evaluation, $($t),*);
        }
    }};
    (@run $results:ident, $expected:ident, $what:ident, $band:ident, $order:ident, |$sinks:ident| $evaluation:expr, $a:ty) => {{
        let sink = MemorySink::new($results.0.view_mut());
        let $sinks: [&dyn Sink; 1] = [&sink];
        let evaluation: Evaluation<'_> = $evaluation;
        compute(&evaluation, $band, $order);
        drop(evaluation);
        Box::new(sink).commit().unwrap();
        Bits::assert_same($results.0.as_slice().unwrap(), &$expected.0, &$what);
    }};
    (@run $results:ident, $expected:ident, $what:ident, $band:ident, $order:ident, |$sinks:ident| $evaluation:expr, $a:ty, $b:ty) => {{
        let (one, two) = (MemorySink::new($results.0.view_mut()), MemorySink::new($results.1.view_mut()));
        let $sinks: [&dyn Sink; 2] = [&one, &two];
        let evaluation: Evaluation<'_> = $evaluation;
        compute(&evaluation, $band, $order);
        drop(evaluation);
        Box::new(one).commit().unwrap();
        Box::new(two).commit().unwrap();
        Bits::assert_same($results.0.as_slice().unwrap(), &$expected.0, &$what);
        Bits::assert_same($results.1.as_slice().unwrap(), &$expected.1, &$what);
    }};
}

fn compute(evaluation: &Evaluation<'_>, band: usize, order: Option<Order>) {
    let plan = in_bands(evaluation.plan(u64::MAX).unwrap(), band);
    let control = Control::default();
    match order {
        Some(order) => on_late(&Device::new(order), evaluation, &plan, STAGING, control).unwrap(),
        None => run_on_host(evaluation, &plan, (2, true), control).map(drop).unwrap(),
    }
}

trait Poison {
    fn poison() -> Self;
}
macro_rules! poison { ($($t:ty: $value:expr),*) => { $(impl Poison for $t {
    fn poison() -> $t { $value }
})* } }
poison!(f32: f32::NAN, f64: f64::NAN, f16: f16::NAN, bf16: bf16::NAN, u8: 0xa5, i32: -77_777, i64: -7, bool: true);

// Behind the macro, which they use.
mod apart;
mod beside;
mod cut;
mod elsewhere;
mod folded;
mod normalised;
mod parts;
mod pipeline;
mod scanned;
mod scattered;
mod split;
mod twice;
mod values;
mod wrapped;
