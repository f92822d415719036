//! What one configuration does for one problem, in the terms in which every kernel can say it.

use crate::Error;
use crate::device::{DeviceFacts, Unit};

/// How much of a dimension's tiles is used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantised {
    /// The extent that was asked for.
    pub useful: f32,
    /// The extent that the tiles cover, at least that.
    pub padded: f32,
}

/// The most dimensions that a description names.
pub const MOST_DIMENSIONS: usize = 8;
/// The most flags that a description has.
pub const MOST_FLAGS: usize = 40;

/// A configuration's work for a problem. Whoever knows the kernel fills it in; nothing here is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Bytes that have to be read, each once.
    pub bytes_read: f32,
    /// Bytes that have to be written, each once.
    pub bytes_written: f32,
    /// Bytes that the blocks move between L2 and themselves, repetitions and padding included.
    pub bytes_moved: f32,
    /// Operations that the problem needs; a multiply-add is two.
    pub flops: f32,
    /// Operations that the blocks do, padding included.
    pub flops_done: f32,
    /// What does them.
    pub unit: Unit,
    /// Blocks of the grid, at least 1.
    pub blocks: f32,
    /// Threads of a block, 1 to 1024.
    pub threads: u32,
    /// Registers of a thread, 1 to 255: counted, or the kernel's estimate.
    pub registers: u32,
    /// Shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Bytes that a block has asked the memory for at one time.
    pub bytes_in_flight: u32,
    /// Steps that a block takes one after the other.
    pub steps: f32,
    /// Microseconds that the operation itself expects, by whatever it knows; 0 where it expects nothing.
    pub expected_us: f32,
    /// What [`Work::dimension`] adds.
    pub dimensions: Listed<Quantised, MOST_DIMENSIONS>,
    /// What [`Work::flag`] adds.
    pub flags: Listed<f32, MOST_FLAGS>,
}

/// A few items in the order in which they were added, with room for `N`, in place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Listed<T, const N: usize> {
    items: [T; N],
    added: usize,
}

impl<T: Copy + Default, const N: usize> Default for Listed<T, N> {
    fn default() -> Self {
        Self { items: [T::default(); N], added: 0 }
    }
}

impl<T: Copy, const N: usize> Listed<T, N> {
    /// Adds an item; without room for it, it is only counted.
    pub fn push(&mut self, item: T) {
        if let Some(place) = self.items.get_mut(self.added) {
            *place = item;
        }
        self.added += 1;
    }

    /// How many were added, those that found no room included.
    pub fn added(&self) -> usize {
        self.added
    }

    /// Those that found room.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.items.iter().take(self.added).copied()
    }
}

impl Default for Work {
    fn default() -> Self {
        Self {
            bytes_read: 0.0,
            bytes_written: 0.0,
            bytes_moved: 0.0,
            flops: 0.0,
            flops_done: 0.0,
            unit: Unit::F32,
            blocks: 1.0,
            threads: 1,
            registers: 32,
            shared_bytes: 0,
            bytes_in_flight: 0,
            steps: 1.0,
            expected_us: 0.0,
            dimensions: Listed::default(),
            flags: Listed::default(),
        }
    }
}

impl Work {
    /// Adds a dimension: its extent, and what its tiles cover. Those beyond [`MOST_DIMENSIONS`] are refused when features are made.
    pub fn dimension(mut self, useful: f32, padded: f32) -> Self {
        self.dimensions.push(Quantised { useful, padded });
        self
    }

    /// Adds the value of a flag of the configuration. Those beyond [`MOST_FLAGS`] are refused when features are made.
    pub fn flag(mut self, value: f32) -> Self {
        self.flags.push(value);
        self
    }

    /// Refuses what no kernel can be, and what a multiprocessor of the device cannot hold.
    #[inline(always)]
    pub(crate) fn check(&self, device: &DeviceFacts) -> Result<(), Error> {
        const MOST: f32 = 1e18;
        let amounts = [
            ("number of bytes read", self.bytes_read),
            ("number of bytes written", self.bytes_written),
            ("number of bytes moved", self.bytes_moved),
            ("number of operations", self.flops),
            ("number of operations done", self.flops_done),
        ];
        let outside = |low: f32, value: f32| !(low..=MOST).contains(&value);
        if let Some((what, found)) = amounts.into_iter().find(|(_, amount)| outside(0.0, *amount)) {
            return refused(what, found.into(), MOST.into());
        }
        if outside(1.0, self.blocks) {
            return refused("number of blocks", self.blocks.into(), 1.0);
        }
        if outside(1.0, self.steps) {
            return refused("number of steps", self.steps.into(), 1.0);
        }
        if outside(0.0, self.expected_us) {
            return refused("number of microseconds expected", self.expected_us.into(), MOST.into());
        }
        if let Some(value) = self.flags.iter().find(|value| !(-MOST..=MOST).contains(value)) {
            return refused("value of a flag", value.into(), MOST.into());
        }
        let short =
            |dimension: &Quantised| outside(1.0, dimension.useful) || outside(dimension.useful, dimension.padded);
        if let Some(dimension) = self.dimensions.iter().find(short) {
            return refused("padded extent", dimension.padded.into(), dimension.useful.max(1.0).into());
        }
        self.fits(device)
    }

    fn fits(&self, device: &DeviceFacts) -> Result<(), Error> {
        let limits = [
            ("number of threads of a block", self.threads, device.threads.min(1024.0)),
            ("number of registers of a thread", self.registers, 255.0),
            ("number of registers of a block", self.threads.saturating_mul(self.registers), device.registers),
        ];
        if let Some((what, found, limit)) =
            limits.into_iter().find(|(_, found, limit)| *found == 0 || f64::from(*found) > *limit)
        {
            return refused(what, found.into(), limit);
        }
        let shared = f64::from(self.shared_bytes);
        let limit = device.shared_bytes_per_block.min(device.shared_bytes - device.shared_bytes_reserved);
        if shared > limit {
            return refused("shared memory of a block", shared, limit);
        }
        Ok(())
    }
}

fn refused(what: &'static str, found: f64, limit: f64) -> Result<(), Error> {
    Err(Error::Work { what, found, limit })
}
