//! The crate's unsafe code: blocks written to shared outputs, and loops compiled for AVX2 where the processor has it.
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(unused_unsafe, reason = "without AVX2 the fast loops are safe functions")
)]

use super::lanes::{Arg, Lane, values};
use super::lines::{Lines, Points, binary_loop, cast_loop, fma_loop, select_loop, unary_loop};
use super::meet::{NOWHERE, meet};
#[cfg(target_arch = "x86_64")]
use super::shuffles::Shuffles;
use crate::arith::{Arith, CastTo};
use crate::dtype::{DType, HostSliceMut};
use crate::fold::{with_type, with_wide_type};
use crate::graph::{Binary, Unary};
use crate::scatter::Collision;
use half::{bf16, f16};
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

/// An output that several threads write, each its own elements.
pub(super) struct Target<'a> {
    start: *mut u8,
    len: usize,
    dtype: DType,
    /// Whose turn it is where threads write to the same elements, and what such turns found.
    turn: Mutex<Turn>,
    _memory: PhantomData<&'a mut [u8]>,
}

/// What threads that write to computed places know of each other.
#[derive(Default)]
struct Turn {
    /// A bit for each element that was written, where each may be written once.
    written: Vec<u64>,
    /// The first element that was written twice.
    met: Option<usize>,
}

// SAFETY: an output is written by `write` and `write_some` alone, or by one thread at a time that has its turn. The former: the
// plan has checked that no two points of the iteration space have the same place (`Error::Overlap`), and every point is computed
// by one thread.
unsafe impl Send for Target<'_> {}
// SAFETY: as above.
unsafe impl Sync for Target<'_> {}

impl<'a> Target<'a> {
    pub(super) fn new<'s: 'a>(slice: &'a mut HostSliceMut<'s>) -> Target<'a> {
        let (len, dtype) = (slice.len(), slice.dtype());
        macro_rules! start {
            ($($v:ident),*) => { match slice { $(HostSliceMut::$v(s) => s.as_mut_ptr().cast::<u8>(),)* } };
        }
        let start = start!(Bool, U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64);
        Target { start, len, dtype, turn: Mutex::default(), _memory: PhantomData }
    }

    /// Elements.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Their type.
    pub(super) fn dtype(&self) -> DType {
        self.dtype
    }

    /// The first element that was written twice though each may be written once.
    pub(super) fn met(&self) -> Option<usize> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).met
    }

    /// Lets values meet what stands at their places.
    pub(super) fn meet(&self, collision: Collision, places: &[usize], value: Arg<'_>) {
        self.in_turn(|memory, _| meet((collision, self.dtype), memory, places, value));
    }

    /// Writes values to their places, none of which may have been written before.
    pub(super) fn place(&self, places: &[usize], value: Arg<'_>) {
        self.in_turn(|memory, turn| {
            turn.written.resize(self.len.div_ceil(64), 0);
            for place in places.iter().filter(|p| **p != NOWHERE) {
                let (word, bit) = (&mut turn.written[place / 64], 1 << (place % 64));
                if *word & bit != 0 {
                    turn.met.get_or_insert(*place);
                }
                *word |= bit;
            }
            meet((Collision::Unique, self.dtype), memory, places, value);
        });
    }

    /// Calls `f` with the whole memory while no other thread has its turn.
    fn in_turn(&self, f: impl FnOnce(&mut [u8], &mut Turn)) {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `start` points to `len` elements of `dtype`, borrowed mutably for as long as this lives; every access to an
        // output of computed places is in here, one at a time. Elements of `bool` are written as bytes 0 or 1.
        let memory = unsafe { std::slice::from_raw_parts_mut(self.start, self.len * self.dtype.size()) };
        f(memory, &mut turn);
    }

    /// Writes each value to its own place, if it has one.
    pub(super) fn write_some(&self, places: &[usize], value: Arg<'_>) {
        with_type!(self.dtype, T => self.write_some_as::<T>(places, value));
    }

    fn write_some_as<T: Lane>(&self, places: &[usize], value: Arg<'_>) {
        let get = |i: usize| match value {
            Arg::Block(block) => values::<T>(block, places.len())[i],
            Arg::Uniform(bits) => T::from_bits64(bits).rep(),
        };
        for (i, place) in places.iter().enumerate().filter(|(_, p)| **p != NOWHERE) {
            assert!(*place < self.len, "the plan checked that outputs are large enough");
            // SAFETY: inside the output, and this thread's alone: it is the place of a point that this thread computes.
            unsafe { self.start.cast::<T::Rep>().add(*place).write(get(i)) };
        }
    }

    /// Writes `n` values at `base`, `base + stride`, ...
    pub(super) fn write(&self, base: i64, stride: i64, value: Arg<'_>, n: usize) {
        let last = base + (n as i64 - 1) * stride;
        let inside = |at: i64| usize::try_from(at).is_ok_and(|at| at < self.len);
        assert!(inside(base) && inside(last), "the plan checked that outputs are large enough");
        with_type!(self.dtype, T => self.write_as::<T>(base, stride, value, n));
    }

    fn write_as<T: Lane>(&self, base: i64, stride: i64, value: Arg<'_>, n: usize) {
        // SAFETY: `start` points to `len` elements of `dtype`, which is `T`; `bool` is written as a byte 0 or 1. `base` and
        // `last` (checked by the caller) are inside, and so is everything between.
        let at = |i: usize| unsafe { self.start.cast::<T::Rep>().add((base + i as i64 * stride) as usize) };
        match value {
            Arg::Block(block) => {
                let from = values::<T>(block, n);
                if stride == 1 {
                    // SAFETY: the destination is `n` elements inside the output that only this thread touches now; the
                    // source is a block of this thread.
                    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), at(0), n) };
                } else {
                    for (i, v) in from.iter().enumerate() {
                        // SAFETY: as above, one element.
                        unsafe { at(i).write(*v) };
                    }
                }
            }
            Arg::Uniform(bits) => {
                let v = T::from_bits64(bits).rep();
                for i in 0..n {
                    // SAFETY: as above, one element.
                    unsafe { at(i).write(v) };
                }
            }
        }
    }
}

/// Defines `name`, which is `loop` compiled for AVX2 and FMA: the same operations in the same order, so the same bits (a
/// fused multiply-add is exact either way).
macro_rules! avx2 {
    ($name:ident = $loop:ident <$($T:ident: $bound:path),*> ($($arg:ident: $t:ty),*)) => {
        #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
        fn $name<$($T: Lane + $bound),*>($($arg: $t),*) {
            $loop::<$($T),*>($($arg),*);
        }
    };
}
avx2!(unary_avx2 = unary_loop<T: Arith>(op: Unary, out: &mut [u64], a: &Lines<'_>, points: &Points));
avx2!(binary_avx2 = binary_loop<T: Arith>(op: Binary, out: &mut [u64], args: &[Lines<'_>; 2], points: &Points));
avx2!(fma_avx2 = fma_loop<T: Arith>(out: &mut [u64], args: &[Lines<'_>; 3], points: &Points));
avx2!(select_avx2 = select_loop<T: Lane>(out: &mut [u64], args: &[Lines<'_>; 3], points: &Points));
avx2!(cast_avx2 = cast_loop<A: CastTo<B>, B: Lane>(out: &mut [u64], a: &Lines<'_>, points: &Points));

/// Work on blocks. Its `run` is inlined, with everything inside that has to be compiled for the same processor.
pub(crate) trait Work {
    fn run(self);
}

/// Runs `work`, compiled for AVX2 and FMA where the processor has them: the same bits either way.
pub(crate) fn wide<W: Work>(work: W) {
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
    fn wider<W: Work>(work: W) {
        work.run();
    }
    match has_avx2() {
        // SAFETY: `has_avx2` holds, so the processor has the features that `wider` was compiled for.
        true => unsafe { wider(work) },
        false => work.run(),
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
}
#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

/// Reads `from[base + index * stride]` for each index, a line for each base. Panics where that is outside.
pub(super) fn gather<T: Lane<Rep = T> + bytemuck::Pod>(
    from: &[T],
    bases: &[i64],
    columns: (&[i32], i64),
    out: &mut [u64],
    points: Points,
) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: `has_avx2` holds, so the processor has the features that `gather_avx2` was compiled for.
        return unsafe { gather_avx2(from, bases, columns, out, points) };
    }
    inside(from, bases, columns);
    gather_loop(from, bases, columns, out, points);
}

/// As [`gather`], with the bytes of several lines read by whole vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn gather_avx2<T: Lane<Rep = T> + bytemuck::Pod>(
    from: &[T],
    bases: &[i64],
    columns: (&[i32], i64),
    out: &mut [u64],
    points: Points,
) {
    let last = inside(from, bases, columns);
    if size_of::<T>() == 1
        && bases.len() > 1
        && columns.1 >= 0
        && let Some(shuffles) = Shuffles::new(columns, from.len() as i64 - last)
    {
        return shuffles.lines(bytemuck::cast_slice(from), bases, bytemuck::cast_slice_mut(out), points.pitch);
    }
    gather_loop(from, bases, columns, out, points);
}

/// Checks every base and index at once, and gives the greatest base.
#[inline(always)]
fn inside<T>(from: &[T], bases: &[i64], (index, stride): (&[i32], i64)) -> i64 {
    let (low, high) = bases.iter().fold((i64::MAX, i64::MIN), |(low, high), base| (low.min(*base), high.max(*base)));
    let (least, most) = index.iter().fold((i32::MAX, i32::MIN), |(low, high), i| (low.min(*i), high.max(*i)));
    let ends = [least, most].map(|i| i64::from(i).saturating_mul(stride));
    let (near, far) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
    let fits = low.saturating_add(near) >= 0 && high.saturating_add(far) < from.len() as i64;
    assert!(index.is_empty() || bases.is_empty() || fits, "the plan checked that indices stay inside");
    high
}

#[inline(always)]
fn gather_loop<T: Lane<Rep = T> + bytemuck::Pod>(
    from: &[T],
    bases: &[i64],
    (index, stride): (&[i32], i64),
    out: &mut [u64],
    points: Points,
) {
    let out: &mut [T] = bytemuck::cast_slice_mut(out);
    for (r, base) in bases.iter().enumerate() {
        for (out, index) in out[r * points.pitch..].iter_mut().zip(index) {
            // SAFETY: `inside` has found that the least base and index are inside, and the greatest: so are those between.
            *out = unsafe { *from.get_unchecked((base + i64::from(*index) * stride) as usize) };
        }
    }
}

/// Calls `$fast` for the types that most work is in, where the processor has AVX2, and `$plain` otherwise. (All types in
/// both forms would be two thousand loops, most of them never used.)
/// Of halves there are no loops but those of selections and casts: a program computes with them in `f32`.
macro_rules! dispatch {
    ($dtype:expr, $fast:ident, $plain:ident, ($($arg:expr),*)) => {
        match ($dtype, has_avx2()) {
            // SAFETY: `has_avx2` holds, so the processor has the features that `$fast` was compiled for.
            (DType::F32, true) => unsafe { $fast::<f32>($($arg),*) },
            // SAFETY: as above.
            (DType::F64, true) => unsafe { $fast::<f64>($($arg),*) },
            // SAFETY: as above.
            (DType::I32, true) => unsafe { $fast::<i32>($($arg),*) },
            (other, _) => with_wide_type!(other, T => $plain::<T>($($arg),*), {}),
        }
    };
}

/// `op(a)`.
pub(super) fn unary(op: Unary, dtype: DType, out: &mut [u64], a: &Lines<'_>, points: &Points) {
    dispatch!(dtype, unary_avx2, unary_loop, (op, out, a, points));
}

/// `a op b`, of operands of `dtype`.
pub(super) fn binary(op: Binary, dtype: DType, out: &mut [u64], args: &[Lines<'_>; 2], points: &Points) {
    dispatch!(dtype, binary_avx2, binary_loop, (op, out, args, points));
}

/// `a * b + c`, rounded once.
pub(super) fn fma(dtype: DType, out: &mut [u64], args: &[Lines<'_>; 3], points: &Points) {
    dispatch!(dtype, fma_avx2, fma_loop, (out, args, points));
}

/// `if c { a } else { b }`.
pub(super) fn select(dtype: DType, out: &mut [u64], args: &[Lines<'_>; 3], points: &Points) {
    match dtype {
        DType::F16 | DType::BF16 => select_loop::<u16>(out, args, points),
        _ => dispatch!(dtype, select_avx2, select_loop, (out, args, points)),
    }
}

/// The saturating cast.
pub(super) fn cast(from: DType, to: DType, out: &mut [u64], a: &Lines<'_>, points: &Points) {
    use DType::{BF16, F16, F32, F64, I32, U8};
    match (from, to, has_avx2()) {
        // SAFETY: `has_avx2` holds, so the processor has the features that `cast_avx2` was compiled for.
        (U8, F32, true) => unsafe { cast_avx2::<u8, f32>(out, a, points) },
        // SAFETY: as above.
        (F32, U8, true) => unsafe { cast_avx2::<f32, u8>(out, a, points) },
        // SAFETY: as above.
        (F32, I32, true) => unsafe { cast_avx2::<f32, i32>(out, a, points) },
        // SAFETY: as above.
        (I32, F32, true) => unsafe { cast_avx2::<i32, f32>(out, a, points) },
        // SAFETY: as above.
        (F32, F64, true) => unsafe { cast_avx2::<f32, f64>(out, a, points) },
        // SAFETY: as above.
        (F64, F32, true) => unsafe { cast_avx2::<f64, f32>(out, a, points) },
        // SAFETY: as above.
        (F16, F32, true) => unsafe { cast_avx2::<f16, f32>(out, a, points) },
        // SAFETY: as above.
        (F32, F16, true) => unsafe { cast_avx2::<f32, f16>(out, a, points) },
        // SAFETY: as above.
        (BF16, F32, true) => unsafe { cast_avx2::<bf16, f32>(out, a, points) },
        // SAFETY: as above.
        (F32, BF16, true) => unsafe { cast_avx2::<f32, bf16>(out, a, points) },
        (F16, F32, false) => cast_loop::<f16, f32>(out, a, points),
        (F32, F16, false) => cast_loop::<f32, f16>(out, a, points),
        (BF16, F32, false) => cast_loop::<bf16, f32>(out, a, points),
        (F32, BF16, false) => cast_loop::<f32, bf16>(out, a, points),
        (F64, F16, _) => cast_loop::<f64, f16>(out, a, points),
        (F64, BF16, _) => cast_loop::<f64, bf16>(out, a, points),
        // Other casts of halves go through f32.
        _ => with_wide_type!(from, A => with_wide_type!(to, B => cast_loop::<A, B>(out, a, points), {}), {}),
    }
}
