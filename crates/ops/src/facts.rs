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

/// What is known of a GPU of which a driver tells this. An H200 is what models were trained on, to the last number, so that a choice is the
/// same wherever it is made: the 60 MiB of L2 cache that its driver tells of are none of them. Speeds were measured on an H200 alone: of
/// others they are its own, by multiprocessors.
fn known_of(told: DeviceFacts) -> DeviceFacts {
    let known = DeviceFacts::h200();
    if (told.architecture, told.multiprocessors) == (known.architecture, known.multiprocessors) {
        return DeviceFacts { name: told.name, ..known };
    }
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
    fn an_h200_is_what_models_were_trained_on_and_others_are_scaled() {
        let known = DeviceFacts::h200();
        let l2_bytes = 60.0 * f64::from(1 << 20);
        assert_eq!(known_of(DeviceFacts { l2_bytes, ..known.clone() }), known);

        let multiprocessors = known.multiprocessors / 2.0;
        let half = known_of(DeviceFacts { architecture: 80, multiprocessors, l2_bytes, ..known.clone() });
        assert_eq!((half.l2_bytes, half.multiprocessors), (l2_bytes, multiprocessors));
        assert_eq!(half.memory_bandwidth, known.memory_bandwidth / 2.0);
        assert_eq!(half.l2_bandwidth, known.l2_bandwidth / 2.0);
        assert_eq!(half.rates, Rates::of_architecture(80));
    }
}
