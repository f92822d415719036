//! A function of one's own between a crop and a store: ordinary Rust, which becomes part of the one kernel.
//!
//! ```text
//! cargo run --example 05_own_function
//! ```

use std::io::Write;
use tilewright::extend::Float;
use tilewright::prelude::*;

dims! { N, Y, X, C }

/// A tone curve: a straight line up to `knee`, and above it a logarithm that goes on with the same slope.
#[scalar_fn]
fn tone<T: Float>(x: T, knee: T) -> T {
    if x <= knee {
        return x;
    }
    knee + (x - knee).ln_1p()
}

/// The brightest channel, and which it is.
#[scalar_fn]
fn brightest(red: f32, green: f32, blue: f32) -> (f32, u8) {
    let (mut value, mut channel) = (red, 0u8);
    if green > value {
        value = green;
        channel = 1;
    }
    if blue > value {
        value = blue;
        channel = 2;
    }
    (value, channel)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    let values = (0..240 * 320 * 3).map(|i| (i * 7919 % 256) as u8).collect();
    let picture = Tensor::<u8, (Y, X, C)>::from_vec([240, 320, 3], values)?;
    let boxes = Tensor::<Rect, (N,)>::from_vec([2], vec![Rect::new(0, 0, 60, 120), Rect::new(200, 100, 31, 77)])?;
    let knees = Tensor::<f32, (N,)>::from_vec([2], vec![0.25, 0.5])?;

    let crops = fuse(|pic: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>, knee: In<f32, (N,)>| {
        let pixel = tone::of(pic.crop::<Y, X, _>(boxes).resize::<Y, X>(16, 8).to::<f32>() * (1.0 / 255.0), knee);
        let channel = |c: i32| pixel.at::<C, _>(c);
        let (value, index) = brightest::of(channel(0), channel(1), channel(2));
        (value.store::<(N, Y, X)>(), index.store::<(N, Y, X)>())
    });
    let (value, index) = crops.call(&picture, &boxes, &knees)?;
    let (value, index) = (value.to_vec()?, index.to_vec()?);
    writeln!(out, "The first pixel: channel {} is the brightest, {}.", index[0], value[0])?;

    // The same function without any tensor.
    writeln!(out, "tone(0.7, 0.25) = {}", tone(0.7_f32, 0.25))?;
    let source = crops.cuda_source(&picture, &boxes, &knees)?;
    let text = source.lines().skip_while(|line| !line.contains("own_tone")).take_while(|line| !line.contains("tile("));
    text.for_each(|line| drop(writeln!(out, "{line}")));
    Ok(())
}
