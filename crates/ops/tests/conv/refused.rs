//! What is refused, with the numbers and the next step.

use super::{C, H, K, N, R, S, W};
use crate::support::gpu;
use tilewright_expr::{In, f16};
use tilewright_ops::conv::{
    Config, Conv2d, Precision, Problem, RowConfig, WeightConfig, conv2d, conv2d_grad_bias_into, conv2d_grad_input,
    conv2d_grad_input_workspace, conv2d_grad_weight, conv2d_grad_weight_workspace, conv2d_into, conv2d_with,
    conv2d_with_workspace, conv2d_workspace,
};
use tilewright_ops::{Device, Tensor, fuse};

/// The error of a forward pass of these extents.
fn error(x: [usize; 4], w: [usize; 4], params: Conv2d) -> String {
    Problem::of_forward(x, w, Precision::F16, &params).expect_err("refused").to_string()
}

#[track_caller]
fn says(error: &str, words: &[&str]) {
    for word in words {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
}

#[test]
fn sizes_of_problems() {
    let plain = Conv2d::new();
    let x = [1, 8, 8, 16];
    says(&error(x, [16, 3, 3, 2], plain), &["2 long along `C`", "[1, 4, 8, 16]", "zeros"]);
    says(&error(x, [16, 3, 3, 0], plain), &["0 long along `C`"]);
    says(&error(x, [24, 3, 3, 8], plain), &["16 long along `C`", "24 long along `K`"]);
    says(&error([1, 8, 8, 20], [20, 3, 3, 8], plain), &["20 channels", "groups of 8", "more channels: 24"]);
    says(&error([1, 8, 8, 0], [0, 3, 3, 8], plain), &["0 channels", "more channels: 8"]);
    says(&error(x, [16, 0, 3, 8], plain), &["0 long along `R`", "1 to 7"]);
    says(&error(x, [16, 3, 8, 8], plain), &["8 long along `S`", "1 to 7"]);
    says(&error(x, [16, 3, 3, 8], plain.padding([[0, 8], [0, 0]])), &["8 rows or columns of padding along `H`", "7"]);
    says(&error(x, [16, 3, 3, 8], plain.stride([1, 3])), &["stride of 3 along `W`", "1 and 2"]);
    says(&error(x, [16, 3, 3, 8], plain.dilation([0, 1])), &["dilation of 0 along `H`"]);
    says(
        &error([1, 2, 8, 16], [16, 5, 1, 8], plain.padding([[1, 0], [0, 0]]).dilation(2)),
        &["2 long along `H`", "with padding 3", "reaches over 9", "7 of padding"],
    );
    says(&error([1, 0, 8, 16], [16, 1, 1, 8], plain), &["0 long along `H`", "At least 1 element"]);
    says(&error([1 << 32, 8, 8, 16], [16, 1, 1, 8], plain), &["`N` has 4294967296", "2147483647"]);
    says(
        &error([1, 1 << 16, 1 << 16, 16], [16, 1, 1, 8], plain),
        &["an image with its padding", "2147483647", "cut it"],
    );
    says(&error([1, 8, 8, usize::MAX], [usize::MAX, 1, 1, 8], plain), &["channels"]);
    says(&error([1, usize::MAX, 8, 8], [8, 1, 1, 8], plain), &["`H` has"]);
}

#[test]
fn tensors_that_do_not_fit() {
    let x = Tensor::<f16, (N, H, W, C)>::from_vec([1, 5, 5, 8], vec![f16::ONE; 200]).unwrap();
    let w = Tensor::<f16, (K, R, S, C)>::from_vec([8, 3, 3, 8], vec![f16::ONE; 576]).unwrap();
    let bias = Tensor::<f32, (K,)>::from_vec([7], vec![0.0; 7]).unwrap();
    let params = Conv2d::new();
    let text = |e: tilewright_ops::Error| e.to_string();
    says(&text(conv2d(&x, &w, &params.bias(&bias)).unwrap_err()), &["the bias is 7 long along `K`, expected 8"]);
    let mut y = conv2d(&x, &w, &params).unwrap();
    says(
        &text(conv2d_into(&mut y, &x, &w, &params.padding(1)).unwrap_err()),
        &["the result is 3 long along `H`, expected 5"],
    );
    says(&text(conv2d_grad_input(&y, &w, [6, 5], &params).unwrap_err()), &["gradient is 3 long along `H`, expected 4"]);
    let dw = conv2d_grad_weight::<_, _, _, _, _, _, R, S, _>(&x, &y, [3, 2, 8], &params);
    says(&text(dw.unwrap_err()), &["gradient is 3 long along `W`, expected 4"]);
    let mut db = bias.clone();
    says(&text(conv2d_grad_bias_into(&mut db, &y, &params).unwrap_err()), &["is 7 long along `K`, expected 8"]);
    // What is refused leaves the result as it was.
    let clone = y.clone();
    says(&text(conv2d_into(&mut y, &x, &w, &params).unwrap_err()), &["shares its memory"]);
    assert_eq!(y.to_vec().unwrap(), clone.to_vec().unwrap());
}

/// Configurations through the functions that users call, wherever their operands are, with images and without.
pub(crate) fn configurations(device: &Device) {
    let rows = RowConfig {
        strips: 1,
        warp_strips: 1,
        images: 1,
        items: 1,
        columns: 5,
        rows: 5,
        tiles: 1,
        step: 1,
        slots: 4,
        whole_rows: false,
    };
    let weights = WeightConfig { strips: 1, images: 1, items: 1, columns: 5, rows: 5, tiles: 1, slots: 4 };
    let plain = Conv2d::new().padding(1);
    for images in [0, 1, 2] {
        let x = Tensor::<f16, (N, H, W, C)>::zeros([images, 5, 5, 8], device).unwrap();
        let w = Tensor::<f16, (K, R, S, C)>::zeros([8, 3, 3, 8], device).unwrap();
        let y = Tensor::<f16, (N, H, W, K)>::zeros([images, 5, 5, 8], device).unwrap();
        let forward = |config| conv2d(&x, &w, &plain.config(config)).map(drop);
        let input = |config| conv2d_grad_input(&y, &w, [5, 5], &plain.config(config)).map(drop);
        let weight = |config| {
            conv2d_grad_weight::<_, N, H, W, C, K, R, S, _>(&x, &y, [3, 3, 8], &plain.config(config)).map(drop)
        };
        let bytes_of_weight = |config| conv2d_grad_weight_workspace(&x, &y, [3, 3, 8], &plain.config(config)).map(drop);
        let bytes = |config| conv2d_workspace(&x, &w, &plain.config(config)).map(drop);
        let bytes_of_input = |config| conv2d_grad_input_workspace(&y, &w, [5, 5], &plain.config(config)).map(drop);
        type Way<'a> = &'a dyn Fn(Config) -> Result<(), tilewright_ops::Error>;
        let by_rows: [(&str, Way<'_>); 4] = [
            ("conv2d", &forward),
            ("conv2d", &bytes),
            ("conv2d_grad_input", &input),
            ("conv2d_grad_input", &bytes_of_input),
        ];
        let by_weights: [Way<'_>; 2] = [&weight, &bytes_of_weight];
        let refused = |way: Way<'_>, config, words: &[&str]| {
            let error = way(config).expect_err(&format!("{images} images, {config:?}: {words:?}"));
            says(&error.to_string(), words);
        };
        for (call, way) in by_rows {
            way(Config::rows(rows)).unwrap();
            refused(way, Config::weights(weights), &[call, "`Config::rows`, got `Config::weights`"]);
        }
        for way in by_weights {
            way(Config::weights(weights)).unwrap();
            refused(way, Config::rows(rows), &["conv2d_grad_weight", "`Config::weights`, got `Config::rows`"]);
            refused(way, Config::weights(WeightConfig { tiles: 9, ..weights }), &["`tiles` is 9, allowed are 1 to 8"]);
            refused(way, Config::weights(WeightConfig { images: 3, ..weights }), &["`images` is 3, allowed are 1"]);
        }
        for (_, way) in by_rows {
            let columns = RowConfig { columns: 6, ..rows };
            refused(way, Config::rows(columns), &["`columns` is 6, allowed are 1 to 5"]);
            refused(way, Config::rows(RowConfig { items: 3, ..rows }), &["`items` is 3, allowed are 1"]);
        }
    }
}

/// Whole rows are results as wide as the operands: sums for a call of its own are none.
#[test]
fn whole_rows_of_sums_on_a_gpu() {
    let Some((device, _lock)) = gpu("conv::refused::whole_rows_of_sums_on_a_gpu") else { return };
    let x = Tensor::<f16, (N, H, W, C)>::zeros([1, 5, 5, 8], &device).unwrap();
    let w = Tensor::<f16, (K, R, S, C)>::zeros([8, 3, 3, 8], &device).unwrap();
    let (strips, warp_strips, images, items, columns, rows, tiles, step, slots) = (1, 1, 1, 1, 5, 5, 1, 1, 4);
    let rows = RowConfig { strips, warp_strips, images, items, columns, rows, tiles, step, slots, whole_rows: true };
    let params = Conv2d::new().padding(1).config(Config::rows(rows));
    // One kernel, and two where the order of the result is another one.
    let within = fuse(|sum: In<f32, (N, H, W, K)>| sum.to::<f16>().store::<(N, H, W, K)>());
    assert_eq!(conv2d_with_workspace(&x, &w, &params, &within, ()).unwrap(), 0);
    conv2d_with(&x, &w, &params, &within, ()).unwrap();
    let apart = fuse(|sum: In<f32, (N, H, W, K)>| sum.to::<f16>().store::<(N, K, H, W)>());
    for error in [
        conv2d_with_workspace(&x, &w, &params, &apart, ()).map(drop).unwrap_err(),
        conv2d_with(&x, &w, &params, &apart, ()).map(drop).unwrap_err(),
    ] {
        says(&error.to_string(), &["`whole_rows` is 1", "results of 2 bytes", "these have 4"]);
    }
}

#[test]
fn configurations_that_do_not_fit() {
    configurations(&Device::Cpu);
}

#[test]
fn configurations_that_do_not_fit_on_a_gpu() {
    let Some((device, _lock)) = gpu("conv::refused::configurations_that_do_not_fit_on_a_gpu") else { return };
    configurations(&device);
}

/// Operands in different places are an error that says so.
#[test]
fn on_a_gpu() {
    let Some((device, _lock)) = gpu("conv::refused::on_a_gpu") else { return };
    let x = Tensor::<f16, (N, H, W, C)>::zeros([1, 5, 5, 8], &device).unwrap();
    let w = Tensor::<f16, (K, R, S, C)>::zeros([8, 3, 3, 8], &device).unwrap();
    let y = conv2d(&x, &w, &Conv2d::new()).unwrap();
    let gradient = conv2d_grad_weight::<_, N, H, W, C, K, R, S, _>(&x, &y, [3, 3, 8], &Conv2d::new());
    assert!(gradient.unwrap().to_vec().unwrap().iter().all(|sum| *sum == 0.0));
    let on_host = x.to(&tilewright_ops::Device::Cpu).unwrap();
    says(&conv2d(&on_host, &w, &Conv2d::new()).unwrap_err().to_string(), &["operand 1", "move it"]);
}
