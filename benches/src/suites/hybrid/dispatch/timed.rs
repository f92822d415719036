//! Products on both sides, timed in turns.

use super::super::matmul::Real;
use super::super::operands::random;
use crate::Result;
use crate::cases::Random;
use ndarray::{Array2, ShapeBuilder};
use std::time::Instant;
use tilewright_driver::PinnedBuffer;
use tilewright_hybrid::dispatch::{At, ProductExtents, Reason, last_decision};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Precision};
use tilewright_hybrid::store::{Extents, PinnedSink, PinnedSource};
use tilewright_hybrid::stream::Factor;
use tilewright_hybrid::{Columns, Device, Operand, Rows, Shape, Side, Target};

/// The largest products and operands of the sweep.
const MOST_PRODUCTS: usize = 1 << 33;
const MOST_ELEMENTS: usize = 1 << 24;
/// The longest side, as a power of two.
const LONGEST: f64 = 12.5;
/// Where both factors and the result lie.
pub(super) const PLACES: [[At; 3]; 5] = [
    [At::Pageable; 3],
    [At::Gpu; 3],
    [At::Gpu, At::Pageable, At::Pageable],
    [At::Pinned; 3],
    [At::Pinned, At::Pageable, At::Pageable],
];
/// Both sides are timed in turns, so that moments in which the machine is slow are those of both: a turn takes at least so many runs and seconds. There are at least so
/// many turns of each side, and more until the fastest runs of every second turn agree with those of the turns between up to this part, or it has been long enough.
const LEAST_RUNS: usize = 3;
const LEAST: f64 = 0.01;
const LEAST_TURNS: usize = 4;
const AGREED: f64 = 0.03;

/// What a side took: the fastest run of every second turn, and of those between, the shorter one first.
#[derive(Clone, Copy)]
pub(super) struct Took(pub(super) [f64; 2]);

impl Took {
    pub(super) fn agrees(self) -> bool {
        self.0[1] <= (1.0 + AGREED) * self.0[0]
    }
}

/// Any proportions: sides are random powers of two.
pub(super) fn extents(random: &mut Random) -> ProductExtents {
    loop {
        let mut side = || (LONGEST * random.below(1 << 20) as f64 / f64::from(1 << 20)).exp2() as usize;
        let (rows, columns, depth) = (side(), side(), side());
        let elements = rows * depth + depth * columns + rows * columns;
        if rows * columns * depth <= MOST_PRODUCTS && elements <= MOST_ELEMENTS {
            return ProductExtents { rows, columns, depth };
        }
    }
}

/// What the fastest run of either side took. The first run of a turn does not count: what the other side left in caches, and threads that sleep, are no part of it.
pub(super) fn fastest(patience: f64, mut run: impl FnMut(usize) -> Result<()>) -> Result<[Took; 2]> {
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
        if turns >= LEAST_TURNS && (agree || all.elapsed().as_secs_f64() >= patience) {
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
pub(super) struct Operands<'a, T: Real> {
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
    pub(super) fn new(gpu: &'a Gpu, extents: ProductExtents, at: [At; 3]) -> Result<Self> {
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
    pub(super) fn with<R>(&mut self, run: impl FnOnce([Operand<'_, T>; 2], Target<'_, T>) -> Result<R>) -> Result<R> {
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
    pub(super) fn multiply(&mut self, device: &Device) -> Result<()> {
        self.with(|[a, b], c| Ok(device.matmul(Precision::Auto, T::ONE, a, b, T::ZERO, c)?))?;
        Ok(self.gpu.stream().synchronize()?)
    }

    /// The side that a device chooses which has tried both, where both may be the faster one.
    pub(super) fn learned(&mut self, device: &Device) -> Result<Side> {
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
