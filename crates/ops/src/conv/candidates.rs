//! What choices of a configuration have in common: sides of blocks, and the model's word on those that an estimate expects most of.

use std::cmp::Ordering;
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

/// The candidates that an estimate expects to be fastest, and a few more: microseconds, a place among all, and the candidate.
pub(super) struct Kept<P, C> {
    fastest: Vec<(f64, P, C)>,
    last: f64,
}

impl<P: Ord + Copy, C> Kept<P, C> {
    pub(super) fn new() -> Self {
        Kept { fastest: Vec::with_capacity(2 * RANKED), last: f64::INFINITY }
    }

    /// Whether nothing of so many microseconds, or more, has to be kept.
    pub(super) fn has_better_than(&self, us: f64) -> bool {
        us > self.last
    }

    pub(super) fn add(&mut self, us: f64, place: P, candidate: C) {
        if us <= self.last {
            self.fastest.push((us, place, candidate));
        }
        if self.fastest.len() == 2 * RANKED {
            self.shorten();
        }
    }

    fn shorten(&mut self) {
        if self.fastest.len() > RANKED {
            let (_, last, _) = self.fastest.select_nth_unstable_by(RANKED - 1, order);
            self.last = last.0;
            self.fastest.truncate(RANKED);
        }
    }

    /// The fastest first; of equals the one that comes first.
    pub(super) fn sorted(mut self) -> Vec<(f64, C)> {
        self.shorten();
        self.fastest.sort_unstable_by(order);
        self.fastest.into_iter().map(|(us, _, candidate)| (us, candidate)).collect()
    }
}

fn order<P: Ord, C>(a: &(f64, P, C), b: &(f64, P, C)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// Which of so many candidates a model takes, the best first; nothing where there is no model, or where it refuses what it is asked about.
pub(super) fn learned(
    operation: &dyn Operation,
    models: &Models,
    device: &DeviceFacts,
    (count, candidates): (usize, usize),
    work: impl Fn(usize) -> Work,
) -> Option<Vec<usize>> {
    let model = models.nearest(operation.name(), device.architecture).ok()?;
    let ranking = model.rank(device, candidates, work).ok()?;
    Some(ranking.top(count).iter().map(|it| it.index as usize).collect())
}
