//! Problems and configurations by names, as rows of data sets have them.

pub(super) use crate::fields::{Field, configuration};

use super::params::Conv2d;
use super::problem::{Pass, Precision, Problem};
use crate::fields;
use tilewright_perf::Error;
use tilewright_perf::dataset::{Named, named};

/// What errors call it.
const OP: &str = "conv2d";

/// Sets a configuration's fields. Refuses names that are missing.
pub(super) fn set_all<C>(fields: &[Field<C>], configuration: &Named, config: &mut C) -> Result<(), Error> {
    fields::set_all(OP, fields, configuration, config)
}

/// A problem and a pass as rows of data sets have them.
pub(super) fn problem_names(problem: &Problem, pass: Pass) -> Named {
    let [[top, bottom], [left, right]] = problem.padding;
    let sizes = [
        ("images", problem.images),
        ("height", problem.height),
        ("width", problem.width),
        ("channels", problem.channels()),
        ("group_width", problem.group_width),
        ("kernel_rows", problem.kernel[0]),
        ("kernel_columns", problem.kernel[1]),
        ("top", top),
        ("bottom", bottom),
        ("left", left),
        ("right", right),
        ("stride_rows", problem.stride[0]),
        ("stride_columns", problem.stride[1]),
        ("dilation_rows", problem.dilation[0]),
        ("dilation_columns", problem.dilation[1]),
        ("precision", problem.precision as usize),
        ("pass", pass as usize),
    ];
    named(sizes.map(|(name, size)| (name, size as i64)))
}

/// The inverse of [`problem_names`]. Refuses names that are missing, and what no convolution is.
pub(super) fn problem_of_names(problem: &Named) -> Result<(Problem, Pass), Error> {
    let of = |name| number(problem, name);
    let precision = [Precision::F16, Precision::Bf16, Precision::F32].into_iter().nth(of("precision")?);
    let pass = Pass::ALL.into_iter().nth(of("pass")?);
    let (Some(precision), Some(pass)) = (precision, pass) else {
        return Err(refused(format!("precision {} of pass {}", of("precision")?, of("pass")?)));
    };
    let params = Conv2d::new()
        .padding([[of("top")?, of("bottom")?], [of("left")?, of("right")?]])
        .stride([of("stride_rows")?, of("stride_columns")?])
        .dilation([of("dilation_rows")?, of("dilation_columns")?]);
    let x = [of("images")?, of("height")?, of("width")?, of("channels")?];
    let w = [of("channels")?, of("kernel_rows")?, of("kernel_columns")?, of("group_width")?];
    let problem = Problem::of_forward(x, w, precision, &params).map_err(|error| refused(error.to_string()))?;
    Ok((problem, pass))
}

fn number(named: &Named, name: &str) -> Result<usize, Error> {
    fields::number(OP, named, name)
}

pub(super) fn refused(why: String) -> Error {
    fields::refused(OP, why)
}
