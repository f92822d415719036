//! The bias's gradient: of expressions, under configurations, and what it refuses.

use super::{H, K, N, W};
use crate::support::{Random, assert_same, gpu};
use tilewright_expr::{Element, In, Out, bf16, f16};
use tilewright_ops::conv::{
    Config, Conv2d, Convolved, RowConfig, conv2d_grad_bias, conv2d_grad_bias_into, conv2d_grad_bias_workspace, read,
};
use tilewright_ops::{Device, Fused, Sharing, Tensor, fuse, record};

type Gradient<T> = Tensor<T, (N, H, W, K)>;

fn gradient<T: Convolved + Element>(extents: [usize; 4], seed: u64, of: fn(f32) -> T, device: &Device) -> Gradient<T> {
    let mut r = Random(seed);
    let values = r.vec(extents.iter().product(), |r| of((r.unit() * 2.0 - 1.0) as f32));
    Tensor::from_vec(extents, values).unwrap().to(device).unwrap()
}

type Pixel = In<f16, (N, H, W, K)>;
type Relu = Fused<(Pixel, Pixel), Out<f16, (N, H, W, K)>>;

/// The ReLU behind the layer, on the way back.
fn relu() -> Relu {
    fuse(|dy: Pixel, y: Pixel| {
        y.to::<f32>().gt(0.0).select(dy.to::<f32>() * 1.25, 0.0).to::<f16>().store::<(N, H, W, K)>()
    })
}

/// An expression is summed by one kernel with the bits of the tensor that it would have stored, and one that scans by two.
fn of_expressions(device: &Device) {
    let params = Conv2d::new();
    let (relu, scanned) =
        (relu(), fuse(|dy: In<f16, (N, H, W, K)>| dy.to::<f32>().cumsum::<W>().to::<f16>().store::<(N, H, W, K)>()));
    for extents in [[2, 5, 7, 16], [3, 40, 41, 24], [1, 3, 3, 5], [0, 4, 4, 8]] {
        let dy = gradient(extents, 3, f16::from_f32, device);
        let y = gradient(extents, 4, f16::from_f32, device);
        let stored: Gradient<f16> = relu.call(&dy, &y).unwrap();
        let expected = conv2d_grad_bias(&stored, &params).unwrap().to_vec().unwrap();
        let image = read(&relu, (&dy, &y));
        let got = conv2d_grad_bias(&image, &params).unwrap().to_vec().unwrap();
        assert_same(&format!("{extents:?}"), &got, &expected);
        let mut into =
            Tensor::<f32, (K,)>::from_vec([extents[3]], vec![f32::NAN; extents[3]]).unwrap().to(device).unwrap();
        let launches = record(|| conv2d_grad_bias_into(&mut into, &image, &params).unwrap());
        assert!(launches.len() <= 1, "{launches:?}");
        assert_same(&format!("into, {extents:?}"), &into.to_vec().unwrap(), &expected);
        let refined = params.config(Config::refined());
        let got = conv2d_grad_bias(&image, &refined).unwrap().to_vec().unwrap();
        assert_same(&format!("refined, {extents:?}"), &got, &expected);

        let stored: Gradient<f16> = scanned.call(&dy).unwrap();
        let expected = conv2d_grad_bias(&stored, &params).unwrap().to_vec().unwrap();
        let image = read(&scanned, (&dy,));
        assert_same("scanned", &conv2d_grad_bias(&image, &params).unwrap().to_vec().unwrap(), &expected);
        let made = conv2d_grad_bias_workspace(&image, &params).unwrap();
        assert!(made >= dy.len() * 2, "{made} bytes for what is stored of {extents:?}");
    }
}

#[test]
fn expressions() {
    of_expressions(&Device::Cpu);
}

/// Configurations give one result, to the bit, and what is asked of `Config::refined` the same.
fn under_configurations<T: Convolved + Element>(of: fn(f32) -> T, device: &Device) {
    for (extents, configs) in
        [([2, 20, 21, 24], &[[8, 32], [32, 8], [128, 4]][..]), ([4, 60, 61, 40], &[[32, 16], [64, 16], [256, 1]][..])]
    {
        let dy = gradient(extents, 11, of, device);
        let expected = conv2d_grad_bias(&dy, &Conv2d::new()).unwrap().to_vec().unwrap();
        let planes = Tensor::<T, (N, K, H, W)>::from_array(
            &dy.to(&Device::Cpu).unwrap().permute::<(N, K, H, W)>().to_array().unwrap(),
        );
        let planes = planes.unwrap().to(device).unwrap();
        let refined = Conv2d::new().config(Config::refined());
        for _ in 0..2 {
            let launches = record(|| {
                assert_same("refined", &conv2d_grad_bias(&dy, &refined).unwrap().to_vec().unwrap(), &expected);
            });
            assert_eq!(launches.len(), 1, "what is timed is no launch of the call: {launches:?}");
        }
        for [threads, rows] in configs.iter().copied() {
            let params = Conv2d::new().config(Config::sums(Sharing { threads, rows }));
            let what = format!("{extents:?}, {threads} threads, {rows} rows");
            for _ in 0..2 {
                assert_same(&what, &conv2d_grad_bias(&dy, &params).unwrap().to_vec().unwrap(), &expected);
            }
            let turned = planes.permute::<(N, H, W, K)>();
            assert_same(&what, &conv2d_grad_bias(&turned, &params).unwrap().to_vec().unwrap(), &expected);
            conv2d_grad_bias_workspace(&dy, &params).unwrap();
        }
    }
}

#[test]
fn configurations() {
    under_configurations(f16::from_f32, &Device::Cpu);
}

#[test]
fn on_a_gpu() {
    let Some((device, _lock)) = gpu("conv::bias::on_a_gpu") else { return };
    of_expressions(&device);
    under_configurations(f16::from_f32, &device);
    under_configurations(bf16::from_f32, &device);
    under_configurations(|x| x, &device);
    refusals(&device);
}

/// What does not fit is refused with its number, wherever the tensor is, and with no images too.
fn refusals(device: &Device) {
    let dy = gradient([2, 20, 21, 24], 5, f16::from_f32, device);
    let none = dy.narrow::<N>(0, 0).unwrap();
    let refused = |config: Config| {
        let params = Conv2d::new().config(config);
        let text = conv2d_grad_bias(&dy, &params).unwrap_err().to_string();
        assert_eq!(conv2d_grad_bias_workspace(&dy, &params).unwrap_err().to_string(), text);
        text
    };
    let text = refused(Config::sums(Sharing { threads: 48, rows: 8 }));
    assert!(text.contains("number of threads of a row is 48") && text.contains("8 to 256"), "{text}");
    let text = refused(Config::sums(Sharing { threads: 64, rows: 64 }));
    assert!(text.contains("number of rows of a block is 64") && text.contains("1 to 16"), "{text}");
    let of_none = Conv2d::new().config(Config::sums(Sharing { threads: 3, rows: 8 }));
    let text = conv2d_grad_bias(&none, &of_none).unwrap_err().to_string();
    assert!(text.contains("number of threads of a row is 3"), "{text}");
    let params = Conv2d::new().config(Config::sums(Sharing { threads: 8, rows: 32 }));
    assert_same("none", &conv2d_grad_bias(&none, &params).unwrap().to_vec().unwrap(), &[0.0; 24]);
    let rows = Config::rows(RowConfig {
        strips: 1,
        warp_strips: 1,
        images: 1,
        items: 1,
        columns: 1,
        rows: 1,
        tiles: 1,
        step: 1,
        slots: 4,
        whole_rows: false,
    });
    let text = refused(rows);
    assert!(text.contains("`conv2d_grad_bias` takes `Config::sums`, got `Config::rows`"), "{text}");
    let few = gradient([1, 2, 2, 24], 6, f16::from_f32, device);
    let text = conv2d_grad_bias(&few, &params).unwrap_err().to_string();
    assert!(text.contains("threads share no rows here"), "{text}");
}

#[test]
fn what_does_not_fit() {
    refusals(&Device::Cpu);
}
