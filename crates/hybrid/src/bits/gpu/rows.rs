//! Rows of bits in memory of a device, whoever owns it, and what is queued on them.

use bytemuck::Pod;
use tilewright_driver::{DeviceBuffer, Stream, TensorMap};

use super::{
    Finish, GpuPath,
    product::operand_map,
    text::{product_kernel, row_ones_kernel, transpose_kernel},
};
use crate::Error;
use crate::kernel::{Kernel, Name, in_order};

/// Rows of so many bits, which begin a buffer, padded to a multiple of 128 bits each; padding is zero where counts of a row itself are asked for.
#[derive(Debug)]
pub(crate) struct DeviceRows<'a, T: Pod> {
    buffer: &'a DeviceBuffer<T>,
    rows: usize,
    columns: usize,
}

impl<T: Pod> Clone for DeviceRows<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Pod> Copy for DeviceRows<'_, T> {}

/// Where results go: an address, and elements (words, of bits) from one row to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Results {
    pub(crate) address: u64,
    pub(crate) pitch: usize,
}

/// A kernel counts rows and columns in 31 bits, and goes beyond the last by less than a tile.
const MOST: usize = i32::MAX as usize - 1024;

impl<'a, T: Pod> DeviceRows<'a, T> {
    /// [`Error::TooLarge`] for more than 2^31 - 1 rows or columns, [`Error::Shape`] where the buffer is shorter.
    pub(crate) fn new(buffer: &'a DeviceBuffer<T>, rows: usize, columns: usize) -> Result<Self, Error> {
        if rows > MOST || columns > MOST {
            return Err(Error::TooLarge { rows, columns, element_bits: 1 });
        }
        expect_room(buffer, rows, columns)?;
        Ok(Self { buffer, rows, columns })
    }

    /// Words of 32 bits of a row.
    fn words_per_row(&self) -> usize {
        words_per_row(self.columns)
    }

    /// Queues the transposition to the begin of `to`, on the stream of the operand. Words of `to` in which no row of the operand has a bit
    /// are left as they are.
    pub(crate) fn transpose(&self, to: &mut DeviceBuffer<T>) -> Result<(), Error> {
        expect_room(to, self.columns, self.rows)?;
        let stream = self.buffer.stream();
        let pitches = [self.words_per_row(), words_per_row(self.rows)].map(|words| words as u64);
        let addresses = [self.buffer.device_ptr(), to.device_ptr(), pitches[0], pitches[1]];
        let sizes = [self.rows, self.columns].map(|extent| extent as i32);
        let block =
            [addresses.map(u64::to_ne_bytes).as_flattened(), sizes.map(i32::to_ne_bytes).as_flattened()].concat();
        let kernel = Kernel::get(stream, Name::Transpose, transpose_kernel)?;
        kernel.launch(stream, kernel.tiles(self.rows, self.columns)?, &block)
    }

    /// How many bits of each row are set, on `stream`.
    pub(super) fn ones(&self, stream: &Stream) -> Result<DeviceBuffer<i32>, Error> {
        let ones = stream.alloc(self.rows)?;
        let addresses = [self.buffer.device_ptr(), ones.device_ptr(), self.words_per_row() as u64];
        let sizes = [self.rows, self.words_per_row()].map(|size| size as i32);
        let block =
            [addresses.map(u64::to_ne_bytes).as_flattened(), sizes.map(i32::to_ne_bytes).as_flattened()].concat();
        let kernel = Kernel::get(stream, Name::RowOnes, row_ones_kernel)?;
        kernel.launch(stream, kernel.tiles(self.rows, 1)?, &block)?;
        Ok(ones)
    }

    /// What the copy engine has to know of the operand, in boxes of so many rows.
    fn map(&self, box_rows: u32) -> Result<[u8; 128], Error> {
        let description =
            operand_map(self.rows, self.words_per_row(), box_rows).map_err(tilewright_driver::Error::from)?;
        Ok(*TensorMap::encode(&description, self.buffer)?.as_bytes())
    }
}

/// Queues the product of the rows of `left` and those of `right`, of equally many bits, on the stream of `left`. There is something in all of them.
pub(crate) fn multiply<T: Pod>(
    (path, finish): (GpuPath, Finish),
    [left, right]: [DeviceRows<'_, T>; 2],
    results: Results,
    threshold: i32,
) -> Result<(), Error> {
    let stream = left.buffer.stream();
    in_order(stream, right.buffer.stream(), || {
        let kernel = Kernel::get(stream, Name::Product(path, finish), || product_kernel(path, finish))?;
        let ones = match finish {
            Finish::Distances => Some([left.ones(stream)?, right.ones(stream)?]),
            _ => None,
        };
        let ones = ones.as_ref().map_or([0; 2], |[left, right]| [left.device_ptr(), right.device_ptr()]);
        let mut block = maps(path, [left, right])?.iter().flat_map(|map| *map).collect::<Vec<u8>>();
        let operands = [left.buffer.device_ptr(), right.buffer.device_ptr()];
        let addresses = [operands, ones, [results.address, results.pitch as u64]].concat();
        block.extend(addresses.iter().flat_map(|address| address.to_ne_bytes()));
        let sizes = [left.rows, right.rows, left.words_per_row()].map(|size| size as i32);
        block.extend(sizes.map(i32::to_ne_bytes).as_flattened());
        block.extend(threshold.to_ne_bytes());
        block.resize(block.len().next_multiple_of(64), 0);
        kernel.launch(stream, blocks(path, &kernel, stream, [left.rows, right.rows])?, &block)
    })
}

/// One for each tile, or, where blocks go from tile to tile, one for each multiprocessor.
fn blocks(path: GpuPath, kernel: &Kernel, stream: &Stream, [rows, columns]: [usize; 2]) -> Result<u32, Error> {
    let tiles = kernel.tiles(rows, columns)?;
    Ok(match path {
        GpuPath::Wgmma(shape) => {
            let multiprocessors = stream.device().multiprocessors();
            tiles.min(multiprocessors / shape.cluster * shape.cluster)
        }
        GpuPath::Popcount | GpuPath::Mma => tiles,
    })
}

/// What the copy engine has to know of both operands; nothing where it is not used.
fn maps<T: Pod>(path: GpuPath, [left, right]: [DeviceRows<'_, T>; 2]) -> Result<[[u8; 128]; 2], Error> {
    let GpuPath::Wgmma(shape) = path else { return Ok([[0; 128]; 2]) };
    Ok([left.map(shape.rows() / shape.cluster)?, right.map(shape.columns)?])
}

fn expect_room<T: Pod>(buffer: &DeviceBuffer<T>, rows: usize, columns: usize) -> Result<(), Error> {
    let (expected, got) = (4 * rows * words_per_row(columns), buffer.len() * size_of::<T>());
    let (operation, what) = ("bits::gpu", "bytes of a buffer for rows of bits");
    if got < expected { Err(Error::Shape { operation, what, expected, got }) } else { Ok(()) }
}

/// Bytes of a row of so many bits.
pub(crate) fn row_bytes(bits: usize) -> u64 {
    4 * words_per_row(bits) as u64
}

/// Why an operation with others is not one for a GPU.
pub(crate) const UNCOUNTED: &str = "its kernels count rows and columns in 31 bits";

/// Whether kernels count so many rows, or columns.
pub(crate) fn is_counted(extent: usize) -> bool {
    extent <= MOST
}

/// Words of 32 bits of a row of so many bits.
pub(crate) fn words_per_row(bits: usize) -> usize {
    bits.div_ceil(128) * 4
}
