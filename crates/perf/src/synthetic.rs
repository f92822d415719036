//! An operation that does not exist: a product of matrices in tiles, whose times a formula makes up. Tests, benchmarks and the pages
//! about the model use it; nothing here was measured.

use crate::Error;
use crate::dataset::{Named, Row, named};
use crate::device::{DeviceFacts, Unit};
use crate::features::Features;
use crate::random::Random;
use crate::training::Operation;
use crate::work::Work;

/// The operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Synthetic;

/// Elements of the reduced dimension that a step takes.
const STEP: i64 = 32;

impl Operation for Synthetic {
    fn name(&self) -> &str {
        "synthetic"
    }

    fn features(&self) -> Result<Features, Error> {
        Features::new(&["m", "n", "k"], &["tile_m", "tile_n", "stages", "split"])
    }

    fn work(&self, problem: &Named, configuration: &Named, _: &DeviceFacts) -> Result<Work, Error> {
        let of = |named: &Named, name| named.get(name).map_or(f64::NAN, |value| *value as f64);
        let [m, n, k] = ["m", "n", "k"].map(|name| of(problem, name));
        let [tile_m, tile_n, stages, split] =
            ["tile_m", "tile_n", "stages", "split"].map(|name| of(configuration, name));
        let (down, right) = ((m / tile_m).ceil(), (n / tile_n).ceil());
        let steps = (k / split / STEP as f64).ceil();
        let blocks = down * right * split;
        let padded = [down * tile_m, right * tile_n, steps * split * STEP as f64];
        let warps = (tile_m * tile_n / 2048.0).clamp(2.0, 8.0);
        let accumulators = tile_m * tile_n / (warps * 32.0);
        let stage = (tile_m + tile_n) * STEP as f64 * 2.0;
        let work = Work {
            bytes_read: (2.0 * (m + n) * k) as f32,
            bytes_written: (2.0 * m * n) as f32,
            bytes_moved: (blocks * (steps * stage + tile_m * tile_n * if split > 1.0 { 4.0 } else { 2.0 })) as f32,
            flops: (2.0 * m * n * k) as f32,
            flops_done: (2.0 * padded[0] * padded[1] * padded[2]) as f32,
            unit: Unit::TensorF16,
            blocks: blocks as f32,
            threads: (warps * 32.0) as u32,
            registers: (40.0 + accumulators).min(255.0) as u32,
            shared_bytes: (stage * stages) as u32,
            bytes_in_flight: (stage * (stages - 1.0)) as u32,
            steps: steps as f32,
            ..Work::default()
        };
        let work = work.dimension(m as f32, padded[0] as f32).dimension(n as f32, padded[1] as f32);
        let flags = [tile_m.log2(), tile_n.log2(), stages, split.log2()];
        Ok(flags.into_iter().fold(work.dimension(k as f32, padded[2] as f32), |work, flag| work.flag(flag as f32)))
    }
}

impl Synthetic {
    /// The legal configurations of a problem, 144 at most.
    pub fn configurations(self, problem: &Named, device: &DeviceFacts) -> Vec<Named> {
        let mut found = Vec::new();
        for tile_m in [16, 32, 64, 128] {
            for tile_n in [32, 64, 128] {
                for stages in [2, 3, 4] {
                    for split in [1, 2, 4, 8] {
                        let pairs = [("tile_m", tile_m), ("tile_n", tile_n), ("stages", stages), ("split", split)];
                        found.push(named(pairs));
                    }
                }
            }
        }
        let legal = |it: &Named| self.work(problem, it, device).is_ok_and(|work| work.check(device).is_ok());
        found.retain(legal);
        found
    }

    /// The time that the formula makes up for a work, in microseconds: waves of blocks, each the slower of its arithmetic and its bytes,
    /// with latencies that few bytes in flight do not hide, and a reduction if the work is split.
    fn time(self, work: &Work, configuration: &Named, device: &DeviceFacts) -> f64 {
        let registers = f64::from(work.registers * work.threads);
        let resident = (device.registers / registers).min(device.shared_bytes / f64::from(work.shared_bytes + 1024));
        let resident = resident.min(device.threads / f64::from(work.threads)).floor().max(1.0);
        let each = (f64::from(work.blocks) / device.multiprocessors).ceil();
        let (waves, together) = ((each / resident).ceil(), each.min(resident));
        let steps = f64::from(work.steps);
        let step_flops = f64::from(work.flops_done) / f64::from(work.blocks) / steps;
        // Few warps do not keep the tensor cores busy.
        let pipe = 0.35 + 0.65 * (together * f64::from(work.threads) / 512.0).min(1.0);
        let rate = device.flops(work.unit) / device.multiprocessors * 1e-6;
        let compute = together * step_flops / (rate * pipe);
        let in_flight = together * f64::from(work.bytes_in_flight);
        let need = device.memory_bandwidth / device.multiprocessors * device.memory_latency_ns * 1e-9;
        let reached = device.l2_bandwidth * (in_flight / (1.5 * need)).min(1.0);
        let bytes = f64::from(work.bytes_moved) / f64::from(work.blocks) / steps;
        let memory = together * bytes * device.multiprocessors / reached * 1e6;
        let dram = f64::from(work.bytes_read + work.bytes_written) / device.memory_bandwidth * 1e6;
        let wave = device.memory_latency_ns * 1.5e-3 + steps * compute.max(memory).max(0.02);
        let split = configuration.get("split").copied().unwrap_or(1);
        let partial = f64::from(work.bytes_written) * split as f64 * 2.0;
        let reduction = if split > 1 { 1.1 + partial / device.l2_bandwidth * 1e6 } else { 0.0 };
        device.launch_floor_us + (waves * wave).max(1.05 * dram) + reduction
    }

    /// A set of rows: `problems` problems with up to `each` configurations each, with a noise of 2 %, the same for the same seed.
    pub fn rows(self, problems: usize, each: usize, seed: u64) -> Vec<Row> {
        let (device, mut random) = (DeviceFacts::h200(), Random::new(seed));
        let mut rows = Vec::new();
        for _ in 0..problems {
            let mut size = |low: f64, high: f64| (low + (high - low) * random.unit()).exp2() as i64;
            let problem = named([("m", size(0.0, 13.0)), ("n", size(6.0, 13.0)), ("k", size(6.0, 13.0))]);
            let mut configurations = self.configurations(&problem, &device);
            random.shuffle(&mut configurations);
            configurations.truncate(each);
            for configuration in configurations {
                let Ok(work) = self.work(&problem, &configuration, &device) else { continue };
                let noise = (0.02 * random.normal()).exp();
                let median_us = (self.time(&work, &configuration, &device) * noise) as f32;
                let (op, device) = (self.name().to_owned(), device.name.clone());
                let problem = problem.clone();
                let row = Row {
                    op,
                    problem,
                    configuration,
                    device,
                    clock_mhz: 1830.0,
                    power_w: 500.0,
                    median_us,
                    spread: 0.02,
                };
                rows.push(row);
            }
        }
        rows
    }
}
