//! What the suites that need a GPU share.

use crate::Result;
use crate::clock::Clock;
use crate::kernels::Empty;
use crate::suites::copy;
use std::cell::OnceCell;
use tilewright_ops::{Device, Gpu};

/// An open GPU with its clock, and figures that other figures are set against.
#[derive(Debug)]
pub struct Session {
    /// The device for tensors.
    pub device: Device,
    /// The same.
    pub gpu: Gpu,
    /// Its clock.
    pub clock: Clock,
    /// An empty kernel with 64 bytes of parameters.
    pub empty: Empty,
    copies: [OnceCell<f64>; copy::EXPONENTS.len()],
}

impl Session {
    /// Opens the first GPU, or says why there is none.
    pub fn open(quick: bool) -> Result<Self> {
        let device = Device::gpu(0)?;
        let gpu = device.as_gpu().ok_or("not a GPU")?.clone();
        let (clock, empty) = (Clock::new(&gpu, quick)?, Empty::new(&gpu, 64)?);
        Ok(Self { device, gpu, clock, empty, copies: Default::default() })
    }

    /// Microseconds of a device copy of 2^exponent f32, measured when first asked for.
    pub fn copy_us(&self, exponent: u32) -> Result<f64> {
        let known = copy::EXPONENTS.iter().position(|known| *known == exponent).map(|at| &self.copies[at]);
        if let Some(us) = known.and_then(OnceCell::get) {
            return Ok(*us);
        }
        let us = copy::measure(self, exponent)?;
        Ok(known.map_or(us, |cell| *cell.get_or_init(|| us)))
    }

    /// How many sets of operands and results, of so many bytes each, are more than the level-2 cache holds: at least two.
    pub fn sets(&self, bytes: usize) -> usize {
        2 + self.gpu.device().l2_bytes() / bytes.max(1)
    }

    /// Microseconds that moving this many bytes, read and written, takes at the best copy bandwidth.
    pub fn limit_us(&self, bytes: usize) -> Result<f64> {
        let mut best = f64::INFINITY;
        for exponent in copy::EXPONENTS {
            best = best.min(self.copy_us(exponent)? / copy::bytes(exponent) as f64);
        }
        Ok(best * bytes as f64)
    }
}
