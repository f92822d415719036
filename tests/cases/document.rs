//! The table as a document.

use super::row::{Form, Row, Shows};
use std::fmt::Write as _;

const HEAD: &str = "\
# Typed dimensions: the laws

The laws of dimensions, folds, coordinates and layouts, by the numbers of the acceptance cases that were drawn from Spio, a
library of typed tensors for CUDA. Each row is run by `cargo test -p tilewright-tests cases`, from one table: `tests/cases`.
There stand the integers that every form has to yield:

- **typed**: layouts that are Rust types, `tilewright-dims`;
- **run time**: layouts that are values, `tilewright_headers::layout`;
- **C++**: layouts that are C++ types, `tilewright/layout.cuh`, in one kernel on the host model and on a GPU.

*runs*: the form yields the values. *refuses*: it says what is wrong, in a compile error or an error value. *-*: the form
cannot say it; the reasons stand below the table. This file is written by the test:
`TILEWRIGHT_OVERWRITE=1 cargo test -p tilewright-tests cases`.
";

/// The longest line of a paragraph.
const WIDTH: usize = 120;

/// An item of a list, in lines.
fn item(text: &mut String, words: &str) {
    let mut width = 1;
    text.push('-');
    for word in words.split(' ') {
        if width + 1 + word.len() > WIDTH {
            text.push_str("\n ");
            width = 1;
        }
        let _ = write!(text, " {word}");
        width += 1 + word.len();
    }
    text.push('\n');
}

fn word<T>(form: &Form<T>, runs: &'static str) -> &'static str {
    match form {
        Form::Runs(_) => runs,
        Form::Cannot(_) => "-",
    }
}

fn words(shows: &Shows) -> [&'static str; 3] {
    match shows {
        Shows::Values { typed, run_time, cuda, .. } => {
            [word(typed, "runs"), word(run_time, "runs"), word(cuda, "runs")]
        }
        Shows::Refusal { typed, run_time, cuda } => {
            [word(typed, "refuses"), word(run_time, "refuses"), word(cuda, "refuses")]
        }
    }
}

fn reason<T>(form: &Form<T>) -> Option<&'static str> {
    match form {
        Form::Runs(_) => None,
        Form::Cannot(reason) => Some(reason),
    }
}

/// Why each form cannot say the law, if it cannot.
pub(super) fn reasons(shows: &Shows) -> [Option<&'static str>; 3] {
    match shows {
        Shows::Values { typed, run_time, cuda, .. } => [reason(typed), reason(run_time), reason(cuda)],
        Shows::Refusal { typed, run_time, cuda } => [reason(typed), reason(run_time), reason(cuda)],
    }
}

/// The document, from rows in the order of their cases.
pub(super) fn print(rows: &[Row]) -> String {
    let mut text = format!("{HEAD}\n| case | law | typed | run time | C++ |\n|---|---|---|---|---|\n");
    for row in rows {
        let [typed, run_time, cuda] = words(&row.shows);
        let _ = writeln!(text, "| {} | {} | {typed} | {run_time} | {cuda} |", row.case, row.law);
    }
    text.push_str("\n## Where Spio's law is another\n\n");
    for row in rows {
        if let Some(deviation) = row.deviation {
            item(&mut text, &format!("**{}** {deviation}", row.case));
        }
    }
    text.push_str("\n## What a form cannot say\n\n");
    for (forms, reason, cases) in unsaid(rows) {
        let cases: Vec<String> = cases.iter().map(u32::to_string).collect();
        item(&mut text, &format!("**{}** ({}): {reason}.", cases.join(", "), forms.join(", ")));
    }
    text
}

/// Which forms cannot say the laws of which cases, and why.
fn unsaid(rows: &[Row]) -> Vec<(Vec<&'static str>, &'static str, Vec<u32>)> {
    let mut all: Vec<(Vec<&str>, &str, Vec<u32>)> = Vec::new();
    for row in rows {
        let forms = ["typed", "run time", "C++"].into_iter().zip(reasons(&row.shows));
        let silent: Vec<(&str, &str)> = forms.filter_map(|(form, reason)| Some((form, reason?))).collect();
        for (_, reason) in &silent {
            let forms: Vec<&str> = silent.iter().filter(|(_, other)| other == reason).map(|(form, _)| *form).collect();
            match all.iter_mut().find(|(f, r, _)| *f == forms && r == reason) {
                Some((.., cases)) if cases.last() == Some(&row.case) => {}
                Some((.., cases)) => cases.push(row.case),
                None => all.push((forms, reason, vec![row.case])),
            }
        }
    }
    all
}
