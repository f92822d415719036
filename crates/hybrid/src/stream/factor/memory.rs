//! Memory of the device that holds a part of a matrix, column by column.

use std::ops::Range;
use std::slice;
use std::sync::Arc;
use tilewright_driver::blas::Layout;

/// The memory of a panel, or of a band of one. While a panel of factors goes back, the next one meets it where it stands.
pub(super) struct PanelMemory<B>(Arc<B>);

impl<B> PanelMemory<B> {
    pub(super) fn new(buffer: B) -> Self {
        PanelMemory(Arc::new(buffer))
    }

    /// To write to: where nobody else has it.
    pub(super) fn get_mut(&mut self) -> Option<&mut B> {
        Arc::get_mut(&mut self.0)
    }

    pub(super) fn buffer(&self) -> &B {
        &self.0
    }

    /// Whether this is the same memory.
    pub(super) fn is(&self, other: &PanelMemory<B>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<B> Clone for PanelMemory<B> {
    fn clone(&self) -> Self {
        PanelMemory(self.0.clone())
    }
}

impl<B> AsRef<[B]> for PanelMemory<B> {
    fn as_ref(&self) -> &[B] {
        slice::from_ref(&self.0)
    }
}

/// Which part of a matrix stands in some memory: columns of so many rows each, from an element on.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    row: usize,
    column: usize,
    leading: usize,
}

impl Standing {
    /// All of these rows, from a column on.
    pub(super) fn new(rows: &Range<usize>, column: usize) -> Standing {
        Standing { row: rows.start, column, leading: rows.len() }
    }

    /// Where a part of it stands.
    pub(super) fn part(self, rows: &Range<usize>, columns: &Range<usize>) -> Layout {
        Layout {
            offset: (columns.start - self.column) * self.leading + rows.start - self.row,
            rows: rows.len(),
            columns: columns.len(),
            leading: self.leading,
        }
    }
}
