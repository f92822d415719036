//! Problems and configurations by names, as rows of data sets have them.

use super::params::Conv2d;
use super::problem::{Pass, Precision, Problem};
use tilewright_perf::Error;
use tilewright_perf::dataset::{Named, named};

/// A field of a configuration: its name, and where it stands; a flag is 0 or 1.
pub(super) type Field<C> = (&'static str, fn(&C) -> usize, fn(&mut C, usize));

/// A configuration's fields.
pub(super) fn configuration<C, const N: usize>(fields: [Field<C>; N], config: &C) -> Named {
    named(fields.map(|(name, get, _)| (name, get(config) as i64)))
}

/// Sets a configuration's fields. Refuses names that are missing.
pub(super) fn set_all<C>(fields: &[Field<C>], configuration: &Named, config: &mut C) -> Result<(), Error> {
    fields.iter().try_for_each(|(name, _, set)| number(configuration, name).map(|value| set(config, value)))
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
    let value = named.get(name).copied().and_then(|value| usize::try_from(value).ok());
    value.ok_or_else(|| refused(format!("there is no number `{name}`")))
}

pub(super) fn refused(why: String) -> Error {
    Error::Refused { op: "conv2d", why }
}
