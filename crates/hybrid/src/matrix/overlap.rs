use std::ops::Range;

use super::{Element, MatMut, MatRef};
use crate::Error;

impl<T: Element> MatMut<'_, T> {
    /// Refuses an operand that lies where this matrix is written ([`Error::Aliased`]).
    pub(crate) fn refuse_overlap<S: Element>(
        &self,
        operation: &'static str,
        operand: &'static str,
        other: MatRef<'_, S>,
    ) -> Result<(), Error> {
        let apart = !may_overlap(self.read(), other);
        if apart { Ok(()) } else { Err(Error::Aliased { operation, operand }) }
    }
}

/// Whether two matrices can have a byte in common. Windows of one larger matrix side by side are known to have none.
fn may_overlap<T: Element, S: Element>(one: MatRef<'_, T>, other: MatRef<'_, S>) -> bool {
    let (Some(mine), Some(theirs)) = (one.elements().overlap_range(), other.elements().overlap_range()) else {
        return false;
    };
    mine.start < theirs.end && theirs.start < mine.end && !side_by_side(one, mine, other, theirs)
}

/// Whether both are windows of lines that start `pitch` bytes apart, and use different parts of those lines.
fn side_by_side<T: Element, S: Element>(
    one: MatRef<'_, T>,
    mine: Range<usize>,
    other: MatRef<'_, S>,
    theirs: Range<usize>,
) -> bool {
    let (Some([my_pitch, my_width]), Some([pitch, width])) = (lines(one), lines(other)) else { return false };
    if my_pitch != pitch || pitch == 0 {
        return false;
    }
    let distance = (theirs.start as isize).wrapping_sub(mine.start as isize).rem_euclid(pitch as isize) as usize;
    my_width <= distance && distance + width <= pitch
}

/// Bytes from one line to the next and bytes of a line, where a matrix has lines without gaps.
fn lines<T: Element>(matrix: MatRef<'_, T>) -> Option<[usize; 2]> {
    let [row_stride, column_stride] = matrix.elements().strides().map(isize::unsigned_abs);
    let bytes = size_of::<T>();
    match (row_stride, column_stride) {
        (pitch, 1) => Some([pitch.checked_mul(bytes)?, matrix.columns() * bytes]),
        (1, pitch) => Some([pitch.checked_mul(bytes)?, matrix.rows() * bytes]),
        _ => None,
    }
}
