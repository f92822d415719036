//! A residual block: a convolution, its activation and the sum with its input in one call, and the way back through the activation.
//!
//! ```text
//! cargo run --example 06_residual_block
//! ```

use std::io::Write;
use tilewright::conv::{Conv2d, conv2d_grad_input_with, conv2d_with, conv2d_with_workspace};
use tilewright::prelude::*;

dims! { N, H, W, C, K, R, S }

type Pixels = (N, H, W, C);
type Sums = (N, H, W, K);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    let pattern =
        |len: usize| (0..len).map(|i| f16::from_f32((i * 7919 % 256) as f32 / 128.0 - 1.0)).collect::<Vec<_>>();
    let x = Tensor::<f16, Pixels>::from_vec([2, 14, 14, 32], pattern(2 * 14 * 14 * 32))?;
    let w = Tensor::<f16, (K, R, S, C)>::from_vec([32, 3, 3, 8], pattern(32 * 9 * 8))?;
    let bias = Tensor::<f32, (K,)>::from_vec([32], vec![0.25; 32])?;
    let params = Conv2d::new().padding(1).bias(&bias);

    // What becomes of each sum, in the convolution's own kernel where there is a GPU: the input, as the result names it, is a residual.
    let block = fuse(|sum: In<f32, Sums>, residual: In<f16, Sums>| {
        (sum.max(0.0) + residual.to::<f32>()).to::<f16>().store::<Sums>()
    });
    let residual = Tensor::<f16, Sums>::from_vec([2, 14, 14, 32], x.to_vec()?)?;
    let y = conv2d_with(&x, &w, &params, &block, (&residual,))?;
    let bytes = conv2d_with_workspace(&x, &w, &params, &block, (&residual,))?;
    writeln!(
        out,
        "The result is {:?}, its first number {}; it took {bytes} bytes besides.",
        y.extents(),
        y.to_vec()?[0]
    )?;

    // Back to what the activation before this block was given: the gradient passes where that was positive.
    let relu = fuse(|dx: In<f32, Pixels>, before: In<f16, Pixels>| {
        before.to::<f32>().gt(0.0).select(dx, 0.0).to::<f16>().store::<Pixels>()
    });
    let dx = conv2d_grad_input_with(&y, &w, [14, 14], &params, &relu, (&x,))?;
    let stopped = dx.to_vec()?.iter().filter(|value| value.to_f32() == 0.0).count();
    writeln!(out, "Of {} gradients {stopped} are 0.", dx.len())?;
    Ok(())
}
