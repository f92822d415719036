//! What a model has to know of a GPU.

use crate::device::Gpu;
use tilewright_perf::DeviceFacts;
use tilewright_perf::device::Rates;

/// How much of the bandwidth that its clock and width make a copy reaches: 4.3 of 4.8 TB/s on an H200, 3.0 of 3.35 on an H100.
const REACHED: f64 = 0.9;

impl Gpu {
    /// What performance models are told of this GPU.
    pub fn facts(&self) -> DeviceFacts {
        let device = self.device();
        let [threads, blocks] = device.resident().map(f64::from);
        let reached = device.memory_bandwidth().map(|bytes| REACHED * bytes);
        let told = DeviceFacts {
            name: device.name().to_owned(),
            architecture: 10 * device.arch().major + device.arch().minor,
            multiprocessors: f64::from(device.multiprocessors()),
            l2_bytes: device.l2_bytes() as f64,
            shared_bytes_per_block: f64::from(device.shared_bytes_per_block()),
            threads,
            blocks,
            ..DeviceFacts::h200()
        };
        known_of(told, reached)
    }
}

/// What is known of a GPU of which a driver tells this, and what copies of its memory reach, where that can be told. Those on which rows were
/// measured are what models were trained on, to the last number, so that a choice is the same wherever it is made: the 60 MiB of L2 cache that
/// an H200's driver tells of are none of them. Other speeds are an H200's, by multiprocessors; as what a model takes another one of the same
/// chip is the model's own matter.
fn known_of(told: DeviceFacts, reached: Option<f64>) -> DeviceFacts {
    let measured = DeviceFacts::measured();
    if let Some(known) = measured.iter().find(|it| it.name == told.name) {
        return known.clone();
    }
    let known = DeviceFacts::h200();
    let scale = told.multiprocessors / known.multiprocessors;
    DeviceFacts {
        memory_bandwidth: reached.unwrap_or(known.memory_bandwidth * scale),
        l2_bandwidth: known.l2_bandwidth * scale,
        rates: Rates::of_architecture(told.architecture),
        // The most of a block is what the system leaves of a multiprocessor's.
        shared_bytes: told.shared_bytes_per_block + told.shared_bytes_reserved,
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
            let told = DeviceFacts { l2_bytes, memory_bandwidth: 1.0, ..known.clone() };
            assert_eq!(known_of(told, Some(1e12)), known);
        }
        let (known, name) = (DeviceFacts::h200(), "another name".to_owned());
        let same = DeviceFacts { l2_bytes, name: name.clone(), ..known.clone() };
        assert_eq!(known_of(same.clone(), None), same);
        assert_eq!(known_of(same, Some(1e12)).memory_bandwidth, 1e12);

        let multiprocessors = known.multiprocessors / 2.0;
        let told = DeviceFacts { name, architecture: 86, multiprocessors, l2_bytes, ..known.clone() };
        let told = DeviceFacts { shared_bytes_per_block: 101_376.0, threads: 1536.0, blocks: 16.0, ..told };
        let half = known_of(told, None);
        assert_eq!((half.l2_bytes, half.multiprocessors), (l2_bytes, multiprocessors));
        assert_eq!((half.shared_bytes, half.threads, half.blocks), (102_400.0, 1536.0, 16.0));
        assert_eq!(half.memory_bandwidth, known.memory_bandwidth / 2.0);
        assert_eq!(half.l2_bandwidth, known.l2_bandwidth / 2.0);
        assert_eq!(half.rates, Rates::of_architecture(86));
        assert!(half.check().is_ok());
    }
}
