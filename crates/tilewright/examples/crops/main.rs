//! Boxes of a picture become a normalised planar batch: crop, resize, RGB to BGR, multiply, subtract, divide, transpose,
//! all in one kernel.
//!
//! ```text
//! cargo run --release --example crops
//! cargo run --release --example crops -- --image street.jpg --boxes people.csv --out target/people
//! ```

mod args;
pub(crate) mod boxes;
pub(crate) mod failure;
mod measure;
mod picture;
mod place;
mod report;
mod sheet;

use args::Args;
use failure::Failure;
use measure::Repeated;
use place::Place;
use report::Report;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tilewright::expr::Out;
use tilewright::prelude::*;

dims! {
    /// The crop within the batch.
    N,
    /// Rows.
    Y,
    /// Columns.
    X,
    /// Colour channels.
    C,
}

/// Rows and columns of a crop.
const HEIGHT: usize = 128;
const WIDTH: usize = 64;

/// A picture, 8 bits a channel, red first.
type Picture = Tensor<u8, (Y, X, C)>;
/// The crops, blue first.
type Batch = Tensor<f32, (N, C, Y, X)>;
type PerColour = In<f32, (C,)>;
type Crops = Fused<(In<u8, (Y, X, C)>, In<Rect, (N,)>, PerColour, PerColour, PerColour), Out<f32, (N, C, Y, X)>>;

/// The whole job.
fn pipeline(centres: Centres) -> Crops {
    fuse(move |pic: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>, mul: PerColour, sub: PerColour, div: PerColour| {
        let pixel = pic.crop::<Y, X, _>(boxes).resize_with::<Y, X>(HEIGHT, WIDTH, centres).reverse::<C>();
        ((pixel * mul - sub) / div).store::<(N, C, Y, X)>()
    })
}

fn main() -> ExitCode {
    match run(std::env::args_os(), &mut std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("crops: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

/// What the pipeline is called with, but for the picture.
struct Inputs {
    boxes: Tensor<Rect, (N,)>,
    mul: Tensor<f32, (C,)>,
    sub: Tensor<f32, (C,)>,
    div: Tensor<f32, (C,)>,
}

impl Inputs {
    fn new(args: &Args, boxes: Vec<Rect>) -> Result<Self, Failure> {
        // Named by colour on the command line; behind `reverse::<C>` the first channel is blue.
        let bgr = |[r, g, b]: [f32; 3]| Tensor::from_vec([3], vec![b, g, r]);
        Ok(Inputs {
            boxes: Tensor::from_vec([boxes.len()], boxes)?,
            mul: bgr(args.mul)?,
            sub: bgr(args.sub)?,
            div: bgr(args.div)?,
        })
    }
}

/// The program: its arguments in, its table on `out`.
pub(crate) fn run(
    args: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let Some(args) = Args::read(args, out)? else { return Ok(()) };
    let picture = picture::load(args.image.as_deref())?;
    let boxes = match &args.boxes {
        Some(file) => boxes::read(file)?,
        None => boxes::scattered(picture.extent::<X>(), picture.extent::<Y>()),
    };
    let inputs = Inputs::new(&args, boxes)?;
    let crops = pipeline(args.centres.into());

    let mut place = Place::open(args.device)?;
    let (mut picture, mut batch, first) = first_call(&crops, &picture, &inputs, &mut place)?;
    if args.show_source {
        writeln!(out, "{}", crops.cuda_source(&picture, &inputs.boxes, &inputs.mul, &inputs.sub, &inputs.div)?)?;
    }
    let repeated = if batch.is_empty() { None } else { Some(repeat(&crops, &mut picture, &inputs, &mut batch)?) };
    let written = write(&args.out, &args, &batch)?;

    let size = [picture.extent::<X>(), picture.extent::<Y>()];
    let report = Report { size, inputs: &inputs, place: &place, first, origin: crops.last_built(), repeated, written };
    report.print(out)?;
    Ok(())
}

/// The first call, with all that it takes: where a GPU lacks the run-time compiler, that is fetched first.
fn first_call(
    crops: &Crops,
    picture: &Picture,
    inputs: &Inputs,
    place: &mut Place,
) -> Result<(Picture, Batch, Duration), Failure> {
    loop {
        let there = picture.to(&place.device)?;
        let start = Instant::now();
        let called = crops.on(&place.device).call(&there, &inputs.boxes, &inputs.mul, &inputs.sub, &inputs.div);
        match called {
            Ok(batch) => {
                place.device.synchronize()?;
                return Ok((there, batch, start.elapsed()));
            }
            Err(tilewright::Error::Driver(missing @ tilewright::driver::Error::NoNvrtc { .. })) => {
                place.get_compiler(missing)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn repeat(crops: &Crops, picture: &mut Picture, inputs: &Inputs, batch: &mut Batch) -> Result<Repeated, Failure> {
    let device = picture.device();
    measure::repeated(&device, || {
        crops.call_into(batch, &*picture, &inputs.boxes, &inputs.mul, &inputs.sub, &inputs.div)
    })
}

/// Writes the batch and its contact sheet; says what was written.
fn write(folder: &Path, args: &Args, batch: &Batch) -> Result<String, Failure> {
    std::fs::create_dir_all(folder).map_err(Failure::file("make the folder", folder))?;
    let (npy, png) = (folder.join("crops.npy"), folder.join("crops.png"));
    let values = batch.to_array()?;
    ndarray_npy::write_npy(&npy, &values).map_err(Failure::file("write", &npy))?;
    let Some((sheet, shown)) = sheet::draw(&values, args) else {
        // A sheet of an earlier run would be taken for this one's.
        let _ = std::fs::remove_file(&png);
        return Ok(npy.display().to_string());
    };
    sheet.save_with_format(&png, image::ImageFormat::Png).map_err(Failure::file("write", &png))?;
    let note = if shown < batch.extent::<N>() { format!(" (the first {shown} crops)") } else { String::new() };
    Ok(format!("{}, {}{note}", npy.display(), png.display()))
}
