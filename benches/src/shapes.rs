//! The convolutions that a model is trained on and judged by: the lists in `crates/perf/data`, which say how they were chosen.

use crate::Result;
use tilewright_ops::conv::{Conv2d, Precision, Problem};

/// Those that are trained on.
pub fn training() -> Result<Vec<Problem>> {
    shapes(include_str!("../../crates/perf/data/conv2d_training.csv"))
}

/// More that are trained on, of odd sizes.
pub fn training_odd() -> Result<Vec<Problem>> {
    shapes(include_str!("../../crates/perf/data/conv2d_training_odd.csv"))
}

/// More that are trained on, drawn at random.
pub fn training_random() -> Result<Vec<Problem>> {
    shapes(include_str!("../../crates/perf/data/conv2d_training_random.csv"))
}

/// More that are trained on, whose rows threads bring.
pub fn training_threads() -> Result<Vec<Problem>> {
    shapes(include_str!("../../crates/perf/data/conv2d_training_threads.csv"))
}

/// More that are trained on, drawn at random, unlike all of these.
pub fn training_further() -> Result<Vec<Problem>> {
    shapes(include_str!("../../crates/perf/data/conv2d_training_further.csv"))
}

/// More that are trained on, of f32 and bf16 in groups of every width.
pub fn training_types() -> Result<Vec<Problem>> {
    shapes(include_str!("../../crates/perf/data/conv2d_training_types.csv"))
}

/// Those that are never trained on.
pub fn held_out() -> Result<Vec<Problem>> {
    shapes(include_str!("../../crates/perf/data/conv2d_held_out.csv"))
}

/// More that are never trained on, drawn after plans had been chosen.
pub fn held_out_fresh() -> Result<Vec<Problem>> {
    shapes(include_str!("../../crates/perf/data/conv2d_held_out_fresh.csv"))
}

/// The parameters that give a problem, without a configuration.
pub fn params(problem: &Problem) -> Conv2d {
    Conv2d::new().padding(problem.padding).stride(problem.stride).dilation(problem.dilation)
}

fn shapes(list: &str) -> Result<Vec<Problem>> {
    // The first line without a hash names the columns.
    list.lines().filter(|line| !line.starts_with('#')).skip(1).map(shape).collect()
}

fn shape(line: &str) -> Result<Problem> {
    let (numbers, precision) = line.rsplit_once(',').ok_or_else(|| format!("no convolution: `{line}`"))?;
    let numbers: Vec<usize> = numbers.split(',').map(str::parse).collect::<std::result::Result<_, _>>()?;
    let [images, height, width, channels, group, rows, columns, top, left, stride, dilation] = numbers[..] else {
        return Err(format!("{} numbers instead of 11: `{line}`", numbers.len()).into());
    };
    let precision = match precision {
        "f16" => Precision::F16,
        "bf16" => Precision::Bf16,
        "f32" => Precision::F32,
        other => return Err(format!("no element type: `{other}`").into()),
    };
    let params = Conv2d::new().padding([top, left]).stride(stride).dilation(dilation);
    let (x, w) = ([images, height, width, channels], [channels, rows, columns, group]);
    Ok(Problem::of_forward(x, w, precision, &params)?)
}
