use std::borrow::Borrow;

use tilewright_driver::{DeviceBuffer, Stream};
use tilewright_headers::tensor_map::{Element, Swizzle, TensorMap as Description};

use super::{
    DeviceBitMatrix, Finish, GpuPath,
    rows::{Results, multiply},
};
use crate::{Error, bits::elementwise::same};

/// Words of 32 bits of a row that one copy brings: 1024 bits, the width of a swizzle.
const DEPTH: u32 = 32;

/// A product of bit matrices on a GPU, with what shall become of counts. The right operand is kept transposed.
#[derive(Debug)]
pub struct DeviceProduct<'a, R: Borrow<DeviceBitMatrix>> {
    left: &'a DeviceBitMatrix,
    right: R,
    path: GpuPath,
}

impl<'a> DeviceProduct<'a, DeviceBitMatrix> {
    /// The product of `left`, m x k, and `right`, k x n, which is transposed on the device.
    ///
    /// # Errors
    /// [`Error::Shape`] if the two do not have the same k; [`Error::Driver`], also if they are on two devices.
    pub fn of(left: &'a DeviceBitMatrix, right: &DeviceBitMatrix) -> Result<Self, Error> {
        same("bits::gpu::DeviceProduct::of", "rows of the right matrix", left.columns(), right.rows())?;
        Ok(Self { left, right: right.transposed()?, path: GpuPath::best(left.stream().device().arch()) })
    }
}

impl<'a> DeviceProduct<'a, &'a DeviceBitMatrix> {
    /// The product of `left`, m x k, and the transpose of `right`, n x k.
    ///
    /// # Errors
    /// As [`DeviceProduct::of`].
    pub fn of_rows(left: &'a DeviceBitMatrix, right: &'a DeviceBitMatrix) -> Result<Self, Error> {
        same("bits::gpu::DeviceProduct::of_rows", "columns of the right matrix", left.columns(), right.columns())?;
        Ok(Self { left, right, path: GpuPath::best(left.stream().device().arch()) })
    }
}

impl<R: Borrow<DeviceBitMatrix>> DeviceProduct<'_, R> {
    /// The same product by this path, whatever would be chosen.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the GPU lacks its instructions, or a shape does not fit.
    pub fn on(self, path: GpuPath) -> Result<Self, Error> {
        path.check(self.left.stream().device().arch())?;
        Ok(Self { path, ..self })
    }

    /// How many of the k pairs are both set: m x n, row behind row.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a result with more elements than memory has addresses; [`Error::Driver`].
    pub fn counts(&self) -> Result<DeviceBuffer<i32>, Error> {
        self.elements(Finish::Counts)
    }

    /// As [`DeviceProduct::counts`]; a count beyond 65535 is 65535.
    ///
    /// # Errors
    /// As [`DeviceProduct::counts`].
    pub fn counts_u16(&self) -> Result<DeviceBuffer<u16>, Error> {
        self.elements(Finish::Saturated)
    }

    /// In how many of the k places the two differ: by pop(a ^ b) = pop(a) + pop(b) - 2 pop(a & b).
    ///
    /// # Errors
    /// As [`DeviceProduct::counts`].
    pub fn distances(&self) -> Result<DeviceBuffer<i32>, Error> {
        self.elements(Finish::Distances)
    }

    /// Whether more than `threshold` of the k pairs are both set.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn more_than(&self, threshold: u32) -> Result<DeviceBitMatrix, Error> {
        // No count is larger than the largest i32.
        self.bits(Finish::MoreThan, i32::try_from(threshold).unwrap_or(i32::MAX))
    }

    /// Whether any of the k pairs is both set: the product over (OR, AND).
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn paths(&self) -> Result<DeviceBitMatrix, Error> {
        self.more_than(0)
    }

    /// Whether an odd number of the k pairs is both set: the product over GF(2).
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn parities(&self) -> Result<DeviceBitMatrix, Error> {
        self.bits(Finish::Parity, 0)
    }

    /// The sum of each row of [`DeviceProduct::counts`], which is not stored.
    ///
    /// # Errors
    /// [`Error::Driver`].
    pub fn row_counts(&self) -> Result<DeviceBuffer<u64>, Error> {
        let sums = self.stream().alloc_zeroed(self.left.rows())?;
        self.launch(Finish::RowSums, sums.device_ptr(), 1, 0)?;
        Ok(sums)
    }

    fn elements<T: bytemuck::Pod>(&self, finish: Finish) -> Result<DeviceBuffer<T>, Error> {
        let (rows, columns) = (self.left.rows(), self.right().rows());
        let too_large = Error::TooLarge { rows, columns, element_bits: 8 * size_of::<T>() };
        let elements = rows.checked_mul(columns).ok_or(too_large)?;
        if self.left.columns() == 0 {
            return Ok(self.stream().alloc_zeroed(elements)?);
        }
        let result = self.stream().alloc(elements)?;
        self.launch(finish, result.device_ptr(), columns, 0)?;
        Ok(result)
    }

    fn bits(&self, finish: Finish, threshold: i32) -> Result<DeviceBitMatrix, Error> {
        let result = DeviceBitMatrix::zeros(self.stream(), self.left.rows(), self.right().rows())?;
        self.launch(finish, result.buffer().device_ptr(), result.words_per_row(), threshold)?;
        Ok(result)
    }

    /// Launches the kernel, if there is anything to count. `pitch` is in elements of the result.
    fn launch(&self, finish: Finish, address: u64, pitch: usize, threshold: i32) -> Result<(), Error> {
        let (left, right) = (self.left, self.right());
        if left.buffer().is_empty() || right.buffer().is_empty() {
            return Ok(());
        }
        multiply((self.path, finish), [left.as_rows()?, right.as_rows()?], Results { address, pitch }, threshold)
    }

    fn right(&self) -> &DeviceBitMatrix {
        self.right.borrow()
    }

    fn stream(&self) -> &Stream {
        self.left.stream()
    }
}

/// Boxes of `box_rows` rows and 1024 bits of a matrix with so many words of 32 bits a row.
pub fn operand_map(
    rows: usize,
    words: usize,
    box_rows: u32,
) -> Result<Description, tilewright_headers::tensor_map::TensorMapError> {
    let sizes = [words as u64, rows as u64];
    Description::new(Element::U32, &sizes, &[4 * words as u64], &[DEPTH, box_rows], Swizzle::Bytes128)
}
