//! Results that share memory: with operands, with each other, with themselves.

use crate::support::gpu;
use tilewright_dims::dims;
use tilewright_expr::In;
use tilewright_ops::{Device, Tensor, fuse};

dims! { Y, X }

fn refuses(device: &Device) {
    let f = fuse(|a: In<f32, (X,)>, b: In<f32, (Y, X)>| (a + b).store::<(Y, X)>());
    let a = Tensor::<f32, (X,)>::from_vec([6], vec![1.0; 6]).unwrap().to(device).unwrap();
    let b = Tensor::<f32, (Y, X)>::from_vec([8, 6], vec![0.0; 48]).unwrap().to(device).unwrap();
    let of = |mut out: Tensor<f32, (Y, X)>, x: &Tensor<f32, (X,)>, y: &Tensor<f32, (Y, X)>| {
        f.call_into(&mut out, x, y).unwrap_err().to_string()
    };
    // The operand itself, a part of it, and one that only lies in the same memory.
    let (top, bottom) = (b.narrow::<Y>(0, 4).unwrap(), b.narrow::<Y>(4, 4).unwrap());
    for (out, read, sizes) in [(&b, &b, "[8, 6]"), (&top, &top, "[4, 6]"), (&top, &bottom, "[4, 6]")] {
        let text = of(out.clone(), &a, read);
        let expected = format!("output 0 of extents {sizes} shares its memory with operand 1 of extents {sizes}");
        assert!(text.contains(&expected) && text.contains("let `call` make new tensors"), "{text}");
    }
    // Read backwards, element 3 would be read when it is written already.
    let text = of(b.clone(), &a, &b.reverse::<X>());
    assert!(text.contains("shares its memory with operand 1"), "{text}");
    // A tensor that this call does not read.
    let other = Tensor::<f32, (Y, X)>::zeros([8, 6], device).unwrap();
    let text = of(other.clone(), &a, &b);
    assert!(text.contains("shares its memory with another tensor (a clone or a view)"), "{text}");

    let two = fuse(|b: In<f32, (Y, X)>| ((b + 1.0).store::<(Y, X)>(), (b - 1.0).store::<(Y, X)>()));
    let mut pair = (other.clone(), other);
    assert!(two.call_into(&mut pair, &b).unwrap_err().to_string().contains("output 0 of extents [8, 6] shares"));
}

fn refuses_itself(device: &Device) {
    let f = fuse(|b: In<f32, (Y, X)>| (b + 1.0).store::<(Y, X)>());
    let b = Tensor::<f32, (Y, X)>::from_vec([8, 6], vec![0.0; 48]).unwrap().to(device).unwrap();
    // One row again and again: every point of a column has the same place.
    let mut rows = Tensor::<f32, (X,)>::zeros([6], device).unwrap().broadcast::<(Y, X), 2>([8, 6]).unwrap();
    for _ in 0..2 {
        let text = f.call_into(&mut rows, &b).unwrap_err().to_string();
        assert!(text.contains("two points are stored in the same place (dimension `Y` has stride 0)"), "{text}");
    }
    // One row is no conflict.
    let mut row = Tensor::<f32, (X,)>::zeros([6], device).unwrap().broadcast::<(Y, X), 2>([1, 6]).unwrap();
    f.call_into(&mut row, &b.narrow::<Y>(0, 1).unwrap()).unwrap();
    assert_eq!(row.to_vec().unwrap(), [1.0; 6]);
}

#[test]
fn results_that_share_memory_are_refused() {
    refuses(&Device::Cpu);
    refuses_itself(&Device::Cpu);
}

#[test]
fn results_that_share_memory_are_refused_on_a_gpu() {
    let Some((device, _lock)) = gpu("overlap::results_that_share_memory_are_refused_on_a_gpu") else { return };
    refuses(&device);
    refuses_itself(&device);
}

/// Memory that nobody else holds is written, whatever was done with it before.
#[test]
fn memory_that_is_free_again() {
    let f = fuse(|b: In<f32, (Y, X)>| (b + 1.0).store::<(Y, X)>());
    let b = Tensor::<f32, (Y, X)>::from_vec([2, 3], vec![0.0; 6]).unwrap();
    let mut out = b.clone();
    assert!(f.call_into(&mut out, &b).is_err());
    out = f.call(&b).unwrap();
    f.call_into(&mut out, &b).unwrap();
    let clone = out.clone();
    assert!(f.call_into(&mut out, &b).is_err());
    drop(clone);
    f.call_into(&mut out, &b).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1.0; 6]);
}
