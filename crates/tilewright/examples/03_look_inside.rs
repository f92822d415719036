//! Looks inside a fused expression: its loops, what it reads, writes and computes, what an H200 needs for it at least, and which
//! values never reach memory. Needs no GPU.
//!
//! ```text
//! cargo run --example 03_look_inside
//! ```

use std::io::Write;
use tilewright::{prelude::*, record};

dims! { N, Y, X, C }

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    let crops = fuse(
        |pic: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>, mul: In<f32, (C,)>, sub: In<f32, (C,)>, div: In<f32, (C,)>| {
            let pixel = pic.crop::<Y, X, _>(boxes).resize::<Y, X>(128, 64).reverse::<C>();
            ((pixel * mul - sub) / div).store::<(N, C, Y, X)>()
        },
    );
    let picture = Tensor::<u8, (Y, X, C)>::from_vec([1080, 1920, 3], vec![128; 1080 * 1920 * 3])?;
    let corners = (0..50).map(|i| Rect::new(30 * i, 17 * i, 60, 120)).collect();
    let boxes = Tensor::<Rect, (N,)>::from_vec([50], corners)?;
    let colour = |values: [f32; 3]| Tensor::<f32, (C,)>::from_vec([3], values.to_vec());
    let (mul, sub, div) = (colour([1.0 / 255.0; 3])?, colour([0.406, 0.456, 0.485])?, colour([0.225, 0.224, 0.229])?);
    writeln!(out, "{}", crops.explain(&picture, &boxes, &mul, &sub, &div)?)?;

    // Threads share the reductions of a softmax, and go through each row again.
    let softmax = fuse(|x: In<f32, (Y, X)>| x.softmax::<X>().store::<(Y, X)>());
    let x = Tensor::<f32, (Y, X)>::from_vec([512, 1024], vec![1.0; 512 * 1024])?;
    let explanation = softmax.explain(&x)?;
    writeln!(out, "{explanation}")?;
    let (read, rows) = (explanation.bytes_read(), explanation.sections[0].shared.as_ref().map_or(0, |s| s.rows));
    writeln!(out, "The fields are public: {read} bytes are read, {rows} rows reduced.")?;

    for launch in record(|| drop([softmax.call(&x), softmax.call(&x)])) {
        let (kind, known) = (launch.kind, launch.known);
        writeln!(
            out,
            "One launch ({kind:?}), known before: {known:?}; {} bytes of device memory.",
            launch.device_bytes
        )?;
    }
    Ok(())
}
