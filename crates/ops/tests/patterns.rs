//! What threads of a block, or blocks of a grid, compute together: on the GPU the CPU's bits.

use crate::support::{Random, assert_same, gpu};
use tilewright_dims::dims;
use tilewright_expr::colour::{Depth, Standard, YuvSpec};
use tilewright_expr::extend::scalar_fn;
use tilewright_expr::stencils::{Mask, Outside};
use tilewright_expr::{Border, In, concatenate};
use tilewright_ops::{Tensor, fuse};

dims! { N, Y, X, C, H, W, U }

fn floats(seed: u64, height: usize, width: usize) -> Tensor<f32, (Y, X)> {
    let values = Random(seed).vec(height * width, |r| (r.unit() * 8.0 - 4.0) as f32);
    Tensor::from_vec([height, width], values).unwrap()
}

/// Compares the one result of a handle.
macro_rules! same_on {
    ($device:expr, $what:expr, $f:expr, $x:expr) => {{
        let (f, x) = ($f, $x);
        let on_gpu = f.call(&x.to($device).unwrap()).unwrap().to_vec().unwrap();
        assert_same($what, &on_gpu, &f.call(x).unwrap().to_vec().unwrap());
    }};
}

/// Rows that threads keep, in registers and in shared memory, and rows whose blocks wait for each other.
#[test]
fn rows_that_are_gone_through_again() {
    let Some((device, _lock)) = gpu("patterns::rows_that_are_gone_through_again") else { return };
    for (height, width) in [(300, 1024), (40, 32_768), (7, 20_000), (3, 33_001), (1, 1 << 20), (2, 70_001)] {
        let what = format!("{height} x {width}");
        let x = floats(width as u64, height, width);
        same_on!(&device, &what, fuse(|x: In<f32, (Y, X)>| x.softmax::<X>().store::<(Y, X)>()), &x);
        same_on!(&device, &what, fuse(|x: In<f32, (Y, X)>| x.layer_norm::<X>(1e-5).store::<(Y, X)>()), &x);
        let all = fuse(|x: In<f32, (Y, X)>| x.standard_deviation::<(Y, X)>().store::<()>());
        // Counters are zeros again: the second call finds what the first one found.
        same_on!(&device, &what, &all, &x);
        same_on!(&device, &what, &all, &x);
    }
    for (height, width) in [(40_000, 9), (33_000, 70)] {
        let across = fuse(|x: In<f32, (Y, X)>| x.softmax::<Y>().store::<(Y, X)>());
        same_on!(&device, &format!("across {height} x {width}"), across, &floats(3, height, width));
    }
}

/// Windows, and windows on windows, whose blocks keep what they read.
#[test]
fn stencils() {
    let Some((device, _lock)) = gpu("patterns::stencils") else { return };
    let borders = [Border::Replicate, Border::Reflect, Border::Reflect101, Border::Wrap, Border::Constant(0.5)];
    for (height, width) in [(1, 1), (3, 2), (17, 65), (131, 257), (480, 644)] {
        let x = floats(5, height, width);
        for border in borders {
            let what = format!("{height} x {width}, {border:?}");
            let blur =
                fuse(move |x: In<f32, (Y, X)>| x.gaussian_blur::<Y, X>((5, 5), (1.2, 0.8), border).store::<(Y, X)>());
            same_on!(&device, &what, blur, &x);
            let twice = fuse(move |x: In<f32, (Y, X)>| {
                x.gaussian_blur::<Y, X>((3, 3), (0.0, 0.0), border).median::<Y, X>(3, border).store::<(Y, X)>()
            });
            same_on!(&device, &what, twice, &x);
        }
        let bytes = fuse(|x: In<f32, (Y, X)>| {
            let mask = Mask::rectangle(3, 5);
            x.to::<u8>().open::<Y, X>(&mask, Outside::Ignored).store::<(Y, X)>()
        });
        same_on!(&device, &format!("open {height} x {width}"), bytes, &x);
    }
}

/// A frame whose planes are sections of one launch, a result of two parts, sections whose threads share reductions.
#[test]
fn sections_of_a_launch() {
    let Some((device, _lock)) = gpu("patterns::sections_of_a_launch") else { return };
    let spec = YuvSpec::limited(Standard::Bt709, Depth::Bits8);
    let values = Random(6).vec(135 * 241 * 3, |r| r.unit() as f32 * 255.0);
    let rgb = Tensor::<f32, (Y, X, C)>::from_vec([135, 241, 3], values).unwrap();
    let planes = fuse(|p: In<f32, (Y, X, C)>| {
        let (luma, chroma) = p.to_yuv::<C, (Y, X)>(spec).nv12::<(H, W, U)>();
        (luma.store::<(Y, X)>(), chroma.store::<(H, W, U)>(), p.mean::<(Y, X)>().store::<(C,)>())
    });
    let (gpu, cpu) = (planes.call(&rgb.to(&device).unwrap()).unwrap(), planes.call(&rgb).unwrap());
    assert_same("luma", &gpu.0.to_vec().unwrap(), &cpu.0.to_vec().unwrap());
    assert_same("chroma", &gpu.1.to_vec().unwrap(), &cpu.1.to_vec().unwrap());
    assert_same("means", &gpu.2.to_vec().unwrap(), &cpu.2.to_vec().unwrap());
    let x = Tensor::<f32, (N, Y, X)>::from_vec([3, 50, 70], Random(7).vec(10_500, |r| r.unit() as f32)).unwrap();
    let parts = fuse(|x: In<f32, (N, Y, X)>| {
        concatenate::<N, _>((x.sqrt(), x.maximum::<N>(), x - x.mean::<(Y, X)>())).store::<(N, Y, X)>()
    });
    same_on!(&device, "parts", parts, &x);
}

/// The triangle wave, which no operation of ours is.
#[scalar_fn]
fn triangle(x: f32) -> f32 {
    (x - 2.0 * (x * 0.5).floor() - 1.0).abs()
}

#[test]
fn functions_of_others() {
    let Some((device, _lock)) = gpu("patterns::functions_of_others") else { return };
    let wave = fuse(|x: In<f32, (Y, X)>| (triangle::of(x) + 1.0).store::<(Y, X)>());
    same_on!(&device, "triangle", wave, &floats(8, 61, 133));
}

#[test]
fn histograms() {
    let Some((device, _lock)) = gpu("patterns::histograms") else { return };
    let count = fuse(|x: In<f32, (Y, X)>| x.to::<u8>().histogram::<(Y, X), N>(6).store::<(N,)>());
    same_on!(&device, "counts", count, &floats(9, 301, 77));
}
