//! Device memory's bandwidth: the ceiling that limits come from.

use crate::Result;
use crate::cases::Random;
use crate::report::Report;
use crate::session::Session;
use tilewright_driver::DeviceBuffer;

/// Powers of two: how many f32 are copied.
pub const EXPONENTS: [u32; 2] = [26, 29];

/// Bytes that a copy reads and writes.
pub fn bytes(exponent: u32) -> usize {
    (2 * size_of::<f32>()) << exponent
}

/// Reports one copy; the case is `2^` and the exponent.
pub fn run(session: &Session, case: &str, report: &mut Report) -> Result<()> {
    let exponent = case.trim_start_matches("2^").parse()?;
    let us = session.copy_us(exponent)?;
    report.add("copy", case, "device_us", us, "us");
    report.add("copy", case, "bandwidth", bytes(exponent) as f64 / us * 1e-6, "TB/s");
    Ok(())
}

/// Microseconds of a copy of pseudo-random numbers.
pub fn measure(session: &Session, exponent: u32) -> Result<f64> {
    let stream = session.gpu.stream();
    // A pattern of 4 MB again and again: no compression finds it, and it is there in a moment.
    let pattern = Random::new(u64::from(exponent)).floats(1 << 20);
    let source: DeviceBuffer<f32> = stream.upload(&pattern.repeat(1 << (exponent - 20)))?;
    let mut target: DeviceBuffer<f32> = stream.alloc(source.len())?;
    session.clock.device_us(&mut |_| Ok(target.copy_from_buffer(stream, &source)?))
}
