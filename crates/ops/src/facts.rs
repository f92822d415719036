//! What a model has to know of a GPU.

use crate::device::Gpu;
use tilewright_perf::DeviceFacts;
use tilewright_perf::device::Rates;

/// What models are told of a GPU. An H200 is what they were trained on, to the last number: what its driver says of its L2 cache is not what
/// that holds. Speeds were measured on an H200 alone: of others they are its own, by multiprocessors.
pub(crate) fn facts(gpu: &Gpu) -> DeviceFacts {
    let (device, known) = (gpu.device(), DeviceFacts::h200());
    let architecture = 10 * device.arch().major + device.arch().minor;
    let multiprocessors = f64::from(device.multiprocessors());
    if (architecture, multiprocessors) == (known.architecture, known.multiprocessors) {
        return DeviceFacts { name: device.name().to_owned(), ..known };
    }
    let scale = multiprocessors / known.multiprocessors;
    DeviceFacts {
        name: device.name().to_owned(),
        architecture,
        multiprocessors,
        memory_bandwidth: known.memory_bandwidth * scale,
        l2_bandwidth: known.l2_bandwidth * scale,
        l2_bytes: device.l2_bytes() as f64,
        rates: Rates::of_architecture(architecture),
        shared_bytes_per_block: f64::from(device.shared_bytes_per_block()),
        ..known
    }
}
