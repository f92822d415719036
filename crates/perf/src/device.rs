//! What a device can do, as far as times depend on it.

use crate::Error;
use serde::{Deserialize, Serialize};

/// Facts of a device: plain numbers, from its attributes and from what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceFacts {
    /// Its name, as the driver says it.
    pub name: String,
    /// Compute capability, major times ten plus minor: 90 for sm_90.
    pub architecture: u32,
    /// Streaming multiprocessors.
    pub multiprocessors: f64,
    /// Clock under load, in MHz.
    pub clock_mhz: f64,
    /// Bandwidth of the memory that a copy reaches, in bytes per second.
    pub memory_bandwidth: f64,
    /// Bandwidth of the L2 cache, in bytes per second.
    pub l2_bandwidth: f64,
    /// Size of the L2 cache, in bytes.
    pub l2_bytes: f64,
    /// Time between asking the memory and its answer, in nanoseconds.
    pub memory_latency_ns: f64,
    /// Operations per clock and multiprocessor of each [`Unit`], a multiply-add being two.
    pub rates: Rates,
    /// Shared memory that the blocks of a multiprocessor have together, in bytes.
    pub shared_bytes: f64,
    /// Shared memory that one block can have, in bytes.
    pub shared_bytes_per_block: f64,
    /// Shared memory that the system takes of each block, in bytes.
    pub shared_bytes_reserved: f64,
    /// Registers of a multiprocessor.
    pub registers: f64,
    /// Threads of a multiprocessor.
    pub threads: f64,
    /// Blocks of a multiprocessor.
    pub blocks: f64,
    /// The time of a kernel that does nothing, in microseconds.
    pub launch_floor_us: f64,
}

/// What does a kernel's arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// f32 multiply-adds of single threads.
    F32,
    /// f64 multiply-adds of single threads.
    F64,
    /// Tensor cores with operands of f16 or bf16.
    TensorF16,
    /// Tensor cores with operands of tf32.
    TensorTf32,
    /// Tensor cores with operands of 8 bits.
    Tensor8,
}

/// Operations per clock and multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Of [`Unit::F32`].
    pub f32: f64,
    /// Of [`Unit::F64`].
    pub f64: f64,
    /// Of [`Unit::TensorF16`].
    pub tensor_f16: f64,
    /// Of [`Unit::TensorTf32`].
    pub tensor_tf32: f64,
    /// Of [`Unit::Tensor8`].
    pub tensor_8: f64,
}

impl Rates {
    /// Those of an architecture, from NVIDIA's tables of throughput; of one that is not known, those of the nearest below.
    pub fn of_architecture(architecture: u32) -> Self {
        let [f32, f64, tensor_f16, tensor_tf32, tensor_8] = match architecture {
            0..=79 => [128.0, 4.0, 1024.0, 128.0, 2048.0],
            80..=85 => [128.0, 64.0, 2048.0, 1024.0, 4096.0],
            86..=89 => [256.0, 4.0, 1024.0, 512.0, 2048.0],
            _ => [256.0, 128.0, 4096.0, 2048.0, 8192.0],
        };
        Self { f32, f64, tensor_f16, tensor_tf32, tensor_8 }
    }

    fn of(&self, unit: Unit) -> f64 {
        match unit {
            Unit::F32 => self.f32,
            Unit::F64 => self.f64,
            Unit::TensorF16 => self.tensor_f16,
            Unit::TensorTf32 => self.tensor_tf32,
            Unit::Tensor8 => self.tensor_8,
        }
    }
}

impl DeviceFacts {
    /// An H200 as measured in November 2026: its copy bandwidth, the clock under load, an empty kernel.
    pub fn h200() -> Self {
        Self {
            name: "NVIDIA H200".to_owned(),
            architecture: 90,
            multiprocessors: 132.0,
            clock_mhz: 1830.0,
            memory_bandwidth: 4.3e12,
            l2_bandwidth: 6.5e12,
            l2_bytes: 50.0 * f64::from(1 << 20),
            memory_latency_ns: 700.0,
            rates: Rates::of_architecture(90),
            shared_bytes: 233_472.0,
            shared_bytes_per_block: 232_448.0,
            shared_bytes_reserved: 1024.0,
            registers: 65_536.0,
            threads: 2048.0,
            blocks: 32.0,
            launch_floor_us: 2.4,
        }
    }

    /// An H100 SXM with 80 GB, an H200's chip: its copy bandwidth as measured in November 2026, all else an H200's.
    pub fn h100() -> Self {
        Self { name: "NVIDIA H100 80GB HBM3".to_owned(), memory_bandwidth: 3.0e12, ..Self::h200() }
    }

    /// The devices on which rows were measured.
    pub fn measured() -> [Self; 2] {
        [Self::h200(), Self::h100()]
    }

    /// Operations per second of a unit, on the whole device.
    pub fn flops(&self, unit: Unit) -> f64 {
        self.rates.of(unit) * self.clock_mhz * 1e6 * self.multiprocessors
    }

    /// Refuses facts that are not positive and finite.
    pub fn check(&self) -> Result<(), Error> {
        let facts = [
            ("number of multiprocessors", self.multiprocessors),
            ("clock", self.clock_mhz),
            ("memory bandwidth", self.memory_bandwidth),
            ("L2 bandwidth", self.l2_bandwidth),
            ("L2 size", self.l2_bytes),
            ("memory latency", self.memory_latency_ns),
            ("rate of f32", self.rates.f32),
            ("rate of f64", self.rates.f64),
            ("rate of f16 on tensor cores", self.rates.tensor_f16),
            ("rate of tf32 on tensor cores", self.rates.tensor_tf32),
            ("rate of 8 bits on tensor cores", self.rates.tensor_8),
            ("shared memory", self.shared_bytes),
            ("shared memory of a block", self.shared_bytes_per_block),
            ("shared memory the system takes, plus one,", self.shared_bytes_reserved + 1.0),
            ("number of registers", self.registers),
            ("number of threads", self.threads),
            ("number of blocks", self.blocks),
            ("launch floor", self.launch_floor_us),
        ];
        match facts.into_iter().find(|(_, fact)| !(1e-6..1e18).contains(fact)) {
            Some((what, found)) => Err(Error::Device { what, found }),
            None => Ok(()),
        }
    }
}
