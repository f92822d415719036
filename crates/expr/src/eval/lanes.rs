//! Blocks of values: how they are read, gathered and counted.

use crate::dtype::{HostSlice, Scalar, Value};
use crate::fold::with_type;
use half::{bf16, f16};
use std::sync::atomic::{AtomicU32, Ordering};

/// A type as it stands in a block: `bool` as a byte.
pub trait Lane: Value {
    /// Its representation.
    type Rep: bytemuck::Pod + PartialOrd;
    /// To the representation.
    fn rep(self) -> Self::Rep;
    /// From the representation.
    fn val(rep: Self::Rep) -> Self;
}

macro_rules! lanes {
    ($($t:ty),*) => { $(impl Lane for $t {
        type Rep = $t;
        #[inline(always)]
        fn rep(self) -> $t { self }
        #[inline(always)]
        fn val(rep: $t) -> $t { rep }
    })* };
}
lanes!(u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64);
impl Lane for bool {
    type Rep = u8;
    #[inline(always)]
    fn rep(self) -> u8 {
        u8::from(self)
    }
    #[inline(always)]
    fn val(rep: u8) -> bool {
        rep != 0
    }
}

/// An argument of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arg<'a> {
    /// One value per point.
    Block(&'a [u64]),
    /// The same value everywhere.
    Uniform(u64),
}

/// A block as values of its type.
#[inline(always)]
pub(super) fn values<T: Lane>(block: &[u64], n: usize) -> &[T::Rep] {
    &bytemuck::cast_slice(block)[..n]
}

/// A block as values of its type, to write.
#[inline(always)]
pub(super) fn values_mut<T: Lane>(block: &mut [u64], n: usize) -> &mut [T::Rep] {
    &mut bytemuck::cast_slice_mut(block)[..n]
}

/// The bits of one element.
pub(super) fn element(slice: HostSlice<'_>, component: u8, at: i64) -> u64 {
    let at = at as usize;
    match slice {
        HostSlice::Bool(s) => s[at].to_bits64(),
        HostSlice::U8(s) => s[at].to_bits64(),
        HostSlice::I8(s) => s[at].to_bits64(),
        HostSlice::U16(s) => s[at].to_bits64(),
        HostSlice::I16(s) => s[at].to_bits64(),
        HostSlice::U32(s) => s[at].to_bits64(),
        HostSlice::I32(s) => s[at].to_bits64(),
        HostSlice::U64(s) => s[at].to_bits64(),
        HostSlice::I64(s) => s[at].to_bits64(),
        HostSlice::F16(s) => s[at].to_bits64(),
        HostSlice::BF16(s) => s[at].to_bits64(),
        HostSlice::F32(s) => s[at].to_bits64(),
        HostSlice::F64(s) => s[at].to_bits64(),
        HostSlice::Rect(s) => {
            let r = s[at];
            [r.x, r.y, r.width, r.height][usize::from(component)].to_bits64()
        }
        HostSlice::Affine(s) => s[at].0[usize::from(component)].to_bits64(),
        HostSlice::Perspective(s) => s[at].0[usize::from(component)].to_bits64(),
    }
}

/// `start, start + 1, ...`
pub(super) fn count(out: &mut [u64], start: i32, n: usize) {
    for (i, out) in values_mut::<i32>(out, n).iter_mut().enumerate() {
        *out = start.wrapping_add(i as i32);
    }
}

/// The same value everywhere.
pub(crate) fn fill(out: &mut [u64], value: Scalar, n: usize) {
    with_type!(value.dtype, T => values_mut::<T>(out, n).fill(value.get::<T>().rep()));
}

/// A checked clamp of one value. The first time that it changes something is kept in `failed`, as
/// [`Error::of_word`](crate::Error::of_word) reads it: the index of a box, plus one, or the coordinate itself.
pub(super) fn guard(value: i32, low: i32, high: i32, index: Option<i32>, failed: &AtomicU32) -> i32 {
    let clamped = if value < low {
        low
    } else if value > high {
        high
    } else {
        value
    };
    if clamped != value {
        let word = match index {
            Some(index) => index as u32 + 1,
            None => {
                crate::error_word::COORDINATE
                    | value.clamp(-(1 << 30), (1 << 30) - 1) as u32 & !crate::error_word::COORDINATE
            }
        };
        let _ = failed.compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed);
    }
    clamped
}

/// Checked clamps of a block.
///
/// Points for which no step of a loop is left compute along, and report nothing: `active` says which are others.
pub(super) fn guards(
    out: &mut [u64],
    args: [Arg<'_>; 3],
    index: Option<Arg<'_>>,
    n: usize,
    active: Option<&[bool]>,
    failed: &AtomicU32,
) {
    let get = |arg: &Arg<'_>, i: usize| match arg {
        Arg::Block(block) => values::<i32>(block, n)[i],
        Arg::Uniform(bits) => *bits as i32,
    };
    let out = values_mut::<i32>(out, n);
    for (i, out) in out.iter_mut().enumerate() {
        let idle = AtomicU32::new(0);
        let failed = if active.is_none_or(|a| a[i]) { failed } else { &idle };
        let index = index.as_ref().map(|index| get(index, i));
        *out = guard(get(&args[0], i), get(&args[1], i), get(&args[2], i), index, failed);
    }
}
