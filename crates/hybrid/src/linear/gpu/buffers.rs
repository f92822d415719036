//! Matrices on a GPU, and the buffers that they lie in.

use tilewright_driver::DeviceBuffer;

use super::{DeviceMat, Gpu};
use crate::Error;
use crate::matrix::{Element, Shape, expect};
use crate::store::{DeviceSink, DeviceSource, Extents, Stored};

impl<T: Element> DeviceMat<T> {
    /// The matrix whose elements are those of a buffer, column by column. Nothing is copied.
    ///
    /// A buffer that lies row by row is the transposed matrix: make that, and take [`view`](Self::view)`().t()`. [`Error::Shape`] for a buffer of another
    /// length, [`Error::Unsupported`] for one of another stream than `gpu`'s, which would be given back while this one uses it.
    pub fn from_buffer(gpu: &Gpu, buffer: DeviceBuffer<T>, shape: Shape) -> Result<Self, Error> {
        let operation = "a matrix of a buffer";
        expect(operation, "elements of the buffer", shape.length::<T>()?.0, buffer.len())?;
        if buffer.stream().handle() != gpu.stream().handle() {
            let why = "the buffer is of another stream; allocate it on the matrix's: gpu.stream()".into();
            return Err(Error::Unsupported { operation, element: T::NAME, place: "GPU", why });
        }
        Ok(Self::of_buffer(gpu, buffer, shape))
    }

    /// The buffer, whose elements are the matrix's, column by column.
    pub fn into_buffer(self) -> DeviceBuffer<T> {
        self.buffer
    }

    /// The same, to read.
    pub fn buffer(&self) -> &DeviceBuffer<T> {
        &self.buffer
    }
}

impl<T: Element + Stored> DeviceMat<T> {
    /// It as an operand of a fused expression. Sources lie row by row, so this is the transposed matrix: the dimension of its columns stands first.
    pub fn source(&self) -> Result<DeviceSource<'_>, Error> {
        DeviceSource::new(&self.buffer, self.lying())
    }

    /// It as the result of a fused expression, transposed as [`source`](Self::source) is.
    pub fn sink(&mut self) -> Result<DeviceSink<'_>, Error> {
        let lying = self.lying();
        DeviceSink::new(&mut self.buffer, lying)
    }

    fn lying(&self) -> Extents {
        Extents::new(self.shape().columns.0, self.shape().rows.0)
    }
}
