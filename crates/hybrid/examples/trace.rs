//! What operations decided and did, as a file for chrome://tracing or https://ui.perfetto.dev.
//!
//! `cargo run --release -p tilewright-hybrid --example trace -- trace.json` runs a few operations of several sizes on two threads, prints each
//! decision, and writes the file: a mark where something was decided, a bar as long as the call took, with both expected times beside it. On a GPU
//! a product is streamed too, as if there were little room: below its bar each stage has a track, with the tiles and panels that went through it.
#![allow(clippy::print_stdout, reason = "an example prints")]

use ndarray::Array2;
use std::path::PathBuf;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Trace, last_decision};
use tilewright_hybrid::stream::Budgets;
use tilewright_hybrid::{Device, Error, Operand};

/// Regular, and as random as need be.
fn matrix(size: usize) -> Array2<f64> {
    let entry = |(i, j): (usize, usize)| ((i * 31 + j * 17) % 23) as f64 - 11.0;
    Array2::from_shape_fn((size, size), |at| entry(at) + if at.0 == at.1 { 12.0 * size as f64 } else { 0.0 })
}

fn work(device: &Device, size: usize) -> Result<(), Error> {
    let (a, say) = (matrix(size), |done: &str| {
        println!("{done:>12} {}", last_decision().map_or(String::new(), |it| it.to_string()))
    });
    let a = Operand::from(&a);
    device.product(a, a.t())?;
    say("product");
    device.solve(a, a.t())?;
    say("solution");
    device.singular_values(a)?;
    say("values");
    Ok(())
}

/// A product that goes through a GPU in tiles, where there is one.
fn streamed() -> Result<(), Error> {
    let Ok(device) = Device::gpu(0) else { return Ok(()) };
    let (a, room) = (matrix(2048), Budget::new(Memory::Device, 32 << 20));
    let device = device.within(Budgets { device: room, pinned: Budget::pinned() });
    device.product((&a).into(), (&a).into())?;
    println!("{:>12} {}", "streamed", last_decision().map_or(String::new(), |it| it.to_string()));
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("trace.json"), PathBuf::from);
    let device = Device::auto();
    let trace = Trace::begin();
    std::thread::scope(|scope| {
        let threads = [&[32, 64, 128][..], &[96, 192]].map(|sizes| {
            let device = device.clone();
            scope.spawn(move || sizes.iter().try_for_each(|size| work(&device, *size)))
        });
        threads.into_iter().try_for_each(|thread| thread.join().expect("a thread that does not panic"))
    })?;
    streamed()?;
    trace.write(&path)?;
    println!("{} can be opened in chrome://tracing", path.display());
    Ok(())
}
