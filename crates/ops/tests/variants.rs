//! Kernels on a GPU: how many are built for views that begin anywhere, and what bytes of `bool` that are neither 0 nor 1 mean.

use crate::support::{Random, assert_same, gpu};
use std::collections::HashSet;
use tilewright_dims::dims;
use tilewright_expr::In;
use tilewright_ops::{KernelSource, Tensor, fuse};

dims! { Y, X }

#[test]
fn views_that_begin_anywhere_share_kernels() {
    let Some((device, _lock)) = gpu("variants::views_that_begin_anywhere_share_kernels") else { return };
    let mut r = Random(61);
    let values = r.vec(70_000, |r| r.unit() as f32);
    let line = Tensor::<f32, (X,)>::from_vec([70_000], values.clone()).unwrap().to(&device).unwrap();
    let f = fuse(|a: In<f32, (X,)>, b: In<f32, (X,)>| (a * b + a).store::<(X,)>());
    let mut texts = HashSet::new();
    for _ in 0..200 {
        let n = 16 + r.below(60_000) as usize;
        let [i, j] = [(); 2].map(|()| r.below(9) as usize);
        let (a, b) = (line.narrow::<X>(i, n).unwrap(), line.narrow::<X>(j, n).unwrap());
        let got = f.call(&a, &b).unwrap().to_vec().unwrap();
        let expected: Vec<f32> = (0..n).map(|k| values[i + k].mul_add(values[j + k], values[i + k])).collect();
        assert_same("a line", &got, &expected);
        texts.insert(f.last_built().unwrap().source.clone());
    }
    assert!(texts.len() <= 3, "{} kernels", texts.len());
}

/// Memory of `bool` may hold any byte when somebody else has written it: all but 0 are true, in kernels and on the host.
#[test]
fn every_byte_but_0_is_true() {
    let Some((device, _lock)) = gpu("variants::every_byte_but_0_is_true") else { return };
    let gpu = device.as_gpu().unwrap();
    let text = r#"extern "C" __global__ void any(bool* out) {
        ((unsigned char*)out)[blockIdx.x] = (unsigned char)blockIdx.x;
    }"#;
    let kernel = gpu.kernel(KernelSource::new(text)).unwrap();
    let mut bytes = Tensor::<bool, (X,)>::zeros([256], &device).unwrap();
    kernel.launch([256], [1], (&mut bytes,)).unwrap();
    let expected: Vec<bool> = (0..256).map(|i| i != 0).collect();
    assert_eq!(bytes.to_vec().unwrap(), expected);
    let f =
        fuse(|a: In<bool, (X,)>| (a.select(7u8, 3u8).store::<(X,)>(), (a ^ true).store::<(X,)>(), a.store::<(X,)>()));
    for view in [bytes.clone(), bytes.narrow::<X>(1, 254).unwrap(), bytes.reverse::<X>()] {
        let expected = view.to_vec().unwrap();
        let (chosen, not, same) = f.call(&view).unwrap();
        assert_eq!(chosen.to_vec().unwrap(), expected.iter().map(|b| if *b { 7 } else { 3 }).collect::<Vec<u8>>());
        assert_eq!(not.to_vec().unwrap(), expected.iter().map(|b| !b).collect::<Vec<_>>());
        assert_eq!(same.to_vec().unwrap(), expected);
    }
    let count = fuse(|a: In<bool, (X,)>| a.to::<i32>().sum::<X>().store::<()>());
    assert_eq!(count.call(&bytes).unwrap().to_vec().unwrap(), [255]);
}
