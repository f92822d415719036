//! Calls on the CPU.

use crate::support::{Random, assert_same};
use tilewright_dims::dims;
use tilewright_expr::{Centres, In, Rect};
use tilewright_ops::{Device, Tensor, fuse};

dims! { N, Y, X, C }

#[test]
fn the_pipeline_equals_its_formula() {
    let mut random = Random(1);
    let (height, width, n) = (37usize, 53usize, 5usize);
    let pixels = random.vec(height * width * 3, |r| r.bits() as u8);
    let boxes = random.vec(n, |r| {
        let (w, h) = (1 + r.below(20) as i32, 1 + r.below(30) as i32);
        Rect::new(r.below(53 - w as u64 + 1) as i32, r.below(37 - h as u64 + 1) as i32, w, h)
    });
    for centres in [Centres::Half, Centres::Corner] {
        let crops = fuse(|pic: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>, mul: In<f32, (C,)>, sub: In<f32, (C,)>| {
            let pixel = pic.crop::<Y, X, _>(boxes).resize_with::<Y, X>(16, 8, centres).reverse::<C>();
            (pixel * mul - sub).store::<(N, C, Y, X)>()
        });
        let picture = Tensor::<u8, (Y, X, C)>::from_vec([height, width, 3], pixels.clone()).unwrap();
        let (mul, sub) = ([0.5f32, 1.5, -2.0], [3.0f32, -1.0, 0.25]);
        let batch = crops
            .call(
                &picture,
                &Tensor::<Rect, (N,)>::from_vec([n], boxes.clone()).unwrap(),
                &Tensor::<f32, (C,)>::from_vec([3], mul.to_vec()).unwrap(),
                &Tensor::<f32, (C,)>::from_vec([3], sub.to_vec()).unwrap(),
            )
            .unwrap();
        let got = batch.to_array().unwrap();
        assert_eq!(got.shape(), [n, 3, 16, 8]);
        for ((i, c, y, x), got) in got.clone().into_dimensionality::<ndarray::Ix4>().unwrap().indexed_iter() {
            let b = boxes[i];
            let place = |at: usize, from: i32, to: usize| {
                let scale = f64::from(from) / to as f64;
                let s = match centres {
                    Centres::Half => ((at as f64 + 0.5) * scale - 0.5).max(0.0),
                    Centres::Corner => at as f64 * scale,
                };
                let first = (s.floor() as i32).min(from - 1);
                (first, (first + 1).min(from - 1), s - s.floor())
            };
            let ((y0, y1, fy), (x0, x1, fx)) = (place(y, b.height, 16), place(x, b.width, 8));
            let p = |y: i32, x: i32| f64::from(pixels[((b.y + y) as usize * width + (b.x + x) as usize) * 3 + 2 - c]);
            let (top, bottom) = (p(y0, x0) * (1.0 - fx) + p(y0, x1) * fx, p(y1, x0) * (1.0 - fx) + p(y1, x1) * fx);
            let expected = (top * (1.0 - fy) + bottom * fy) * f64::from(mul[c]) - f64::from(sub[c]);
            assert!((f64::from(*got) - expected).abs() < 2e-2, "({i}, {c}, {y}, {x}): {got} against {expected}");
        }
    }
}

#[test]
fn any_layout_gives_the_same_world() {
    let mut random = Random(2);
    let data = random.vec(4 * 5 * 3, |r| r.unit() as f32);
    let packed = Tensor::<f32, (Y, X, C)>::from_vec([4, 5, 3], data).unwrap();
    let planar = fuse(|x: In<f32, (Y, X, C)>| x.store::<(C, Y, X)>()).call(&packed).unwrap();
    let twice = fuse(|x: In<f32, (Y, X, C)>| (x * 2.0 + 1.0).store::<(X, Y, C)>());
    let (a, b) = (twice.call(&packed).unwrap(), twice.call(&planar).unwrap());
    assert_same("layouts", &a.to_vec().unwrap(), &b.to_vec().unwrap());
}

#[test]
fn views_and_several_results() {
    let mut random = Random(3);
    let data = random.vec(7 * 11, |r| r.unit() as f32);
    let x = Tensor::<f32, (Y, X)>::from_vec([7, 11], data.clone()).unwrap();
    let view = x.narrow::<X>(3, 5).unwrap().narrow::<Y>(1, 4).unwrap();
    let f = fuse(|x: In<f32, (Y, X)>, row: In<f32, (X,)>| {
        ((x + row).store::<(Y, X)>(), (x * 2.0).to::<i32>().store::<(X, Y)>(), row.exp().store::<(X,)>())
    });
    let row = Tensor::<f32, (X,)>::from_vec([5], vec![0.5, 1.5, 2.5, 3.5, 4.5]).unwrap();
    let (sum, twice, exp) = f.call(&view, &row).unwrap();
    let at = |y: usize, x: usize| data[(y + 1) * 11 + x + 3];
    for y in 0..4 {
        for x in 0..5 {
            assert_eq!(sum.to_vec().unwrap()[y * 5 + x], at(y, x) + (0.5 + x as f32));
            assert_eq!(twice.to_vec().unwrap()[x * 4 + y], (at(y, x) * 2.0).round_ties_even() as i32);
        }
    }
    assert!((exp.to_vec().unwrap()[4] - 4.5f32.exp()).abs() < 1e-4);
}

#[test]
fn results_are_written_completely() {
    let x = Tensor::<f32, (Y, X)>::from_vec([33, 1027], vec![1.5; 33 * 1027]).unwrap();
    let f = fuse(|x: In<f32, (Y, X)>| (x + 1.0).store::<(Y, X)>());
    let mut out = Tensor::<f32, (Y, X)>::from_vec([33, 1027], vec![f32::NAN; 33 * 1027]).unwrap();
    for _ in 0..3 {
        f.call_into(&mut out, &x).unwrap();
        assert!(out.to_vec().unwrap().iter().all(|v| *v == 2.5));
        out.write(&vec![f32::NAN; 33 * 1027]).unwrap();
    }
}

#[test]
fn a_fill_runs_without_operands() {
    let ones = fuse(|| tilewright_expr::constant(1u8).repeat::<Y>(3).repeat::<X>(5).store::<(Y, X)>());
    assert_eq!(ones.on(&Device::Cpu).call().unwrap().to_vec().unwrap(), vec![1u8; 15]);
}

#[test]
fn empty_batches_are_empty_results() {
    let f = fuse(|pic: In<u8, (Y, X)>, boxes: In<Rect, (N,)>| {
        pic.crop::<Y, X, _>(boxes).resize::<Y, X>(4, 4).store::<(N, Y, X)>()
    });
    let picture = Tensor::<u8, (Y, X)>::from_vec([8, 8], vec![7; 64]).unwrap();
    let none = Tensor::<Rect, (N,)>::from_vec([0], vec![]).unwrap();
    assert_eq!(f.call(&picture, &none).unwrap().extents(), [0, 4, 4]);
}

#[test]
fn crops_of_one_size_need_no_resize() {
    let f = fuse(|pic: In<u8, (Y, X)>, boxes: In<Rect, (N,)>| pic.crop::<Y, X, _>(boxes).store::<(N, Y, X)>());
    let picture = Tensor::<u8, (Y, X)>::from_vec([4, 6], (0..24).collect()).unwrap();
    let boxes = |list: &[Rect]| Tensor::<Rect, (N,)>::from_vec([list.len()], list.to_vec()).unwrap();
    let two = boxes(&[Rect::new(0, 0, 2, 1), Rect::new(4, 3, 2, 1)]);
    assert_eq!(f.call(&picture, &two).unwrap().to_vec().unwrap(), [0, 1, 22, 23]);
    let larger = boxes(&[Rect::new(1, 1, 3, 2), Rect::new(2, 0, 3, 2)]);
    assert_eq!(f.call(&picture, &larger).unwrap().extents(), [2, 2, 3]);
    let error = f.call(&picture, &boxes(&[Rect::new(0, 0, 2, 1), Rect::new(0, 0, 3, 1)])).unwrap_err();
    assert!(error.to_string().contains("`X` has a different size in each box (2 in box 0, 3 in box 1)"), "{error}");
}
