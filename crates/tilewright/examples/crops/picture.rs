//! The picture.

use super::Picture;
use super::failure::Failure;
use image::{DynamicImage, ImageReader};
use std::io::Cursor;
use std::path::Path;
use tilewright::Tensor;

/// Painted by the example `scene`.
const SHIPPED: &[u8] = include_bytes!("../../assets/scene.jpg");

/// Reads the file, or the picture that comes with the program.
pub(crate) fn load(file: Option<&Path>) -> Result<Picture, Failure> {
    let picture = match file {
        Some(file) => open(file)?,
        None => decode(SHIPPED).map_err(|reason| Failure::Machine(format!("the shipped picture: {reason}")))?,
    };
    let picture = picture.into_rgb8();
    let (width, height) = picture.dimensions();
    Ok(Tensor::from_vec([height as usize, width as usize, 3], picture.into_raw())?)
}

fn open(file: &Path) -> Result<DynamicImage, Failure> {
    let name = file.display();
    let bytes = std::fs::read(file).map_err(|error| Failure::Input(format!("cannot read {name}: {error}")))?;
    decode(&bytes).map_err(|reason| Failure::Input(format!("{name} is no picture that can be read: {reason}")))
}

fn decode(bytes: &[u8]) -> Result<DynamicImage, String> {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|error| error.to_string())?;
    if reader.format().is_none() {
        return Err("neither PNG nor JPEG".into());
    }
    reader.decode().map_err(|error| super::failure::one_line(&error.to_string()))
}
