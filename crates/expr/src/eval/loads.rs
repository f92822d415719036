//! Elements of operands: in a row, or gathered from where computed indices say.

use super::lanes::{Arg, Lane, values, values_mut};
use super::lines::{Lines, Picked, Points, pick};
use super::raw;
use crate::bind::MAX_RANK;
use crate::dtype::HostSlice;

/// An index along an axis.
#[derive(Clone, Copy, Debug)]
pub(super) enum Index<'a> {
    /// Of a line's first point; one more for each point after it.
    ByPoint(i64),
    /// Of the first line; one more for each line after it.
    ByLine(i64, Picked<'a>),
    /// The same everywhere.
    Same(i64),
    /// Values of `i32`.
    Computed(Lines<'a>),
}

/// Where the elements of a line stand: `base + i * stride + sum of moving index * stride`.
pub(super) struct Places<'p, 'a> {
    pub(super) base: i64,
    pub(super) stride: i64,
    moving: &'p [(&'a [u64], i64)],
}

impl<'p, 'a> Places<'p, 'a> {
    /// Where those of line `r` stand, by the indices along the axes, each with the axis's stride. In `moving` there is room for
    /// the indices that points have of their own.
    #[inline(always)]
    pub(super) fn of_line(
        r: usize,
        axes: impl Iterator<Item = (i64, Index<'a>)>,
        moving: &'p mut [(&'a [u64], i64)],
    ) -> Places<'p, 'a> {
        let (mut base, mut step, mut count) = (0, 0, 0);
        for (stride, index) in axes {
            match index {
                Index::ByPoint(first) => {
                    base += stride * first;
                    step += stride;
                }
                Index::ByLine(first, picked) => base += stride * (first + pick(picked, r) as i64),
                Index::Same(index) => base += stride * index,
                Index::Computed(lines) => match lines.line(r, 4) {
                    Arg::Block(block) => {
                        moving[count] = (block, stride);
                        count += 1;
                    }
                    Arg::Uniform(bits) => base += stride * i64::from(bits as i32),
                },
            }
        }
        Places { base, stride: step, moving: &moving[..count] }
    }

    fn at(&self, i: usize) -> usize {
        let mut at = self.base + self.stride * i as i64;
        for (index, stride) in self.moving {
            let index: &[i32] = bytemuck::cast_slice(index);
            at += i64::from(index[i]) * stride;
        }
        at as usize
    }
}

/// Reads elements.
pub(super) fn load<'a>(
    from: (HostSlice<'_>, u8),
    axes: impl Iterator<Item = (i64, Index<'a>)>,
    out: &mut [u64],
    points: Points,
) {
    if points.lines == 1 {
        return line(from, 0, axes, out, points.columns);
    }
    let (axes, size) = (axes.collect::<Vec<_>>(), from.0.dtype().size());
    if let Some((index, stride)) = columns(&axes, points.columns) {
        let others = || axes.iter().copied().filter(|(_, index)| !moves(index));
        let bases: Vec<i64> = (0..points.lines).map(|r| Places::of_line(r, others(), &mut []).base).collect();
        if gather_lines(from.0, &bases, (index, stride), out, points) {
            return;
        }
    }
    for r in 0..points.lines {
        line(from, r, axes.iter().copied(), &mut out[points.word(r, size)..], points.columns);
    }
}

/// Whether points of a line have indices of their own.
fn moves(index: &Index<'_>) -> bool {
    matches!(index, Index::ByPoint(_) | Index::Computed(Lines::Each { .. }))
}

/// The indices of a line's points and their stride, if they are those of one axis and the same for all lines.
fn columns<'a>(axes: &[(i64, Index<'a>)], n: usize) -> Option<(&'a [i32], i64)> {
    let mut moving = axes.iter().filter(|(_, index)| moves(index));
    match (moving.next(), moving.next()) {
        (Some((stride, Index::Computed(Lines::Each { block, pitch: 0, picked: None }))), None) => {
            Some((values::<i32>(block, n), *stride))
        }
        _ => None,
    }
}

/// Reads lines of numbers whose points have the same indices in all of them; says whether they are numbers.
fn gather_lines(slice: HostSlice<'_>, bases: &[i64], columns: (&[i32], i64), out: &mut [u64], points: Points) -> bool {
    macro_rules! by_type {
        ($($v:ident),*) => { match slice {
            $(HostSlice::$v(s) => raw::gather(s, bases, columns, out, points),)*
            _ => return false,
        } };
    }
    by_type!(U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64);
    true
}

#[inline(always)]
fn line<'a>(
    (slice, component): (HostSlice<'_>, u8),
    r: usize,
    axes: impl Iterator<Item = (i64, Index<'a>)>,
    out: &mut [u64],
    n: usize,
) {
    let mut moving: [(&[u64], i64); MAX_RANK] = [(&[], 0); MAX_RANK];
    read(slice, component, Places::of_line(r, axes, &mut moving), out, n);
}

#[inline(never)]
fn read(slice: HostSlice<'_>, component: u8, places: Places<'_, '_>, out: &mut [u64], n: usize) {
    macro_rules! by_type {
        ($($v:ident),*) => { match slice {
            $(HostSlice::$v(s) => typed(s, &places, out, n),)*
            HostSlice::Bool(s) => gather(&places, values_mut::<bool>(out, n), |at| u8::from(s[at])),
            HostSlice::Rect(s) => {
                let field = |at: usize| {
                    let r = s[at];
                    [r.x, r.y, r.width, r.height][usize::from(component)]
                };
                gather(&places, values_mut::<i32>(out, n), field);
            }
            HostSlice::Affine(s) => {
                gather(&places, values_mut::<f32>(out, n), |at| s[at].0[usize::from(component)]);
            }
            HostSlice::Perspective(s) => {
                gather(&places, values_mut::<f32>(out, n), |at| s[at].0[usize::from(component)]);
            }
        } };
    }
    by_type!(U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64);
}

fn typed<T: Lane<Rep = T> + bytemuck::Pod>(from: &[T], places: &Places<'_, '_>, out: &mut [u64], n: usize) {
    if let ([(index, stride)], 0) = (places.moving, places.stride) {
        return raw::gather(from, &[places.base], (values::<i32>(index, n), *stride), out, n.into());
    }
    let (base, out) = (places.base as usize, values_mut::<T>(out, n));
    match (places.moving, places.stride) {
        ([], 1) => out.copy_from_slice(&from[base..base + n]),
        ([], 0) => out.fill(from[base]),
        _ => gather(places, out, |at| from[at]),
    }
}

fn gather<T>(places: &Places<'_, '_>, out: &mut [T], read: impl Fn(usize) -> T) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = read(places.at(i));
    }
}
