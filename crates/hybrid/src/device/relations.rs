//! Closures and reductions of relations on whichever processor is expected to be faster.

use super::bit_operand::BitOperand;
use super::run::Route;
use super::{Accelerated, Device};
use crate::Error;
use crate::bits::gpu::Resident;
use crate::bits::squares::{self, AT_ONCE, Multiplier, most_squares};
use crate::bits::{BitMatrix, causal, closure};
use crate::budget::{Budget, Permit};
use crate::dispatch::{At, Decision, Job, Operand, ProductExtents};
use crate::faults::Scale;
use crate::linear::{Gpu, Place};
use crate::matrix::{Columns, Rows, Shape};
use crate::stream::bits::{self, Becomes, BitProduct, Bits, job_of};
use crate::stream::{Budgets, Control};
use std::borrow::Cow;

/// Launches of a round: a transposition, a product, counts; and a copy of those, that somebody waits for, which takes as long as four more.
const LAUNCHES: u64 = 7;

impl Device {
    /// The transitive closure, as [`closure()`](crate::bits::closure::closure()) has it. A GPU makes it by squares of the relation with its diagonal, until one has
    /// nothing new, and keeps them in its memory where three of them fit; else each goes through it in tiles ([`crate::stream::bits`]). Results are the same.
    ///
    /// Decisions take the longest paths for granted: as many squares as the size has binary digits. A relation that lies on a GPU comes to the host first, within its
    /// budget ([`Device::falling_back_within`]): n^2 bits beside n^3 operations. [`Error::NotSquare`].
    ///
    /// ```
    /// use tilewright_hybrid::{Device, bits::BitMatrix, dispatch};
    ///
    /// let step = BitMatrix::from_fn(200, 200, |from, to| to == from + 1)?;
    /// assert_eq!(Device::auto().bit_closure(&step)?, BitMatrix::from_fn(200, 200, |from, to| to > from)?);
    /// println!("{}", dispatch::last_decision().unwrap()); // cpu.bit_closure.bit reason=cost(...)
    /// # Ok::<(), tilewright_hybrid::Error>(())
    /// ```
    pub fn bit_closure<'a>(&self, relation: impl Into<BitOperand<'a>>) -> Result<BitMatrix, Error> {
        self.related(Wanted::Closure, relation.into())
    }

    /// The transitive reduction, as [`reduction`](crate::bits::closure::reduction) has it. As [`bit_closure`](Device::bit_closure) otherwise; [`Error::Cyclic`].
    pub fn bit_reduction<'a>(&self, relation: impl Into<BitOperand<'a>>) -> Result<BitMatrix, Error> {
        self.related(Wanted::Reduction, relation.into())
    }

    /// Where a closure would be made, why, and what that is expected to take. Leaves no record.
    pub fn plan_bit_closure<'a>(&self, relation: impl Into<BitOperand<'a>>) -> Result<Decision, Error> {
        self.plan(&Wanted::Closure.job(relation.into())?)
    }

    /// The same of a reduction.
    pub fn plan_bit_reduction<'a>(&self, relation: impl Into<BitOperand<'a>>) -> Result<Decision, Error> {
        self.plan(&Wanted::Reduction.job(relation.into())?)
    }

    fn related(&self, wanted: Wanted, relation: BitOperand<'_>) -> Result<BitMatrix, Error> {
        let job = wanted.job(relation)?;
        self.run(&job, Related { wanted, relation: Brought { relation, here: None }, device: self })
            .map(|ran| ran.value)
    }
}

#[derive(Clone, Copy)]
enum Wanted {
    Closure,
    Reduction,
}

impl Wanted {
    fn name(self) -> &'static str {
        match self {
            Wanted::Closure => "bit_closure",
            Wanted::Reduction => "bit_reduction",
        }
    }

    /// What it asks of a machine: a closure is the work of one product on the CPU, a reduction is one more.
    fn job(self, relation: BitOperand<'_>) -> Result<Job, Error> {
        let shape = Shape::new(Rows(relation.rows()), Columns(relation.columns()));
        let size = shape.square(self.name())?;
        let (extents, at) = (ProductExtents { rows: size, columns: size, depth: size }, relation.asked().at);
        let job = job_of(extents, Becomes::MoreThan(0), false, [at; 2]);
        let last = if let Wanted::Closure = self { 1 } else { 2 };
        let rounds = u64::from(most_squares(size)) + last;
        // What lies on a GPU comes to the host, and goes there again.
        let again = job.read[0].filter(|_| at == At::Gpu).map(|it| Operand { at: At::Pageable, ..it });
        Ok(Job {
            operation: self.name(),
            read: [job.read[0], None, again],
            rounds,
            cpu_rounds: last,
            steps: rounds * LAUNCHES,
            device_bytes: Resident::device_bytes(size),
            // What comes to the host is granted when it comes.
            host_bytes: 0,
            tiling: crate::dispatch::Tiling::AsNeeded,
            ..job
        })
    }

    fn on_cpu(self, relation: &BitMatrix) -> Result<BitMatrix, Error> {
        match self {
            Wanted::Closure => closure::closure(relation),
            Wanted::Reduction => closure::reduction(relation),
        }
    }

    /// By squares; `back` brings what is made to the host.
    fn by_squares<M: Multiplier>(
        self,
        by: &M,
        relation: &BitMatrix,
        back: impl Fn(M::Relation) -> Result<BitMatrix, Error>,
    ) -> Result<BitMatrix, Error> {
        match self {
            Wanted::Closure => back(squares::closure(by, relation)?),
            Wanted::Reduction => relation.and_not(&back(squares::longer(by, relation)?)?),
        }
    }
}

/// A relation, which comes to the host when it is first asked for.
struct Brought<'a> {
    relation: BitOperand<'a>,
    here: Option<(Permit, Cow<'a, BitMatrix>)>,
}

impl Brought<'_> {
    /// It in host memory; [`Error::Cyclic`] of one that is to be reduced.
    fn here(&mut self, wanted: Wanted, host: &Budget) -> Result<&BitMatrix, Error> {
        let (_, relation) = match self.here.take() {
            Some(here) => self.here.insert(here),
            None => {
                let comes = if self.relation.in_host_memory().is_none() { self.relation.padded_bytes() } else { 0 };
                let here = (host.try_acquire(comes)?, self.relation.here()?);
                if let Wanted::Reduction = wanted {
                    causal::order(wanted.name(), &here.1)?;
                }
                self.here.insert(here)
            }
        };
        Ok(relation)
    }
}

struct Related<'a> {
    wanted: Wanted,
    relation: Brought<'a>,
    device: &'a Device,
}

impl Route<BitMatrix> for Related<'_> {
    fn whole(&mut self, place: &Place, control: Control<'_>) -> Result<BitMatrix, Error> {
        let host = &self.device.host;
        let relation = self.relation.here(self.wanted, host)?;
        let Place::Gpu(gpu) = place else { return self.wanted.on_cpu(relation) };
        // With its diagonal it is a copy; or what a reduction is without.
        let _host = host.try_acquire(size_of_val(relation.words()) as u64)?;
        let resident = Resident { stream: gpu.stream(), goes_on: &|| control.check(0, 1) };
        self.wanted.by_squares(&resident, relation, |made| made.download())
    }

    fn in_tiles(&mut self, gpu: &Accelerated, scale: Scale, control: Control<'_>) -> Result<BitMatrix, Error> {
        let host = &self.device.host;
        let relation = self.relation.here(self.wanted, host)?;
        let _host = host.try_acquire((size_of_val(relation.words()) as u64).saturating_mul(AT_ONCE as u64))?;
        let (budgets, _permit) = gpu.smaller(scale)?;
        // Each product counts its own tiles; all of them are one step.
        let quiet = Control { progress: None, verify: None, ..control };
        let streamed = Streamed { gpu: &gpu.gpu, budgets: &budgets, control: quiet };
        let made = self.wanted.by_squares(&streamed, relation, Ok)?;
        control.tell(1, 1);
        Ok(made)
    }
}

/// Relations in host memory, whose products go through a GPU in tiles.
struct Streamed<'a> {
    gpu: &'a Gpu,
    budgets: &'a Budgets,
    control: Control<'a>,
}

impl Multiplier for Streamed<'_> {
    type Relation = BitMatrix;

    fn bring(&self, relation: Cow<'_, BitMatrix>) -> Result<BitMatrix, Error> {
        Ok(relation.into_owned())
    }

    fn transposed(&self, relation: &BitMatrix) -> Result<BitMatrix, Error> {
        relation.transposed()
    }

    fn paths(&self, left: &BitMatrix, transposed: &BitMatrix) -> Result<BitMatrix, Error> {
        let sources = [left.source(), transposed.source()];
        let [left, right] = [Bits::new(&sources[0], left.columns())?, Bits::new(&sources[1], transposed.columns())?];
        let product = BitProduct::of_rows(left, right)?;
        bits::product(self.gpu, self.budgets, &product, Becomes::MoreThan(0), self.control)
    }

    fn count_ones(&self, relation: &BitMatrix) -> Result<u64, Error> {
        Ok(relation.count_ones())
    }
}
