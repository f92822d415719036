//! Numbers from which times are learned: the same for every operation, and its own dimensions and flags behind them.
//!
//! The names of all features, in their order, are [`Features::names`]; what each is stands beside its name in [`GENERAL`].
//! Sizes are logarithms to base 2. What is learned is ln(time / expected), with the expectation of [`Features::fill`].

mod log2;
mod occupancy;
mod scales;

use crate::Error;
use crate::device::DeviceFacts;
use crate::work::{MOST_DIMENSIONS, MOST_FLAGS, Work};
use log2::log2;
use occupancy::Occupancy;
pub(crate) use scales::Scales;
use serde::{Deserialize, Serialize};

/// The features that every operation has: name and meaning.
pub const GENERAL: [(&str, &str); 41] = [
    ("log_bytes_read", "bytes that have to be read"),
    ("log_bytes_written", "bytes that have to be written"),
    ("log_bytes", "both"),
    ("log_bytes_moved", "bytes between L2 and blocks"),
    ("log_reuse", "bytes moved per byte that has to be"),
    ("log_flops", "operations that the problem needs"),
    ("log_padding", "operations done per operation needed"),
    ("log_intensity", "operations per byte"),
    ("log_memory_us", "time of the memory for all bytes"),
    ("log_l2_us", "time of L2 for the bytes moved"),
    ("log_compute_us", "time of the arithmetic, padding included"),
    ("log_roofline_us", "the largest of memory, arithmetic and launch"),
    ("memory_share", "memory's time per roofline"),
    ("l2_share", "L2's time per roofline"),
    ("compute_share", "arithmetic's time, padding included, per roofline"),
    ("launch_share", "the empty kernel's time per roofline"),
    ("log_l2_fit", "bytes per byte of L2"),
    ("log_blocks", "blocks"),
    ("log_threads", "threads of a block"),
    ("registers", "registers of a thread"),
    ("log_shared", "shared memory of a block and one byte"),
    ("log_steps", "steps of a block"),
    ("log_block_bytes", "bytes that a block moves"),
    ("log_block_flops", "operations of a block"),
    ("log_thread_bytes", "bytes that a thread moves"),
    ("log_thread_flops", "operations of a thread"),
    ("log_step_bytes", "bytes of a step"),
    ("fit_threads", "blocks that threads leave room for"),
    ("fit_registers", "blocks that registers leave room for"),
    ("fit_shared", "blocks that shared memory leaves room for"),
    ("fit_blocks", "blocks of a multiprocessor: the least of these"),
    ("occupancy", "threads of a full multiprocessor per thread that it could have"),
    ("log_waves", "blocks per block that the device holds"),
    ("waves", "the same, rounded up"),
    ("wave_use", "blocks per block of these waves"),
    ("last_wave", "how full the last wave is"),
    ("multiprocessor_use", "multiprocessors with a block, of all, in the fullest wave"),
    ("balance", "mean number of blocks of a multiprocessor per largest"),
    ("log_in_flight", "bytes in flight of a multiprocessor"),
    ("log_in_flight_need", "bytes in flight that full bandwidth needs, per those"),
    ("log_serial_us", "memory latency of all steps of all waves"),
];

/// The features of an operation: the general ones, then two for each of its dimensions, then its flags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    dimensions: Vec<String>,
    flags: Vec<String>,
}

impl Features {
    /// Those of an operation whose works name these dimensions and flags. Refuses more than [`MOST_DIMENSIONS`] and [`MOST_FLAGS`].
    pub fn new(dimensions: &[&str], flags: &[&str]) -> Result<Self, Error> {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let features = Self { dimensions: own(dimensions), flags: own(flags) };
        features.check()?;
        Ok(features)
    }

    /// Refuses more names than a work has room for.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.dimensions.len() > MOST_DIMENSIONS {
            let found = self.dimensions.len();
            return Err(Error::Shape { what: "dimensions of a work", found, expected: MOST_DIMENSIONS });
        }
        if self.flags.len() > MOST_FLAGS {
            return Err(Error::Shape { what: "flags of a work", found: self.flags.len(), expected: MOST_FLAGS });
        }
        Ok(())
    }

    /// How many features there are.
    pub fn count(&self) -> usize {
        GENERAL.len() + 2 * self.dimensions.len() + self.flags.len()
    }

    /// Their names, in order.
    pub fn names(&self) -> Vec<String> {
        let general = GENERAL.iter().map(|(name, _)| (*name).to_owned());
        let dimension = |name: &String| [format!("log_{name}"), format!("use_{name}")];
        general.chain(self.dimensions.iter().flat_map(dimension)).chain(self.flags.iter().cloned()).collect()
    }

    /// Writes the features of a work on a device into `row`; gives what the time is learned in relation to, in microseconds: what the
    /// operation expects, else the roofline, the largest of the memory's time, the arithmetic's and an empty kernel's. All are finite. Refuses works that no kernel can have, that the device cannot hold, that
    /// have other numbers of dimensions and flags, and rows of another length; `device` is not checked again.
    pub fn fill(&self, work: &Work, device: &DeviceFacts, row: &mut [f32]) -> Result<f32, Error> {
        work.check(device)?;
        self.fill_scaled(work, &Scales::of(device), row)
    }

    /// The same for a work that was checked, with the device's part worked out once for many works.
    #[inline(always)]
    pub(crate) fn fill_scaled(&self, work: &Work, scales: &Scales, row: &mut [f32]) -> Result<f32, Error> {
        self.matches(work, row.len())?;
        let times = Times::of(work, scales);
        let general = general(work, scales, &times);
        let (first, rest) = row.split_at_mut(GENERAL.len());
        first.copy_from_slice(&general);
        let (extents, flags) = rest.split_at_mut(2 * self.dimensions.len());
        for (places, dimension) in extents.chunks_mut(2).zip(work.dimensions.iter()) {
            places.copy_from_slice(&[log2(dimension.useful), dimension.useful / dimension.padded]);
        }
        flags.iter_mut().zip(work.flags.iter()).for_each(|(place, flag)| *place = flag);
        Ok(if work.expected_us > 0.0 { work.expected_us } else { times.roofline })
    }

    fn matches(&self, work: &Work, row: usize) -> Result<(), Error> {
        let counts = [
            ("dimensions of a work", work.dimensions.added(), self.dimensions.len()),
            ("flags of a work", work.flags.added(), self.flags.len()),
            ("places for features", row, self.count()),
        ];
        match counts.into_iter().find(|(_, found, expected)| found != expected) {
            Some((what, found, expected)) => Err(Error::Shape { what, found, expected }),
            None => Ok(()),
        }
    }
}

/// The terms of the roofline, in microseconds.
struct Times {
    memory: f32,
    l2: f32,
    compute: f32,
    launch: f32,
    roofline: f32,
}

impl Times {
    #[inline(always)]
    fn of(work: &Work, scales: &Scales) -> Self {
        let memory = (work.bytes_read + work.bytes_written) * scales.memory;
        let flop = scales.flop(work.unit);
        let roofline = memory.max(work.flops * flop).max(scales.launch);
        let (l2, compute) = (work.bytes_moved * scales.l2, work.flops_done * flop);
        Self { memory, l2, compute, launch: scales.launch, roofline }
    }
}

/// The least integer not below a number that is not negative; in place, where the library's function is a call.
#[inline(always)]
fn ceil(value: f32) -> f32 {
    let whole = value as i32 as f32;
    // From 2^23 on every number is whole.
    if value < 8e6 { whole + f32::from(u8::from(whole < value)) } else { value }
}

/// The values of [`GENERAL`].
#[inline(always)]
fn general(work: &Work, scales: &Scales, times: &Times) -> [f32; GENERAL.len()] {
    let occupancy = Occupancy::of(work, scales);
    let bytes = work.bytes_read + work.bytes_written;
    let slots = occupancy.blocks * scales.multiprocessors;
    let waves = ceil(work.blocks / slots);
    let last = work.blocks - (waves - 1.0) * slots;
    let each = work.blocks / scales.multiprocessors;
    let resident = occupancy.blocks.min(ceil(each));
    // All logarithms in one loop, which becomes instructions for several; those of amounts that may be 0 first.
    const AMOUNTS: usize = 11;
    let mut logs = [
        work.bytes_read,
        work.bytes_written,
        bytes,
        work.bytes_moved,
        work.flops,
        work.flops_done,
        times.memory,
        times.l2,
        times.compute,
        times.roofline,
        work.bytes_in_flight as f32 * resident,
        work.shared_bytes as f32 + 1.0,
        work.blocks,
        work.threads as f32,
        slots,
        work.steps,
    ];
    logs[..AMOUNTS].iter_mut().for_each(|amount| *amount += 1e-3);
    logs.iter_mut().for_each(|value| *value = log2(*value));
    let [log_read, log_written, log_bytes, log_moved, log_flops, log_done, rest @ ..] = logs;
    let [log_memory, log_l2, log_compute, log_roofline, in_flight, log_shared, rest @ ..] = rest;
    let [log_blocks, log_threads, log_slots, log_steps] = rest;
    let log_waves = log_blocks - log_slots;
    let (log_block_bytes, log_block_flops) = (log_moved - log_blocks, log_done - log_blocks);
    [
        log_read,
        log_written,
        log_bytes,
        log_moved,
        log_moved - log_bytes,
        log_flops,
        log_done - log_flops,
        log_flops - log_bytes,
        log_memory,
        log_l2,
        log_compute,
        log_roofline,
        times.memory / times.roofline,
        times.l2 / times.roofline,
        times.compute / times.roofline,
        times.launch / times.roofline,
        log_bytes - scales.log_l2,
        log_blocks,
        log_threads,
        work.registers as f32,
        log_shared,
        log_steps,
        log_block_bytes,
        log_block_flops,
        log_block_bytes - log_threads,
        log_block_flops - log_threads,
        log_block_bytes - log_steps,
        occupancy.by_threads,
        occupancy.by_registers,
        occupancy.by_shared,
        occupancy.blocks,
        occupancy.blocks * work.threads as f32 / scales.threads,
        log_waves,
        waves,
        work.blocks / (waves * slots),
        last / slots,
        each.min(1.0),
        each / ceil(each),
        in_flight,
        scales.log_need - in_flight,
        scales.log_latency + log_steps + log2(waves),
    ]
}
