//! Results on their way into memory that somebody has: there whole, or not at all, for a device may fail in the midst of a copy.

use super::own::{HostMemory, Own};
use crate::linear::{DeviceMat, Gpu};
use crate::matrix::{Element, Shape, copied};
use crate::{Error, MatMut, MatRef};
use ndarray::{ArrayBase, Data, Ix2};

/// Has a result computed in memory of its own, which begins as `c` is where that is read, and puts it into `c` when it is whole.
pub(super) fn committed<T: Element>(
    (room, gpu): (&HostMemory, Option<&Gpu>),
    c: &mut MatMut<'_, T>,
    reads_c: bool,
    compute: impl FnOnce(MatMut<'_, T>) -> Result<(), Error>,
) -> Result<(), Error> {
    // As `c` lies, so that nothing is rearranged.
    let is_turned = lies_by_rows(c);
    let mut c = if is_turned { c.reborrow().t() } else { c.reborrow() };
    let shape = c.shape();
    let _host = room.host.try_acquire(shape.bytes::<T>()?.0 as u64)?;
    let mut own = Own::new(room, gpu, shape)?;
    if reads_c {
        c.read().copy_to(own.values_mut());
    }
    let view = MatMut::column_major(own.values_mut(), shape.rows, shape.columns)?;
    compute(if is_turned { view.t() } else { view })?;
    put(&mut c, own.values());
    Ok(())
}

/// Puts what a GPU has made where it is wanted.
pub(super) fn delivered<T: Element>(
    room: &HostMemory,
    c: &mut MatMut<'_, T>,
    made: &DeviceMat<T>,
) -> Result<(), Error> {
    let shape @ Shape { rows, columns } = made.shape();
    let _host = room.host.try_acquire(shape.bytes::<T>()?.0 as u64)?;
    let mut own = Own::new(room, Some(made.gpu()), shape)?;
    made.download_to(MatMut::column_major(own.values_mut(), rows, columns)?)?;
    put(c, own.values());
    Ok(())
}

/// Whether it lies row by row, and not column by column.
pub(super) fn lies_by_rows<T: Element>(c: &mut MatMut<'_, T>) -> bool {
    c.elements().as_columns().is_none() && c.reborrow().t().elements().as_columns().is_some()
}

/// Puts an array where a result is wanted.
pub(super) fn write<T: Element>(
    c: &mut MatMut<'_, T>,
    result: &ArrayBase<impl Data<Elem = T>, Ix2>,
) -> Result<(), Error> {
    // An array that lies by rows is, column by column, the transposed one.
    if let Some(by_rows) = result.as_slice() {
        put(&mut c.reborrow().t(), by_rows);
    } else if let Some(by_columns) = result.t().as_slice() {
        put(c, by_columns);
    } else {
        put(c, MatRef::from(result).to_dense()?.values());
    }
    Ok(())
}

/// Puts values, column by column, into a matrix.
fn put<T: Element>(c: &mut MatMut<'_, T>, values: &[T]) {
    match c.elements().as_columns() {
        Some(there) => copied(values, there),
        None => c.elements().fill(|index| values[index]),
    }
}
