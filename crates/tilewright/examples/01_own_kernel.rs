//! A kernel of one's own: a `.cu` file that declares its tensors, compiled, kept and launched with checked arguments.
//!
//! Without a GPU it shows what the kernel takes, and compiles it if there is a compiler.
#![allow(clippy::print_stdout, reason = "an example shows something")]

use tilewright::driver::Arch;
use tilewright::{Error, KernelSource, prelude::*};

dims! { Y, X }

fn main() -> Result<(), Error> {
    let source = KernelSource::new(include_str!("01_own_kernel.cu")).name("01_own_kernel.cu");
    let interface = source.interface()?;
    println!("the kernel is {interface}");
    for tensor in interface.tensors() {
        println!("\n{}, line {}: {}", tensor.name, tensor.line, tensor.layout.show());
    }

    let device = Device::auto();
    let Some(gpu) = device.as_gpu() else {
        match source.compile(Arch::new(9, 0)) {
            Ok(compiled) => println!("no GPU here; compiled for {}: {} bytes", compiled.arch, compiled.image.len()),
            Err(error) => println!("no GPU here, and it cannot be compiled either: {error}"),
        }
        return Ok(());
    };
    let kernel = gpu.kernel(source)?;
    let picture = (0..48).map(|i| if i % 8 == 3 { 9.0 } else { 0.0 }).collect();
    let x = Tensor::<f32, (Y, X)>::from_vec([6, 8], picture)?.to(&device)?;
    let mut y = Tensor::<f32, (Y, X)>::zeros([6, 8], &device)?;
    kernel.launch([6], [8], (&x, &mut y, 0.5f32))?;
    println!("{:?}: a row of 9 at X 3 becomes {:?}", kernel.origin(), &y.to_vec()?[..8]);

    // What does not fit is an error that says what to do.
    let mut turned = Tensor::<f32, (X, Y)>::zeros([8, 6], &device)?;
    if let Err(error) = kernel.launch([6], [8], (&x, &mut turned, 0.5f32)) {
        println!("refused: {error}");
    }
    Ok(())
}
