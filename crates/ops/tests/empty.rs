//! Tensors without elements: nothing is compiled, nothing is launched, and reductions are what the empty reduction is.

use crate::support::{Random, gpu};
use tilewright_dims::dims;
use tilewright_expr::In;
use tilewright_ops::{Device, Tensor, fuse, record};

dims! { N, Y, X, C }

fn pointwise(device: &Device) {
    let mut r = Random(51);
    for _ in 0..30 {
        let mut e: [usize; 3] = [(); 3].map(|()| 1 + r.below(9) as usize);
        for _ in 0..1 + r.below(2) {
            e[r.below(3) as usize] = 0;
        }
        let f = fuse(|a: In<f32, (N, Y, X)>, b: In<u8, (X,)>| {
            let sum = a + b.to::<f32>();
            (sum.store::<(X, N, Y)>(), (sum.exp() * 2.0).store::<(N, Y, X)>())
        });
        let a = Tensor::<f32, (N, Y, X)>::zeros(e, device).unwrap();
        let b = Tensor::<u8, (X,)>::zeros([e[2]], device).unwrap();
        let launches = record(|| {
            let (x, y) = f.call(&a, &b).unwrap();
            assert_eq!((x.extents(), y.extents()), (vec![e[2], e[0], e[1]], e.to_vec()));
            assert!(x.is_empty() && x.to_vec().unwrap().is_empty() && y.to_array().unwrap().is_empty());
            let mut results = (x, y);
            f.call_into(&mut results, &a, &b).unwrap();
        });
        assert!(launches.is_empty(), "{e:?}: {launches:?}");
        assert!(f.last_built().is_none(), "{e:?}");
        // Every view of nothing is nothing.
        let view = a.reverse::<X>().step_by::<Y>(3).unwrap().permute::<(X, N, Y)>();
        assert!(view.is_empty() && view.to(device).unwrap().to_vec().unwrap().is_empty());
        let wide = a.broadcast::<(C, N, Y, X), 4>([5, e[0], e[1], e[2]]).unwrap();
        assert!(wide.is_empty() && wide.to(device).unwrap().to(&Device::Cpu).unwrap().is_empty());
    }
}

#[test]
fn nothing_is_launched() {
    pointwise(&Device::Cpu);
}

#[test]
fn nothing_is_launched_on_a_gpu() {
    let Some((device, _lock)) = gpu("empty::nothing_is_launched_on_a_gpu") else { return };
    pointwise(&device);
}

fn reductions(device: &Device) {
    let none = Tensor::<i32, (Y, X)>::zeros([3, 0], device).unwrap();
    let floats = Tensor::<f32, (Y, X)>::zeros([3, 0], device).unwrap();
    let f = fuse(|a: In<i32, (Y, X)>, b: In<f32, (Y, X)>| {
        let (sum, product) = (a.sum::<X>().store::<(Y,)>(), a.product::<X>().store::<(Y,)>());
        (sum, product, b.sum::<(Y, X)>().store::<()>())
    });
    let (sum, product, all) = f.call(&none, &floats).unwrap();
    assert_eq!((sum.to_vec().unwrap(), product.to_vec().unwrap()), (vec![0; 3], vec![1; 3]));
    assert_eq!(all.to_vec().unwrap(), [0.0]);
    let refused = fuse(|a: In<i32, (Y, X)>| a.minimum::<X>().store::<(Y,)>()).call(&none).unwrap_err().to_string();
    assert!(refused.contains("`X` cannot be 0 long"), "{refused}");
    // Nothing along the dimension that stays either: no launch.
    let f = fuse(|a: In<f32, (Y, X)>| a.sum::<X>().store::<(Y,)>());
    let nowhere = Tensor::<f32, (Y, X)>::zeros([0, 5], device).unwrap();
    let launches = record(|| assert!(f.call(&nowhere).unwrap().is_empty()));
    assert!(launches.is_empty() && f.last_built().is_none(), "{launches:?}");
}

#[test]
fn reductions_of_nothing() {
    reductions(&Device::Cpu);
}

#[test]
fn reductions_of_nothing_on_a_gpu() {
    let Some((device, _lock)) = gpu("empty::reductions_of_nothing_on_a_gpu") else { return };
    reductions(&device);
}
