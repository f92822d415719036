//! What choices of a configuration have in common: sides of blocks, and the model's word on those that an estimate expects most of.

use super::row_plan::Multiprocessor;
use tilewright_perf::training::Operation;
use tilewright_perf::{DeviceFacts, Models, Work};

pub(super) const COLUMNS: [usize; 6] = [16, 28, 32, 48, 56, 64];
pub(super) const IMAGES: [usize; 5] = [1, 2, 4, 8, 16];
/// Tiles of a warp.
pub(super) const TILES: [usize; 5] = [1, 2, 3, 4, 7];
/// How many candidates a model is asked about: those that the estimate expects to be fastest.
pub(super) const RANKED: usize = 32;

/// Images and columns of a block, where there are so many: several images of whole rows, or a part of one image's.
pub(super) fn sides(images: usize, columns: usize) -> Vec<[usize; 2]> {
    let mut sides: Vec<[usize; 2]> = IMAGES.into_iter().filter(|it| *it <= images).map(|it| [it, columns]).collect();
    sides.extend(COLUMNS.into_iter().filter(|side| *side < columns).map(|side| [1, side]));
    sides
}

/// Whether rounding up to whole parts adds no more than a third, or there is less than one part.
pub(super) fn little_waste(size: usize, part: usize) -> bool {
    3 * size.next_multiple_of(part) <= 4 * size || (size < part && 2 * size > part)
}

/// The [`RANKED`] candidates that an estimate expects to be fastest, by their places among all.
pub(super) struct Kept {
    /// The fastest first; of equals the one that comes first.
    fastest: Vec<u128>,
    last: f64,
}

impl Kept {
    pub(super) fn new() -> Self {
        Kept { fastest: Vec::with_capacity(RANKED), last: f64::INFINITY }
    }

    /// Whether nothing of so many microseconds, or more, has to be kept.
    pub(super) fn has_better_than(&self, us: f64) -> bool {
        us > self.last
    }

    /// Adds a candidate. Its microseconds are not negative.
    pub(super) fn add(&mut self, us: f64, place: u64) {
        let key = timed(us, place);
        if self.fastest.len() == RANKED {
            if self.fastest.last().is_some_and(|last| key > *last) {
                return;
            }
            self.fastest.pop();
        }
        let before = self.fastest.partition_point(|it| *it < key);
        self.fastest.insert(before, key);
        if self.fastest.len() == RANKED {
            self.last = self.fastest.last().map_or(f64::INFINITY, |last| microseconds(*last));
        }
    }

    /// Microseconds and places, the fastest first.
    pub(super) fn sorted(&self) -> impl ExactSizeIterator<Item = (f64, u64)> {
        self.fastest.iter().map(|key| (microseconds(*key), *key as u64))
    }
}

/// Microseconds and a place as one number, of which a smaller one comes first: bits of what is not negative are in its order.
pub(super) fn timed(us: f64, place: u64) -> u128 {
    u128::from(us.to_bits()) << 64 | u128::from(place)
}

/// The microseconds of [`timed`].
pub(super) fn microseconds(key: u128) -> f64 {
    f64::from_bits((key >> 64) as u64)
}

/// Which of so many candidates a model takes, the best first; nothing where there is no model, or where it refuses what it is asked about, or
/// where there is no copy engine: nothing was measured there.
pub(super) fn learned(
    operation: &dyn Operation,
    models: &Models,
    (sm, device): (Multiprocessor, &DeviceFacts),
    (count, candidates): (usize, usize),
    work: impl Fn(usize) -> Work,
) -> Option<Vec<usize>> {
    if !sm.bulk_copies {
        return None;
    }
    let model = models.nearest(operation.name(), device.architecture).ok()?;
    let ranking = model.rank(device, candidates, work).ok()?;
    Some(ranking.top(count).iter().map(|it| it.index as usize).collect())
}
