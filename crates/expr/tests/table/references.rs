//! Each operation has a reference over ndarray or `f64`: those that have none elsewhere have it here, on every type.

use super::cells::{operands, rows};
use super::truth;
use crate::naive::{Number, cast};
use crate::operations::{C, SIZE, X, Y, names};
use crate::random::Rng;
use crate::tensor::{Layout, Stored, Tensor, evaluate};
use ndarray::{Array3, ArrayD, ArrayView1, Axis, concatenate, s};
use tilewright_dims::Dims;
use tilewright_expr::DType;

/// The files whose tests compare with ndarray, with published figures, or with `f64`.
const ELSEWHERE: [&str; 20] = [
    include_str!("../colour/channels.rs"),
    include_str!("../colour/frames.rs"),
    include_str!("../colour/spaces.rs"),
    include_str!("../colour/written.rs"),
    include_str!("../colour/yuv.rs"),
    include_str!("../functions/special_values.rs"),
    include_str!("../functions/table.rs"),
    include_str!("../reference/reads/aspect.rs"),
    include_str!("../reference/reads/borders.rs"),
    include_str!("../reference/reads/crop.rs"),
    include_str!("../reference/reads/gather.rs"),
    include_str!("../reference/reads/golden.rs"),
    include_str!("../reference/reads/order.rs"),
    include_str!("../reference/reads/resize.rs"),
    include_str!("../reference/reads/stencils/golden.rs"),
    include_str!("../reference/reads/stencils/ordered.rs"),
    include_str!("../reference/reads/stencils/weighted.rs"),
    include_str!("../reference/reads/warp.rs"),
    include_str!("../reference/shapes.rs"),
    include_str!("../scans.rs"),
];

/// Whether a file calls, or lists, a function of that name.
fn called(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let begins = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        begins && text[at + name.len()..].starts_with(['(', ':', ',', '"', ' '])
    })
}

#[test]
fn every_operation_has_its_reference() {
    let [a, b, c] = [1, 2, 3].map(|seed| values(DType::F32, seed, 3));
    for (name, _) in names() {
        let word = name.strip_prefix("to_yuv ").unwrap_or(name).split(' ').next().unwrap_or(name);
        let elsewhere = truth::knows(name) || ELSEWHERE.iter().any(|text| called(text, word));
        let here = reference(name, [&a, &b, &c]).is_some();
        assert!(elsewhere || here, "`{name}` has no reference: write it in references.rs");
    }
}

/// Whole numbers from 1 to 6; conditions from both.
fn values(dtype: DType, seed: u64, channels: usize) -> Array3<f64> {
    let mut rng = Rng::new(seed);
    let values = Array3::from_shape_simple_fn((SIZE[0], SIZE[1], channels), || rng.range(1, 7) as f64);
    if dtype == DType::Bool { values.mapv(|v| f64::from(v > 3.0)) } else { values }
}

fn tensor(dtype: DType, values: &Array3<f64>) -> Tensor {
    let shape = values.shape().iter().map(|n| *n as i64).collect();
    let bits = values.iter().map(|v| cast(Number::F64(*v), dtype).bits(dtype)).collect();
    Tensor { dtype, components: 1, dims: <(Y, X, C)>::IDS.into(), shape, bits }
}

fn mean(values: &ArrayD<f64>) -> f64 {
    values.sum() / values.len() as f64
}

fn variance(values: &ArrayD<f64>) -> f64 {
    let mean = mean(values);
    values.mapv(|v| (v - mean) * (v - mean)).sum() / values.len() as f64
}

fn least(values: &ArrayD<f64>) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &ArrayD<f64>) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The first place of the value that `of` picks.
fn first(lane: ArrayView1<'_, f64>, of: fn(&ArrayD<f64>) -> f64) -> f64 {
    let value = of(&lane.to_owned().into_dyn());
    lane.iter().position(|v| *v == value).map_or(f64::NAN, |at| at as f64)
}

/// What a row gives, by ndarray; `None` where another file knows.
fn reference(name: &str, [a, b, c]: [&Array3<f64>; 3]) -> Option<ArrayD<f64>> {
    let along = |axis: usize, of: &dyn Fn(&ArrayD<f64>) -> f64| {
        a.map_axis(Axis(axis), |lane| of(&lane.to_owned().into_dyn())).into_dyn()
    };
    let planes = |of: &dyn Fn(&ArrayD<f64>) -> f64| {
        let plane = |k: usize| of(&a.slice(s![.., .., k]).to_owned().into_dyn());
        (0..a.shape()[2]).map(plane).collect::<ndarray::Array1<f64>>().into_dyn()
    };
    // A value of each lane along an axis, over all of it.
    let over = |axis: usize, of: &dyn Fn(&ArrayD<f64>) -> f64| {
        let one = along(axis, of).insert_axis(Axis(axis));
        one.broadcast(a.shape()).expect("it broadcasts").to_owned()
    };
    let all = a.to_owned().into_dyn();
    let norm = |v: &ArrayD<f64>| v.mapv(|v| v * v).sum().sqrt();
    Some(match name {
        "iterate" => ndarray::Zip::from(a).and(b).and(c).map_collect(|a, b, c| a.max(*b).min(*c)).into_dyn(),
        "crop_at" => a.slice(s![1..4, 2..5, ..]).to_owned().into_dyn(),
        "at_border_sized" => {
            Array3::from_shape_fn(a.raw_dim(), |(y, x, k)| a[[y, (3 * x + 1) % SIZE[1], k]]).into_dyn()
        }
        "concatenate" => {
            concatenate(Axis(1), &[a.view(), b.slice(s![.., ..2, ..]), c.view()]).expect("they fit").into_dyn()
        }
        "sum" => along(1, &|v| v.sum()),
        "sum of pixels" => planes(&|v| v.sum()),
        "sum of channels" => along(2, &|v| v.sum()),
        "sum of all" => ndarray::arr0(a.sum()).into_dyn(),
        "sum_to" => {
            ndarray::Array2::from_shape_fn((SIZE[0], a.shape()[2]), |(y, k)| a.slice(s![y, ..=y, k]).sum()).into_dyn()
        }
        "scatter" => {
            let at =
                |(y, k, place): (usize, usize, usize)| if place % 2 == 1 { a[[y, place.div_ceil(2), k]] } else { 0.0 };
            Array3::from_shape_fn((SIZE[0], a.shape()[2], 9), at).into_dyn()
        }
        "weighted_histogram" => {
            let weight = |k: usize, bin: usize| {
                let both = a.slice(s![.., .., k]).into_iter().zip(b.slice(s![.., .., k]));
                both.filter(|(v, _)| **v == bin as f64).map(|(_, w)| *w).sum::<f64>()
            };
            ndarray::Array2::from_shape_fn((a.shape()[2], 6), |(k, bin)| weight(k, bin)).into_dyn()
        }
        "product" => along(1, &|v| v.product()),
        "minimum" => planes(&least),
        "maximum" => along(0, &most),
        "argmin" => a.map_axis(Axis(1), |lane| first(lane, least)).into_dyn(),
        "argmax" => a.map_axis(Axis(2), |lane| first(lane, most)).into_dyn(),
        "mean" => planes(&mean),
        "variance" => along(1, &variance),
        "standard_deviation" => planes(&|v| variance(v).sqrt()),
        "all" => along(1, &least),
        "any" => planes(&most),
        "norm_l1" => along(1, &|v| v.mapv(f64::abs).sum()),
        "norm_l2" => planes(&norm),
        "norm_max" => along(2, &most),
        "softmax" => all.mapv(f64::exp) / over(1, &|v| v.mapv(f64::exp).sum()),
        "softmax of channels" => all.mapv(f64::exp) / over(2, &|v| v.mapv(f64::exp).sum()),
        "layer_norm" => {
            let rows: Vec<ArrayD<f64>> = a.outer_iter().map(|row| row.to_owned().into_dyn()).collect();
            let done = |row: &ArrayD<f64>| (row - mean(row)) / variance(row).sqrt();
            let rows: Vec<ArrayD<f64>> = rows.iter().map(done).collect();
            let views: Vec<_> = rows.iter().map(|row| row.view()).collect();
            ndarray::stack(Axis(0), &views).expect("rows of one size")
        }
        "rms_norm" => &all / over(1, &|v| norm(v) / (v.len() as f64).sqrt()),
        _ => return None,
    })
}

/// How far a rounded result may be from the exact one, relative to it.
fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2e-3,
        DType::BF16 => 2e-2,
        DType::F32 => 2e-6,
        DType::F64 => 1e-14,
        _ => 0.0,
    }
}

#[test]
fn results_are_those_of_ndarray() {
    let mut compared = 0;
    for dtype in DType::ALL {
        for channels in [1, 3, 9] {
            let arrays = [1, 2, 3].map(|k| values(dtype, k * 10 + channels as u64, channels));
            let inputs = operands([0, 1, 2].map(|k| tensor(dtype, &arrays[k])));
            let stored: Vec<Stored> = inputs.iter().map(|t| Stored::new(t, &Layout::dense(t.dims.len()))).collect();
            for row in rows(dtype) {
                let Some(expected) = reference(row.name, [&arrays[0], &arrays[1], &arrays[2]]) else { continue };
                let layouts = row.graph.results().iter().map(|r| Layout::dense(r.dims.len())).collect::<Vec<_>>();
                let (results, _) = evaluate(&row.graph, &stored, &layouts, true, 0).unwrap_or_else(|e| panic!("{e}"));
                let got = &results[0];
                let what = format!("`{}` of {dtype} with {channels} channels", row.name);
                let shape: Vec<i64> = expected.shape().iter().map(|n| *n as i64).collect();
                assert_eq!(got.shape, shape, "{what}");
                for (bits, expected) in got.bits.iter().zip(expected.iter()) {
                    let value = match Number::of(got.dtype, *bits) {
                        Number::Int(whole) => whole as f64,
                        float => float.real(),
                    };
                    let limit = tolerance(got.dtype) * expected.abs().max(1.0);
                    assert!((value - expected).abs() <= limit, "{what}: {value}, ndarray has {expected}");
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 700, "{compared} cells compared");
}
