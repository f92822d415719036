use bytemuck::{Pod, Zeroable};
use tilewright_headers::tensor_map::TensorMap as Description;

use crate::{Arch, DeviceBuffer, Error, raw};

const FIRST_WITH_MAPS: Arch = Arch::new(9, 0);

/// A tensor in device memory as bulk copies see it: 128 bytes that a kernel takes by value, alone or in its parameter struct, as
/// `const __grid_constant__`. It keeps an address: the buffer must outlive the launches that use it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct TensorMap([u8; 128]);

impl TensorMap {
    /// The map of the tensor that `description` finds at the start of `buffer`.
    ///
    /// # Errors
    /// [`Error::TensorMapReach`] for a tensor that is larger than the buffer, [`Error::TensorMap`] for an address that no map
    /// takes, [`Error::NoTensorMaps`] before compute capability 9.0, [`Error::Driver`] for what the driver refuses beyond that.
    pub fn encode<T: Pod>(description: &Description, buffer: &DeviceBuffer<T>) -> Result<TensorMap, Error> {
        TensorMap::encode_from(description, buffer, 0)
    }

    /// As [`encode`](Self::encode), of the tensor that begins at element `start` of the buffer.
    pub fn encode_from<T: Pod>(
        description: &Description,
        buffer: &DeviceBuffer<T>,
        start: usize,
    ) -> Result<TensorMap, Error> {
        let left = buffer.len().saturating_sub(start);
        let (expected, got) = (reach(description), (left * size_of::<T>()) as u64);
        if expected > got {
            return Err(Error::TensorMapReach { expected, got });
        }
        let address = buffer.device_ptr() + (start * size_of::<T>()) as u64;
        description.check_base(address)?;
        let (device, arch) = (buffer.device(), buffer.device().arch());
        if arch < FIRST_WITH_MAPS {
            return Err(Error::NoTensorMaps { arch, has_symbol: true });
        }
        let encoded = raw::encode_tiled(device.context(), description, address)?;
        encoded.map(TensorMap).ok_or(Error::NoTensorMaps { arch, has_symbol: false })
    }

    /// The bytes that the kernel gets.
    pub fn as_bytes(&self) -> &[u8; 128] {
        &self.0
    }
}

impl std::fmt::Debug for TensorMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TensorMap")
    }
}

/// Bytes from the first element to the end of the last. Saturates: a description may be larger than any memory.
fn reach(description: &Description) -> u64 {
    let sizes = description.sizes();
    let row = sizes[0].saturating_mul(description.element().bytes());
    let steps = sizes[1..].iter().zip(description.strides());
    steps.fold(row, |reach, (size, stride)| reach.saturating_add((size - 1).saturating_mul(*stride)))
}
