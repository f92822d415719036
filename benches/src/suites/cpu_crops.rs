//! The main job on the CPU: fused, and with `image`, `ndarray` and `rayon` by hand, on the same cores.

use crate::Result;
use crate::cases::{BOX, Batch, CROP, FRAME, Random, colours, crops};
use crate::clock::wall_ms;
use crate::machine;
use crate::report::{Report, Row};
use image::imageops::{FilterType, crop_imm, resize};
use image::{ImageBuffer, Rgb, RgbImage};
use ndarray::{Array4, ArrayView3, Axis};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator, ParallelIterator};
use std::hint::black_box;
use tilewright_expr::Rect;

const COUNT: usize = 150;
/// `image` rounds resized pixels to bytes: half a step, after the normalisation.
const TOLERANCE: f32 = 0.55 / 255.0 / 0.224;

/// Measures `cpu/crops150`.
pub fn run(quick: bool, report: &mut Report) -> Result<()> {
    let repeats = if quick { 3 } else { 15 };
    let mut random = Random::new(150);
    let (picture, boxes) = (random.picture(FRAME)?, random.boxes(COUNT, FRAME)?);
    let [mul, sub, div] = colours()?;
    let (height, width) = CROP;
    let extents = [COUNT, FRAME[2], height, width];
    let mut batch = Batch::from_vec(extents, vec![f32::NAN; extents.iter().product()])?;
    let crops = crops();
    crops.call_into(&mut batch, &picture, &boxes, &mul, &sub, &div)?;

    let frame = ImageBuffer::from_raw(FRAME[1] as u32, FRAME[0] as u32, picture.to_vec()?).ok_or("a short frame")?;
    let (places, constants) = (boxes.to_vec()?, [mul.to_vec()?, sub.to_vec()?, div.to_vec()?]);
    let other = by_hand(&frame, &places, &constants)?;
    let is_close = |got: f32, other: f32| (got - other).abs() <= TOLERANCE;
    if let Some((got, other)) = batch.to_vec()?.iter().zip(&other).find(|(got, other)| !is_close(**got, **other)) {
        return Err(format!("by hand {other} is computed, fused {got}").into());
    }

    let ours = wall_ms(repeats, || Ok(crops.call_into(&mut batch, &picture, &boxes, &mul, &sub, &div)?))?;
    let theirs = wall_ms(repeats, || {
        black_box(by_hand(&frame, &places, &constants)?);
        Ok(())
    })?;
    // On a machine with a GPU the report is that of the GPU.
    let here = |row: &mut Row| (row.device, row.driver) = (machine::cpu(), None);
    here(report.add("cpu", "crops150", "ms", ours, "ms").against("image, ndarray and rayon by hand", theirs));
    here(report.add("cpu", "crops150", "ratio", theirs / ours, "x"));
    here(report.add("cpu", "crops150", "cores", machine::cores() as f64, "cores"));
    Ok(())
}

/// As one writes it: a crop per task, resized by `image`, the rest an `ndarray` expression.
pub fn by_hand(frame: &RgbImage, boxes: &[Rect], constants: &[Vec<f32>; 3]) -> Result<Array4<f32>> {
    let (height, width) = CROP;
    let [mul, sub, div] = constants;
    let mut batch = Array4::zeros([boxes.len(), FRAME[2], height, width]);
    let crops: Vec<_> = batch.axis_iter_mut(Axis(0)).collect();
    let done = crops.into_par_iter().zip(boxes.par_iter()).map(|(mut planes, b)| {
        let part = crop_imm(frame, b.x as u32, b.y as u32, BOX.0 as u32, BOX.1 as u32).to_image();
        let small: ImageBuffer<Rgb<u8>, Vec<u8>> = resize(&part, width as u32, height as u32, FilterType::Triangle);
        let pixels = ArrayView3::from_shape([height, width, FRAME[2]], small.as_raw())?;
        for (c, mut plane) in planes.axis_iter_mut(Axis(0)).enumerate() {
            // RGB to BGR.
            let source = pixels.index_axis(Axis(2), FRAME[2] - 1 - c);
            plane.assign(&source.mapv(|value| (f32::from(value) * mul[c] - sub[c]) / div[c]));
        }
        Ok::<(), ndarray::ShapeError>(())
    });
    done.collect::<std::result::Result<(), _>>()?;
    Ok(batch)
}
