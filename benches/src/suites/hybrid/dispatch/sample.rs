//! Products of random extents, and what they take on either side: what the model of times is fitted to.

use super::super::add;
use super::super::matmul::Real;
use super::timed::{Operands, PLACES, extents, fastest};
use crate::Result;
use crate::cases::Random;
use crate::report::{Report, folder};
use crate::session::Session;
use serde::{Deserialize, Serialize};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tilewright_hybrid::dispatch::{At, Choice, Job, ProductExtents, Rates, Tiling, Unit};
use tilewright_hybrid::linear::{Gpu, Precision};
use tilewright_hybrid::{Device, Operand, Target};

/// Seconds of products, and of one of them at most.
const SECONDS: f64 = 150.0;
const PATIENCE: f64 = 0.05;

/// What a machine was measured at, and products that it made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    /// The machine's rates.
    pub rates: Rates,
    /// Bytes of the GPU's memory.
    pub device_bytes: u64,
    /// The products.
    pub products: Vec<Timed>,
}

/// A product whose operands lie column by column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timed {
    /// Rows, columns and depth.
    pub extents: [usize; 3],
    /// Whether of f64, else of f32.
    pub is_f64: bool,
    /// Which of the places it was ([`Timed::at`]).
    pub place: usize,
    /// Seconds on the CPU and on the GPU.
    pub took: [f64; 2],
    /// Seconds that were expected there.
    pub expected: [f64; 2],
}

impl Timed {
    /// Where both factors and the result lie.
    pub fn at(&self) -> [At; 3] {
        PLACES[self.place % PLACES.len()]
    }

    /// What it asks of a machine, as a device has it.
    pub fn job(&self) -> std::result::Result<Job, tilewright_hybrid::Error> {
        let [rows, columns, depth] = self.extents;
        let element = if self.is_f64 { ("f64", 8, Unit::F64) } else { ("f32", 4, Unit::F32) };
        let mut job = Job::matmul(element, ProductExtents { rows, columns, depth }, self.at(), false)?;
        // A result in page-locked memory lies row by row; a vector is a column.
        let is_vector = rows == 1 || columns == 1;
        let is_turned = if is_vector { rows == 1 } else { self.at()[2] == At::Pinned };
        if let Some((extents, _)) = job.product.as_mut().filter(|_| is_turned) {
            (extents.rows, extents.columns) = (columns, rows);
            job.turned = [columns, rows].map(|other| depth > 1 && other > 1);
        }
        if self.at().contains(&At::Pinned) {
            job.tiling = Tiling::Always;
        }
        job.is_at_hand = true;
        Ok(job)
    }
}

/// Measures `dispatch/sample`: writes products and their times to `dispatch-sample.json`, beside the results.
pub(in super::super) fn sample(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let gpu = Gpu::new(session.gpu.stream());
    let rates = Device::with(&gpu).measure_products()?;
    // Others each time: a model that knows these is compared with those it does not.
    let mut random = Random::new(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs());
    let (begin, mut products) = (Instant::now(), Vec::new());
    while begin.elapsed().as_secs_f64() < if quick { SECONDS / 50.0 } else { SECONDS } {
        let (extents, number) = (extents(&mut random), products.len());
        // Both types at each of the places.
        let (place, is_f64) = (number % PLACES.len(), (number / PLACES.len()).is_multiple_of(2));
        products.push(match is_f64 {
            true => timed::<f64>(&gpu, &rates, extents, place, is_f64)?,
            false => timed::<f32>(&gpu, &rates, extents, place, is_f64)?,
        });
    }
    let count = products.len() as f64;
    let sample = Sample { rates, device_bytes: session.gpu.device().memory_bytes() as u64, products };
    let folder = folder();
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("dispatch-sample.json"), serde_json::to_vec(&sample)?)?;
    add(report, case, &[("products", count, "products")]);
    Ok(())
}

fn timed<T: Real>(gpu: &Gpu, rates: &Rates, extents: ProductExtents, place: usize, is_f64: bool) -> Result<Timed> {
    let mut operands = Operands::<T>::new(gpu, extents, PLACES[place])?;
    let device = Device::with(gpu).rated(*rates);
    let plan = |factors: [Operand<'_, T>; 2], c: Target<'_, T>| {
        Ok(device.plan_product(Precision::Auto, factors, T::ZERO, &c)?)
    };
    let decision = operands.with(plan)?;
    let on_gpu = decision.gpu.as_ref().map_or(f64::NAN, |gpu| gpu.cost.wall);
    let sides = [Choice::Cpu, Choice::Gpu].map(|choice| device.clone().choosing(choice));
    let took = fastest(PATIENCE, |side| operands.multiply(&sides[side]))?.map(|took| took.0[0]);
    let ProductExtents { rows, columns, depth } = extents;
    let expected = [decision.cpu.wall, on_gpu];
    Ok(Timed { extents: [rows, columns, depth], is_f64, place, took, expected })
}
