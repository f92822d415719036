//! Memory of a device: what calls give back, what they make room for, and what they say where there is none.

use super::{C, H, K, Line, N, R, S, Sums, W, X, address, line};
use tilewright_expr::{In, f16};
use tilewright_ops::conv::{
    Config, Conv2d, ConvError, WeightConfig, conv2d_grad_bias_into, conv2d_grad_bias_workspace, conv2d_grad_input_into,
    conv2d_grad_input_workspace, conv2d_grad_weight_into, conv2d_grad_weight_workspace, conv2d_into, conv2d_with_into,
    conv2d_with_workspace, conv2d_workspace, read,
};
use tilewright_ops::{Device, Error, Tensor, fuse};

fn free(device: &Device) -> usize {
    device.as_gpu().unwrap().device().memory_info().unwrap().0
}

/// Results that are dropped make room for later ones; those that live have memory of their own.
pub(super) fn is_given_back(device: &Device) {
    let gpu = device.as_gpu().unwrap();
    let x = line(device, 5000);
    let double = fuse(|x: In<f32, (X,)>| (x * 2.0).store::<(X,)>());
    drop(double.call(&x).unwrap());
    let before = free(device);
    for _ in 0..1000 {
        let (a, b) = (double.call(&x).unwrap(), double.call(&x).unwrap());
        assert_ne!(address(&a), address(&b));
    }
    assert!(before - free(device) <= 32 << 10, "one more block");
    let many: Vec<Line> = (0..4000).map(|_| double.call(&x).unwrap()).collect();
    drop(many);
    assert!(before - free(device) <= 64 << 20, "a stream keeps no more");
    gpu.trim().unwrap();
    assert!(free(device) >= before, "nothing is kept");
}

/// What is kept is given up for an allocation that finds no memory.
pub(super) fn is_made_room_for(device: &Device) {
    let gpu = device.as_gpu().unwrap();
    gpu.trim().unwrap();
    let kept: Vec<_> = (0..64).map(|_| gpu.stream().alloc::<u8>(1 << 20).unwrap()).collect();
    let all = free(device);
    drop(kept);
    let large = gpu.stream().alloc::<u8>(all + (48 << 20)).unwrap();
    assert!(gpu.stream().alloc::<u8>(64 << 20).is_err(), "no memory is left");
    drop(large);
}

/// Passes that find no memory for what they need besides operands and results say which they are, how much, and who tells it ahead.
pub(super) fn of_workspaces(device: &Device) {
    let of = [64, 16, 16, 16];
    let x = Tensor::<f16, (N, H, W, C)>::zeros(of, device).unwrap();
    let [dy, mut y] = [0; 2].map(|_| Tensor::<f16, Sums>::zeros(of, device).unwrap());
    let mut dx = Tensor::<f16, (N, H, W, C)>::zeros(of, device).unwrap();
    let mut db = Tensor::<f32, (K,)>::zeros([16], device).unwrap();
    let mut planes = Tensor::<f16, (N, K, H, W)>::zeros(of, device).unwrap();
    let w = Tensor::<f16, (K, R, S, C)>::zeros([16, 3, 3, 8], device).unwrap();
    let mut dw = Tensor::<f32, (K, R, S, C)>::zeros([16, 3, 3, 8], device).unwrap();
    let turned = fuse(|sum: In<f32, Sums>| sum.to::<f16>().store::<(N, K, H, W)>());
    let (backwards, dy_backwards) = (x.reverse::<H>(), dy.reverse::<H>());
    // It reduces itself, so that it is stored before it is summed.
    let shares = fuse(|dy: In<f16, Sums>| {
        let dy = dy.to::<f32>();
        (dy / dy.sum::<K>()).to::<f16>().store::<Sums>()
    });
    let plain = Conv2d::new().padding(1);
    let parts = WeightConfig { strips: 1, images: 1, items: 1, columns: 16, rows: 8, tiles: 1, slots: 4 };
    let in_parts = plain.config(Config::weights(parts));
    let sums = conv2d_grad_bias_workspace(&dy, &plain).unwrap();
    let bytes = [
        conv2d_grad_weight_workspace(&x, &dy, [3, 3, 8], &in_parts).unwrap(),
        conv2d_workspace(&backwards, &w, &plain).unwrap(),
        conv2d_with_workspace(&x, &w, &plain, &turned, ()).unwrap(),
        conv2d_grad_input_workspace(&dy_backwards, &w, [16, 16], &plain).unwrap(),
        // That of the sums comes later.
        conv2d_grad_bias_workspace(&read(&shares, (&dy,)), &plain).unwrap() - sums,
    ];
    assert_eq!(bytes, [128 * 4 * dw.len(), 2 * x.len(), 4 * x.len(), 2 * dy.len(), 2 * dy.len()]);
    let mut all = || {
        [
            conv2d_grad_weight_into(&mut dw, &x, &dy, &in_parts),
            conv2d_into(&mut y, &backwards, &w, &plain),
            conv2d_with_into(&mut planes, &x, &w, &plain, &turned, ()),
            conv2d_grad_input_into(&mut dx, &dy_backwards, &w, &plain),
            conv2d_grad_bias_into(&mut db, &read(&shares, (&dy,)), &plain),
        ]
    };
    all().into_iter().for_each(Result::unwrap);
    let stream = device.as_gpu().unwrap().stream();
    stream.trim().unwrap();
    let everything = stream.alloc::<u8>(free(device)).unwrap();
    let calls = ["conv2d_grad_weight", "conv2d", "conv2d_with", "conv2d_grad_input", "conv2d_grad_bias"];
    for ((call, bytes), outcome) in calls.into_iter().zip(bytes).zip(all()) {
        let error = outcome.expect_err(call);
        let Error::Conv(ConvError::Workspace { call: said, requested, free, .. }) = error else { panic!("{error}") };
        assert_eq!((said, requested), (call, bytes));
        assert!(free < bytes && error.to_string().contains(&format!("`{call}_workspace`")), "{error}");
    }
    drop(everything);
    all().into_iter().for_each(Result::unwrap);
}
