//! Windows around each pixel: against loops over the pixels, and against OpenCV.

mod golden;
mod kernels;
mod ordered;
mod refused;
mod weighted;

use super::*;

/// Tiny pictures, one smaller than every window, and one larger than all.
const SIZES: [[i64; 2]; 4] = [[1, 1], [2, 3], [4, 1], [5, 9]];

/// The pixel (`y`, `x`) of a plane with a border around it.
fn pixel<T: Copy>(p: &ArrayD<T>, (y, x): (i64, i64), border: Border<T>) -> T {
    let (h, w) = (p.shape()[0] as i64, p.shape()[1] as i64);
    match (brought(y, h, border), brought(x, w, border), border) {
        (Some(y), Some(x), _) => p[[y as usize, x as usize].as_slice()],
        (_, _, Border::Constant(outside)) => outside,
        _ => panic!("only a constant is not inside"),
    }
}

/// The pixels under a window of `h` x `w` whose pixel (`ay`, `ax`) lies on (`y`, `x`), row by row.
fn window<T: Copy>(
    p: &ArrayD<T>,
    (h, w): (usize, usize),
    (ay, ax): (usize, usize),
    at: &[usize],
    border: Border<T>,
) -> Vec<T> {
    let place = |i: usize, j: usize| (at[0] as i64 + i as i64 - ay as i64, at[1] as i64 + j as i64 - ax as i64);
    (0..h).flat_map(|i| (0..w).map(move |j| (i, j))).map(|(i, j)| pixel(p, place(i, j), border)).collect()
}

macro_rules! every_number {
    ($f:ident) => {
        $f::<u8>();
        $f::<i8>();
        $f::<u16>();
        $f::<i16>();
        $f::<u32>();
        $f::<i32>();
        $f::<u64>();
        $f::<i64>();
        $f::<f16>();
        $f::<bf16>();
        $f::<f32>();
        $f::<f64>();
    };
}
use every_number;
