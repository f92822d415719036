//! What features need of a device, worked out once for many works.

use super::log2::log2;
use crate::device::{DeviceFacts, Unit};

pub(crate) struct Scales {
    /// Microseconds of a byte from memory.
    pub(super) memory: f32,
    /// Microseconds of a byte from L2.
    pub(super) l2: f32,
    /// An empty kernel's microseconds.
    pub(super) launch: f32,
    flops: [f32; 5],
    pub(super) log_l2: f32,
    /// log2 of the memory's latency in microseconds.
    pub(super) log_latency: f32,
    /// log2 of the bytes in flight of a multiprocessor that full bandwidth needs.
    pub(super) log_need: f32,
    pub(super) multiprocessors: f32,
    pub(super) threads: f32,
    pub(super) blocks: f32,
    pub(super) registers: f32,
    pub(super) shared: f32,
    pub(super) shared_reserved: f32,
}

const UNITS: [Unit; 5] = [Unit::F32, Unit::F64, Unit::TensorF16, Unit::TensorTf32, Unit::Tensor8];

impl Scales {
    pub(crate) fn of(device: &DeviceFacts) -> Self {
        let need = device.memory_bandwidth / device.multiprocessors * device.memory_latency_ns * 1e-9;
        Self {
            memory: (1e6 / device.memory_bandwidth) as f32,
            l2: (1e6 / device.l2_bandwidth) as f32,
            launch: device.launch_floor_us as f32,
            flops: UNITS.map(|unit| (1e6 / device.flops(unit)) as f32),
            log_l2: log2(device.l2_bytes as f32),
            log_latency: log2(device.memory_latency_ns as f32 * 1e-3),
            log_need: log2(need as f32),
            multiprocessors: device.multiprocessors as f32,
            threads: device.threads as f32,
            blocks: device.blocks as f32,
            registers: device.registers as f32,
            shared: device.shared_bytes as f32,
            shared_reserved: device.shared_bytes_reserved as f32,
        }
    }

    /// Microseconds of one operation of a unit.
    #[inline(always)]
    pub(super) fn flop(&self, unit: Unit) -> f32 {
        self.flops[unit as usize]
    }
}
