//! Scans: on the CPU those of a loop, on the GPU the CPU's bits.

use crate::support::{Random, assert_same, gpu};
use tilewright_dims::dims;
use tilewright_expr::In;
use tilewright_ops::{Tensor, fuse};

dims! { Y, X }

/// Sizes with tails, short rows, long ones, many.
const SIZES: [(usize, usize); 7] = [(1, 1), (3, 16), (5, 17), (33, 1000), (3000, 133), (2, 5000), (1, 300_001)];

fn loops(values: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut sum = 0i64;
    values
        .map(|v| {
            sum = sum.wrapping_add(v);
            sum
        })
        .collect()
}

#[test]
fn along_rows_and_columns() {
    let f = fuse(|x: In<f32, (Y, X)>| {
        let integer = x.to::<i32>();
        (
            x.cumsum::<X>().store::<(Y, X)>(),
            integer.cumsum::<X>().store::<(Y, X)>(),
            (x.cummax::<X>() - x.mean::<X>()).store::<(Y, X)>(),
        )
    });
    let columns = fuse(|x: In<f32, (Y, X)>| x.cumsum::<Y>().store::<(Y, X)>());
    let device = gpu("scans::along_rows_and_columns");
    for (height, width) in SIZES {
        let values = Random((height * 31 + width) as u64).vec(height * width, |r| (r.unit() * 40.0 - 10.0) as f32);
        let x = Tensor::<f32, (Y, X)>::from_vec([height, width], values.clone()).unwrap();
        let cpu = f.call(&x).unwrap();
        let exact: Vec<i64> =
            values.chunks(width).flat_map(|r| loops(r.iter().map(|v| v.round_ties_even() as i64))).collect();
        assert_eq!(cpu.1.to_vec().unwrap(), exact, "{height} x {width}");
        for (row, got) in values.chunks(width).zip(cpu.0.to_vec().unwrap().chunks(width)) {
            let mut sum = 0.0;
            for (v, got) in row.iter().zip(got) {
                sum += f64::from(*v);
                assert!((f64::from(*got) - sum).abs() <= 1e-4 * (100.0 + sum.abs()), "{got} against {sum}");
            }
        }
        let turned = Tensor::<f32, (X, Y)>::from_vec(
            [width, height],
            (0..width * height).map(|i| values[i % height * width + i / height]).collect(),
        )
        .unwrap();
        let down = columns.call(&x).unwrap();
        if let Some((device, _lock)) = &device {
            let what = format!("{height} x {width}");
            let gpu = f.call(&x.to(device).unwrap()).unwrap();
            assert_same(&what, &gpu.0.to_vec().unwrap(), &cpu.0.to_vec().unwrap());
            assert_same(&what, &gpu.1.to_vec().unwrap(), &cpu.1.to_vec().unwrap());
            assert_same(&what, &gpu.2.to_vec().unwrap(), &cpu.2.to_vec().unwrap());
            // The operand's layout changes who reads what, and no bit.
            for result in [columns.call(&x.to(device).unwrap()), columns.call(&turned.to(device).unwrap())] {
                assert_same(&what, &result.unwrap().to_vec().unwrap(), &down.to_vec().unwrap());
            }
        }
        assert_same("turned", &columns.call(&turned).unwrap().to_vec().unwrap(), &down.to_vec().unwrap());
    }
}
