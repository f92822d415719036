//! The problems, from the lists in `crates/perf/data`.

use super::case::Sizes;
use crate::Result;

/// A body and sizes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Problem {
    /// The body's name.
    pub body: String,
    /// How long dimensions are; 1 where the body has none.
    pub sizes: Sizes,
}

impl Problem {
    /// Points of all dimensions.
    pub fn points(&self) -> usize {
        let Sizes { images, rows, columns, channels } = self.sizes;
        images * rows * columns * channels
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Sizes { images, rows, columns, channels } = self.sizes;
        write!(f, "{} {images}x{rows}x{columns}x{channels}", self.body)
    }
}

/// Those that are trained on.
pub fn training() -> Result<Vec<Problem>> {
    problems(include_str!("../../../../crates/perf/data/pointwise_training.csv"))
}

/// Those that are never trained on.
pub fn held_out() -> Result<Vec<Problem>> {
    problems(include_str!("../../../../crates/perf/data/pointwise_held_out.csv"))
}

fn problems(list: &str) -> Result<Vec<Problem>> {
    // The first line without a hash names the columns.
    list.lines().filter(|line| !line.starts_with('#')).skip(1).map(problem).collect()
}

fn problem(line: &str) -> Result<Problem> {
    let (body, sizes) = line.split_once(',').ok_or_else(|| format!("no problem: `{line}`"))?;
    let sizes: Vec<usize> = sizes.split(',').map(str::parse).collect::<std::result::Result<_, _>>()?;
    let [images, rows, columns, channels] = sizes[..] else {
        return Err(format!("{} sizes instead of 4: `{line}`", sizes.len()).into());
    };
    Ok(Problem { body: body.to_owned(), sizes: Sizes { images, rows, columns, channels } })
}
