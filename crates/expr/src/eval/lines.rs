//! Lines of points, and the loops over them: what an operation is called with once, however many rows it computes.

use super::lanes::{Arg, Lane, values_mut};
use crate::arith::{Arith, CastTo};
use crate::graph::{Binary, Unary};

/// Points of a block: line `r` begins at value `r * pitch`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points {
    pub(super) lines: usize,
    /// Points of a line.
    pub(super) columns: usize,
    /// Values from one line to the next: whole words of them if there are several lines.
    pub(super) pitch: usize,
}

impl From<usize> for Points {
    fn from(n: usize) -> Points {
        Points { lines: 1, columns: n, pitch: n }
    }
}

impl Points {
    /// All values as one line, those between lines too.
    pub(super) fn joined(self) -> Points {
        Points::from(self.lines * self.pitch)
    }

    /// Where line `r` begins: words, for values of `size` bytes.
    pub(super) fn word(self, r: usize, size: usize) -> usize {
        r * self.pitch * size / 8
    }
}

/// Which line of its own an argument has for each line of points: the same one, or those of a list.
pub(super) type Picked<'a> = Option<&'a [u32]>;

/// An argument of an operation over lines of points.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lines<'a> {
    /// One value per point, in lines `pitch` apart; with a pitch of 0 all lines are one.
    Each { block: &'a [u64], pitch: usize, picked: Picked<'a> },
    /// The same value at all points of a line.
    Same(One<'a>),
}

/// A value for all points of a line.
#[derive(Clone, Copy, Debug)]
pub(super) enum One<'a> {
    /// The same for all lines.
    Bits(u64),
    /// One of a block's values, of which the first line's is value `first`.
    OfLine { block: &'a [u64], first: usize, picked: Picked<'a> },
}

impl<'a> From<Arg<'a>> for Lines<'a> {
    fn from(arg: Arg<'a>) -> Lines<'a> {
        match arg {
            Arg::Block(block) => Lines::Each { block, pitch: 0, picked: None },
            Arg::Uniform(bits) => Lines::Same(One::Bits(bits)),
        }
    }
}

/// The line of its own that an argument has for line `r`.
#[inline(always)]
pub(super) fn pick(picked: Picked<'_>, r: usize) -> usize {
    picked.map_or(r, |picked| picked[r] as usize)
}

/// The bits of value `i` of a block, of values with `size` bytes.
#[inline(always)]
fn bits_at(block: &[u64], size: usize, i: usize) -> u64 {
    match size {
        8 => block[i],
        4 => u64::from(bytemuck::cast_slice::<u64, u32>(block)[i]),
        2 => u64::from(bytemuck::cast_slice::<u64, u16>(block)[i]),
        _ => u64::from(bytemuck::cast_slice::<u64, u8>(block)[i]),
    }
}

impl One<'_> {
    /// The bits of line `r`'s, of values with `size` bytes.
    pub(super) fn line(self, r: usize, size: usize) -> u64 {
        match self {
            One::Bits(bits) => bits,
            One::OfLine { block, first, picked } => bits_at(block, size, first + pick(picked, r)),
        }
    }
}

impl<'a> Lines<'a> {
    /// What line `r` has, of values with `size` bytes.
    pub(super) fn line(&self, r: usize, size: usize) -> Arg<'a> {
        match *self {
            Lines::Each { block, pitch, picked } => Arg::Block(&block[pick(picked, r) * pitch * size / 8..]),
            Lines::Same(one) => Arg::Uniform(one.line(r, size)),
        }
    }

    /// Whether lines follow each other as those of `points` do.
    pub(super) fn is_joined(&self, points: Points) -> bool {
        match self {
            Lines::Each { pitch, picked, .. } => *pitch == points.pitch && picked.is_none(),
            Lines::Same(one) => matches!(one, One::Bits(_)),
        }
    }
}

/// Where a loop's values come from: one for each point of a line.
pub(super) trait Line<T>: Copy {
    fn get(self, i: usize) -> T;
}

#[derive(Clone, Copy)]
pub(super) struct Each<'a, T: Lane>(&'a [T::Rep]);
impl<T: Lane> Line<T> for Each<'_, T> {
    #[inline(always)]
    fn get(self, i: usize) -> T {
        T::val(self.0[i])
    }
}

#[derive(Clone, Copy)]
pub(super) struct Same<T>(T);
impl<T: Copy> Line<T> for Same<T> {
    #[inline(always)]
    fn get(self, _: usize) -> T {
        self.0
    }
}

/// Where they come from for all lines.
pub(super) trait Source<T>: Copy {
    type Line: Line<T>;
    fn line(self, r: usize, n: usize) -> Self::Line;
}

#[derive(Clone, Copy)]
pub(super) struct EachLine<'a, T: Lane> {
    values: &'a [T::Rep],
    pitch: usize,
    picked: Picked<'a>,
}
impl<'a, T: Lane> Source<T> for EachLine<'a, T> {
    type Line = Each<'a, T>;
    #[inline(always)]
    fn line(self, r: usize, n: usize) -> Each<'a, T> {
        Each(&self.values[pick(self.picked, r) * self.pitch..][..n])
    }
}

#[derive(Clone, Copy)]
pub(super) struct SameLine<'a, T: Lane> {
    one: T,
    of_lines: Option<(&'a [T::Rep], Picked<'a>)>,
}
impl<'a, T: Lane> SameLine<'a, T> {
    #[inline(always)]
    fn new(one: &One<'a>) -> Self {
        match *one {
            One::Bits(bits) => SameLine { one: T::from_bits64(bits), of_lines: None },
            One::OfLine { block, first, picked } => {
                SameLine { one: T::from_bits64(0), of_lines: Some((&bytemuck::cast_slice(block)[first..], picked)) }
            }
        }
    }
}
impl<T: Lane> Source<T> for SameLine<'_, T> {
    type Line = Same<T>;
    #[inline(always)]
    fn line(self, r: usize, _: usize) -> Same<T> {
        Same(self.of_lines.map_or(self.one, |(values, picked)| T::val(values[pick(picked, r)])))
    }
}

/// Calls `$body` with `$name` bound to the right source of an argument.
macro_rules! with_source {
    ($arg:expr, $T:ty, $name:ident => $body:expr) => {
        match $arg {
            Lines::Each { block, pitch, picked } => {
                let (pitch, picked) = (*pitch, *picked);
                let $name = EachLine::<$T> { values: bytemuck::cast_slice(block), pitch, picked };
                $body
            }
            Lines::Same(one) => {
                let $name = SameLine::<$T>::new(one);
                $body
            }
        }
    };
}

/// Writes every line of `out`: `$value` of a point, with each `$name` bound to its line of the argument of that name.
macro_rules! map {
    ($out:ident, $points:ident, |$($name:ident),*| $value:expr) => {
        for r in 0..$points.lines {
            $(let $name = $name.line(r, $points.columns);)*
            write_line($out, $points, r, |i| {
                $(let $name = $name.get(i);)*
                $value
            });
        }
    };
}

#[inline(always)]
fn write_line<R: Lane>(out: &mut [u64], points: &Points, r: usize, f: impl Fn(usize) -> R) {
    let out: &mut [R::Rep] = bytemuck::cast_slice_mut(out);
    for (i, out) in out[r * points.pitch..][..points.columns].iter_mut().enumerate() {
        *out = f(i).rep();
    }
}

#[inline(always)]
pub(super) fn unary_loop<T: Arith + Lane>(op: Unary, out: &mut [u64], a: &Lines<'_>, points: &Points) {
    with_source!(a, T, a => match op {
        Unary::Neg => map!(out, points, |a| a.neg()),
        Unary::Abs => map!(out, points, |a| Arith::abs(a)),
        Unary::Sqrt => map!(out, points, |a| Arith::sqrt(a)),
        Unary::Floor => map!(out, points, |a| Arith::floor(a)),
        Unary::Ceil => map!(out, points, |a| Arith::ceil(a)),
        Unary::Trunc => map!(out, points, |a| Arith::trunc(a)),
        Unary::Round => map!(out, points, |a| Arith::round(a)),
        Unary::Not => map!(out, points, |a| a.not()),
        Unary::CountOnes => map!(out, points, |a| Arith::count_ones(a)),
        Unary::LeadingZeros => map!(out, points, |a| Arith::leading_zeros(a)),
    });
}

#[inline(always)]
pub(super) fn binary_loop<T: Arith + Lane>(op: Binary, out: &mut [u64], [a, b]: &[Lines<'_>; 2], points: &Points) {
    with_source!(a, T, a => with_source!(b, T, b => match op {
        Binary::Add => map!(out, points, |a, b| a.add(b)),
        Binary::Sub => map!(out, points, |a, b| a.sub(b)),
        Binary::Mul => map!(out, points, |a, b| a.mul(b)),
        Binary::Div => map!(out, points, |a, b| a.div(b)),
        Binary::Rem => map!(out, points, |a, b| a.rem(b)),
        Binary::Min => map!(out, points, |a, b| a.minimum(b)),
        Binary::Max => map!(out, points, |a, b| a.maximum(b)),
        Binary::And => map!(out, points, |a, b| a.and(b)),
        Binary::Or => map!(out, points, |a, b| a.or(b)),
        Binary::Xor => map!(out, points, |a, b| a.xor(b)),
        Binary::Shl => map!(out, points, |a, b| a.shl(b)),
        Binary::Shr => map!(out, points, |a, b| a.shr(b)),
        Binary::Lt => map!(out, points, |a, b| a < b),
        Binary::Le => map!(out, points, |a, b| a <= b),
        Binary::Gt => map!(out, points, |a, b| a > b),
        Binary::Ge => map!(out, points, |a, b| a >= b),
        Binary::Eq => map!(out, points, |a, b| a == b),
        Binary::Ne => map!(out, points, |a, b| a != b),
    }));
}

#[inline(always)]
pub(super) fn fma_loop<T: Arith + Lane>(out: &mut [u64], [a, b, c]: &[Lines<'_>; 3], points: &Points) {
    with_source!(a, T, a => with_source!(b, T, b => with_source!(c, T, c => map!(out, points, |a, b, c| a.fma(b, c)))));
}

#[inline(always)]
pub(super) fn select_loop<T: Lane>(out: &mut [u64], [c, a, b]: &[Lines<'_>; 3], points: &Points) {
    with_source!(c, bool, c => with_source!(a, T, a => with_source!(b, T, b =>
        map!(out, points, |c, a, b| if c { a } else { b }))));
}

#[inline(always)]
pub(super) fn cast_loop<A: Lane + CastTo<B>, B: Lane>(out: &mut [u64], a: &Lines<'_>, points: &Points) {
    with_source!(a, A, a => map!(out, points, |a| CastTo::<B>::cast_to(a)));
}

/// The same bits, of values with `size` bytes.
pub(super) fn copy(size: usize, out: &mut [u64], a: &Lines<'_>, points: &Points) {
    for r in 0..points.lines {
        let out = &mut out[points.word(r, size)..];
        let n = points.columns;
        match a.line(r, size) {
            Arg::Block(block) => {
                let words = (n * size).div_ceil(8);
                out[..words].copy_from_slice(&block[..words]);
            }
            Arg::Uniform(bits) => match size {
                8 => out[..n].fill(bits),
                4 => values_mut::<u32>(out, n).fill(bits as u32),
                2 => values_mut::<u16>(out, n).fill(bits as u16),
                _ => values_mut::<u8>(out, n).fill(bits as u8),
            },
        }
    }
}
