//! The table.

use super::measure::Repeated;
use super::place::Place;
use super::{HEIGHT, Inputs, WIDTH};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;
use tilewright::driver::Origin;
use tilewright::{Built, Device, Rect};

/// What is to be told.
pub(crate) struct Report<'a> {
    /// Columns and rows of the picture.
    pub(crate) size: [usize; 2],
    pub(crate) inputs: &'a Inputs,
    pub(crate) place: &'a Place,
    pub(crate) first: Duration,
    pub(crate) origin: Option<Arc<Built>>,
    /// `None` when there was nothing to compute.
    pub(crate) repeated: Option<Repeated>,
    pub(crate) written: String,
}

impl Report<'_> {
    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let boxes = self.inputs.boxes.to_vec().unwrap_or_default();
        let [width, height] = self.size;
        let n = boxes.len();
        let noun = if n == 1 { "box" } else { "boxes" };
        writeln!(out, "{n} {noun} of a {width}x{height} picture -> f32 ({n}, 3, {HEIGHT}, {WIDTH}), in one kernel\n")?;
        let mut row = |name: &str, value: String| writeln!(out, "{name:<18} {value}");
        row("device", self.device())?;
        match &self.repeated {
            None => row("result", "empty, since there is no box: nothing was launched".into())?,
            Some(repeated) => {
                let moved = moved(&boxes, self.size);
                let rate = moved as f64 / repeated.call.as_secs_f64().max(1e-9);
                row("first call", format!("{} ({})", time(self.first), self.origin()))?;
                row("repeated call", calls(repeated))?;
                row("bytes moved", format!("{} ({}/s)", bytes(moved as f64), bytes(rate)))?;
                row("share of limit", share(rate, repeated.copy_rate))?;
                row("never allocated", format!("{} of intermediate results", bytes(intermediate(&boxes) as f64)))?;
            }
        }
        row("written", self.written.clone())
    }

    fn device(&self) -> String {
        let note = self.place.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
        match &self.place.device {
            Device::Cpu => {
                let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
                format!("CPU, {cores} {}{note}", if cores == 1 { "core" } else { "cores" })
            }
            gpu => gpu.to_string(),
        }
    }

    fn origin(&self) -> String {
        match (&self.place.device, self.origin.as_deref().map(|built| built.origin)) {
            (Device::Cpu, _) | (_, None) => "planned for the CPU".into(),
            (_, Some(Origin::Compiled { ms })) => format!("compiled in {ms:.1} ms"),
            (_, Some(Origin::Disk)) => "kernel from the disk cache".into(),
            (_, Some(Origin::Memory)) => "kernel from memory".into(),
            (_, Some(Origin::Bundle)) => "kernel built ahead".into(),
        }
    }
}

fn calls(repeated: &Repeated) -> String {
    match repeated.host {
        Some(host) => format!("{} on the device, {} on the host", time(repeated.call), time(host)),
        None => time(repeated.call),
    }
}

fn share(rate: f64, limit: Option<f64>) -> String {
    match limit {
        Some(limit) => format!("{:.0} % of what a copy reaches here, {}/s", 100.0 * rate / limit, bytes(limit)),
        None => "unknown, no memory left to measure a copy".into(),
    }
}

/// What must be read and written: the pixels that the samples touch (at most the picture), the boxes, the batch.
fn moved(boxes: &[Rect], [width, height]: [usize; 2]) -> u64 {
    let taps = |extent: i32, samples: usize| (extent.max(0) as u64).min(2 * samples as u64);
    let pixels: u64 = boxes.iter().map(|b| taps(b.width, WIDTH) * taps(b.height, HEIGHT)).sum();
    let pixels = pixels.min((width * height) as u64);
    3 * pixels + size_of_val(boxes) as u64 + batch(boxes)
}

/// What one pass per operation would have stored in between: the cropped bytes; f32 resized, reversed, multiplied,
/// subtracted, divided.
fn intermediate(boxes: &[Rect]) -> u64 {
    let cropped: u64 = boxes.iter().map(|b| 3 * b.width.max(0) as u64 * b.height.max(0) as u64).sum();
    cropped + 5 * batch(boxes)
}

fn batch(boxes: &[Rect]) -> u64 {
    (boxes.len() * 3 * HEIGHT * WIDTH * size_of::<f32>()) as u64
}

fn bytes(count: f64) -> String {
    let (scale, unit) = match count {
        c if c >= 1e12 => (1e12, "TB"),
        c if c >= 1e9 => (1e9, "GB"),
        c if c >= 1e6 => (1e6, "MB"),
        _ => (1e3, "kB"),
    };
    format!("{:.1} {unit}", count / scale)
}

fn time(duration: Duration) -> String {
    let us = duration.as_secs_f64() * 1e6;
    if us < 1e3 { format!("{us:.1} us") } else { format!("{:.2} ms", us / 1e3) }
}
