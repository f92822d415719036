//! Three of the kernels with index arithmetic by hand, on bare pointers: what typed ones are held against. A test compares the registers
//! that both take.

use super::device::Device;
use super::word::Vector;
use crate::block::Block;
use crate::body::{product, saxpy, transpose};

type Four = Vector<f32, 4>;

/// # Safety
/// Both addresses are good for `n` elements.
// SAFETY: names of kernels are their own.
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn saxpy_by_hand(n: i64, a: f32, x: *const f32, y: *mut f32) {
    let fma = |x: f32, y: f32| core::f32::math::mul_add(a, x, y);
    let start = Device.number() as i64 * saxpy::SPAN;
    let (left, thread) = (n - start, Device.thread::<256>());
    // SAFETY: as the caller promises; each place is below `n`.
    unsafe {
        let (x, y) = (x.offset(start as isize), y.offset(start as isize));
        if left >= saxpy::SPAN && (x as usize | y as usize) & 15 == 0 {
            let (x, y) = (x.cast::<Four>(), y.cast::<Four>());
            let place = |step: usize| (thread + step as i32 * 256) as isize;
            let from: [Four; 4] = core::array::from_fn(|step| *x.offset(place(step)));
            let to: [Four; 4] = core::array::from_fn(|step| *y.offset(place(step)));
            for step in 0..4 {
                *y.offset(place(step)) = Vector(core::array::from_fn(|i| fma(from[step].0[i], to[step].0[i])));
            }
            return;
        }
        for step in 0..16 {
            let at = thread + step * 256;
            if (at as i64) < left {
                *y.offset(at as isize) = fma(*x.offset(at as isize), *y.offset(at as isize));
            }
        }
    }
}

/// # Safety
/// Both addresses are good for `rows * columns` elements.
// SAFETY: names of kernels are their own.
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn transpose_f32_by_hand(rows: i64, columns: i64, from: *const f32, to: *mut f32) {
    const { assert!(transpose::THREADS == 256) };
    let (rows, columns, thread) = (rows as i32, columns as i32, Device.thread::<256>());
    let across = ((columns + 31) / 32).max(1);
    let (down, along) = (Device.number() / across * 32, Device.number() % across * 32);
    let (slow, fast) = (thread / 32, thread % 32);
    // SAFETY: as the caller promises; each place is inside, and shared memory has 33 x 32 elements.
    unsafe {
        let from = from.offset(down as isize * columns as isize + along as isize);
        let to = to.offset(along as isize * rows as isize + down as isize);
        let mut read = [0.0; 4];
        for step in 0..4 {
            let row = slow + 8 * step;
            if down + row < rows && along + fast < columns {
                read[step as usize] = *from.offset((row * columns + fast) as isize);
            }
        }
        for step in 0..4 {
            Device.store((slow + 8 * step) * 132 + fast * 4, read[step as usize].to_bits());
        }
        Device.barrier();
        for step in 0..4 {
            let row = slow + 8 * step;
            let value = f32::from_bits(Device.load(fast * 132 + row * 4));
            if along + row < columns && down + fast < rows {
                *to.offset((row * rows + fast) as isize) = value;
            }
        }
    }
}

/// # Safety
/// The addresses are good for `i * k`, `k * j` and `i * j` elements.
// SAFETY: names of kernels are their own.
#[unsafe(no_mangle)]
unsafe extern "ptx-kernel" fn product_by_hand(i: i64, j: i64, k: i64, a: *const f32, b: *const f32, c: *mut f32) {
    const B_TILE: i32 = product::SHARED_BYTES as i32 - 4096;
    let (rows, columns, end, thread) = (i as i32, j as i32, k as i32, Device.thread::<256>());
    let across = ((columns + 63) / 64).max(1);
    let (down, along) = (Device.number() / across * 64, Device.number() % across * 64);
    let (a_row, a_column, b_row, b_column) = (thread / 16, thread % 16, thread / 64, thread % 64);
    let (row, column) = (thread / 16 * 4, thread % 16 * 4);
    // SAFETY: as the caller promises; each place is inside, and shared memory has both tiles.
    unsafe {
        let a = a.offset(down as isize * end as isize);
        let b = b.offset(along as isize);
        let c = c.offset(down as isize * columns as isize + along as isize);
        let stage = |step: i32| {
            let (a, b) = (a.offset(step as isize), b.offset(step as isize * columns as isize));
            let a: [f32; 4] = core::array::from_fn(|n| {
                let row = a_row + 16 * n as i32;
                let inside = down + row < rows && step + a_column < end;
                if inside { *a.offset((row * end + a_column) as isize) } else { 0.0 }
            });
            let b: [f32; 4] = core::array::from_fn(|n| {
                let row = b_row + 4 * n as i32;
                let inside = step + row < end && along + b_column < columns;
                if inside { *b.offset((row * columns + b_column) as isize) } else { 0.0 }
            });
            (a, b)
        };
        let mut sums = [[0.0_f32; 4]; 4];
        let (mut step, mut staged) = (0, stage(0));
        while step < end {
            for n in 0..4 {
                Device.store(a_column * 272 + (a_row + 16 * n) * 4, staged.0[n as usize].to_bits());
                Device.store(B_TILE + (b_row + 4 * n) * 256 + b_column * 4, staged.1[n as usize].to_bits());
            }
            Device.barrier();
            step += 16;
            staged = stage(step);
            for k in 0..16 {
                let left = Device.load::<[u32; 4]>(k * 272 + row * 4);
                let right = Device.load::<[u32; 4]>(B_TILE + k * 256 + column * 4);
                for i in 0..4 {
                    for j in 0..4 {
                        let (left, right) = (f32::from_bits(left[i]), f32::from_bits(right[j]));
                        sums[i][j] = core::f32::math::mul_add(left, right, sums[i][j]);
                    }
                }
            }
            Device.barrier();
        }
        for i in 0..4 {
            for j in 0..4 {
                if down + row + (i as i32) < rows && along + column + (j as i32) < columns {
                    *c.offset(((row + i as i32) * columns + column + j as i32) as isize) = sums[i][j];
                }
            }
        }
    }
}
