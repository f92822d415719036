//! Expressions behind convolutions that no kernel makes at once, what they need, and what is refused.

use super::compare::{Operands, POISON};
use super::fused::{Pixels, Places, Sum, scale};
use super::problems::chosen;
use super::{C, H, K, N, R, S, W, params, tensor};
use crate::support::gpu;
use tilewright_expr::{In, f16};
use tilewright_ops::conv::{
    Conv2d, conv2d_grad_input_with_workspace, conv2d_with, conv2d_with_into, conv2d_with_workspace,
};
use tilewright_ops::{Device, Error, Tensor, fuse};

/// What no kernel makes at once: results of bytes, planes, and sums over channels.
fn any_expression(device: &Device) {
    let problem = chosen()[0];
    let operands = Operands::random(&problem, 1);
    let x = tensor::<f16, (N, H, W, C)>(problem.input_extents(), &operands.x).to(device).unwrap();
    let w = tensor::<f16, (K, R, S, C)>(problem.weight_extents(), &operands.w).to(device).unwrap();
    let sums = fuse(|sum: Sum| sum.store::<Places>());
    let sums = conv2d_with(&x, &w, &params(&problem), &sums, ()).unwrap();

    let bytes = fuse(|sum: Sum, by: In<f32, ()>| (sum * by + 128.0).to::<u8>().store::<Places>());
    let made = conv2d_with(&x, &w, &params(&problem), &bytes, (9.0f32,)).unwrap();
    assert_eq!(made.to_vec().unwrap(), bytes.call(&sums, 9.0f32).unwrap().to_vec().unwrap());

    let planes = fuse(|sum: Sum, by: In<f32, ()>| (sum * by).to::<f16>().store::<(N, K, H, W)>());
    let made = conv2d_with(&x, &w, &params(&problem), &planes, (0.5f32,)).unwrap();
    assert_eq!(made.to_vec().unwrap(), planes.call(&sums, 0.5f32).unwrap().to_vec().unwrap());

    let shares = fuse(|sum: Sum| sum.sum::<K>().store::<(N, H, W)>());
    let made = conv2d_with(&x, &w, &params(&problem), &shares, ()).unwrap();
    assert_eq!(made.to_vec().unwrap(), shares.call(&sums).unwrap().to_vec().unwrap());
}

#[test]
fn any_expression_on_the_cpu() {
    any_expression(&Device::Cpu);
}

#[test]
fn any_expression_on_a_gpu() {
    let Some((device, _lock)) = gpu("conv::expressions::any_expression_on_a_gpu") else { return };
    any_expression(&device);
}

/// Sums between two calls, and copies of what does not lie in order.
#[test]
fn workspaces() {
    let x = tensor::<f32, Pixels>([1, 2, 2, 8], &[1.0; 32]);
    let w = Tensor::<f32, (K, R, S, C)>::from_vec([8, 1, 2, 8], vec![1.0; 128]).unwrap();
    let (scaled, params) = (fuse(|sum: Sum, by: In<f32, ()>| (sum * by).to::<f16>().store::<Places>()), Conv2d::new());
    assert_eq!(conv2d_with_workspace(&x, &w, &params, &scaled, (2.0f32,)).unwrap(), 4 * 16);
    assert_eq!(conv2d_with_workspace(&x.reverse::<H>(), &w, &params, &scaled, (2.0f32,)).unwrap(), 4 * (16 + 32));
    let doubled = fuse(|dx: In<f32, Pixels>| (dx * 2.0).store::<Pixels>());
    let dy = tensor::<f32, Places>([1, 2, 1, 8], &[1.0; 16]);
    assert_eq!(conv2d_grad_input_with_workspace(&dy, &w, [2, 2], &params, &doubled, ()).unwrap(), 4 * 32);
}

#[test]
fn what_does_not_fit_is_refused() {
    let x = Tensor::<f32, (N, H, W, C)>::from_vec([1, 2, 2, 8], vec![1.0; 32]).unwrap();
    let w = Tensor::<f32, (K, R, S, C)>::from_vec([8, 1, 1, 8], vec![1.0; 64]).unwrap();
    let scaled = fuse(|sum: Sum, scale: In<f32, (K,)>| (sum * scale).store::<Places>());
    let error = conv2d_with(&x, &w, &Conv2d::new(), &scaled, (&scale(&[1.0; 7]),)).unwrap_err();
    assert!(matches!(error, Error::Expr(_)), "{error}");
    let text = error.to_string();
    assert!(text.contains('8') && text.contains('7') && text.contains('K'), "{text}");

    let right = scale(&[1.0; 8]);
    let mut narrow = tensor::<f32, Places>([1, 2, 1, 8], &[POISON; 16]);
    assert!(conv2d_with_into(&mut narrow, &x, &w, &Conv2d::new(), &scaled, (&right,)).is_err());
    let mut shared = tensor::<f32, Places>([1, 2, 2, 8], &[POISON; 32]);
    let clone = shared.clone();
    let error = conv2d_with_into(&mut shared, &x, &w, &Conv2d::new(), &scaled, (&right,)).unwrap_err();
    assert!(matches!(error, Error::Shared { .. }), "{error}");
    drop(clone);
}
