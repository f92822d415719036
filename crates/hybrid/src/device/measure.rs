//! Measures what a machine can do, in about 50 ms: when most of these are over nothing is repeated. Operands are no zeros: those take less power, and clocks
//! rise.
//!
//! Products on a GPU are no part of it. The first of each type has cuBLAS load kernels, which takes longer than all the rest, so that their rates are expected from what the
//! GPU is until products that somebody wants anyway were timed ([`crate::linear::Gpu`]), or somebody asks for them ([`products`]).

use crate::Error;
use crate::cores::cores;
use crate::dispatch::{Accelerator, BEGINS, Expected, Facts, Flops, Link, Processor, Rates, Unit};
use crate::linear::{Core, DeviceMat, Division, Gpu, Kind, Multiply, Place, Precision, Scalar, UNITS, matmul};
use crate::matrix::{Columns, Dense, Rows, Shape};
use ndarray::{Array2, ShapeBuilder};
use std::ops::RangeInclusive;
use std::sync::Barrier;
use std::time::{Duration, Instant};
use tilewright_driver::Stream;

/// Sides of the products on the CPU: of one that one core does, of one of which each has a part, and of a longer one, which takes a millisecond, so that what threads take to begin is not most
/// of it; and of that on a GPU.
const CPU_SIDES: [usize; 2] = [96, 160];
const LONG_SIDES: RangeInclusive<usize> = 512..=768;
const LONG: f64 = 1e-3;
const GPU_SIDE: usize = 2048;
/// Bytes of copies, and of those over the link: locking pages takes 0.2 ms a megabyte, and is part of what the first caller waits for.
const COPIED: usize = 16 << 20;
const LINKED: usize = 4 << 20;
/// Rows and columns of a matrix that is copied from ordinary memory and back: little enough that the driver does it, or that it comes through one piece of memory.
const PAGEABLE: (usize, usize) = (256, 512);
/// Copies of a few bytes that follow one another.
const SHORT_COPIES: u32 = 8;
/// Seconds of a product on a GPU besides those of a kernel of CUDA's that is waited for: cuBLAS chooses one of its own.
const CHOICE: f64 = 7e-6;
/// How often threads of the CPU are asked for a product in a row, two to four times each.
const AWAKENINGS: usize = 4;
/// The best of so many counts.
const REPEATS: usize = 3;
/// The time in which counts are repeated: of 50 ms, so that what is not repeated has time too.
const SPENT: Duration = Duration::from_millis(14);
/// That of products on a GPU, whose first ones take far longer.
const SPENT_ON_PRODUCTS: Duration = Duration::from_millis(100);
/// That of the CPU, where it is measured again.
const SPENT_ON_THE_CPU: Duration = Duration::from_millis(300);
/// The clock of a GPU that does not tell it, in Hz.
const CLOCK: f64 = 1.5e9;
/// That for what takes a fraction of a millisecond, when others have had theirs.
const BRIEFLY: Duration = Duration::from_millis(5);

/// The time that there is for measuring.
#[derive(Clone, Copy)]
struct Clock {
    begin: Instant,
    most: Duration,
}

impl Clock {
    fn is_over(&self) -> bool {
        self.begin.elapsed() >= self.most
    }

    /// The least that some runs take, one at least, not counting the first, in which libraries load what they run.
    fn least(&self, mut run: impl FnMut() -> Result<f64, Error>) -> Result<f64, Error> {
        run()?;
        let mut least = run()?;
        for _ in 1..REPEATS {
            if self.is_over() {
                break;
            }
            least = least.min(run()?);
        }
        Ok(least)
    }
}

/// Those of the CPU, and of a GPU, or how that failed. On threads of its own: those of rayon's global pool may be waiting for just this, and who waits in that pool may be given work that asks for it again.
pub(super) fn rates(gpu: Option<&Gpu>) -> (Rates, Option<Error>) {
    let clock = Clock { begin: Instant::now(), most: SPENT };
    let roughly = Rates::of_cores(cores());
    // Somebody asks again.
    on_threads(|| rates_since(clock, gpu, roughly)).unwrap_or_else(|why| (roughly, gpu.map(|_| Error::NoGpu { why })))
}

/// Something that is measured by threads of its own, or why there are none.
fn on_threads<R: Send>(measure: impl FnOnce() -> R + Send) -> Result<R, String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(cores()).build();
    let pool = pool.map_err(|error| format!("there are no threads to measure it by: {error}"))?;
    Ok(std::thread::scope(|scope| {
        let measured = scope.spawn(|| pool.install(measure));
        measured.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }))
}

/// The CPU again and again, all its cores and one of them, until it has worked long enough: at first it is slow, on some hosts half as fast as later.
pub(super) fn cpu_again() -> Vec<(Processor, Flops)> {
    let again = || {
        rayon::broadcast(|_| ());
        let (begin, mut measured) = (Instant::now(), Vec::new());
        while begin.elapsed() < SPENT_ON_THE_CPU {
            measured.extend(cpu(Clock { begin: Instant::now(), most: SPENT }).ok());
        }
        measured
    };
    on_threads(again).unwrap_or_default()
}

fn rates_since(clock: Clock, gpu: Option<&Gpu>, roughly: Rates) -> (Rates, Option<Error>) {
    // Threads that start are waited for, and are none of what is measured.
    rayon::broadcast(|_| ());
    let started = clock.begin.elapsed();
    let measured = cpu(clock).ok();
    let computed = clock.begin.elapsed();
    let gpu = gpu.map(|gpu| accelerator(gpu, clock)).transpose();
    let is_measured = measured.is_some();
    let (cpu, alone) = measured.unwrap_or((roughly.cpu, roughly.alone));
    let (gpu, failure) = gpu.map_or_else(|error| (None, Some(error)), |gpu| (gpu, None));
    let all = clock.begin.elapsed();
    let (threads, processor, gpu_and_link) = (started, computed - started, all - computed);
    tracing::debug!(target: "tilewright::dispatch", ?threads, ?processor, ?gpu_and_link, "rates are measured");
    let measured_in = is_measured.then_some(all.as_secs_f64());
    (Rates { cpu, alone, gpu, measured_in, ..roughly }, failure)
}

/// Seconds of the fastest of some runs.
fn fastest(clock: Clock, mut run: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let least = clock.least(|| {
        let begin = Instant::now();
        run()?;
        Ok(begin.elapsed().as_secs_f64())
    })?;
    // A clock that does not tick measures nothing.
    Ok(least.max(1e-9))
}

fn filled<T: Scalar>(side: usize) -> Result<Dense<T>, Error> {
    let dense = Dense::zeros(Shape::new(Rows(side), Columns(side)))?;
    Ok(dense.map(|row, column, _: T| T::from_f64(((row * 7 + column * 3) % 17) as f64 / 8.0 - 1.0)))
}

fn operations(side: usize) -> f64 {
    2.0 * (side as f64).powi(3)
}

/// All its cores, and products on one of them.
fn cpu(clock: Clock) -> Result<(Processor, Flops), Error> {
    let (f64, f32) = (on_cpu::<f64>(clock)?, on_cpu::<f32>(clock)?);
    // Halves are converted to f32 on the way.
    let flops = |f64, f32| Flops { f64, f32, tf32: f32, half: f32 / 2.0 };
    let processor = Processor {
        flops: flops(f64.shared, f32.shared),
        memory: memory(),
        call: 2e-6,
        start: f64.start.min(f32.start),
    };
    Ok((processor, flops(f64.alone, f32.alone)))
}

/// Products on the CPU: operations in a second of one core and of all, and seconds until all work.
struct OnCpu {
    alone: f64,
    shared: f64,
    start: f64,
}

/// One product tells the rate of a core, one that is divided into its parts what it takes until all of them are computed, and a long one the rate of all.
fn on_cpu<T: Scalar + Multiply<Factor = T>>(clock: Clock) -> Result<OnCpu, Error> {
    let seconds = |side| {
        let a = filled::<T>(side)?;
        let mut c = Dense::zeros(a.shape())?;
        fastest(clock, || matmul(&Place::Cpu, Precision::Auto, T::ONE, a.view(), a.view(), T::ZERO, c.view_mut()))
    };
    let kind = Kind { bytes: size_of::<T>(), real: 1.0, turned: [false; 2] };
    let threads = rayon::current_num_threads();
    let [small, short] = CPU_SIDES;
    let core = Core::that_takes(seconds(small)?, [small; 3], kind);
    let long = ((LONG * core.flops * threads as f64 / 2.0).cbrt() as usize).next_multiple_of(32);
    let long = long.clamp(*LONG_SIDES.start(), *LONG_SIDES.end());
    let start = match Division::of([short; 3], kind, threads) {
        Division::Parts(parts) => {
            // Threads that have just been woken take longer.
            let woken = (0..AWAKENINGS)
                .map(|_| seconds(short))
                .try_fold(f64::INFINITY, |least, it| it.map(|it| least.min(it)))?;
            woken - Division::seconds_of(core, [short; 3], parts, kind)
        }
        Division::Alone | Division::Shared => 0.0,
    };
    let (start, most) = (start.max(0.0), seconds(long)?);
    // It has no shorter start unless something else went on.
    Ok(OnCpu { alone: core.flops, shared: operations(long) / (most - start).max(most / 2.0), start })
}

/// Bytes in a second that all cores read and write: each copies what it touched itself, since pages that are new take longer than copies, and begins when all are there, since threads that begin
/// take longer than copies too.
fn memory() -> f64 {
    let threads = rayon::current_num_threads();
    let (each, all_are_there) = (COPIED / threads / 8, Barrier::new(threads));
    let rates = rayon::broadcast(|thread| {
        let (from, mut to) = (vec![thread.index() as u64 + 1; each], vec![1; each]);
        all_are_there.wait();
        let seconds = (0..REPEATS).map(|_| {
            let begin = Instant::now();
            to.copy_from_slice(std::hint::black_box(&from));
            begin.elapsed().as_secs_f64()
        });
        // A clock that does not tick measures nothing.
        (2 * 8 * each) as f64 / seconds.fold(f64::INFINITY, f64::min).max(1e-9)
    });
    rates.into_iter().sum()
}

fn accelerator(gpu: &Gpu, clock: Clock) -> Result<Accelerator, Error> {
    let stream = gpu.stream();
    let count = COPIED / 8;
    let (from, mut to) = (stream.alloc::<u64>(count)?, stream.alloc::<u64>(count)?);
    from.fill_bytes(0x5A)?;
    let on_device = seconds((stream, clock), || Ok(to.copy_from_buffer(stream, &from)?))?;
    let facts = facts(gpu);
    let few = stream.alloc::<u64>(64)?;
    let waited = fastest(clock, || {
        few.fill_bytes(0x5A)?;
        Ok(stream.synchronize()?)
    })?;
    let (flops, memory, call) = (facts.flops(), 2.0 * COPIED as f64 / on_device, waited + CHOICE);
    let processor = Processor { flops, memory, call, start: 0.0 };
    Ok(Accelerator { processor, link: link(gpu, clock)?, expected: Expected::all(facts) })
}

fn facts(gpu: &Gpu) -> Facts {
    let device = gpu.stream().device();
    let arch = device.arch();
    Facts {
        arch: [arch.major, arch.minor],
        multiprocessors: device.multiprocessors(),
        clock: device.clock().unwrap_or(CLOCK),
    }
}

/// What products on a GPU run at, in operations in a second, of all units that are expected only.
pub(super) fn products(gpu: &Gpu, expected: &Expected) -> Result<Vec<(Unit, f64)>, Error> {
    let clock = Clock { begin: Instant::now(), most: SPENT_ON_PRODUCTS };
    let units = UNITS.into_iter().filter(|unit| expected.of(*unit).is_some());
    let measured = units.map(|unit| {
        let rate = match unit {
            Unit::F64 => on_gpu::<f64>(gpu, Precision::Auto, clock),
            Unit::Tf32 => on_gpu::<f32>(gpu, Precision::Tf32, clock),
            Unit::Half => on_gpu::<f32>(gpu, Precision::Bf16, clock),
            _ => on_gpu::<f32>(gpu, Precision::Auto, clock),
        };
        Ok((unit, rate?))
    });
    measured.collect()
}

/// Seconds on a stream of the fastest of some runs.
fn seconds((stream, clock): (&Stream, Clock), mut run: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let least = clock.least(|| {
        let begin = stream.record()?;
        run()?;
        let end = stream.record()?;
        end.synchronize()?;
        Ok(f64::from(end.elapsed_ms_since(&begin)?))
    })?;
    Ok(least.max(1e-6) / 1e3)
}

fn on_gpu<T: Scalar + Multiply<Factor = T>>(gpu: &Gpu, precision: Precision, clock: Clock) -> Result<f64, Error> {
    let a = DeviceMat::upload(gpu, filled::<T>(GPU_SIDE)?.view())?;
    let mut c = DeviceMat::uninitialised(gpu, a.shape())?;
    let once = || gpu.matmul(precision, T::ONE, a.view(), a.view(), T::ZERO, &mut c);
    Ok(operations(GPU_SIDE) / seconds((gpu.stream(), clock), once)?)
}

fn link(gpu: &Gpu, clock: Clock) -> Result<Link, Error> {
    let stream = gpu.stream();
    let (device, count) = (stream.device(), LINKED / 8);
    let (from, mut to) = (stream.alloc::<u64>(count)?, stream.alloc::<u64>(count)?);
    from.fill_bytes(0x5A)?;
    let (source, mut target) = (device.pinned::<u64>(count)?, device.pinned::<u64>(count)?);
    let bytes = LINKED as f64;
    let to_gpu = seconds((stream, clock), || Ok(to.copy_from_pinned(stream, &source)?))?;
    let to_host = seconds((stream, clock), || Ok(from.copy_to_pinned(stream, &mut target)?))?;
    let other = device.stream()?;
    let both = seconds((stream, clock), || {
        let begun = stream.record()?;
        other.wait(&begun)?;
        to.copy_from_pinned(stream, &source)?;
        from.copy_to_pinned(&other, &mut target)?;
        Ok(stream.wait(&other.record()?)?)
    })?;
    // As operands and results of products come and go: without gaps, in whatever order. Short enough to be repeated when the time is over.
    let values = Array2::from_elem(PAGEABLE.f(), 1.0f64);
    let mut back = Array2::from_elem(PAGEABLE.f(), 0.0f64);
    let (mut there, clock) =
        (DeviceMat::upload(gpu, (&values).into())?, Clock { begin: Instant::now(), most: BRIEFLY });
    let come = fastest(clock, || {
        there.take((&values).into())?;
        Ok(stream.synchronize()?)
    })?;
    let go = fastest(clock, || there.download_to((&mut back).into()))?;
    let pageable_bytes = (8 * values.len()) as f64;
    let mut few = ([0.5f64; 64], stream.alloc::<f64>(64)?);
    let short = fastest(clock, || Ok((0..SHORT_COPIES).try_for_each(|_| few.1.copy_from_slice(&few.0))?))?;
    let waited = fastest(clock, || Ok(few.1.copy_to_slice(&mut few.0)?))?;
    let call_to_gpu = short / f64::from(SHORT_COPIES);
    // Of so little the call is a part that is not left out.
    let rate = |took: f64, call: f64| pageable_bytes / (took - call).max(took / 2.0);
    Ok(Link {
        call_to_gpu,
        call_to_host: waited,
        to_gpu: bytes / to_gpu,
        to_host: bytes / to_host,
        both: bytes / both,
        pageable: rate(come, call_to_gpu + BEGINS),
        pageable_back: rate(go, waited),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the time that is left, not by how long anything takes here.
    #[test]
    fn d7_counts_are_repeated_while_there_is_time() {
        let runs = |most| {
            let clock = Clock { begin: Instant::now(), most };
            let mut runs = 0.0;
            let least = clock.least(|| {
                runs += 1.0;
                Ok(if runs == 1.0 { 1.0 } else { 10.0 - runs })
            });
            (runs, least.unwrap())
        };
        // The first says nothing, and the second there always is.
        assert_eq!(runs(Duration::from_secs(3600)), (1.0 + REPEATS as f64, 6.0));
        assert_eq!(runs(Duration::ZERO), (2.0, 8.0));
    }

    /// All threads of rayon's pool ask at once, and one of them measures.
    #[test]
    fn threads_that_wait_for_it_are_not_waited_for() {
        let (done, is_done) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let one_by_one = std::sync::Mutex::new(());
            rayon::broadcast(|_| {
                let _one = one_by_one.lock().unwrap();
                assert!(rates(None).0.measured_in.is_some());
            });
            done.send(()).unwrap();
        });
        is_done.recv_timeout(Duration::from_secs(60)).expect("nobody waits for ever");
    }
}
