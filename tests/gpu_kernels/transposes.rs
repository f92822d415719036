//! A matrix stored the other way round.

use super::{kernel, on_gpu, twin};
use crate::numbers::Random;
use crate::runner::{everywhere, read, value, written};
use tilewright_driver::kernels::dims::{X, Y};
use tilewright_gpu_kernels::body::transpose;
use tilewright_gpu_kernels::simulated;

/// Rows and columns: nothing, one, whole tiles, one more and one less.
const SIZES: [(usize, usize); 7] = [(0, 5), (1, 1), (1, 70), (70, 1), (32, 64), (33, 31), (65, 98)];

fn turned<T: Copy>(from: &[T], rows: usize, columns: usize) -> Vec<T> {
    (0..rows * columns).map(|at| from[at % rows.max(1) * columns + at / rows.max(1)]).collect()
}

#[test]
fn every_element_goes_to_its_place() {
    let text = twin!("transpose");
    for (rows, columns) in SIZES {
        let (y, x) = (rows as i64, columns as i64);
        let from: Vec<u32> = (0..rows * columns).map(|_| Random(rows as u64).next() as u32).collect();
        let from: Vec<u32> = from.iter().enumerate().map(|(i, v)| v ^ i as u32).collect();
        let expected = turned(&from, rows, columns);

        let mut to = vec![!0_u32; rows * columns];
        simulated::transpose_u32(y, x, &from, &mut to);
        assert_eq!(to, expected, "simulated, {rows} x {columns}");

        let blocks = transpose::blocks(y, x);
        if blocks > 0 {
            let shared = transpose::shared_bytes(4);
            let args = [value(y), value(x), read(&from), written::<u32>(rows * columns)];
            let kernel = kernel(&text, "transpose_f32", blocks, transpose::THREADS, shared);
            everywhere(&kernel, &args, |outputs, place| {
                assert_eq!(outputs.get::<u32>(0), expected, "{place}, {rows} x {columns}");
            });
        }
        if let Some((kernels, stream)) = on_gpu("transpose") {
            let from = stream.upload(&from).unwrap();
            let mut to = stream.upload(&vec![!0_u32; rows * columns]).unwrap();
            let sizes = X(columns as i32) + Y(rows as i32);
            kernels.transpose_u32.launch(&stream, sizes, &from, &mut to).unwrap();
            assert_eq!(to.to_vec().unwrap(), expected, "GPU, {rows} x {columns}");
        }
    }
}

/// Elements of every size.
#[test]
fn every_type() {
    let (rows, columns) = (35, 67);
    macro_rules! check {
        ($($t:ident $simulated:ident;)*) => { $({
            let from: Vec<$t> = (0..rows * columns).map(|i| (i * 37 % 251) as $t).collect();
            let mut to = vec![<$t>::MAX; rows * columns];
            simulated::$simulated(rows as i64, columns as i64, &from, &mut to);
            assert_eq!(to, turned(&from, rows, columns), stringify!($t));
            if let Some((kernels, stream)) = on_gpu("transpose, types") {
                let (from, mut to) = (stream.upload(&from).unwrap(), stream.upload(&vec![<$t>::MAX; rows * columns]).unwrap());
                kernels.$simulated.launch(&stream, Y(rows as i32) + X(columns as i32), &from, &mut to).unwrap();
                assert_eq!(to.to_vec().unwrap(), turned(&from.to_vec().unwrap(), rows, columns), stringify!($t));
            }
        })* };
    }
    check! { u8 transpose_u8; u16 transpose_u16; f32 transpose_f32; f64 transpose_f64; }
}
