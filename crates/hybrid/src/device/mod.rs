//! The face: a device that decides, operation by operation, which processor it is.

mod known;
mod matmul;
mod measure;
mod operands;

pub use matmul::Streamed;

use crate::Error;
use crate::budget::Budget;
use crate::dispatch::{Choice, Rates};
use crate::faults::{Breaker, Health};
use crate::linear::{Gpu, Place};
use crate::stream::Budgets;
use std::fmt;
use tilewright_driver::Device as Driver;

/// Which processors operations may use, and what they know of them. Clones are the same.
///
/// [`Device::auto`] decides for each operation by its cost ([`crate::dispatch`]): each leaves a decision that can be read back
/// ([`crate::dispatch::last_decision`]). What fails on the GPU goes on, on the CPU, as the policy of the GPU's [`Breaker`] says.
///
/// ```
/// use ndarray::array;
/// use tilewright_hybrid::{Device, dispatch, linear::Precision};
///
/// let (a, b) = (array![[1.0, 2.0], [3.0, 4.0]], array![[5.0], [6.0]]);
/// let mut c = array![[1.0], [1.0]];
/// Device::auto().matmul(Precision::Auto, 2.0, (&a).into(), (&b).into(), 10.0, (&mut c).into())?;
/// assert_eq!(c, array![[44.0], [88.0]]);
/// assert_eq!(dispatch::last_decision().unwrap().side, dispatch::Side::Cpu);
/// # Ok::<(), tilewright_hybrid::Error>(())
/// ```
#[derive(Clone)]
pub struct Device {
    choice: Choice,
    gpu: Option<Accelerated>,
    rates: Option<Rates>,
}

/// A GPU with what it may use.
#[derive(Clone)]
struct Accelerated {
    gpu: Gpu,
    breaker: Breaker,
    budgets: Budgets,
    /// Whether what may be used of its memory is what is free of it: then the driver has to be asked, which takes microseconds.
    is_measured: bool,
}

impl Accelerated {
    fn new(gpu: Gpu) -> Accelerated {
        let device = gpu.stream().device();
        let budgets = Budgets { device: Budget::device(device), pinned: Budget::pinned() };
        Accelerated { gpu, breaker: Breaker::of(device.ordinal()), budgets, is_measured: true }
    }
}

impl Device {
    /// The CPU and the first GPU, if there is one: whichever is expected to be faster. Where there is none, or no driver, it is the CPU.
    pub fn auto() -> Device {
        let gpu =
            Driver::new(0).and_then(|device| device.stream()).ok().map(|stream| Accelerated::new(Gpu::new(&stream)));
        Device { choice: Choice::Auto, gpu, rates: None }
    }

    /// The CPU alone: no driver is looked for.
    pub fn cpu() -> Device {
        Device { choice: Choice::Cpu, gpu: None, rates: None }
    }

    /// A GPU alone: what it cannot do is an error. [`Error::Driver`] where there is no such GPU.
    pub fn gpu(ordinal: usize) -> Result<Device, Error> {
        let stream = Driver::new(ordinal)?.stream()?;
        Ok(Device { choice: Choice::Gpu, gpu: Some(Accelerated::new(Gpu::new(&stream))), rates: None })
    }

    /// The CPU and this GPU.
    pub fn with(gpu: &Gpu) -> Device {
        Device { choice: Choice::Auto, gpu: Some(Accelerated::new(gpu.clone())), rates: None }
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

    /// With other budgets for the GPU's memory and for pinned memory.
    #[must_use]
    pub fn within(mut self, budgets: Budgets) -> Device {
        if let Some(gpu) = &mut self.gpu {
            (gpu.budgets, gpu.is_measured) = (budgets, false);
        }
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

    /// What the machine can do: as given, or as measured once and kept (in the user's cache folder, for this machine and GPU). Measuring
    /// takes some tens of milliseconds, once.
    pub fn rates(&self) -> Rates {
        self.rates.unwrap_or_else(|| known::rates(self.gpu.as_ref().map(|it| &it.gpu)))
    }

    /// How its GPU does; nothing without one.
    pub fn health(&self) -> Option<Health> {
        self.gpu.as_ref().map(|it| it.breaker.health())
    }

    /// Bytes of the GPU's memory that an operation on so many bytes may use. The driver is asked only where that may matter.
    fn budget(&self, bytes: u64) -> u64 {
        let Some(it) = &self.gpu else { return 0 };
        let all = it.gpu.stream().device().memory_bytes() as u64;
        if it.is_measured && bytes < all / 16 { all } else { it.budgets.device.available() }
    }

    fn place(&self) -> Place {
        self.gpu.as_ref().map_or(Place::Cpu, |it| Place::Gpu(it.gpu.clone()))
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
        write!(f, "Device {:?} of {:?}", self.choice, self.place())
    }
}
