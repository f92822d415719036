//! What choices of a configuration have in common: sides of blocks, and the model's word on those that an estimate expects most of.

use super::operation::RowOperation;
use super::weight_operation::WeightOperation;
use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, PoisonError};
use tilewright_perf::training::Operation;
use tilewright_perf::{DeviceFacts, Error, Models, Work};

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
        if self.has_better_than(us) {
            return;
        }
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

/// The models that are part of the library. Where they cannot be used, which a test excludes, there are none, and whoever listens is told why.
pub(super) static MODELS: LazyLock<Models> = LazyLock::new(|| {
    shipped().unwrap_or_else(|error| {
        tracing::error!(%error, "no model chooses configurations of convolutions: their estimate does");
        Models::default()
    })
});

/// The models that are part of the library, which know the operations of convolutions by the features that these have.
fn shipped() -> Result<Models, Error> {
    let models = Models::shipped()?;
    for operation in [&RowOperation as &dyn Operation, &WeightOperation] {
        models.nearest(operation.name(), 90)?.check_features(&operation.features()?)?;
    }
    Ok(models)
}

/// Which of so many candidates a model would time, the best first; nothing where there is no candidate or no model. Where a model refuses what it
/// is asked about there is nothing either, and whoever listens is told why, once for an operation.
pub(super) fn learned<K: PartialEq>(
    operation: &dyn Operation,
    models: &Models,
    device: &DeviceFacts,
    of: (usize, usize),
    work: impl Fn(usize) -> Work,
    kind: impl Fn(usize) -> K,
) -> Option<Vec<usize>> {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    ranked(operation, models, device, of, work, kind).unwrap_or_else(|error| {
        let operation = operation.name();
        if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(operation.to_owned()) {
            tracing::warn!(operation, %error, "the model refuses a choice: the estimate's first is taken, here and wherever it does again");
        }
        None
    })
}

/// As [`learned`], with the model's refusal.
fn ranked<K: PartialEq>(
    operation: &dyn Operation,
    models: &Models,
    device: &DeviceFacts,
    (count, candidates): (usize, usize),
    work: impl Fn(usize) -> Work,
    kind: impl Fn(usize) -> K,
) -> Result<Option<Vec<usize>>, Error> {
    let model = match models.nearest(operation.name(), device.architecture) {
        Ok(model) if candidates > 0 => model,
        Ok(_) | Err(Error::NoModel { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let ranking = model.rank(device, candidates, work)?;
    tracing::debug!(operation = operation.name(), source = %ranking.source(), "a configuration was chosen");
    Ok(Some(ranking.to_time(count, kind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_the_library_fit() {
        assert!(shipped().is_ok_and(|models| models == *MODELS && !MODELS.is_empty()), "{:?}", shipped().err());
    }

    /// A model without which there is a choice is no error; one that is there and refuses is.
    #[test]
    fn a_refusal_has_its_reason() {
        let device = DeviceFacts::h200();
        let ask = |models: &Models, of, work| ranked(&RowOperation, models, &device, of, |_| work, |index| index);
        assert!(matches!(ask(&Models::default(), (1, 3), Work::default()), Ok(None)));
        assert!(matches!(ask(&MODELS, (1, 0), Work::default()), Ok(None)));
        let refused = ask(&MODELS, (1, 3), Work::default()).unwrap_err().to_string();
        assert!(refused.contains("dimensions of a work: 0 given, 5 expected"), "{refused}");
        let model = MODELS.nearest(RowOperation.name(), 90).unwrap();
        let foreign = model.check_features(&WeightOperation.features().unwrap()).unwrap_err().to_string();
        assert!(foreign.contains("log_warp_strips") && foreign.contains("log_block_images"), "{foreign}");
        let fewer = tilewright_perf::Features::new(&[], &[]).unwrap();
        assert!(model.check_features(&fewer).is_err_and(|error| error.to_string().contains("expected `none`")));
    }
}
