//! Mistakes: each a clear error.

use crate::support::gpu;
use tilewright_dims::dims;
use tilewright_expr::{In, Rect};
use tilewright_ops::{Device, Tensor, fuse};

dims! { N, Y, X, C }

fn message<T: std::fmt::Debug>(result: Result<T, tilewright_ops::Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn sizes_that_disagree_name_the_dimension() {
    let f = fuse(|x: In<f32, (Y, X)>, y: In<f32, (X,)>| (x + y).store::<(Y, X)>());
    let x = Tensor::<f32, (Y, X)>::from_vec([2, 3], vec![0.0; 6]).unwrap();
    let y = Tensor::<f32, (X,)>::from_vec([4], vec![0.0; 4]).unwrap();
    let text = message(f.call(&x, &y));
    assert!(text.contains("`X` is 3 long in operand 0 and 4 long in operand 1"), "{text}");
}

#[test]
fn a_box_outside_names_both_rectangles() {
    let f = fuse(|pic: In<u8, (Y, X)>, boxes: In<Rect, (N,)>| {
        pic.crop::<Y, X, _>(boxes).resize::<Y, X>(2, 2).store::<(N, Y, X)>()
    });
    let picture = Tensor::<u8, (Y, X)>::from_vec([8, 10], vec![1; 80]).unwrap();
    let call = |rect| {
        let boxes = [Rect::new(0, 0, 1, 1), rect];
        f.call(&picture, &Tensor::<Rect, (N,)>::from_vec([2], boxes.to_vec()).unwrap())
    };
    let text = message(call(Rect::new(5, 2, 6, 3)));
    assert!(text.contains("box 1 (6x3 at (5, 2)) reaches outside the 10x8 picture"), "{text}");
    for rect in [Rect::new(-1, 0, 2, 2), Rect::new(0, 6, 2, 3), Rect::new(i32::MAX, 0, i32::MAX, 1)] {
        assert!(message(call(rect)).contains("reaches outside"));
    }
    for rect in [Rect::new(0, 0, 0, 2), Rect::new(3, 3, 2, -1)] {
        assert!(message(call(rect)).contains("is empty"));
    }
    call(Rect::new(4, 4, 6, 4)).unwrap();
    // The same signature again: boxes are checked on every call.
    assert!(message(call(Rect::new(5, 2, 6, 3))).contains("reaches outside"));
}

#[test]
fn tensors_of_the_wrong_length() {
    let text = message(Tensor::<f32, (Y, X)>::from_vec([2, 3], vec![0.0; 5]));
    assert!(text.contains("(Y, X)") && text.contains("6 elements, got 5"), "{text}");
    let text = message(Tensor::<f32, (Y, X)>::from_vec([6], vec![0.0; 6]));
    assert!(text.contains("needs 2 extents, got 1"), "{text}");
    let text = message(Tensor::<f32, (Y, X)>::zeros([usize::MAX, 2], &Device::Cpu));
    assert!(text.contains("more elements than memory"), "{text}");
    let x = Tensor::<f32, (Y, X)>::from_vec([2, 3], vec![0.0; 6]).unwrap();
    let text = message(x.narrow::<X>(2, 2));
    assert!(text.contains("2..4 reaches outside dimension `X`, which is 3 long"), "{text}");
}

#[test]
fn results_need_memory_of_their_own() {
    let f = fuse(|x: In<f32, (Y, X)>| (x + 1.0).store::<(Y, X)>());
    let x = Tensor::<f32, (Y, X)>::from_vec([2, 3], vec![0.0; 6]).unwrap();
    let mut same = x.clone();
    assert!(message(f.call_into(&mut same, &x)).contains("shares its memory"));
    let mut small = Tensor::<f32, (Y, X)>::from_vec([2, 2], vec![0.0; 4]).unwrap();
    let text = message(f.call_into(&mut small, &x));
    assert!(text.contains("output 0 is 2 long in dimension `X`, the expression 3"), "{text}");
}

#[test]
fn sizes_of_zero_and_reorders_outside() {
    let x = Tensor::<f32, (Y, X)>::from_vec([2, 3], vec![0.0; 6]).unwrap();
    let text = message(fuse(|x: In<f32, (Y, X)>| x.resize::<Y, X>(0, 4).store::<(Y, X)>()).call(&x));
    assert!(text.contains("`Y` cannot be 0 long"), "{text}");
    let text = message(fuse(|x: In<f32, (Y, X)>| x.reorder::<X>(&[0, 3]).store::<(Y, X)>()).call(&x));
    assert!(text.contains("reads index 3, but `X` is 3 long"), "{text}");
}

#[test]
fn no_gpu_is_an_error_with_a_way_on() {
    if let Err(error) = Device::gpu(0) {
        assert!(error.to_string().contains("CPU"), "{error}");
    }
    assert!(Device::gpu(10_000).is_err());
}

#[test]
fn host_and_device_results_do_not_mix() {
    let Some((device, _lock)) = gpu("errors::host_and_device_results_do_not_mix") else { return };
    let x = Tensor::<f32, (Y, X)>::from_vec([2, 3], vec![0.0; 6]).unwrap().to(&device).unwrap();
    let mut out = Tensor::<f32, (Y, X)>::zeros([2, 3], &Device::Cpu).unwrap();
    let text = message(fuse(|x: In<f32, (Y, X)>| (x + 1.0).store::<(Y, X)>()).call_into(&mut out, &x));
    assert!(text.contains("is on the CPU (a result)"), "{text}");
}

#[test]
fn out_of_device_memory_says_how_much() {
    let Some((device, _lock)) = gpu("errors::out_of_device_memory_says_how_much") else { return };
    let text = message(Tensor::<f32, (Y, X)>::zeros([1 << 20, 1 << 20], &device));
    assert!(text.contains("4398046511104"), "{text}");
    Tensor::<f32, (Y, X)>::zeros([4, 4], &device).unwrap();
}
