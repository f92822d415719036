//! A row of the table: one law, and how each form shows it.

use tilewright_headers::layout::{Layout, LayoutError};

/// One law. A case that has several has several rows.
pub(crate) struct Row {
    /// The acceptance case, 1 to 68.
    pub(crate) case: u32,
    pub(crate) law: &'static str,
    /// What Spio does where the law here is another, and why.
    pub(crate) deviation: Option<&'static str>,
    pub(crate) shows: Shows,
}

/// What is shown: values, the same in each form, or that something is refused.
pub(crate) enum Shows {
    Values {
        expected: Vec<i64>,
        typed: Form<fn() -> Vec<i64>>,
        run_time: Form<fn() -> Vec<i64>>,
        /// Statements that hand values to `out(..)`; `x` points to the numbers 0, 1, 2, ..
        cuda: Form<&'static str>,
    },
    Refusal {
        typed: Form<Ui>,
        /// What is tried, and a part of the message.
        run_time: Form<(Tried, &'static str)>,
        /// Statements, or a declaration block, and a part of the message.
        cuda: Form<(&'static str, &'static str)>,
    },
}

/// What has to be an error.
pub(crate) type Tried = fn() -> Result<(), LayoutError>;

/// A form of a law: it runs, or cannot be written, and why.
pub(crate) enum Form<T> {
    Runs(T),
    Cannot(&'static str),
}

/// A program that does not compile, among those of `tilewright-dims`.
pub(crate) struct Ui {
    pub(crate) name: &'static str,
    /// What the compiler says.
    pub(crate) said: &'static str,
    pub(crate) phrase: &'static str,
}

macro_rules! ui {
    ($name:literal, $phrase:literal) => {{
        const SAID: &str = include_str!(concat!("../../crates/dims/tests/ui/", $name, ".stderr"));
        $crate::cases::row::Ui { name: $name, said: SAID, phrase: $phrase }
    }};
}

pub(crate) use ui;

/// The layout that `text` says.
pub(crate) fn parsed(text: &str) -> Layout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Where these coordinates are in the layout that `text` says.
pub(crate) fn place(text: &str, coords: &[(&str, i64)]) -> i64 {
    at(&parsed(text), coords)
}

/// Where these coordinates are.
pub(crate) fn at(layout: &Layout, coords: &[(&str, i64)]) -> i64 {
    layout.offset(coords).unwrap_or_else(|e| panic!("{coords:?}: {e}"))
}

/// The coordinate of step number `step` of the axis that `text` says: what a fold unfolds to.
pub(crate) fn unfolded(text: &str, step: i64) -> i64 {
    parsed(text).coords(step)[0].1
}

/// The coordinate along `dim` of an element; zero if there is none.
pub(crate) fn along(coords: &[(&str, i64)], dim: &str) -> i64 {
    coords.iter().filter(|(other, _)| *other == dim).map(|(_, value)| value).sum()
}

/// Tries to read a layout.
pub(crate) fn read(text: &str) -> Result<(), LayoutError> {
    text.parse::<Layout>().map(drop)
}

/// The reason why most arithmetic of coordinates has no form at run time.
pub(crate) const PAIRS: &str =
    "coordinates are pairs of a name and a number, and there is no arithmetic on them but a layout's";
