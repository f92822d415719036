//! The crate's unsafe code: blocks written to shared outputs, and loops compiled for AVX2 where the processor has it.
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(unused_unsafe, reason = "without AVX2 the fast loops are safe functions")
)]

use super::lanes::{Arg, Lane, values, values_mut};
use super::meet::{NOWHERE, meet};
use crate::arith::{Arith, CastTo};
use crate::dtype::{DType, HostSliceMut};
use crate::fold::{with_type, with_wide_type};
use crate::graph::{Binary, Unary};
use crate::scatter::Collision;
use half::{bf16, f16};
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

/// Where a value of a loop comes from.
trait Source<T>: Copy {
    fn get(self, i: usize) -> T;
}

#[derive(Clone, Copy)]
struct Each<'a, T: Lane>(&'a [T::Rep]);
impl<T: Lane> Source<T> for Each<'_, T> {
    #[inline(always)]
    fn get(self, i: usize) -> T {
        T::val(self.0[i])
    }
}

#[derive(Clone, Copy)]
struct Same<T>(T);
impl<T: Copy> Source<T> for Same<T> {
    #[inline(always)]
    fn get(self, _: usize) -> T {
        self.0
    }
}

/// Calls `$body` with `$name` bound to the right source of an argument.
macro_rules! with_source {
    ($arg:expr, $T:ty, $n:expr, $name:ident => $body:expr) => {
        match $arg {
            Arg::Block(block) => {
                let $name = Each::<$T>(values::<$T>(block, $n));
                $body
            }
            Arg::Uniform(bits) => {
                let $name = Same(<$T as crate::dtype::Value>::from_bits64(bits));
                $body
            }
        }
    };
}

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
        with_source!(value, T, places.len(), value => {
            for (i, place) in places.iter().enumerate().filter(|(_, p)| **p != NOWHERE) {
                assert!(*place < self.len, "the plan checked that outputs are large enough");
                // SAFETY: inside the output, and this thread's alone: it is the place of a point that this thread computes.
                unsafe { self.start.cast::<T::Rep>().add(*place).write(value.get(i).rep()) };
            }
        });
    }

    /// Writes `n` values at `base`, `base + stride`, ...
    pub(super) fn write(&self, base: usize, stride: usize, value: Arg<'_>, n: usize) {
        let last = base + (n - 1) * stride;
        assert!(last < self.len, "the plan checked that outputs are large enough");
        with_type!(self.dtype, T => self.write_as::<T>(base, stride, value, n));
    }

    fn write_as<T: Lane>(&self, base: usize, stride: usize, value: Arg<'_>, n: usize) {
        // SAFETY: `start` points to `len` elements of `dtype`, which is `T`; `bool` is written as a byte 0 or 1. `base` and
        // `last` (checked by the caller) are inside, and so is everything between.
        let at = |i: usize| unsafe { self.start.cast::<T::Rep>().add(base + i * stride) };
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

#[inline(always)]
fn map<R: Lane>(out: &mut [u64], n: usize, f: impl Fn(usize) -> R) {
    for (i, out) in values_mut::<R>(out, n).iter_mut().enumerate() {
        *out = f(i).rep();
    }
}

#[inline(always)]
fn unary_loop<T: Arith + Lane>(op: Unary, out: &mut [u64], a: Arg<'_>, n: usize) {
    with_source!(a, T, n, a => match op {
        Unary::Neg => map(out, n, |i| a.get(i).neg()),
        Unary::Abs => map(out, n, |i| Arith::abs(a.get(i))),
        Unary::Sqrt => map(out, n, |i| Arith::sqrt(a.get(i))),
        Unary::Floor => map(out, n, |i| Arith::floor(a.get(i))),
        Unary::Ceil => map(out, n, |i| Arith::ceil(a.get(i))),
        Unary::Trunc => map(out, n, |i| Arith::trunc(a.get(i))),
        Unary::Round => map(out, n, |i| Arith::round(a.get(i))),
        Unary::Not => map(out, n, |i| a.get(i).not()),
        Unary::CountOnes => map(out, n, |i| Arith::count_ones(a.get(i))),
        Unary::LeadingZeros => map(out, n, |i| Arith::leading_zeros(a.get(i))),
    });
}

#[inline(always)]
fn binary_loop<T: Arith + Lane>(op: Binary, out: &mut [u64], [a, b]: [Arg<'_>; 2], n: usize) {
    with_source!(a, T, n, a => with_source!(b, T, n, b => match op {
        Binary::Add => map(out, n, |i| a.get(i).add(b.get(i))),
        Binary::Sub => map(out, n, |i| a.get(i).sub(b.get(i))),
        Binary::Mul => map(out, n, |i| a.get(i).mul(b.get(i))),
        Binary::Div => map(out, n, |i| a.get(i).div(b.get(i))),
        Binary::Rem => map(out, n, |i| a.get(i).rem(b.get(i))),
        Binary::Min => map(out, n, |i| a.get(i).minimum(b.get(i))),
        Binary::Max => map(out, n, |i| a.get(i).maximum(b.get(i))),
        Binary::And => map(out, n, |i| a.get(i).and(b.get(i))),
        Binary::Or => map(out, n, |i| a.get(i).or(b.get(i))),
        Binary::Xor => map(out, n, |i| a.get(i).xor(b.get(i))),
        Binary::Shl => map(out, n, |i| a.get(i).shl(b.get(i))),
        Binary::Shr => map(out, n, |i| a.get(i).shr(b.get(i))),
        Binary::Lt => map(out, n, |i| a.get(i) < b.get(i)),
        Binary::Le => map(out, n, |i| a.get(i) <= b.get(i)),
        Binary::Gt => map(out, n, |i| a.get(i) > b.get(i)),
        Binary::Ge => map(out, n, |i| a.get(i) >= b.get(i)),
        Binary::Eq => map(out, n, |i| a.get(i) == b.get(i)),
        Binary::Ne => map(out, n, |i| a.get(i) != b.get(i)),
    }));
}

#[inline(always)]
fn fma_loop<T: Arith + Lane>(out: &mut [u64], [a, b, c]: [Arg<'_>; 3], n: usize) {
    with_source!(a, T, n, a => with_source!(b, T, n, b => with_source!(c, T, n, c =>
        map(out, n, |i| a.get(i).fma(b.get(i), c.get(i))))));
}

#[inline(always)]
fn select_loop<T: Lane>(out: &mut [u64], [c, a, b]: [Arg<'_>; 3], n: usize) {
    with_source!(c, bool, n, c => with_source!(a, T, n, a => with_source!(b, T, n, b =>
        map(out, n, |i| if c.get(i) { a.get(i) } else { b.get(i) }))));
}

#[inline(always)]
fn cast_loop<A: Lane + CastTo<B>, B: Lane>(out: &mut [u64], a: Arg<'_>, n: usize) {
    with_source!(a, A, n, a => map(out, n, |i| -> B { a.get(i).cast_to() }));
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
avx2!(unary_avx2 = unary_loop<T: Arith>(op: Unary, out: &mut [u64], a: Arg<'_>, n: usize));
avx2!(binary_avx2 = binary_loop<T: Arith>(op: Binary, out: &mut [u64], args: [Arg<'_>; 2], n: usize));
avx2!(fma_avx2 = fma_loop<T: Arith>(out: &mut [u64], args: [Arg<'_>; 3], n: usize));
avx2!(select_avx2 = select_loop<T: Lane>(out: &mut [u64], args: [Arg<'_>; 3], n: usize));
avx2!(cast_avx2 = cast_loop<A: CastTo<B>, B: Lane>(out: &mut [u64], a: Arg<'_>, n: usize));

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
pub(super) fn unary(op: Unary, dtype: DType, out: &mut [u64], a: Arg<'_>, n: usize) {
    dispatch!(dtype, unary_avx2, unary_loop, (op, out, a, n));
}

/// `a op b`, of operands of `dtype`.
pub(super) fn binary(op: Binary, dtype: DType, out: &mut [u64], args: [Arg<'_>; 2], n: usize) {
    dispatch!(dtype, binary_avx2, binary_loop, (op, out, args, n));
}

/// `a * b + c`, rounded once.
pub(super) fn fma(dtype: DType, out: &mut [u64], args: [Arg<'_>; 3], n: usize) {
    dispatch!(dtype, fma_avx2, fma_loop, (out, args, n));
}

/// `if c { a } else { b }`.
pub(super) fn select(dtype: DType, out: &mut [u64], args: [Arg<'_>; 3], n: usize) {
    match dtype {
        DType::F16 | DType::BF16 => select_loop::<u16>(out, args, n),
        _ => dispatch!(dtype, select_avx2, select_loop, (out, args, n)),
    }
}

/// The saturating cast.
pub(super) fn cast(from: DType, to: DType, out: &mut [u64], a: Arg<'_>, n: usize) {
    use DType::{BF16, F16, F32, F64, I32, U8};
    match (from, to, has_avx2()) {
        // SAFETY: `has_avx2` holds, so the processor has the features that `cast_avx2` was compiled for.
        (U8, F32, true) => unsafe { cast_avx2::<u8, f32>(out, a, n) },
        // SAFETY: as above.
        (F32, U8, true) => unsafe { cast_avx2::<f32, u8>(out, a, n) },
        // SAFETY: as above.
        (F32, I32, true) => unsafe { cast_avx2::<f32, i32>(out, a, n) },
        // SAFETY: as above.
        (I32, F32, true) => unsafe { cast_avx2::<i32, f32>(out, a, n) },
        // SAFETY: as above.
        (F32, F64, true) => unsafe { cast_avx2::<f32, f64>(out, a, n) },
        // SAFETY: as above.
        (F64, F32, true) => unsafe { cast_avx2::<f64, f32>(out, a, n) },
        // SAFETY: as above.
        (F16, F32, true) => unsafe { cast_avx2::<f16, f32>(out, a, n) },
        // SAFETY: as above.
        (F32, F16, true) => unsafe { cast_avx2::<f32, f16>(out, a, n) },
        // SAFETY: as above.
        (BF16, F32, true) => unsafe { cast_avx2::<bf16, f32>(out, a, n) },
        // SAFETY: as above.
        (F32, BF16, true) => unsafe { cast_avx2::<f32, bf16>(out, a, n) },
        (F16, F32, false) => cast_loop::<f16, f32>(out, a, n),
        (F32, F16, false) => cast_loop::<f32, f16>(out, a, n),
        (BF16, F32, false) => cast_loop::<bf16, f32>(out, a, n),
        (F32, BF16, false) => cast_loop::<f32, bf16>(out, a, n),
        (F64, F16, _) => cast_loop::<f64, f16>(out, a, n),
        (F64, BF16, _) => cast_loop::<f64, bf16>(out, a, n),
        // Other casts of halves go through f32.
        _ => with_wide_type!(from, A => with_wide_type!(to, B => cast_loop::<A, B>(out, a, n), {}), {}),
    }
}
