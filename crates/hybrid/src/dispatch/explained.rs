//! A decision in full.

use super::{Accelerator, At, Decision, Expected, Flops, Operand, Processor};
use std::fmt;

/// A decision with what it went by ([`Decision::explain`]).
#[derive(Clone, Copy, Debug)]
pub struct Explained<'a>(pub(super) &'a Decision);

impl fmt::Display for Explained<'_> {
    /// A line each, as
    ///
    /// ```text
    /// gpu.matmul.f64 reason=cost(cpu=1.15 s, gpu=47.64 ms) bound=bring 1.611 GB
    /// reads 0.537 GB pinned, 0.537 GB pinned; writes 0.537 GB pinned
    /// cpu: 0.96 TFLOP/s in f64, 1.92 in f32; 200 GB/s of memory
    /// gpu: 60 TFLOP/s in f64, 50 in f32; 4250 GB/s of memory
    /// link: 55 GB/s to the GPU, 55 back, 51 both at once; pageable 3.7 and 2.59
    /// rates measured in 31.20 ms
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Decision { read, written, rates, .. } = self.0;
        write!(f, "{}\nreads ", self.0)?;
        for (number, operand) in read.iter().flatten().enumerate() {
            write!(f, "{}{}", if number > 0 { ", " } else { "" }, Place(operand))?;
        }
        write!(f, "; writes {}\ncpu: {}", Place(written), Rate(&rates.cpu))?;
        if let Some(Accelerator { processor, link, expected }) = &rates.gpu {
            let [to_gpu, to_host, both, from, to] =
                [link.to_gpu, link.to_host, link.both, link.pageable, link.pageable_back]
                    .map(|rate| rounded(rate / 1e9));
            write!(f, "\ngpu: {}{}", Rate(processor), Unmeasured(expected))?;
            write!(f, "\nlink: {to_gpu} GB/s to the GPU, {to_host} back, {both} both at once; ")?;
            write!(f, "pageable {from} and {to}")?;
        }
        match rates.measured_in {
            Some(seconds) => write!(f, "\nrates measured in {:.2} ms", seconds * 1e3),
            None => f.write_str("\nrates not measured"),
        }
    }
}

/// Three digits.
fn rounded(value: f64) -> f64 {
    let unit = 10f64.powf(value.abs().max(f64::MIN_POSITIVE).log10().floor() - 2.0);
    let digits = (value / unit).round();
    // Divided by a whole number where that is exact.
    if unit < 1.0 { digits / (1.0 / unit).round() } else { digits * unit }
}

struct Place<'a>(&'a Operand);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.0.at {
            At::Gpu => "on the GPU",
            At::Pinned => "pinned",
            At::Pageable => "pageable",
            At::Disk => "on a disk",
        };
        write!(f, "{:.3} GB {place}", self.0.bytes as f64 / 1e9)
    }
}

struct Rate<'a>(&'a Processor);

impl fmt::Display for Rate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Processor { flops: Flops { f64, f32, .. }, memory, .. } = *self.0;
        let [f64, f32] = [f64, f32].map(|rate| rounded(rate / 1e12));
        write!(f, "{f64} TFLOP/s in f64, {f32} in f32; {} GB/s of memory", rounded(memory / 1e9))
    }
}

struct Unmeasured<'a>(&'a Expected);

impl fmt::Display for Unmeasured<'_> {
    /// As `; f64, half expected from 132 multiprocessors of sm_90 at 1.98 GHz, not measured`; nothing where all were.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Expected { facts: Some(facts), f64, f32, tf32, half } = *self.0 else { return Ok(()) };
        let units = [("f64", f64), ("f32", f32), ("tf32", tf32), ("half", half)];
        let names: Vec<&str> =
            units.into_iter().filter(|(_, is_expected)| *is_expected).map(|(name, _)| name).collect();
        write!(f, "; {} expected from {facts}, not measured", names.join(", "))
    }
}
