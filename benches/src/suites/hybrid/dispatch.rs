//! Decisions: how long one takes, and what those cost that are wrong.

use super::add;
use super::matmul::Real;
use super::operands::random;
use crate::Result;
use crate::cases::Random;
use crate::clock::median;
use crate::report::Report;
use crate::session::Session;
use ndarray::{Array2, ShapeBuilder};
use std::hint::black_box;
use std::time::Instant;
use tilewright_driver::PinnedBuffer;
use tilewright_hybrid::dispatch::{
    At, Choice, Decision, Job, ProductExtents, Rates, Reason, Unit, decide, last_decision,
};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Precision};
use tilewright_hybrid::store::{Extents, PinnedSink, PinnedSource};
use tilewright_hybrid::stream::Factor;
use tilewright_hybrid::{Columns, Device, Error, Operand, Rows, Shape, Side, Target};

/// Decisions of a round, and rounds.
const DECISIONS: usize = 1000;
const ROUNDS: usize = 21;

/// Measures `dispatch/known`: decisions about sizes and places whose rates are known.
pub(super) fn known(session: &Session, case: &str, report: &mut Report) -> Result<()> {
    let device = Device::with(&Gpu::new(session.gpu.stream()));
    let (rates, budget) = (device.rates(), session.gpu.device().memory_bytes() as u64);
    // What whoever asked first waited for, now or when the profile was written.
    let measured = rates.measured_in.ok_or("these rates were not measured")?;
    let cube = |size| ProductExtents { rows: size, columns: size, depth: size };
    let product = |size| Job::matmul(("f64", 8, Unit::F64), cube(size), [At::Pageable; 3], false);
    let (job, larger) = (product(1024)?, product(131_072)?);
    let nanoseconds = |one: &dyn Fn() -> std::result::Result<Decision, Error>| -> Result<f64> {
        let round = || -> Result<f64> {
            let begin = Instant::now();
            (0..DECISIONS).try_for_each(|_| {
                black_box(one()?);
                Ok::<_, Error>(())
            })?;
            Ok(begin.elapsed().as_secs_f64() * 1e9 / DECISIONS as f64)
        };
        round()?;
        Ok(median((0..ROUNDS).map(|_| round()).collect::<Result<_>>()?))
    };
    let device = &device;
    let plan = |size| {
        let shape = Shape::new(Rows(size), Columns(size));
        move || device.plan_matmul::<f64>(Precision::Auto, [shape; 2], false)
    };
    // With its record, as a call leaves it; then the device's own, of what fits and of what is streamed. No driver is asked.
    let recorded = nanoseconds(&|| decide(&job, Choice::Auto, &rates, budget))?;
    let streamed = nanoseconds(&|| decide(&larger, Choice::Auto, &rates, budget))?;
    let (small, large) = (nanoseconds(&plan(1024))?, nanoseconds(&plan(131_072))?);
    let decided = [("decide_ns", recorded, "ns"), ("decide_streamed_ns", streamed, "ns")];
    let planned = [("plan_ns", small, "ns"), ("plan_streamed_ns", large, "ns")];
    add(report, case, &[decided, planned].concat());
    add(report, case, &[("measured_in_ms", measured * 1e3, "ms")]);
    Ok(())
}

const POINTS: usize = 200;
/// The largest products and operands of the sweep.
const MOST_PRODUCTS: usize = 1 << 33;
const MOST_ELEMENTS: usize = 1 << 24;
/// The longest side, as a power of two.
const LONGEST: f64 = 12.5;
/// Where both factors and the result lie.
const PLACES: [[At; 3]; 5] = [
    [At::Pageable; 3],
    [At::Gpu; 3],
    [At::Gpu, At::Pageable, At::Pageable],
    [At::Pinned; 3],
    [At::Pinned, At::Pageable, At::Pageable],
];
/// Both sides are timed in turns, so that moments in which the machine is slow are those of both: a turn takes at least so many runs and seconds. There are at least so
/// many turns of each side, and more until the fastest runs of every second turn agree with those of the turns between up to this part, at most for so many seconds.
const LEAST_RUNS: usize = 3;
const LEAST: f64 = 0.01;
const LEAST_TURNS: usize = 4;
const AGREED: f64 = 0.03;
const PATIENCE: f64 = 1.0;
/// A loss above this is marked.
const TOLD: f64 = 1.1;

/// What a side took: the fastest run of every second turn, and of those between, the shorter one first.
#[derive(Clone, Copy)]
struct Took([f64; 2]);

impl Took {
    fn agrees(self) -> bool {
        self.0[1] <= (1.0 + AGREED) * self.0[0]
    }
}

/// What a point of the sweep took on either side, what was expected, and which side a device chose that had tried both
/// ([`Device::learning`]).
struct Point {
    decision: Decision,
    learned: Side,
    cpu: Took,
    gpu: Took,
}

impl Point {
    /// What the chosen side took over what the better one did.
    fn loss(&self) -> f64 {
        self.loss_of(self.decision.side)
    }

    /// The same of the side that was learned.
    fn learned_loss(&self) -> f64 {
        self.loss_of(self.learned)
    }

    fn loss_of(&self, side: Side) -> f64 {
        let [chosen, other] = self.this_and_other(side).map(|side| side.0[0]);
        chosen / chosen.min(other)
    }

    fn this_and_other(&self, side: Side) -> [Took; 2] {
        if side == Side::Gpu { [self.gpu, self.cpu] } else { [self.cpu, self.gpu] }
    }

    /// Whether another measurement would say the same: the chosen side was faster in any case, or the runs of both agree.
    fn is_sure(&self) -> bool {
        let is_sure = |side| {
            let [chosen, other] = self.this_and_other(side);
            chosen.0[1] <= other.0[0] || (chosen.agrees() && other.agrees())
        };
        is_sure(self.decision.side) && is_sure(self.learned)
    }

    /// Whether both sides took between half and twice what was expected.
    fn is_as_expected(&self) -> bool {
        let gpu = self.decision.gpu.as_ref().map_or(f64::NAN, |gpu| gpu.cost.wall);
        [(self.cpu, self.decision.cpu.wall), (self.gpu, gpu)]
            .iter()
            .all(|(took, expected)| (0.5..=2.0).contains(&(took.0[0] / expected)))
    }
}

/// Measures `dispatch/sweep`: products of random extents from several places, on both sides.
pub(super) fn sweep(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let gpu = Gpu::new(session.gpu.stream());
    // What calls learn of products, the sweep has from its beginning.
    let rates = Device::with(&gpu).measure_products()?;
    let mut random = Random::new(200);
    let mut points = Vec::new();
    for number in 0..if quick { POINTS / 20 } else { POINTS } {
        let (extents, at) = (extents(&mut random), PLACES[number % PLACES.len()]);
        let point = match number % 2 {
            0 => point::<f64>(&gpu, &rates, extents, at)?,
            _ => point::<f32>(&gpu, &rates, extents, at)?,
        };
        let ProductExtents { rows, columns, depth } = extents;
        let (cpu, gpu, learned) = (point.cpu.0[0] * 1e3, point.gpu.0[0] * 1e3, point.learned);
        let far = if point.loss().max(point.learned_loss()) > TOLD { ", FAR" } else { "" };
        let sure = if point.is_sure() { "" } else { ", left out: turns of it do not agree" };
        let decision = &point.decision;
        eprintln!(
            "{rows} {columns} {depth} {at:?}: {cpu:.3} ms on the CPU, {gpu:.3} on the GPU{far}{sure}; {decision}; learned: {learned:?}"
        );
        points.push(point);
    }
    let asked = points.len();
    points.retain(Point::is_sure);
    let count = points.len() as f64;
    let losses = || points.iter().map(Point::loss);
    let percent =
        |chosen: &dyn Fn(&Point) -> bool| 100.0 * points.iter().filter(|point| chosen(point)).count() as f64 / count;
    let figures = [
        ("mean_loss", losses().sum::<f64>() / count, "x"),
        ("worst_loss", losses().fold(1.0, f64::max), "x"),
        ("mean_loss_learned", points.iter().map(Point::learned_loss).sum::<f64>() / count, "x"),
        ("worst_loss_learned", points.iter().map(Point::learned_loss).fold(1.0, f64::max), "x"),
        ("wrong", percent(&|point| point.loss() > 1.0), "%"),
        ("on_gpu", percent(&|point| point.decision.side == Side::Gpu), "%"),
        ("within_twice", percent(&Point::is_as_expected), "%"),
        ("left_out", (asked - points.len()) as f64, "points"),
    ];
    add(report, case, &figures);
    Ok(())
}

/// Any proportions: sides are random powers of two.
fn extents(random: &mut Random) -> ProductExtents {
    loop {
        let mut side = || (LONGEST * random.below(1 << 20) as f64 / f64::from(1 << 20)).exp2() as usize;
        let (rows, columns, depth) = (side(), side(), side());
        let elements = rows * depth + depth * columns + rows * columns;
        if rows * columns * depth <= MOST_PRODUCTS && elements <= MOST_ELEMENTS {
            return ProductExtents { rows, columns, depth };
        }
    }
}

fn point<T: Real>(gpu: &Gpu, rates: &Rates, extents: ProductExtents, at: [At; 3]) -> Result<Point> {
    let mut operands = Operands::<T>::new(gpu, extents, at)?;
    let device = Device::with(gpu).rated(*rates);
    let plan = |factors: [Operand<'_, T>; 2], c: Target<'_, T>| {
        Ok(device.plan_product(Precision::Auto, factors, T::ZERO, &c)?)
    };
    let decision = operands.with(plan)?;
    let sides = [Choice::Cpu, Choice::Gpu].map(|choice| device.clone().choosing(choice));
    let [cpu, gpu] = fastest(|side| operands.multiply(&sides[side]))?;
    Ok(Point { learned: operands.learned(&device.learning())?, decision, cpu, gpu })
}

/// What the fastest run of either side took. The first run of a turn does not count: what the other side left in caches, and threads that sleep, are no part of it.
fn fastest(mut run: impl FnMut(usize) -> Result<()>) -> Result<[Took; 2]> {
    let (all, mut least, mut turns) = (Instant::now(), [[f64::INFINITY; 2]; 2], 0);
    loop {
        for (side, least) in least.iter_mut().enumerate() {
            run(side)?;
            let (begin, mut runs) = (Instant::now(), 0);
            while runs < LEAST_RUNS || begin.elapsed().as_secs_f64() < LEAST {
                let begin = Instant::now();
                run(side)?;
                least[turns % 2] = least[turns % 2].min(begin.elapsed().as_secs_f64().max(1e-9));
                runs += 1;
            }
        }
        let took = least.map(|[even, odd]| Took([even.min(odd), even.max(odd)]));
        let agree = took.iter().all(|side| side.agrees());
        turns += 1;
        if turns >= LEAST_TURNS && (agree || all.elapsed().as_secs_f64() >= PATIENCE) {
            return Ok(took);
        }
    }
}

/// What lies column by column, as it is row by row: the transposed matrix.
fn turned<T: Real>(
    memory: &Option<PinnedBuffer<T>>,
    rows: usize,
    columns: usize,
) -> Result<Option<PinnedSource<'_, T>>> {
    Ok(memory.as_ref().map(|it| PinnedSource::new(it, Extents::new(columns, rows))).transpose()?)
}

/// A product's operands, on both sides, and those that count as lying in page-locked memory there too; where they count as lying says `at`. Factors are stored column by column.
struct Operands<'a, T: Real> {
    gpu: &'a Gpu,
    at: [At; 3],
    extents: ProductExtents,
    locked: [Option<PinnedBuffer<T>>; 3],
    factors: [Array2<T>; 2],
    factors_there: [DeviceMat<T>; 2],
    result: Array2<T>,
    result_there: DeviceMat<T>,
}

impl<'a, T: Real> Operands<'a, T> {
    fn new(gpu: &'a Gpu, extents: ProductExtents, at: [At; 3]) -> Result<Self> {
        let ProductExtents { rows, columns, depth } = extents;
        let of = |rows: usize, columns: usize, seed| -> Result<Array2<T>> {
            let side = rows.max(columns);
            let mut values = random(side.min(1 << 10), seed);
            while values.len() < rows * columns {
                values.extend_from_within(..);
            }
            values.truncate(rows * columns);
            Ok(Array2::from_shape_vec((rows, columns).f(), values)?)
        };
        let factors = [of(rows, depth, 1)?, of(depth, columns, 2)?];
        let [a, b] = &factors;
        let factors_there = [DeviceMat::upload(gpu, a.into())?, DeviceMat::upload(gpu, b.into())?];
        let result = Array2::from_elem((rows, columns).f(), T::ZERO);
        let result_there = DeviceMat::uninitialised(gpu, Shape::new(Rows(rows), Columns(columns)))?;
        let mut locked = [const { None }; 3];
        for (operand, count) in [rows * depth, depth * columns, rows * columns].into_iter().enumerate() {
            if at[operand] == At::Pinned {
                let mut memory = gpu.stream().device().pinned::<T>(count)?;
                if let Some(values) = factors.get(operand).and_then(|it| it.as_slice_memory_order()) {
                    memory.copy_from_slice(values);
                }
                locked[operand] = Some(memory);
            }
        }
        Ok(Self { gpu, at, extents, locked, factors, factors_there, result, result_there })
    }

    /// What a user has where they lie.
    fn with<R>(&mut self, run: impl FnOnce([Operand<'_, T>; 2], Target<'_, T>) -> Result<R>) -> Result<R> {
        let ProductExtents { rows, columns, depth } = self.extents;
        let [a, b, c] = &mut self.locked;
        let sources = [turned(a, rows, depth)?, turned(b, depth, columns)?];
        let factors: [Operand<'_, T>; 2] = std::array::from_fn(|operand| match (&sources[operand], self.at[operand]) {
            (Some(source), _) => Factor::transposed(source).into(),
            (None, At::Gpu) => (&self.factors_there[operand]).into(),
            (None, _) => (&self.factors[operand]).into(),
        });
        let c: Target<'_, T> = match (c, self.at[2]) {
            (Some(memory), _) => PinnedSink::new(memory, Extents::new(rows, columns))?.into(),
            (None, At::Gpu) => (&mut self.result_there).into(),
            (None, _) => (&mut self.result).into(),
        };
        run(factors, c)
    }

    /// As a user calls it; the end is waited for.
    fn multiply(&mut self, device: &Device) -> Result<()> {
        self.with(|[a, b], c| Ok(device.matmul(Precision::Auto, T::ONE, a, b, T::ZERO, c)?))?;
        Ok(self.gpu.stream().synchronize()?)
    }

    /// The side that a device chooses which has tried both, where both may be the faster one.
    fn learned(&mut self, device: &Device) -> Result<Side> {
        loop {
            self.multiply(device)?;
            match last_decision() {
                Some(decision) if decision.reason == Reason::Tried => {}
                Some(decision) => return Ok(decision.side),
                None => return Err("a product left no decision".into()),
            }
        }
    }
}
