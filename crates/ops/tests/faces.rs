//! Lines by OpenCV's and by NPP's names on a GPU: the CPU's bits.

use crate::support::{Random, assert_same, gpu};
use tilewright_dims::dims;
use tilewright_expr::{In, Rect};
use tilewright_ops::opencv::{C, X, Y};
use tilewright_ops::{Item, Tensor, fuse};

dims! { N }

fn picture<T: Item>(seed: u64, value: impl Fn(&mut Random) -> T) -> Tensor<T, (Y, X, C)> {
    Tensor::from_vec([97, 131, 3], Random(seed).vec(97 * 131 * 3, value)).expect("as many values")
}

/// Each closure's one result.
macro_rules! same_on {
    ($device:ident: $($what:literal, $x:expr, $f:expr;)*) => { $({
        let (f, x) = (fuse($f), $x);
        let on_gpu = f.call(&x.to(&$device).unwrap()).unwrap().to_vec().unwrap();
        assert_same($what, &on_gpu, &f.call(x).unwrap().to_vec().unwrap());
    })* };
}

#[test]
fn by_opencv() {
    use tilewright_ops::opencv::*;
    let Some((device, _lock)) = gpu("faces::by_opencv") else { return };
    let bytes = &picture(1, |r| r.below(256) as u8);
    let floats = &picture(2, |r| (r.unit() * 2.0 - 0.5) as f32);
    let mask = &get_structuring_element(MORPH_ELLIPSE, Size(5, 4), Point(-1, -1));
    let middle = Point(-1, -1);
    same_on! { device:
        "weighted", bytes, |a: Mat<u8>| add_weighted(a, 0.3, flip(a, 0), 0.6, 7.5).store::<(Y, X, C)>();
        "gaussian", bytes, |a: Mat<u8>| gaussian_blur(a, Size(7, 5), 1.5, 0.0, BORDER_DEFAULT).store::<(Y, X, C)>();
        "sobel", bytes, |a: Mat<u8>| sobel::<i16, _, _>(a, 1, 1, 5, 0.25, 3.0, BORDER_REFLECT).store::<(Y, X, C)>();
        "box", floats, |a: Mat<f32>| blur(a, Size(5, 4), Point(0, 3), BORDER_REPLICATE).store::<(Y, X, C)>();
        "median", floats, |a: Mat<f32>| median_blur(a, 3).store::<(Y, X, C)>();
        "top hat", bytes,
            |a: Mat<u8>| morphology_ex(a, MORPH_TOPHAT, mask, middle, 1, BORDER_CONSTANT).store::<(Y, X, C)>();
        "to lab", bytes, |a: Mat<u8>| cvt_color(a, COLOR_BGR2Lab).store::<(C, Y, X)>();
        "of luv", floats, |a: Mat<f32>| cvt_color(multiply(a, 50.0), COLOR_Luv2BGR).store::<(C, Y, X)>();
    }
}

#[test]
fn by_npp() {
    use tilewright_ops::npp::*;
    let Some((device, _lock)) = gpu("faces::by_npp") else { return };
    let bytes = &picture(3, |r| r.below(256) as u8);
    let shorts = &picture(4, |r| r.bits() as i16);
    let floats = &picture(5, |r| (r.unit() * 600.0 - 200.0) as f32);
    let size = NppiSize { width: 64, height: 150 };
    same_on! { device:
        "scaled", bytes, |a: Image<u8>| mul_c_sfs(a, [3, 5, 7], 2).store::<(Y, X, C)>();
        "divided", shorts, |a: Image<i16>| div_sfs(mirror(a, NPP_BOTH_AXIS), a, -3).store::<(Y, X, C)>();
        "logarithms", shorts, |a: Image<i16>| ln_sfs(a, -9).store::<(Y, X, C)>();
        "financial", floats, |a: Image<f32>| convert_sfs::<u8, _, _>(a, NPP_RND_FINANCIAL, 1).store::<(C, Y, X)>();
        "wrapped", bytes, |a: Image<u8>| copy_wrap_border(a, size, 20, 3).store::<(Y, X, C)>();
        "nearest", bytes, |a: Image<u8>| resize(a, size, NPPI_INTER_NN).store::<(Y, X, C)>();
        "linear", floats, |a: Image<f32>| resize(a, size, NPPI_INTER_LINEAR).store::<(Y, X, C)>();
        "twisted", bytes, |a: Image<u8>| color_twist(a, [[0.3, 0.6, 0.1, 1.0]; 3]).store::<(Y, X, C)>();
    }
    let lines = fuse(|a: Image<u8>, boxes: In<Rect, (N,)>| {
        let part = resize(roi_batch(a, boxes), NppiSize { width: 20, height: 30 }, NPPI_INTER_LINEAR);
        div_c(sub_c(mul_c(convert::<f32, _, _>(part), 0.1), [1.0, 2.0, 3.0]), 0.7).store::<(N, C, Y, X)>()
    });
    let boxes = vec![Rect::new(0, 0, 10, 90), Rect::new(31, 7, 100, 11), Rect::new(130, 96, 1, 1)];
    let boxes = Tensor::<Rect, (N,)>::from_vec([3], boxes).expect("three boxes");
    let on_gpu = lines.call(&bytes.to(&device).unwrap(), &boxes).unwrap().to_vec().unwrap();
    assert_same("a batch", &on_gpu, &lines.call(bytes, &boxes).unwrap().to_vec().unwrap());
}
