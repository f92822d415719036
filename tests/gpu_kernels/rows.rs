//! Kernels over one row: fill, saxpy, sums.

use super::{assert_same, kernel, on_gpu, twin};
use crate::numbers::Random;
use crate::runner::{everywhere, read, value, written};
use tilewright_gpu_kernels::body::{fill, saxpy, sum};
use tilewright_gpu_kernels::simulated;

/// Nothing, one, parts of a vector, of a block, whole ones, one more.
const SIZES: [usize; 8] = [0, 1, 3, 257, 4095, 4096, 4097, 9001];

#[test]
fn fill_writes_each_element_and_no_other() {
    let text = twin!("fill");
    for size in SIZES {
        let expected = vec![2.5_f32; size];
        let mut out = vec![f32::NAN; size + 5];
        simulated::fill_f32(size as i64, 2.5, &mut out[..size]);
        assert_same(&out[..size], &expected, "simulated");
        assert!(out[size..].iter().all(|v| v.is_nan()), "{size}: behind the end");

        let blocks = fill::blocks::<4>(size as i64);
        if blocks > 0 {
            let args = [value(size as i64), value(2.5_f32), written::<f32>(size + 5)];
            everywhere(&kernel(&text, "fill_f32", blocks, fill::THREADS, 0), &args, |outputs, place| {
                let out = outputs.get::<f32>(0);
                assert_same(&out[..size], &expected, place);
                assert!(out[size..].iter().all(|v| v.is_nan()), "{place}: behind the end");
            });
        }
        if let Some((kernels, stream)) = on_gpu("fill") {
            let mut out = stream.upload(&vec![f32::NAN; size]).unwrap();
            kernels.fill_f32.launch(&stream, 2.5, &mut out).unwrap();
            assert_same(&out.to_vec().unwrap(), &expected, "GPU");
        }
    }
}

/// The other element types, and rows that begin askew.
#[test]
fn fill_takes_every_type_and_place() {
    let (mut bytes, mut words, mut doubles) = (vec![0_u8; 16400], vec![0_u32; 5000], vec![f64::NAN; 2100]);
    for from in [0, 1] {
        bytes.fill(0);
        simulated::fill_u8(16390 - from as i64, 7, &mut bytes[from..16390]);
        assert!(bytes[from..16390].iter().all(|v| *v == 7) && bytes[16390..].iter().all(|v| *v == 0));
        words.fill(0);
        simulated::fill_u32(4990 - from as i64, 1 << 30, &mut words[from..4990]);
        assert!(words[from..4990].iter().all(|v| *v == 1 << 30) && words[4990..].iter().all(|v| *v == 0));
        doubles.fill(f64::NAN);
        simulated::fill_f64(2090 - from as i64, 1e-300, &mut doubles[from..2090]);
        assert!(doubles[from..2090].iter().all(|v| *v == 1e-300) && doubles[2090..].iter().all(|v| v.is_nan()));
    }
    let Some((kernels, stream)) = on_gpu("fill, types") else { return };
    let mut bytes = stream.alloc::<u8>(16390).unwrap();
    kernels.fill_u8.launch(&stream, 7, &mut bytes).unwrap();
    assert!(bytes.to_vec().unwrap().iter().all(|v| *v == 7));
    let mut words = stream.alloc::<u32>(4990).unwrap();
    kernels.fill_u32.launch(&stream, 1 << 30, &mut words).unwrap();
    assert!(words.to_vec().unwrap().iter().all(|v| *v == 1 << 30));
    let mut doubles = stream.alloc::<f64>(2090).unwrap();
    kernels.fill_f64.launch(&stream, 1e-300, &mut doubles).unwrap();
    assert!(doubles.to_vec().unwrap().iter().all(|v| *v == 1e-300));
}

#[test]
fn saxpy_rounds_once() {
    let (text, a) = (twin!("saxpy"), 0.1_f32);
    for size in SIZES {
        let mut random = Random(size as u64);
        let (x, y) = (random.many(size + 1, Random::unit), random.many(size + 1, Random::unit));
        for from in [0, 1] {
            let expected: Vec<f32> = x[from..].iter().zip(&y[from..]).map(|(x, y)| a.mul_add(*x, *y)).collect();
            let mut out = y.clone();
            simulated::saxpy((size + 1 - from) as i64, a, &x[from..], &mut out[from..]);
            assert_same(&out[from..], &expected, "simulated");
            assert_same(&out[..from], &y[..from], "simulated, before the start");
        }
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| a.mul_add(*x, *y)).take(size).collect();
        if let Some((kernels, stream)) = on_gpu("saxpy") {
            let (x, mut y) = (stream.upload(&x[..size]).unwrap(), stream.upload(&y[..size]).unwrap());
            kernels.saxpy.launch(&stream, a, &x, &mut y).unwrap();
            assert_same(&y.to_vec().unwrap(), &expected, "GPU");
        }
        // The runner poisons what is written: the twin reads y from there, so it runs on a y of NaN, and on a copy below.
        let blocks = saxpy::blocks(size as i64);
        if blocks > 0 {
            let copied = text.replace("float* y;", "float* y; const float* from;").replace(
                "  const long long left",
                "  for (int i = threadIdx.x; i < 4096 && start + i < p.size; i += 256) y[i] = p.from[start + i];\n  \
                 __syncthreads();\n  const long long left",
            );
            let args = [value(size as i64), value(a), read(&x[..size]), written::<f32>(size), read(&y[..size])];
            everywhere(&kernel(&copied, "saxpy", blocks, saxpy::THREADS, 0), &args, |outputs, place| {
                assert_same(&outputs.get::<f32>(0), &expected, place);
            });
        }
    }
}

/// Small integers are summed exactly in any order; other numbers give the twin's bits, near the sum in f64.
#[test]
fn sums_have_one_order() {
    let text = twin!("sum");
    for (size, shares) in [(0, 1), (1, 1), (5, 2), (1023, 1), (1024, 1), (3000, 2), (5003, 3)] {
        let mut random = Random(size as u64 + 7);
        for draw in [Random::small as fn(&mut Random) -> f32, Random::unit] {
            let x = random.many(size, draw);
            let mut simulated = vec![f32::NAN; shares];
            simulated::sum_f32(size as i64, shares as i64, &x, &mut simulated);
            let exact: f64 = x.iter().map(|v| f64::from(*v)).sum();
            let sizes: f64 = x.iter().map(|v| f64::from(v.abs())).sum();
            let got: f64 = simulated.iter().map(|v| f64::from(*v)).sum();
            let whole = x.iter().all(|v| v.fract() == 0.0);
            let allowed = if whole { 0.0 } else { sizes * 2f64.powi(-19) };
            assert!((got - exact).abs() <= allowed, "{size} in {shares}: {got}, expected {exact}");

            let shared = sum::shared_bytes(4);
            let args = [value(size as i64), value(shares as i64), read(&x), written::<f32>(shares)];
            everywhere(&kernel(&text, "sum_f32", shares as i64, sum::THREADS, shared), &args, |outputs, place| {
                assert_same(&outputs.get::<f32>(0), &simulated, place);
            });
            if let Some((kernels, stream)) = on_gpu("sum") {
                let (x, mut sums) = (stream.upload(&x).unwrap(), stream.upload(&vec![f32::NAN; shares]).unwrap());
                kernels.sum_f32.launch(&stream, &x, &mut sums).unwrap();
                assert_same(&sums.to_vec().unwrap(), &simulated, "GPU");
                let total = kernels.sum_f32.total(&stream, &x).unwrap().to_vec().unwrap();
                assert!((f64::from(total[0]) - exact).abs() <= allowed, "{size}: {total:?}, expected {exact}");
            }
        }
    }
}

/// A start that no vector allows changes no bit, and neither does another type's width.
#[test]
fn sums_do_not_depend_on_where_a_row_begins() {
    let mut random = Random(3);
    let x = random.many(3001, Random::unit);
    let [mut aligned, mut askew] = [[f32::NAN; 2]; 2];
    let copy = x[1..].to_vec();
    simulated::sum_f32(3000, 2, &copy, &mut aligned);
    simulated::sum_f32(3000, 2, &x[1..], &mut askew);
    assert_same(&askew, &aligned, "askew");

    let doubles: Vec<f64> = x.iter().map(|v| f64::from(*v)).collect();
    let mut sums = [f64::NAN; 2];
    simulated::sum_f64(3001, 2, &doubles, &mut sums);
    let exact: f64 = doubles.iter().sum();
    assert!((sums[0] + sums[1] - exact).abs() < 1e-10, "{sums:?}, expected {exact}");
}
