//! What a model has to know of a GPU.

use crate::device::Gpu;
use tilewright_perf::DeviceFacts;
use tilewright_perf::device::Rates;

impl Gpu {
    /// What performance models are told of this GPU.
    pub fn facts(&self) -> DeviceFacts {
        let device = self.device();
        known_of(DeviceFacts {
            name: device.name().to_owned(),
            architecture: 10 * device.arch().major + device.arch().minor,
            multiprocessors: f64::from(device.multiprocessors()),
            l2_bytes: device.l2_bytes() as f64,
            shared_bytes_per_block: f64::from(device.shared_bytes_per_block()),
            ..DeviceFacts::h200()
        })
    }
}

/// What is known of a GPU of which a driver tells this. Those on which rows were measured are what models were trained on, to the last
/// number, so that a choice is the same wherever it is made: the 60 MiB of L2 cache that an H200's driver tells of are none of them. Speeds of
/// others are an H200's, by multiprocessors; as what a model takes another one of the same chip is the model's own matter.
fn known_of(told: DeviceFacts) -> DeviceFacts {
    let measured = DeviceFacts::measured();
    if let Some(known) = measured.iter().find(|it| it.name == told.name) {
        return known.clone();
    }
    let known = DeviceFacts::h200();
    let scale = told.multiprocessors / known.multiprocessors;
    DeviceFacts {
        memory_bandwidth: known.memory_bandwidth * scale,
        l2_bandwidth: known.l2_bandwidth * scale,
        rates: Rates::of_architecture(told.architecture),
        ..told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_is_what_models_were_trained_on_and_others_are_scaled() {
        let l2_bytes = 60.0 * f64::from(1 << 20);
        for known in DeviceFacts::measured() {
            assert_eq!(known_of(DeviceFacts { l2_bytes, memory_bandwidth: 1.0, ..known.clone() }), known);
        }
        let (known, name) = (DeviceFacts::h200(), "another name".to_owned());
        let same = DeviceFacts { l2_bytes, name: name.clone(), ..known.clone() };
        assert_eq!(known_of(same.clone()), same);

        let multiprocessors = known.multiprocessors / 2.0;
        let half = known_of(DeviceFacts { name, architecture: 80, multiprocessors, l2_bytes, ..known.clone() });
        assert_eq!((half.l2_bytes, half.multiprocessors), (l2_bytes, multiprocessors));
        assert_eq!(half.memory_bandwidth, known.memory_bandwidth / 2.0);
        assert_eq!(half.l2_bandwidth, known.l2_bandwidth / 2.0);
        assert_eq!(half.rates, Rates::of_architecture(80));
    }
}
