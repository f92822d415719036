//! The convolutions that are timed, here and by other libraries: `peers/conv2d.csv` lists them, and says how they were chosen.

use crate::Result;
use tilewright_ops::conv::{Conv2d, Precision, Problem};

/// One of them.
#[derive(Clone, Debug)]
pub struct Convolution {
    /// Its name in results.
    pub case: String,
    /// Its sizes.
    pub problem: Problem,
    /// Zeros on every side.
    pub padding: usize,
    /// Whether the forward pass adds a bias.
    pub bias: bool,
    /// Which sets it belongs to: `table`, `batch`, `layers`, `combinations`.
    pub sets: Vec<String>,
}

/// All of them, in the order of the list.
pub fn convolutions() -> Result<Vec<Convolution>> {
    lines().map(convolution).collect()
}

/// Their names, in the order of the list.
pub fn names() -> impl Iterator<Item = &'static str> {
    lines().filter_map(|line| line.split(',').next())
}

/// That of a name.
pub fn named(case: &str) -> Result<Convolution> {
    let line = lines().find(|line| line.split(',').next() == Some(case));
    convolution(line.ok_or_else(|| format!("no convolution `{case}`"))?)
}

fn lines() -> impl Iterator<Item = &'static str> {
    // The first one names the columns.
    include_str!("../peers/conv2d.csv").lines().filter(|line| !line.starts_with('#')).skip(1)
}

fn convolution(line: &str) -> Result<Convolution> {
    let [case, numbers @ .., precision, sets] = &line.split(',').collect::<Vec<_>>()[..] else {
        return Err(format!("no convolution: `{line}`").into());
    };
    let numbers: Vec<usize> = numbers.iter().map(|n| n.parse()).collect::<std::result::Result<_, _>>()?;
    let [images, height, width, channels, group, rows, columns, padding, bias, stride, dilation] = numbers[..] else {
        return Err(format!("{} numbers instead of 11: `{line}`", numbers.len()).into());
    };
    let (x, w) = ([images, height, width, channels], [channels, rows, columns, group]);
    let precision = match *precision {
        "f16" => Precision::F16,
        "bf16" => Precision::Bf16,
        "tf32" => Precision::F32,
        other => return Err(format!("no precision `{other}`: `{line}`").into()),
    };
    let params = Conv2d::new().padding(padding).stride(stride).dilation(dilation);
    let problem = Problem::of_forward(x, w, precision, &params).map_err(|error| format!("{case}: {error}"))?;
    let sets = sets.split(' ').map(str::to_owned).collect();
    Ok(Convolution { case: (*case).to_owned(), problem, padding, bias: bias == 1, sets })
}
