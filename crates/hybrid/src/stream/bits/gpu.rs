//! Products of bits on a GPU, by its fastest path.

use super::Becomes;
use super::engine::{BitMultiplication, BitMultiplier};
use crate::Error;
use crate::bits::gpu::{DeviceRows, Finish, GpuPath, Results, multiply, words_per_row};
use crate::stream::engine::Queue;
use crate::stream::gpu::GpuEngine;
use tilewright_driver::DeviceBuffer;

impl BitMultiplier for GpuEngine {
    fn transpose(
        &self,
        from: &DeviceBuffer<u32>,
        [rows, columns]: [usize; 2],
        to: &mut DeviceBuffer<u32>,
    ) -> Result<(), Error> {
        DeviceRows::new(from, rows, columns)?.transpose(to)
    }

    fn clear(&self, buffer: &mut DeviceBuffer<u32>) -> Result<(), Error> {
        Ok(buffer.fill_bytes(0)?)
    }

    fn count_pairs(
        &self,
        what: &BitMultiplication,
        [left, right]: [&DeviceBuffer<u32>; 2],
        result: &mut DeviceBuffer<u32>,
    ) -> Result<(), Error> {
        let BitMultiplication { rows, columns, depth, becomes } = *what;
        let (finish, pitch, threshold) = match becomes {
            Becomes::Counts => (Finish::Counts, columns, 0),
            Becomes::Distances => (Finish::Distances, columns, 0),
            // No count is larger than the largest i32.
            Becomes::MoreThan(most) => {
                (Finish::MoreThan, words_per_row(columns), i32::try_from(most).unwrap_or(i32::MAX))
            }
            Becomes::Parities => (Finish::Parity, words_per_row(columns), 0),
        };
        let (expected, got) = (rows * pitch, result.len());
        if got < expected {
            let (operation, what) = ("a streamed product of bits", "words of a tile of results");
            return Err(Error::Shape { operation, what, expected, got });
        }
        let factors = [DeviceRows::new(left, rows, depth)?, DeviceRows::new(right, columns, depth)?];
        let path = GpuPath::best(self.stream(Queue::Compute).device().arch());
        multiply((path, finish), factors, Results { address: result.device_ptr(), pitch }, threshold)
    }
}
