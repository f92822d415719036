//! The command line.

use super::failure::Failure;
use clap::{Parser, ValueEnum};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

/// Cuts boxes out of a picture and makes a normalised batch of them, in one kernel: crop, bilinear resize to 64 wide x 128
/// high, RGB to BGR, f32, (pixel * mul - sub) / div per colour, planar (N, 3, 128, 64).
#[derive(Debug, Parser)]
#[command(
    name = "crops",
    after_help = "Exit codes: 0 done, 1 the machine failed, 2 something asked for cannot be done."
)]
pub(crate) struct Args {
    /// The picture, PNG or JPEG [default: one that comes with the program]
    #[arg(long, value_name = "FILE")]
    pub(crate) image: Option<PathBuf>,
    /// The boxes in pixels, a CSV file with the header x,y,width,height [default: 150 boxes of 60x120]
    #[arg(long, value_name = "FILE")]
    pub(crate) boxes: Option<PathBuf>,
    /// Factor per colour
    #[arg(long, value_name = "R,G,B", default_value = "1/255,1/255,1/255", value_parser = colours, allow_hyphen_values = true)]
    pub(crate) mul: [f32; 3],
    /// What is subtracted then, per colour
    #[arg(long, value_name = "R,G,B", default_value = "0.485,0.456,0.406", value_parser = colours, allow_hyphen_values = true)]
    pub(crate) sub: [f32; 3],
    /// Divisor at last, per colour
    #[arg(long, value_name = "R,G,B", default_value = "0.229,0.224,0.225", value_parser = divisors, allow_hyphen_values = true)]
    pub(crate) div: [f32; 3],
    /// Where a pixel is sampled: at its corner, or at its centre
    #[arg(long, default_value = "half")]
    pub(crate) centres: Centres,
    /// Where the kernel runs; auto takes a GPU if there is one
    #[arg(long, default_value = "auto")]
    pub(crate) device: Choice,
    /// Folder for crops.npy and crops.png
    #[arg(long, value_name = "DIR", default_value = "target/crops")]
    pub(crate) out: PathBuf,
    /// Prints the kernel's CUDA source as well
    #[arg(long)]
    pub(crate) show_source: bool,
}

/// The sampling conventions.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Centres {
    /// OpenCV-CUDA's convention
    Corner,
    /// PyTorch's and OpenCV's convention
    Half,
}

impl From<Centres> for tilewright::Centres {
    fn from(centres: Centres) -> Self {
        match centres {
            Centres::Corner => tilewright::Centres::Corner,
            Centres::Half => tilewright::Centres::Half,
        }
    }
}

/// The devices to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Choice {
    Auto,
    Cpu,
    Gpu,
}

impl Args {
    /// Reads the command line. `None` after help was printed.
    pub(crate) fn read(
        args: impl IntoIterator<Item = impl Into<OsString> + Clone>,
        out: &mut dyn Write,
    ) -> Result<Option<Args>, Failure> {
        let error = match Args::try_parse_from(args) {
            Ok(args) => return Ok(Some(args)),
            Err(error) => error,
        };
        let text = error.render().to_string();
        if !error.use_stderr() {
            write!(out, "{text}")?;
            return Ok(None);
        }
        let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
        Err(Failure::Input(format!("{line}; see --help")))
    }
}

/// Three finite numbers, `R,G,B`; each may be a fraction.
fn colours(text: &str) -> Result<[f32; 3], String> {
    let numbers = text.split(',').map(number).collect::<Result<Vec<f32>, String>>()?;
    let got = numbers.len();
    numbers.try_into().map_err(|_| format!("expected three numbers R,G,B, got {got}"))
}

/// As [`colours`], none of them 0.
fn divisors(text: &str) -> Result<[f32; 3], String> {
    let numbers = colours(text)?;
    match numbers.contains(&0.0) {
        true => Err("a divisor must not be 0".into()),
        false => Ok(numbers),
    }
}

fn number(text: &str) -> Result<f32, String> {
    let parse = |part: &str| part.trim().parse::<f32>().map_err(|_| format!("`{}` is not a number", part.trim()));
    let value = match text.split_once('/') {
        Some((above, below)) => parse(above)? / parse(below)?,
        None => parse(text)?,
    };
    if value.is_finite() { Ok(value) } else { Err(format!("`{}` is not a finite f32", text.trim())) }
}
