//! Products of i8, wherever factors lie and sums are wanted. cuBLAS takes columns that begin at multiples of four bytes: what does not is copied on the device. Some products it
//! has for factors alone that lie as it likes best: others are turned over there.

use std::ops::Range;

use tilewright_driver::blas::{Compute, Layout, Matrix, MatrixMut, Operation};
use tilewright_driver::{DeviceBuffer, Error as DriverError};

use super::copies::{bring, fetch};
use super::turned::turn;
use super::{DeviceMat, DeviceRef, Gpu};
use crate::budget::Budget;
use crate::dispatch;
use crate::kernel::{in_order, is_of_compiler};
use crate::linear::matmul::{Overflow, kept};
use crate::matrix::{Columns, Element, Rows, Shape};
use crate::{Error, MatMut, MatRef};

/// Extents are padded to multiples of this, so that tensor cores take every size.
const UNIT: usize = 16;

/// Products that are added on the GPU: an i32 holds every sum of 131,071. Longer sums are made in parts, which the host adds.
const ADDED: usize = 131_071 / UNIT * UNIT;

/// A factor of a product of integers.
#[derive(Clone, Copy, Debug)]
pub enum IntegerFactor<'a, T: Element> {
    /// In host memory.
    Host(MatRef<'a, T>),
    /// On the GPU.
    Gpu(DeviceRef<'a, T>),
}

/// Where the sums go.
#[derive(Debug)]
pub enum IntegerSums<'t, 'a, S: Element> {
    /// To host memory.
    Host(&'t mut MatMut<'a, S>),
    /// To the GPU.
    Gpu(&'t mut DeviceMat<S>),
}

/// Extents as a GPU has them. Those that an address cannot count stay as they are.
pub(crate) fn padded<const N: usize>(extents: [usize; N]) -> [usize; N] {
    extents.map(|extent| extent.checked_next_multiple_of(UNIT).unwrap_or(extent))
}

/// As many products as are added on the GPU at a time.
pub(crate) fn added_there(depth: usize) -> usize {
    depth.min(ADDED)
}

/// Bytes of host memory in which the host adds parts of sums; none where the GPU adds all.
pub(crate) fn bytes_to_add(sums: Shape, depth: usize) -> u64 {
    let [rows, columns] = padded([sums.rows.0, sums.columns.0]).map(|extent| extent as u64);
    let each = (size_of::<i64>() + size_of::<i32>()) as u64;
    if depth <= ADDED { 0 } else { rows.saturating_mul(columns).saturating_mul(each) }
}

impl<T: Element> IntegerFactor<'_, T> {
    pub(crate) fn shape(&self) -> Shape {
        match self {
            IntegerFactor::Host(matrix) => matrix.shape(),
            IntegerFactor::Gpu(matrix) => matrix.shape(),
        }
    }
}

impl<T: Element> DeviceRef<'_, T> {
    /// Whether cuBLAS takes it as it lies: with whole units in each column, from multiples of a unit on.
    pub(crate) fn is_in_units(&self) -> bool {
        let Layout { offset, rows, columns, leading } = self.layout;
        [offset, rows, columns, leading].iter().all(|elements| elements.is_multiple_of(UNIT))
    }
}

impl<S: Element> DeviceMat<S> {
    /// Whether cuBLAS writes sums of integers to it as it lies.
    pub(crate) fn takes_units(&self) -> bool {
        self.view().is_in_units()
    }
}

/// i8 into i32, exactly: of sums that an i32 may not hold the host makes what is asked for.
pub(crate) fn multiply_integers(
    gpu: &Gpu,
    overflow: Overflow,
    [a, b]: [IntegerFactor<'_, i8>; 2],
    mut sums: IntegerSums<'_, '_, i32>,
    host: Option<&Budget>,
) -> Result<(), Error> {
    let (Shape { rows, columns: Columns(depth) }, columns) = (a.shape(), b.shape().columns);
    let shape = Shape::new(rows, columns);
    if shape.is_empty() {
        return Ok(());
    }
    if depth == 0 {
        return sums.put(|_| 0, shape);
    }
    if depth <= ADDED {
        let factors =
            [Padded::of(gpu, a, [0..rows.0, 0..depth], true)?, Padded::of(gpu, b, [0..depth, 0..columns.0], false)?];
        return match &mut sums {
            IntegerSums::Gpu(there) if there.takes_units() => {
                let layout = there.layout();
                multiply((gpu, host), factors, (&mut there.buffer, layout))
            }
            _ => sums.take(gpu, padded_sums((gpu, host), factors, shape)?, shape),
        };
    }
    let mut all = Added::new(shape)?;
    for begin in (0..depth).step_by(ADDED) {
        let part = begin..depth.min(begin + ADDED);
        let factors =
            [Padded::of(gpu, a, [0..rows.0, part.clone()], true)?, Padded::of(gpu, b, [part, 0..columns.0], false)?];
        all.add(gpu, &padded_sums((gpu, host), factors, shape)?)?;
    }
    let values = all.kept(overflow)?;
    sums.put(|index| values[index], shape)
}

/// Sums on the device, with those of what was padded.
fn padded_sums(
    (gpu, host): (&Gpu, Option<&Budget>),
    factors: [Padded<'_>; 2],
    shape: Shape,
) -> Result<DeviceBuffer<i32>, Error> {
    let [rows, columns] = padded([shape.rows.0, shape.columns.0]);
    let length = rows.checked_mul(columns).ok_or_else(|| shape.too_large::<i32>())?;
    let mut sums = gpu.stream().alloc::<i32>(length)?;
    multiply((gpu, host), factors, (&mut sums, Layout::dense(rows, columns)))?;
    Ok(sums)
}

/// As factors lie, or, where cuBLAS has no product of these extents for that, in the form that it likes best.
fn multiply(
    (gpu, host): (&Gpu, Option<&Budget>),
    factors: [Padded<'_>; 2],
    (sums, layout): (&mut DeviceBuffer<i32>, Layout),
) -> Result<(), Error> {
    let once = |[a, b]: &[Padded<'_>; 2], sums: &mut DeviceBuffer<i32>| {
        let sums = MatrixMut::new(sums, layout)?;
        match gpu.blas()?.gemm(Compute::Own, 1, a.read()?, b.read()?, 0, sums) {
            Err(DriverError::Library { name: "NOT_SUPPORTED", .. }) => Ok(false),
            done => done.map(|()| true).map_err(Error::from),
        }
    };
    if once(&factors, sums)? {
        return Ok(());
    }
    tracing::debug!(target: "tilewright::linear", "cuBLAS has no product of i8 for factors that lie so: they are turned over");
    let [a, b] = factors;
    if once(&[a.turned(gpu, true, host)?, b.turned(gpu, false, host)?], sums)? {
        return Ok(());
    }
    let why = "this cuBLAS has no product of i8 for this GPU; use the CPU".into();
    Err(Error::Unsupported { operation: "matmul_integer", element: "i8", place: "GPU", why })
}

/// The form of a factor that every cuBLAS multiplies.
fn liked(is_left: bool) -> Operation {
    if is_left { Operation::Transposed } else { Operation::Plain }
}

/// A copy on the device, with zeros up to multiples of a unit.
fn copied(gpu: &Gpu, (memory, from): (&DeviceBuffer<i8>, Layout)) -> Result<(DeviceBuffer<i8>, Layout), Error> {
    let [rows, columns] = padded([from.rows, from.columns]);
    let layout = Layout::dense(rows, columns);
    let too_large = || Shape::new(Rows(from.rows), Columns(from.columns)).too_large::<i8>();
    let mut own = gpu.stream().alloc::<i8>(rows.checked_mul(columns).ok_or_else(too_large)?)?;
    own.fill_bytes(0)?;
    let to = Layout { rows: from.rows, columns: from.columns, ..layout };
    in_order(gpu.stream(), memory.stream(), || Ok(own.copy_matrix_from(gpu.stream(), to, (memory, from))?))?;
    Ok((own, layout))
}

/// A part of a factor on the device, its extents multiples of a unit.
struct Padded<'a> {
    operation: Operation,
    memory: Memory<'a>,
    layout: Layout,
}

enum Memory<'a> {
    Own(DeviceBuffer<i8>),
    Theirs(&'a DeviceBuffer<i8>),
}

impl<'a> Padded<'a> {
    /// Some rows and columns of a factor. What comes from the host comes in the form that cuBLAS likes best: the left factor transposed.
    fn of(
        gpu: &Gpu,
        factor: IntegerFactor<'a, i8>,
        [rows, columns]: [Range<usize>; 2],
        is_left: bool,
    ) -> Result<Self, Error> {
        let (rows, columns) = (Rows(rows.start)..Rows(rows.end), Columns(columns.start)..Columns(columns.end));
        match factor {
            IntegerFactor::Host(matrix) => Self::brought(gpu, matrix.part(rows, columns)?, is_left),
            IntegerFactor::Gpu(matrix) => Self::there(gpu, matrix.part(rows, columns)?),
        }
    }

    fn brought(gpu: &Gpu, part: MatRef<'_, i8>, is_left: bool) -> Result<Self, Error> {
        let (operation, lying) = (liked(is_left), if is_left { part.t() } else { part });
        let [rows, columns] = padded([lying.rows(), lying.columns()]);
        let length = rows.checked_mul(columns).ok_or_else(|| lying.shape().too_large::<i8>())?;
        let mut own = gpu.stream().alloc(length)?;
        bring(gpu, &with_zeros(lying, rows, length), &mut own)?;
        Ok(Self { operation, memory: Memory::Own(own), layout: Layout::dense(rows, columns) })
    }

    fn there(gpu: &Gpu, part: DeviceRef<'a, i8>) -> Result<Self, Error> {
        let operation = if part.is_transposed() { Operation::Transposed } else { Operation::Plain };
        let (from, memory) = (part.layout, &part.matrix.buffer);
        if part.is_in_units() {
            return Ok(Self { operation, memory: Memory::Theirs(memory), layout: from });
        }
        let (own, layout) = copied(gpu, (memory, from))?;
        Ok(Self { operation, memory: Memory::Own(own), layout })
    }

    /// In the form that cuBLAS likes best; by the host, where it has to, in memory of its budget.
    fn turned(self, gpu: &Gpu, is_left: bool, host: Option<&Budget>) -> Result<Self, Error> {
        if self.operation == liked(is_left) {
            return Ok(self);
        }
        let Layout { rows, columns, .. } = self.layout;
        let mut own = gpu.stream().alloc::<i8>(rows * columns)?;
        match turn(gpu, (self.memory(), self.layout), &mut own) {
            // Without a compiler for its kernel the host does.
            Err(Error::Driver(error)) if is_of_compiler(&error) => self.turned_by_host(&mut own, host)?,
            done => done?,
        }
        let (operation, layout) = (liked(is_left), Layout::dense(columns, rows));
        Ok(Self { operation, memory: Memory::Own(own), layout })
    }

    fn turned_by_host(&self, to: &mut DeviceBuffer<i8>, host: Option<&Budget>) -> Result<(), Error> {
        let (memory, Layout { offset, rows, columns, leading }) = (self.memory(), self.layout);
        // All that it is a part of, and what is made of it.
        let bytes = memory.len().saturating_add(to.len()) as u64;
        let _host = host.map(|host| host.try_acquire(bytes)).transpose()?;
        let values = memory.to_vec()?;
        dispatch::to_host(values.len());
        let at = |place: usize| values[offset + place / columns + place % columns * leading];
        let turned: Vec<i8> = (0..rows * columns).map(at).collect();
        dispatch::to_gpu(turned.len());
        Ok(to.copy_from_slice(&turned)?)
    }

    fn memory(&self) -> &DeviceBuffer<i8> {
        match &self.memory {
            Memory::Own(memory) => memory,
            Memory::Theirs(memory) => memory,
        }
    }

    fn read(&self) -> Result<(Operation, Matrix<'_, i8>), Error> {
        Ok((self.operation, Matrix::new(self.memory(), self.layout)?))
    }
}

impl IntegerSums<'_, '_, i32> {
    /// Has padded sums of the device.
    fn take(&mut self, gpu: &Gpu, sums: DeviceBuffer<i32>, shape: Shape) -> Result<(), Error> {
        let (rows, [leading, columns]) = (shape.rows.0, padded([shape.rows.0, shape.columns.0]));
        match self {
            IntegerSums::Host(to) => {
                let mut values = vec![0; sums.len()];
                fetch(gpu, &sums, 0, &mut values)?;
                to.elements().fill(|index| values[index / rows * leading + index % rows]);
                Ok(())
            }
            IntegerSums::Gpu(there) => {
                let from = Layout { rows, columns: shape.columns.0, ..Layout::dense(leading, columns) };
                let (to, home) = (there.layout(), there.buffer.stream().clone());
                in_order(gpu.stream(), &home, || Ok(there.buffer.copy_matrix_from(gpu.stream(), to, (&sums, from))?))
            }
        }
    }

    /// Has values of the host, by their places in the order of columns.
    fn put(&mut self, value: impl Fn(usize) -> i32, shape: Shape) -> Result<(), Error> {
        match self {
            IntegerSums::Host(to) => to.elements().fill(value),
            IntegerSums::Gpu(there) => {
                let values: Vec<i32> = (0..shape.length::<i32>()?.0).map(value).collect();
                bring(&there.gpu().clone(), &values, &mut there.buffer)?;
            }
        }
        Ok(())
    }
}

/// Parts of sums, added by the host.
struct Added {
    shape: Shape,
    sums: Vec<i64>,
}

impl Added {
    fn new(shape: Shape) -> Result<Self, Error> {
        Ok(Self { shape, sums: vec![0; shape.length::<i64>()?.0] })
    }

    fn add(&mut self, gpu: &Gpu, of_part: &DeviceBuffer<i32>) -> Result<(), Error> {
        let (mut part, rows) = (vec![0; of_part.len()], self.shape.rows.0);
        fetch(gpu, of_part, 0, &mut part)?;
        let [leading] = padded([rows]);
        for (sums, part) in self.sums.chunks_mut(rows).zip(part.chunks(leading)) {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += i64::from(*part));
        }
        Ok(())
    }

    /// What becomes of each, in the order of columns.
    fn kept(self, overflow: Overflow) -> Result<Vec<i32>, Error> {
        let rows = self.shape.rows.0;
        let each = self.sums.into_iter().enumerate().map(|(index, sum)| {
            let refused = || Error::Overflow {
                operation: "matmul_integer",
                element: "i32",
                row: index % rows,
                column: index / rows,
            };
            kept::<i8>(overflow, sum.into()).ok_or_else(refused)
        });
        each.collect()
    }
}

/// Columns of a matrix, each followed by zeros up to `leading`, and columns of zeros.
fn with_zeros(matrix: MatRef<'_, i8>, leading: usize, length: usize) -> Vec<i8> {
    let (rows, mut values) = (matrix.rows(), vec![0; length]);
    matrix.each(|index, value| values[index / rows * leading + index % rows] = value);
    values
}
