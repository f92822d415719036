use bytemuck::Pod;

use crate::{DeviceBuffer, Error, Stream};

/// Where a matrix lies in a buffer: stored column by column, the starts of columns `leading` elements apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Elements before the first.
    pub offset: usize,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Elements from a column to the next, at least `rows` and at least 1.
    pub leading: usize,
}

impl Layout {
    /// A matrix at the start of a buffer, without gaps.
    pub fn dense(rows: usize, columns: usize) -> Self {
        Self { offset: 0, rows, columns, leading: rows.max(1) }
    }

    /// Elements of the buffer up to the end of the last; `None` beyond what can be counted.
    fn end(&self) -> Option<usize> {
        if self.rows == 0 || self.columns == 0 {
            return Some(self.offset);
        }
        (self.columns - 1).checked_mul(self.leading)?.checked_add(self.rows)?.checked_add(self.offset)
    }

    fn spans(&self, len: usize, call: &'static str, what: &'static str, more: usize) -> Result<(), Error> {
        let end = self.end().and_then(|end| end.checked_add(more)).unwrap_or(usize::MAX);
        if end <= len { Ok(()) } else { Err(Error::Matrix { call, what, expected: end, got: len }) }
    }

    pub(crate) fn check(&self, len: usize) -> Result<(), Error> {
        let call = "a matrix on the device";
        let error = |what, expected, got| Err(Error::Matrix { call, what, expected, got });
        if self.leading < self.rows.max(1) {
            return error("the leading dimension", self.rows.max(1), self.leading);
        }
        match self.end() {
            Some(end) if end <= len && i64::try_from(end).is_ok() => Ok(()),
            end => error("the length of the buffer", end.unwrap_or(usize::MAX), len),
        }
    }
}

/// A matrix on a device, to read.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T: Pod> {
    buffer: &'a DeviceBuffer<T>,
    layout: Layout,
}

/// A matrix on a device, to write.
#[derive(Debug)]
pub struct MatrixMut<'a, T: Pod> {
    buffer: &'a mut DeviceBuffer<T>,
    layout: Layout,
}

impl<'a, T: Pod> Matrix<'a, T> {
    /// A part of a buffer. One that reaches beyond it, or whose columns overlap, is [`Error::Matrix`].
    pub fn new(buffer: &'a DeviceBuffer<T>, layout: Layout) -> Result<Self, Error> {
        layout.check(buffer.len()).map(|()| Self { buffer, layout })
    }

    /// Where it lies.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn address(&self) -> u64 {
        self.buffer.device_ptr() + (self.layout.offset * size_of::<T>()) as u64
    }

    pub(crate) fn stream(&self) -> &Stream {
        self.buffer.stream()
    }

    /// Whether the buffer goes on for so many elements behind the matrix.
    pub(crate) fn spans(&self, call: &'static str, what: &'static str, more: usize) -> Result<(), Error> {
        self.layout.spans(self.buffer.len(), call, what, more)
    }
}

impl<'a, T: Pod> MatrixMut<'a, T> {
    /// A part of a buffer. One that reaches beyond it, or whose columns overlap, is [`Error::Matrix`].
    pub fn new(buffer: &'a mut DeviceBuffer<T>, layout: Layout) -> Result<Self, Error> {
        layout.check(buffer.len()).map(|()| Self { buffer, layout })
    }

    /// Where it lies.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn address(&self) -> u64 {
        self.buffer.device_ptr() + (self.layout.offset * size_of::<T>()) as u64
    }

    pub(crate) fn stream(&self) -> &Stream {
        self.buffer.stream()
    }

    /// Whether the buffer goes on for so many elements behind the matrix.
    pub(crate) fn spans(&self, call: &'static str, what: &'static str, more: usize) -> Result<(), Error> {
        self.layout.spans(self.buffer.len(), call, what, more)
    }
}

/// Refuses extents that do not agree.
pub(crate) fn expect(call: &'static str, what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(Error::Matrix { call, what, expected, got }) }
}
