//! The face: a device that decides, operation by operation, which processor it is.

mod asked;
mod banded;
mod batch;
mod batched;
mod bit_operand;
mod bits;
mod bits_stored;
mod bits_there;
mod copies;
mod delivered;
mod diagonal;
mod each;
mod eigenvalues;
mod evaluate;
mod factored;
mod fetched;
mod integers;
mod kept;
mod known;
mod matmul;
mod measure;
mod multiplicand;
mod operand;
mod own;
mod placed;
mod product;
mod relations;
mod renewed;
mod run;
mod scratch;
mod solved;
mod source;
mod stacked;
mod stored;
mod streamed;
mod target;
mod verbs;
mod watched;
mod widened;

pub use bit_operand::{BitOperand, BitTarget};
pub use factored::Pivots;
pub use kept::Factored;
pub use multiplicand::{Multiplicand, Streamed};
pub use operand::{Operand, Target};

use crate::budget::Budget;
use crate::dispatch::{Choice, Decision, Experience, HostRoom, Job, Rates};
use crate::faults::{Breaker, Health, Policy};
use crate::linear::{Gpu, Place};
use crate::stream::{Budgets, PanelPlan, Pass, lu_workspace};
use crate::{Complex32, Complex64, Error};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tilewright_driver::{Device as Driver, solver::Solver};
use watched::Watched;

/// Which processors operations may use, and what they know of them. Clones are the same.
///
/// [`Device::auto`] decides for each operation by its cost ([`crate::dispatch`]): each leaves a decision that can be read back
/// ([`crate::dispatch::last_decision`]). What fails on the GPU goes on, on the CPU, as the policy of the GPU's [`Breaker`] says.
///
/// ```
/// use ndarray::array;
/// use tilewright_hybrid::{Device, Side, dispatch, linear::Precision};
///
/// let (a, b) = (array![[1.0, 2.0], [3.0, 4.0]], array![[5.0], [6.0]]);
/// let mut c = array![[1.0], [1.0]];
/// Device::auto().matmul(Precision::Auto, 2.0, (&a).into(), (&b).into(), 10.0, (&mut c).into())?;
/// assert_eq!(c, array![[44.0], [88.0]]);
/// assert_eq!(dispatch::last_decision().unwrap().side, Side::Cpu);
/// # Ok::<(), tilewright_hybrid::Error>(())
/// ```
#[derive(Clone)]
pub struct Device {
    choice: Choice,
    gpu: Option<Accelerated>,
    rates: Option<Rates>,
    /// What may be taken of the host for what is stored, and for what lies on a GPU.
    host: Budget,
    /// Where factors lie that host memory has no room for.
    folder: Option<Arc<Path>>,
    experience: Option<Arc<Experience>>,
    watched: Watched,
}

/// A GPU with what it may use.
#[derive(Clone)]
struct Accelerated {
    gpu: Gpu,
    breaker: Breaker,
    budgets: Budgets,
    /// What the CPU may take when it goes on with what the GPU failed at.
    host: Budget,
    /// Whether what may be used of its memory is what is free of it: then the driver has to be asked, which takes microseconds.
    is_measured: bool,
}

impl Accelerated {
    fn new(gpu: Gpu) -> Accelerated {
        let device = gpu.stream().device();
        let budgets = Budgets { device: Budget::device(device), pinned: gpu.pinned().clone() };
        Accelerated { gpu, breaker: Breaker::of(device.ordinal()), budgets, host: Budget::host(), is_measured: true }
    }
}

impl Device {
    /// The CPU and the first GPU, if there is one: whichever is expected to be faster. Where there is none, or no driver, it is the CPU.
    pub fn auto() -> Device {
        let gpu =
            Driver::new(0).and_then(|device| device.stream()).ok().map(|stream| Accelerated::new(Gpu::new(&stream)));
        Device::of(Choice::Auto, gpu)
    }

    /// The CPU alone: no driver is looked for.
    pub fn cpu() -> Device {
        Device::of(Choice::Cpu, None)
    }

    /// A GPU alone: what it cannot do is an error. [`Error::Driver`] where there is no such GPU.
    pub fn gpu(ordinal: usize) -> Result<Device, Error> {
        let stream = Driver::new(ordinal)?.stream()?;
        Ok(Device::with(&Gpu::new(&stream)).choosing(Choice::Gpu))
    }

    /// The CPU and this GPU.
    pub fn with(gpu: &Gpu) -> Device {
        Device::of(Choice::Auto, Some(Accelerated::new(gpu.clone())))
    }

    fn of(choice: Choice, gpu: Option<Accelerated>) -> Device {
        let (host, watched) = (Budget::host(), Watched::default());
        Device { choice, gpu, rates: None, host, folder: None, experience: None, watched }
    }

    /// With another choice: the same device, asked for one of its processors, or for the faster one.
    #[must_use]
    pub fn choosing(mut self, choice: Choice) -> Device {
        self.choice = choice;
        self
    }

    /// With rates that are given instead of measured.
    #[must_use]
    pub fn rated(mut self, rates: Rates) -> Device {
        self.rates = Some(rates);
        self
    }

    /// One that learns from what operations take: where neither processor is expected to take more than twice as long as the other, both are tried,
    /// one after the other, three times each or, in turns of some milliseconds, for 20 ms, at most 200 times, for the operation's own shapes and places, and the
    /// faster one stays ([`Reason::Measured`]). While it is tried, an operation is waited for, also one whose result stays on the GPU.
    ///
    /// Off by default: the two processors round differently, so that calls with the same operands may differ in the last bits while both are
    /// tried, and one call in two is the slower one.
    ///
    /// [`Reason::Measured`]: crate::dispatch::Reason::Measured
    #[must_use]
    pub fn learning(mut self) -> Device {
        self.experience = Some(Arc::default());
        self
    }

    /// With other budgets for the GPU's memory and for pinned memory. Operations take no more of the former than it has, workspaces that cuSOLVER asks for included, and factors that are kept hold
    /// their part of it; pieces of up to 16 MiB are rounded up by a quarter at most. Otherwise what is free on the GPU may be used.
    #[must_use]
    pub fn within(mut self, budgets: Budgets) -> Device {
        if let Some(gpu) = &mut self.gpu {
            gpu.gpu = gpu.gpu.clone().passing_within(budgets.pinned.clone());
            (gpu.budgets, gpu.is_measured) = (budgets, false);
        }
        self
    }

    /// With another budget of host memory for copies in which the CPU factors, for what failed on the GPU and goes on, on the CPU, where beyond it that is
    /// [`Error::FallbackWouldExceedBudget`], for what the CPU reads from stores, in parts that fit, for what of the GPU it fetches or what passes through
    /// the host, for what is gathered for the GPU, and for a result that is made whole before it takes its place. New arrays that are handed over are not
    /// counted: whoever asked for them keeps them. Otherwise it is what this process may use of the host.
    #[must_use]
    pub fn falling_back_within(mut self, host: Budget) -> Device {
        self.host = host.clone();
        if let Some(gpu) = &mut self.gpu {
            gpu.host = host;
        }
        self
    }

    /// With a folder for the factors that something is solved by ([`solve`](Device::solve), [`inverse`](Device::inverse), [`solve_into`](Device::solve_into)) where what is
    /// streamed, through a GPU or the CPU, would have less than a quarter of the host's budget beside them: they lie in a file without a name there, of the matrix's size. Without
    /// one they are in host memory.
    #[must_use]
    pub fn spilling_into(mut self, folder: impl Into<PathBuf>) -> Device {
        self.folder = Some(folder.into().into());
        self
    }

    /// With a breaker of its own, instead of the one that all of this process share.
    #[must_use]
    pub fn guarded(mut self, breaker: Breaker) -> Device {
        if let Some(gpu) = &mut self.gpu {
            gpu.breaker = breaker;
        }
        self
    }

    /// What the machine can do: as given, or as measured once and, in release builds, kept (in the user's cache folder, for this machine and
    /// GPU). Measuring takes about 50 ms, once. Where that fails there are no rates of the GPU, its breaker
    /// learns of it, nothing is kept, and somebody who asks a minute later has it measured again.
    ///
    /// Rates of products on the GPU are expected from what it is ([`Facts`](crate::dispatch::Facts)), and decisions that go by them say so, until products of their type were
    /// timed there: three of each type, of 1024 rows, columns and terms at least, beside which the host did nothing; the fastest counts and is kept too. Nobody waits for them.
    /// [`measure_products`](Device::measure_products) has them measured at once. A product on the CPU that runs faster than was measured
    /// says that its cores can do more.
    pub fn rates(&self) -> Rates {
        self.rates.unwrap_or_else(|| known::rates(self.usable().map(|it| (&it.gpu, &it.breaker))))
    }

    /// What the machine can do, rates of products on the GPU included: those that are expected so far are measured now, and kept. It takes as long as cuBLAS takes to start and
    /// to load its kernels of four types: 0.3 s beside an H200; and the CPU is measured again, for another 0.3 s. Rates that were given stay as they are, and so do those of a device without a GPU.
    ///
    /// [`Error::NoGpu`] where the rest of its rates could not be measured; the errors of products, which its breaker learns of.
    pub fn measure_products(&self) -> Result<Rates, Error> {
        match (self.rates, self.usable()) {
            (None, Some(it)) => known::measure_products(&it.gpu, &it.breaker),
            _ => Ok(self.rates()),
        }
    }

    /// What decisions go by: nothing is measured where there is no choice, and what is not there has no rates.
    fn rates_to_decide(&self) -> Rates {
        match (self.choice, self.usable()) {
            (Choice::Auto, Some(_)) => self.rates(),
            // One that could not be measured says itself what it lacks.
            (Choice::Gpu, Some(_)) => {
                let rates = self.rates();
                Rates { gpu: rates.gpu.or(Rates::h200().gpu), ..rates }
            }
            (Choice::Cpu, Some(_)) => self.rates.unwrap_or_else(known::unmeasured),
            (_, None) => Rates { gpu: None, ..self.rates.unwrap_or_else(known::unmeasured) },
        }
    }

    /// Its GPU, unless the policy is that nothing goes there.
    fn usable(&self) -> Option<&Accelerated> {
        self.gpu.as_ref().filter(|it| it.breaker.settings().policy != Policy::CpuOnly)
    }

    /// That a GPU that is asked for may be used, if it is there.
    fn refuse_unused(&self) -> Result<(), Error> {
        match (self.choice, self.ordinal(), self.usable()) {
            (Choice::Gpu, Some(ordinal), None) => {
                let why = format!("Policy::CpuOnly keeps operations from GPU {ordinal}, and it alone was asked for");
                Err(Error::NoGpu { why })
            }
            _ => Ok(()),
        }
    }

    /// How its GPU does; nothing without one.
    pub fn health(&self) -> Option<Health> {
        self.gpu.as_ref().map(|it| it.breaker.health())
    }

    /// Where an operation would run, why, and what that is expected to take. Computes nothing, leaves no record, and asks no driver: it goes by
    /// what the GPU's memory had free when an operation asked last, and by all of it before the first, and counts what cuSOLVER wants for panels of LU where that
    /// was asked for something before. Rates that nobody has measured are measured
    /// once, which takes the GPU ([`rates`](Device::rates), [`rated`](Device::rated)).
    ///
    /// ```
    /// use tilewright_hybrid::dispatch::{Job, Verb};
    /// use tilewright_hybrid::{Columns, Device, Rows, Shape};
    ///
    /// let job = Job::verb::<f64>(Verb::Solve, Shape::new(Rows(20_000), Columns(20_000)), Columns(1))?;
    /// println!("{}", Device::cpu().plan(&job)?);   // cpu.solve.f64 reason=asked(cpu=5.56 s) bound=compute 3.200 GB
    /// # Ok::<(), tilewright_hybrid::Error>(())
    /// ```
    pub fn plan(&self, job: &Job) -> Result<Decision, Error> {
        self.refuse_unused()?;
        let budget = self.budget_by(job, |budget, all| budget.last_available().unwrap_or(all));
        let beside = |plan: &PanelPlan| self.beside(job, plan, Gpu::solver_if_there);
        let (rates, host) = (self.rates_to_decide(), self.host_room(job));
        let decision = Decision::beside(job, self.choice, &rates, (budget, &beside), host)?;
        Ok(match &self.experience {
            Some(experience) => experience.planned(job, decision),
            None => decision,
        })
    }

    /// Bytes of the GPU's memory that an operation may use now.
    fn budget(&self, job: &Job) -> u64 {
        self.budget_by(job, |budget, _| budget.available())
    }

    /// The same by what a budget says, out of all memory. It is asked only where that may matter.
    fn budget_by(&self, job: &Job, available: impl Fn(&Budget, u64) -> u64) -> u64 {
        let Some(it) = self.usable() else { return 0 };
        let all = it.gpu.stream().device().memory_bytes() as u64;
        if it.is_measured && job.device_bytes < all / 16 { all } else { available(&it.budgets.device, all) }
    }

    /// Host memory that an operation may use. It is asked only where that may matter.
    fn host_room(&self, job: &Job) -> HostRoom {
        let gathered = job.gathered.filter(|_| job.divisible.is_some());
        let bytes = gathered.map_or(u64::MAX, |it| self.host.available_for(it.whole));
        HostRoom { bytes, has_folder: self.folder.is_some() }
    }

    /// What cuSOLVER takes beside panels of LU factors. Nothing where it is not there, or cannot tell: whoever factors learns why.
    fn beside(&self, job: &Job, plan: &PanelPlan, solver: impl Fn(&Gpu) -> Option<Arc<Solver>>) -> u128 {
        let usable = self.usable().filter(|_| self.choice != Choice::Cpu && plan.pass == Pass::Lu);
        let Some(solver) = usable.and_then(|it| solver(&it.gpu)) else { return 0 };
        let panel = [plan.size, plan.panel];
        let bytes = match job.element {
            "f32" => lu_workspace::<f32>(&solver, panel),
            "f64" => lu_workspace::<f64>(&solver, panel),
            "c64" => lu_workspace::<Complex32>(&solver, panel),
            "c128" => lu_workspace::<Complex64>(&solver, panel),
            _ => None,
        };
        bytes.unwrap_or(0)
    }

    fn ordinal(&self) -> Option<usize> {
        self.gpu.as_ref().map(|it| it.gpu.stream().device().ordinal())
    }
}

impl Default for Device {
    /// [`Device::auto`].
    fn default() -> Device {
        Device::auto()
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.gpu.as_ref().map_or(Place::Cpu, |it| Place::Gpu(it.gpu.clone()));
        write!(f, "Device {:?} of {place:?}", self.choice)
    }
}
