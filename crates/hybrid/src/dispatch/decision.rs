//! Where an operation runs, and why.

use super::cost::{Room, on_cpu, on_gpu};
use super::on_host::{HostRoom, OnHost, on_host};
use super::{At, Bound, Cost, Emulation, Explained, Facts, Job, OnGpu, Operand, Rates, Tiles};
use crate::linear::refused_on_cpu;
use crate::{Error, Side};
use std::fmt;

/// Which processor is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Choice {
    /// The one that is expected to be faster.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU: what it cannot do is an error.
    Gpu,
}

/// Why that one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// It was asked for.
    Asked,
    /// It is expected to be faster.
    Cost,
    /// It was faster ([`Device::learning`](crate::Device::learning)).
    Measured,
    /// Both are tried, since either may be the faster one.
    Tried,
    /// There is no GPU, or it is not to be used.
    NoGpu,
    /// The GPU cannot do it.
    Unsupported(&'static str),
    /// Factors that it goes by are there.
    Kept,
    /// The CPU cannot do it.
    GpuAlone,
    /// It neither fits into the memory of the GPU that may be used nor can it be streamed.
    TooLarge,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Asked => f.write_str("asked"),
            Reason::Cost => f.write_str("cost"),
            Reason::Measured => f.write_str("measured"),
            Reason::Tried => f.write_str("tried"),
            Reason::NoGpu => f.write_str("no GPU"),
            Reason::Unsupported(why) => write!(f, "unsupported: {why}"),
            Reason::Kept => f.write_str("its factors are there"),
            Reason::GpuAlone => f.write_str("the GPU alone can"),
            Reason::TooLarge => f.write_str("too large for the GPU"),
        }
    }
}

/// Where an operation runs, why, and what that is expected to take.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The operation's name.
    pub operation: &'static str,
    /// The element type's name.
    pub element: &'static str,
    /// The processor.
    pub side: Side,
    /// Why.
    pub reason: Reason,
    /// What is expected of the CPU.
    pub cpu: Cost,
    /// How it goes through the CPU, where host memory has no room for all of it.
    pub on_host: Option<OnHost>,
    /// What is expected of the GPU, where it can do it; with the tiles, if it is streamed.
    pub gpu: Option<OnGpu>,
    /// Bytes of all operands.
    pub bytes: u64,
    /// The operands, at most three, and where they lie.
    pub read: [Option<Operand>; 3],
    /// The result, and where it is wanted.
    pub written: Operand,
    /// What it went by.
    pub rates: Rates,
    /// What the GPU's rate of products is expected from, where nobody has measured it in what this is computed in.
    pub expected: Option<Facts>,
    /// Where something lies on a disk the rate that it is taken to have, in bytes in a second: [`Rates::DISK`] is not measured.
    pub disk: Option<f64>,
    /// How f64 is emulated, if it is, and what that is off by at most.
    pub emulation: Option<Emulation>,
}

impl Decision {
    /// Decides about an operation, by these rates, with so many bytes of the GPU's memory, and all that it takes of the host's. Asks no device: what cuSOLVER wants beside panels of LU factors is
    /// not counted, which an operation of a [`Device`](crate::Device) counts.
    ///
    /// [`Choice::Gpu`] is [`Error::NoGpu`], [`Error::Unsupported`] or [`Error::Budget`] where the GPU is not there, cannot do it, or lacks the memory. What
    /// is emulated the GPU alone can do, however slow it is there: [`Choice::Cpu`] is [`Error::Unsupported`], and so is [`Choice::Auto`] where there is no GPU.
    pub fn of(job: &Job, choice: Choice, rates: &Rates, budget: u64) -> Result<Decision, Error> {
        Self::beside(job, choice, rates, (budget, &|_| 0), HostRoom::ENDLESS)
    }

    /// The same, where panels of LU factors leave room for what cuSOLVER wants, and so much host memory may be used.
    pub(crate) fn beside(
        job: &Job,
        choice: Choice,
        rates: &Rates,
        room: Room<'_>,
        host: HostRoom,
    ) -> Result<Decision, Error> {
        let (on_host, cpu) = match on_host(job, rates, host) {
            Some((on_host, cost)) => (Some(on_host), cost),
            None => (None, on_cpu(job, rates)),
        };
        let gpu = match job.not_on_gpu {
            Some(_) => None,
            None => on_gpu(job, rates, room),
        };
        let decided = |side, reason, gpu: Option<OnGpu>| Decision {
            expected: gpu.as_ref().and(rates.gpu).and_then(|it| it.expected.of(job.unit)),
            operation: job.operation,
            element: job.element,
            side,
            reason,
            cpu,
            on_host,
            gpu,
            bytes: job.bytes(),
            read: job.read,
            written: job.written,
            rates: *rates,
            disk: job.read.iter().flatten().chain([&job.written]).any(|it| it.at == At::Disk).then_some(rates.disk),
            emulation: job.emulation,
        };
        let is_gpu_alone = job.emulation.is_some();
        if job.kept_on == Some(Side::Cpu) {
            return Ok(decided(Side::Cpu, Reason::Kept, None));
        }
        match (choice, job.not_on_gpu, gpu) {
            (Choice::Cpu, ..) | (Choice::Auto, None, None) if is_gpu_alone => {
                Err(refused_on_cpu(job.operation, job.element))
            }
            (Choice::Auto, Some(why), _) if is_gpu_alone => Err(unsupported(job, why)),
            (Choice::Auto, None, Some(gpu)) if is_gpu_alone => Ok(decided(Side::Gpu, Reason::GpuAlone, Some(gpu?))),
            (Choice::Cpu, _, gpu) => Ok(decided(Side::Cpu, Reason::Asked, gpu.and_then(Result::ok))),
            (Choice::Gpu, Some(why), _) => Err(unsupported(job, why)),
            (Choice::Gpu, None, None) => Err(Error::NoGpu { why: "none was found, or none is to be used".into() }),
            (Choice::Gpu, None, Some(gpu)) => Ok(decided(Side::Gpu, Reason::Asked, Some(gpu?))),
            (Choice::Auto, Some(why), _) => Ok(decided(Side::Cpu, Reason::Unsupported(why), None)),
            (Choice::Auto, None, None) => Ok(decided(Side::Cpu, Reason::NoGpu, None)),
            (Choice::Auto, None, Some(Err(_))) => Ok(decided(Side::Cpu, Reason::TooLarge, None)),
            (Choice::Auto, None, Some(Ok(gpu))) if job.kept_on.is_some() => {
                Ok(decided(Side::Gpu, Reason::Kept, Some(gpu)))
            }
            (Choice::Auto, None, Some(Ok(gpu))) => {
                let side = if gpu.cost.wall < cpu.wall { Side::Gpu } else { Side::Cpu };
                Ok(decided(side, Reason::Cost, Some(gpu)))
            }
        }
    }

    /// What is expected of the processor that was chosen.
    pub fn cost(&self) -> Cost {
        match (self.side, &self.gpu) {
            (Side::Gpu, Some(gpu)) => gpu.cost,
            _ => self.cpu,
        }
    }

    /// What it is streamed in, if it is, by the processor that was chosen.
    pub fn tiles(&self) -> Option<Tiles> {
        match self.side {
            Side::Cpu => self.on_host.map(|it| it.tiles),
            Side::Gpu => self.gpu.as_ref().and_then(|it| it.tiles),
        }
    }

    /// All of it for people: the decision, where operands lie, the rates that it went by, and how long it took to measure those.
    pub fn explain(&self) -> Explained<'_> {
        Explained(self)
    }

    /// As `gpu.matmul.f64`.
    pub(super) fn name_on(&self, side: Side) -> String {
        let side = match side {
            Side::Cpu => "cpu",
            Side::Gpu => "gpu",
        };
        format!("{side}.{}.{}", self.operation, self.element)
    }

    /// What the longest part of that is.
    pub fn bound(&self) -> Bound {
        self.cost().bound()
    }
}

impl fmt::Display for Decision {
    /// As `gpu.matmul.f64 reason=cost(cpu=690 ms, gpu=31.2 ms) bound=bring 1.61 GB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} reason={}(cpu={}", self.name_on(self.side), self.reason, Seconds(self.cpu.wall))?;
        if let Some(gpu) = &self.gpu {
            write!(f, ", gpu={}", Seconds(gpu.cost.wall))?;
        }
        let bound = match self.bound() {
            Bound::Compute => "compute",
            Bound::Bring => "bring",
            Bound::Back => "back",
            Bound::Call => "call",
        };
        write!(f, ") bound={bound} {:.3} GB", self.bytes as f64 / 1e9)?;
        if let Some(disk) = self.disk {
            let unmeasured = if disk == Rates::DISK { " unmeasured" } else { "" };
            write!(f, " disk={:.2} GB/s{unmeasured}", disk / 1e9)?;
        }
        if let Some(facts) = self.expected {
            write!(f, " rate of the GPU expected from {facts}, not measured")?;
        }
        if let Some(tiles) = self.tiles() {
            write!(f, " streamed in {tiles}")?;
        }
        self.emulation.map_or(Ok(()), |emulation| write!(f, " {emulation}"))
    }
}

fn unsupported(job: &Job, why: &str) -> Error {
    Error::Unsupported { operation: job.operation, element: job.element, place: "GPU", why: why.into() }
}

/// A time in a unit that leaves a few digits before the point.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            s if s >= 1.0 => write!(f, "{s:.2} s"),
            s if s >= 1e-3 => write!(f, "{:.2} ms", s * 1e3),
            s => write!(f, "{:.2} us", s * 1e6),
        }
    }
}
