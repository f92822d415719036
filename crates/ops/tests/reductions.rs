//! Reductions: on the CPU close to what f64 gives, on the GPU the CPU's bits; rows that are cut into segments included.

use crate::support::{Random, assert_same, gpu};
use tilewright_dims::dims;
use tilewright_expr::{In, f16};
use tilewright_ops::{Device, Tensor, fuse};

dims! { N, Y, X, C }

fn rows(height: usize, width: usize) -> Tensor<f32, (Y, X)> {
    let values = Random(height as u64 * 31 + width as u64).vec(height * width, |r| (r.unit() * 4.0 - 1.0) as f32);
    Tensor::from_vec([height, width], values).unwrap()
}

fn close(got: &[f32], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len());
    for (i, (g, e)) in got.iter().zip(expected).enumerate() {
        assert!((f64::from(*g) - e).abs() <= tolerance * (1.0 + e.abs()), "[{i}] {g} against {e}");
    }
}

/// Sizes with tails, short rows, long ones, and rows that are cut into segments, few and many.
const SIZES: [(usize, usize); 9] =
    [(1, 1), (3, 16), (5, 17), (33, 1000), (700, 33), (2, 5000), (1, 100_003), (1, 3_000_001), (511, 8209)];

#[test]
fn along_rows() {
    let f = fuse(|x: In<f32, (Y, X)>| {
        (
            x.sum::<X>().store::<(Y,)>(),
            x.mean::<X>().store::<(Y,)>(),
            x.maximum::<X>().store::<(Y,)>(),
            x.argmax::<X>().store::<(Y,)>(),
        )
    });
    let device = gpu("reductions::along_rows");
    for (height, width) in SIZES {
        let x = rows(height, width);
        let values = x.to_vec().unwrap();
        let cpu = f.call(&x).unwrap();
        let sums: Vec<f64> = values.chunks(width).map(|r| r.iter().map(|v| f64::from(*v)).sum()).collect();
        close(&cpu.0.to_vec().unwrap(), &sums, 1e-5);
        close(&cpu.1.to_vec().unwrap(), &sums.iter().map(|s| s / width as f64).collect::<Vec<_>>(), 1e-6);
        let largest: Vec<f32> = values.chunks(width).map(|r| r.iter().copied().fold(f32::MIN, f32::max)).collect();
        assert_eq!(cpu.2.to_vec().unwrap(), largest);
        let first = |r: &[f32], v: f32| r.iter().position(|x| *x == v).unwrap() as i64;
        let places: Vec<i64> = values.chunks(width).zip(&largest).map(|(r, v)| first(r, *v)).collect();
        assert_eq!(cpu.3.to_vec().unwrap(), places);
        if let Some((device, _lock)) = &device {
            for _ in 0..2 {
                let gpu = f.call(&x.to(device).unwrap()).unwrap();
                let what = format!("{height} x {width}");
                assert_same(&what, &gpu.0.to_vec().unwrap(), &cpu.0.to_vec().unwrap());
                assert_same(&what, &gpu.1.to_vec().unwrap(), &cpu.1.to_vec().unwrap());
                assert_same(&what, &gpu.2.to_vec().unwrap(), &cpu.2.to_vec().unwrap());
                assert_same(&what, &gpu.3.to_vec().unwrap(), &cpu.3.to_vec().unwrap());
            }
        }
    }
}

#[test]
fn along_columns_and_planes() {
    let columns = fuse(|x: In<f32, (Y, X)>| x.sum::<Y>().store::<(X,)>());
    let planes = fuse(|x: In<u8, (N, Y, X, C)>| {
        (
            x.sum::<(N, Y, X)>().store::<(C,)>(),
            x.mean::<(Y, X)>().store::<(N, C)>(),
            x.variance::<(N, Y, X)>().store::<(C,)>(),
        )
    });
    let device = gpu("reductions::along_columns_and_planes");
    for (height, width) in [(17, 5), (100, 40), (1000, 333), (70_000, 9), (20_011, 130)] {
        let x = rows(height, width);
        let values = x.to_vec().unwrap();
        let expected: Vec<f64> =
            (0..width).map(|c| values.iter().skip(c).step_by(width).map(|v| f64::from(*v)).sum()).collect();
        let cpu = columns.call(&x).unwrap().to_vec().unwrap();
        close(&cpu, &expected, 1e-5);
        if let Some((device, _lock)) = &device {
            let gpu = columns.call(&x.to(device).unwrap()).unwrap().to_vec().unwrap();
            assert_same(&format!("columns of {height} x {width}"), &gpu, &cpu);
        }
    }
    let (n, h, w) = (3, 37, 53);
    let values = Random(8).vec(n * h * w * 3, |r| r.below(256) as u8);
    let x = Tensor::<u8, (N, Y, X, C)>::from_vec([n, h, w, 3], values.clone()).unwrap();
    let cpu = planes.call(&x).unwrap();
    let sums: Vec<u64> = (0..3).map(|c| values.iter().skip(c).step_by(3).map(|v| u64::from(*v)).sum()).collect();
    assert_eq!(cpu.0.to_vec().unwrap(), sums);
    let spread = |c: usize| {
        let (count, mean) = ((n * h * w) as f64, sums[c] as f64 / (n * h * w) as f64);
        values.iter().skip(c).step_by(3).map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / count
    };
    close(&cpu.2.to_vec().unwrap(), &(0..3).map(spread).collect::<Vec<_>>(), 1e-5);
    if let Some((device, _lock)) = &device {
        let gpu = planes.call(&x.to(device).unwrap()).unwrap();
        assert_same("sums", &gpu.0.to_vec().unwrap(), &cpu.0.to_vec().unwrap());
        assert_same("means", &gpu.1.to_vec().unwrap(), &cpu.1.to_vec().unwrap());
        assert_same("variances", &gpu.2.to_vec().unwrap(), &cpu.2.to_vec().unwrap());
    }
}

#[test]
fn rows_are_normalised() {
    let softmax = fuse(|x: In<f32, (Y, X)>| x.softmax::<X>().store::<(Y, X)>());
    let norms = fuse(|x: In<f16, (Y, X)>| {
        (
            x.layer_norm::<X>(f16::from_f32(1e-3)).store::<(Y, X)>(),
            x.rms_norm::<X>(f16::from_f32(1e-3)).store::<(Y, X)>(),
        )
    });
    let device = gpu("reductions::rows_are_normalised");
    for (height, width) in [(3, 16), (5, 17), (9, 1000), (2, 4096), (3, 33_333)] {
        let x = rows(height, width);
        let cpu = softmax.call(&x).unwrap().to_vec().unwrap();
        let row = |r: &[f32]| {
            let powers: Vec<f64> = r.iter().map(|v| f64::from(*v).exp()).collect();
            let sum: f64 = powers.iter().sum();
            powers.into_iter().map(|p| p / sum).collect::<Vec<_>>()
        };
        let expected: Vec<f64> = x.to_vec().unwrap().chunks(width).flat_map(row).collect();
        for (g, e) in cpu.iter().zip(&expected) {
            assert!((f64::from(*g) - e).abs() <= 2e-6 * e, "{g} against {e}");
        }
        let halves: Vec<f16> = x.to_vec().unwrap().into_iter().map(f16::from_f32).collect();
        let halves = Tensor::<f16, (Y, X)>::from_vec([height, width], halves).unwrap();
        let both = norms.call(&halves).unwrap();
        for row in both.0.to_vec().unwrap().chunks(width) {
            let mean = row.iter().map(|v| v.to_f64()).sum::<f64>() / width as f64;
            assert!(mean.abs() < 2e-3, "a mean of {mean}");
        }
        for row in both.1.to_vec().unwrap().chunks(width) {
            let square = row.iter().map(|v| v.to_f64().powi(2)).sum::<f64>() / width as f64;
            assert!((square - 1.0).abs() < 5e-3, "a mean square of {square}");
        }
        if let Some((device, _lock)) = &device {
            assert_same("softmax", &softmax.call(&x.to(device).unwrap()).unwrap().to_vec().unwrap(), &cpu);
            let gpu = norms.call(&halves.to(device).unwrap()).unwrap();
            assert_same("layer norm", &gpu.0.to_vec().unwrap(), &both.0.to_vec().unwrap());
            assert_same("root mean square norm", &gpu.1.to_vec().unwrap(), &both.1.to_vec().unwrap());
        }
    }
}

/// A matrix product, a chain that is a loop, and what an empty dimension gives.
#[test]
fn products_loops_and_nothing() {
    let matmul = fuse(|a: In<f32, (Y, C)>, b: In<f32, (C, X)>| (a * b).sum::<C>().store::<(Y, X)>());
    let a = Tensor::<f32, (Y, C)>::from_vec([5, 40], Random(1).vec(200, |r| r.unit() as f32)).unwrap();
    let b = Tensor::<f32, (C, X)>::from_vec([40, 7], Random(2).vec(280, |r| r.unit() as f32)).unwrap();
    let (left, right) = (a.to_vec().unwrap(), b.to_vec().unwrap());
    let dot =
        |i: usize| (0..40).map(|k| f64::from(left[i / 7 * 40 + k]) * f64::from(right[k * 7 + i % 7])).sum::<f64>();
    let cpu = matmul.call(&a, &b).unwrap().to_vec().unwrap();
    close(&cpu, &(0..35).map(dot).collect::<Vec<_>>(), 1e-6);

    let chain = fuse(|x: In<f32, (Y, X)>| x.iterate(1000, |x| x * 0.999 + 0.001).store::<(Y, X)>());
    let x = rows(7, 61);
    let looped = chain.call(&x).unwrap().to_vec().unwrap();
    let step = |v: &f32| (0..1000).fold(*v, |v, _| v.mul_add(0.999, 0.001));
    assert_eq!(looped, x.to_vec().unwrap().iter().map(step).collect::<Vec<_>>());

    let sum = fuse(|x: In<f32, (Y, X)>| x.sum::<X>().store::<(Y,)>());
    let empty = Tensor::<f32, (Y, X)>::from_vec([3, 0], vec![]).unwrap();
    assert_eq!(sum.call(&empty).unwrap().to_vec().unwrap(), [0.0; 3]);
    let largest = fuse(|x: In<f32, (Y, X)>| x.maximum::<X>().store::<(Y,)>());
    let refused = largest.call(&empty).unwrap_err().to_string();
    assert!(refused.contains("`X` cannot be 0 long"), "{refused}");

    if let Some((device, _lock)) = gpu("reductions::products_loops_and_nothing") {
        let on = |t: &Tensor<f32, (Y, X)>, d: &Device| t.to(d).unwrap();
        assert_same("a loop", &chain.call(&on(&x, &device)).unwrap().to_vec().unwrap(), &looped);
        let gpu = matmul.call(&a.to(&device).unwrap(), &b.to(&device).unwrap()).unwrap();
        assert_same("a product", &gpu.to_vec().unwrap(), &cpu);
        assert_eq!(sum.call(&on(&empty, &device)).unwrap().to_vec().unwrap(), [0.0; 3]);
    }
}
