//! The whole pipeline against the reference.

use crate::gpu;
use crate::reference::{self, Recipe, boxes, picture};
use ndarray::Array3;
use tilewright::expr::Out;
use tilewright::prelude::*;

dims! { N, Y, X, C }

pub(crate) type Batch = Tensor<f32, (N, C, Y, X)>;
type PerColour = In<f32, (C,)>;
pub(crate) type Pipeline =
    Fused<(In<u8, (Y, X, C)>, In<Rect, (N,)>, PerColour, PerColour, PerColour), Out<f32, (N, C, Y, X)>>;

/// The README's pipeline for any size and convention.
pub(crate) fn pipeline(recipe: &Recipe) -> Pipeline {
    let ((height, width), centres) = (recipe.size, recipe.centres);
    fuse(move |pic: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>, mul: PerColour, sub: PerColour, div: PerColour| {
        let pixel = pic.crop::<Y, X, _>(boxes).resize_with::<Y, X>(height, width, centres).reverse::<C>();
        ((pixel * mul - sub) / div).store::<(N, C, Y, X)>()
    })
}

/// A call's operands.
pub(crate) struct Job {
    pub(crate) picture: Tensor<u8, (Y, X, C)>,
    pub(crate) boxes: Tensor<Rect, (N,)>,
    pub(crate) constants: [Tensor<f32, (C,)>; 3],
}

impl Job {
    pub(crate) fn new(picture: &Array3<u8>, boxes: &[Rect], recipe: &Recipe) -> Job {
        let constant = |values: [f32; 3]| Tensor::from_vec([3], values.to_vec()).unwrap();
        Job {
            picture: Tensor::from_array(picture).unwrap(),
            boxes: Tensor::from_vec([boxes.len()], boxes.to_vec()).unwrap(),
            constants: [recipe.mul, recipe.sub, recipe.div].map(constant),
        }
    }

    pub(crate) fn on(self, device: &Device) -> Job {
        Job { picture: self.picture.to(device).unwrap(), ..self }
    }

    pub(crate) fn call(&self, pipeline: &Pipeline) -> Result<Batch, tilewright::Error> {
        let [mul, sub, div] = &self.constants;
        pipeline.call(&self.picture, &self.boxes, mul, sub, div)
    }

    pub(crate) fn plan(&self, pipeline: &Pipeline) -> Result<tilewright::Plan, tilewright::Error> {
        let [mul, sub, div] = &self.constants;
        pipeline.plan(&self.picture, &self.boxes, mul, sub, div)
    }

    /// Into a batch of NaN, so that a value which nobody wrote shows.
    pub(crate) fn call_poisoned(&self, pipeline: &Pipeline, size: (usize, usize)) -> Result<Batch, tilewright::Error> {
        let extents = [self.boxes.len(), 3, size.0, size.1];
        let mut batch = Batch::zeros(extents, &self.picture.device())?;
        batch.write(&vec![f32::NAN; extents.iter().product()])?;
        let [mul, sub, div] = &self.constants;
        pipeline.call_into(&mut batch, &self.picture, &self.boxes, mul, sub, div)?;
        Ok(batch)
    }
}

/// On the CPU against the reference; on a GPU the CPU's bits.
fn check(test: &str, (height, width): (usize, usize), count: usize, recipe: &Recipe) {
    let image = picture(height, width, 7 + count as u64);
    let boxes = boxes(count, height, width, 3);
    let pipeline = pipeline(recipe);
    let on_cpu = Job::new(&image, &boxes, recipe).call_poisoned(&pipeline, recipe.size).unwrap();
    assert_eq!(on_cpu.extents(), [count, 3, recipe.size.0, recipe.size.1]);
    let values = on_cpu.to_vec().unwrap();
    let expected = reference::batch(&image, &boxes, recipe);
    assert_eq!(values.len(), expected.len());
    for ((at, expected), got) in expected.indexed_iter().zip(&values) {
        // Positions are f32: an error of 2^-24 of a coordinate moves a value by that part of 255.
        let error = (f64::from(*got) - expected).abs();
        assert!(error < 1e-3, "{test}: {at:?} of {:?}: expected {expected}, got {got}", boxes[at.0]);
    }
    let Some((device, _lock)) = gpu(test) else { return };
    let on_gpu = Job::new(&image, &boxes, recipe).on(&device).call_poisoned(&pipeline, recipe.size).unwrap();
    device.synchronize().unwrap();
    let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<u32>>();
    assert!(bits(&on_gpu.to_vec().unwrap()) == bits(&values), "{test}: the GPU's bits differ from the CPU's");
}

#[test]
fn half() {
    check("pipeline::half", (97, 131), 23, &Recipe::new((128, 64), Centres::Half));
}

#[test]
fn corner() {
    check("pipeline::corner", (97, 131), 23, &Recipe::new((128, 64), Centres::Corner));
}

#[test]
fn odd_sizes() {
    for size in [(1, 1), (3, 7), (5, 1), (1, 64), (13, 31), (2, 130)] {
        check("pipeline::odd_sizes", (41, 67), 11, &Recipe::new(size, Centres::Half));
    }
}

#[test]
fn picture_of_one_pixel() {
    let recipe = Recipe::new((4, 4), Centres::Half);
    let image = picture(1, 1, 5);
    let boxes = [Rect::new(0, 0, 1, 1)];
    let batch = Job::new(&image, &boxes, &recipe).call(&pipeline(&recipe)).unwrap().to_vec().unwrap();
    let expected = reference::batch(&image, &boxes, &recipe);
    assert!(batch.iter().zip(&expected).all(|(got, expected)| (f64::from(*got) - expected).abs() < 1e-4));
}

#[test]
fn no_box_one_box_and_150() {
    for count in [0, 1, 150] {
        check("pipeline::no_box_one_box_and_150", (97, 131), count, &Recipe::new((16, 8), Centres::Half));
    }
}

#[test]
fn a_hundred_thousand_boxes() {
    check("pipeline::a_hundred_thousand_boxes", (97, 131), 100_000, &Recipe::new((4, 4), Centres::Half));
}

#[test]
fn a_box_outside_is_named_with_the_picture() {
    let recipe = Recipe::new((4, 4), Centres::Half);
    let (image, pipeline) = (picture(20, 30, 1), pipeline(&recipe));
    let good = Rect::new(0, 0, 30, 20);
    for wrong in [Rect::new(1, 0, 30, 20), Rect::new(-1, 0, 3, 3), Rect::new(i32::MAX, 0, i32::MAX, 1)] {
        let error = Job::new(&image, &[good, wrong], &recipe).call(&pipeline).unwrap_err().to_string();
        assert!(error.contains("box 1") && error.contains(&wrong.to_string()) && error.contains("30x20"), "{error}");
    }
    let empty = Rect::new(3, 3, 0, 5);
    let error = Job::new(&image, &[empty], &recipe).call(&pipeline).unwrap_err().to_string();
    assert!(error.contains("box 0") && error.contains("empty"), "{error}");
    assert!(Job::new(&image, &[good], &recipe).call(&pipeline).is_ok());
}

#[test]
fn sizes_that_disagree_name_the_dimension() {
    let recipe = Recipe::new((4, 4), Centres::Half);
    let job = Job::new(&picture(20, 30, 1), &[Rect::new(0, 0, 3, 3)], &recipe);
    let four = Tensor::<f32, (C,)>::from_vec([4], vec![1.0; 4]).unwrap();
    let [mul, sub, _] = &job.constants;
    let error = pipeline(&recipe).call(&job.picture, &job.boxes, mul, sub, &four).unwrap_err().to_string();
    for part in ["`C`", "3", "4", "operand 4"] {
        assert!(error.contains(part), "{part} is not in: {error}");
    }
}

#[test]
fn the_source_is_one_kernel() {
    let recipe = Recipe::new((128, 64), Centres::Half);
    let job = Job::new(&picture(640, 960, 1), &[Rect::new(0, 0, 3, 3)], &recipe);
    let [mul, sub, div] = &job.constants;
    let source = pipeline(&recipe).cuda_source(&job.picture, &job.boxes, mul, sub, div).unwrap();
    assert!(source.contains("__global__"), "{source}");
}

#[test]
fn the_ten_lines_of_the_readme_are_those_that_are_tested() {
    let first_block = |text: &'static str| -> Vec<&'static str> {
        let inside = text.split("```rust").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
        inside.lines().filter(|line| !line.trim().is_empty()).collect()
    };
    let tested = first_block(include_str!("../README.md"));
    let shown = first_block(include_str!("../../../README.md"));
    assert!(shown.len() >= 5);
    for line in shown {
        assert!(tested.contains(&line), "not in the crate's README, which is compiled:\n{line}");
    }
}
