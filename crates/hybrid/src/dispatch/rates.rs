//! What a machine can do: rates of its CPU, its GPU and the link between them.

use super::Expected;
use crate::linear::{MOST_THREADS, Precision};
use serde::{Deserialize, Serialize};

/// What a sum of products is computed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Unit {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
    /// Factors of 10 bits of mantissa, sums in f32; a CPU computes in f32.
    Tf32,
    /// Factors of 16 bits, sums in f32.
    Half,
    /// Factors of 8 bits, sums in integers; nobody measures it, and it is taken for as fast as [`Unit::Half`].
    Integer,
    /// Pairs of bits, AND and addition being two operations; nobody measures it, and it is taken for 13 times as fast as [`Unit::Half`]: 9.1e15
    /// in a second of an H200, where 9.6e15 were measured, and 0.8e12 of a core, as with AVX2.
    Bits,
}

/// Operations in a second, by what they are computed in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flops {
    /// [`Unit::F64`].
    pub f64: f64,
    /// [`Unit::F32`].
    pub f32: f64,
    /// [`Unit::Tf32`].
    pub tf32: f64,
    /// [`Unit::Half`].
    pub half: f64,
}

impl Flops {
    /// Those of a unit.
    pub fn of(&self, unit: Unit) -> f64 {
        match unit {
            Unit::F64 => self.f64,
            Unit::F32 => self.f32,
            Unit::Tf32 => self.tf32,
            Unit::Half | Unit::Integer => self.half,
            Unit::Bits => 13.0 * self.half,
        }
    }

    /// Those of a unit that is measured.
    pub(crate) fn set(&mut self, unit: Unit, flops: f64) {
        match unit {
            Unit::F64 => self.f64 = flops,
            Unit::F32 => self.f32 = flops,
            Unit::Tf32 => self.tf32 = flops,
            Unit::Half | Unit::Integer => self.half = flops,
            Unit::Bits => self.half = flops / 13.0,
        }
    }
}

/// A processor with its memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    /// Products of matrices: operations in a second, a multiplication and an addition being two.
    pub flops: Flops,
    /// Bytes in a second that are read or written, in long passes.
    pub memory: f64,
    /// Seconds that a call costs besides.
    pub call: f64,
    /// Seconds until all cores of a CPU work on a product that they share; 0 where nobody measured it, and for a GPU.
    pub start: f64,
}

/// Copies between the two: bytes in a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// To the GPU from pinned memory, nothing else going on.
    pub to_gpu: f64,
    /// Back to pinned memory.
    pub to_host: f64,
    /// Each way while both are busy: the worse of the two.
    pub both: f64,
    /// To the GPU from pageable memory, a matrix without gaps.
    pub pageable: f64,
    /// Back to pageable memory whose pages are there, likewise.
    pub pageable_back: f64,
    /// Seconds until a copy of a few bytes to the GPU lets go of who asked for it.
    pub call_to_gpu: f64,
    /// Seconds until a few bytes have come back.
    pub call_to_host: f64,
}

/// A GPU and the link to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accelerator {
    /// The GPU.
    pub processor: Processor,
    /// The link.
    pub link: Link,
    /// Which rates of products nobody has measured yet.
    pub expected: Expected,
}

/// What a machine can do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// All its cores together.
    pub cpu: Processor,
    /// Products of matrices on one core of it: small ones are not shared.
    pub alone: Flops,
    /// Threads that share others.
    pub threads: usize,
    /// The GPU, if there is one.
    pub gpu: Option<Accelerator>,
    /// Bytes in a second from a disk, or to it. Nobody measures it, since there is not one disk but as many as files lie on: it is
    /// [`Rates::DISK`] unless somebody says otherwise ([`Device::rated`](crate::Device::rated)), and decisions where it matters say so. A
    /// [`Profile`](super::Profile), which has what was measured, does not have it.
    #[serde(skip, default = "Rates::disk")]
    pub disk: f64,
    /// Seconds that it took to measure them, from begin to end: what whoever asked first waited for. Rates of products on a GPU are none of it
    /// ([`Accelerator::expected`]). Nothing where nobody measured, and where the rates of the CPU are guesses.
    pub measured_in: Option<f64>,
}

impl Rates {
    /// What a disk is taken to give, in bytes in a second.
    pub const DISK: f64 = 1e9;

    fn disk() -> f64 {
        Self::DISK
    }

    /// Of an H200 (PCIe 5.0, 16 lanes), as measured on 2026-11-20, pageable memory by plain copies, beside 16 cores at 100 GF each; for plans
    /// without the machine.
    pub fn h200() -> Self {
        let flops = Flops { f64: 60e12, f32: 50e12, tf32: 400e12, half: 700e12 };
        let processor = Processor { flops, memory: 4.25e12, call: 13e-6, start: 0.0 };
        let link = Link {
            to_gpu: 55e9,
            to_host: 55e9,
            both: 51e9,
            pageable: 3.7e9,
            pageable_back: 2.59e9,
            call_to_gpu: 3e-6,
            call_to_host: 10e-6,
        };
        Rates { gpu: Some(Accelerator { processor, link, expected: Expected::default() }), ..Rates::of_cores(16) }
    }

    /// Of so many cores without a GPU, roughly: 60 GF in f64 and 20 GB/s each, 200 GB/s together.
    pub fn of_cores(cores: usize) -> Self {
        let threads = cores.clamp(1, MOST_THREADS);
        let cores = threads as f64;
        let of = |cores: f64| Flops { f64: 60e9 * cores, f32: 120e9 * cores, tf32: 120e9 * cores, half: 60e9 * cores };
        let cpu = Processor { flops: of(cores), memory: (20e9 * cores).min(200e9), call: 1e-6, start: 0.0 };
        Rates { cpu, alone: of(1.0), threads, gpu: None, disk: Self::DISK, measured_in: None }
    }

    /// What to compute in where either would do: f64 if products in it run at half the rate of f32 or more, since they have twice the bytes;
    /// else f32. By the GPU's rates, or the CPU's where there is none: as measured, not by the name of a generation.
    ///
    /// A preference, never a deed: [`Precision::Auto`] computes in the element type, whatever the rates are.
    pub fn preferred_precision(&self) -> Precision {
        let flops = self.gpu.as_ref().map_or(&self.cpu.flops, |gpu| &gpu.processor.flops);
        // What is measured is never exactly a half.
        if flops.f64 >= 0.45 * flops.f32 { Precision::F64 } else { Precision::F32 }
    }

    /// What is wrong with them: a rate that is no positive number.
    pub(super) fn fault(&self) -> Option<String> {
        let flops = |it: &Flops| [it.f64, it.f32, it.tf32, it.half];
        let of = |it: &Processor| flops(&it.flops).into_iter().chain([it.memory, it.call]);
        let link = |it: &Link| {
            [it.to_gpu, it.to_host, it.both, it.pageable, it.pageable_back, it.call_to_gpu, it.call_to_host]
        };
        let processors = [Some(&self.cpu), self.gpu.as_ref().map(|gpu| &gpu.processor)];
        if let Some(it) = processors.into_iter().flatten().find(|it| !(it.start.is_finite() && it.start >= 0.0)) {
            return Some(format!("a start of {} s", it.start));
        }
        if !(1..=MOST_THREADS).contains(&self.threads) {
            return Some(format!("{} threads", self.threads));
        }
        if let Some(seconds) = self.measured_in.filter(|seconds| !(seconds.is_finite() && *seconds >= 0.0)) {
            return Some(format!("a measurement of {seconds} s"));
        }
        let clock = |it: &Expected| it.facts.map(|facts| facts.clock);
        let gpu = self.gpu.iter().flat_map(|it| of(&it.processor).chain(link(&it.link)).chain(clock(&it.expected)));
        let mut all = of(&self.cpu).chain(flops(&self.alone)).chain([self.disk]).chain(gpu);
        all.find(|rate| !(rate.is_finite() && *rate > 0.0)).map(|rate| format!("a rate of {rate}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_checked() {
        assert_eq!(Rates::h200().fault(), None);
        for measured_in in [f64::NAN, f64::INFINITY, -1.0] {
            let rates = Rates { measured_in: Some(measured_in), ..Rates::h200() };
            assert!(rates.fault().is_some_and(|fault| fault.contains("a measurement of")));
        }
        assert_eq!(Rates { measured_in: Some(0.0), ..Rates::h200() }.fault(), None);
        for threads in [0, usize::MAX] {
            assert!(Rates { threads, ..Rates::h200() }.fault().is_some_and(|fault| fault.ends_with("threads")));
        }
    }
}
