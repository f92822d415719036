//! The laws of typed dimensions, case by case: one table, run through typed Rust, layouts known at run time, and CUDA C++.

mod compound;
mod coordinates;
mod cuda;
mod declarations;
mod declared;
mod derived;
mod document;
mod folds;
mod fragments;
mod number;
mod ranges;
mod row;
mod tensors;

use row::{Form, Row, Shows};
use tilewright_headers::host_model::{HostModel, skip};

/// The table, in the order of the cases.
fn table() -> Vec<Row> {
    let groups = [
        folds::rows,
        ranges::rows,
        coordinates::rows,
        tensors::rows,
        derived::rows,
        compound::rows,
        fragments::rows,
        declarations::rows,
    ];
    let mut rows: Vec<Row> = groups.into_iter().flat_map(|rows| rows()).collect();
    rows.sort_by_key(|row| row.case);
    rows
}

/// The row, what it expects and one of its forms, if it shows values and the form runs.
fn values<'a, T>(
    row: &'a Row,
    form: impl Fn(&'a Form<fn() -> Vec<i64>>, &'a Form<fn() -> Vec<i64>>, &'a Form<&'static str>) -> &'a Form<T>,
) -> Option<(&'a Row, &'a Vec<i64>, &'a T)> {
    let Shows::Values { expected, typed, run_time, cuda } = &row.shows else { return None };
    match form(typed, run_time, cuda) {
        Form::Runs(run) => Some((row, expected, run)),
        Form::Cannot(_) => None,
    }
}

#[test]
fn each_case_is_there() {
    let rows = table();
    let missing: Vec<u32> = (1..=68).filter(|case| rows.iter().all(|row| row.case != *case)).collect();
    assert!(missing.is_empty() && rows.iter().all(|row| (1..=68).contains(&row.case)), "missing: {missing:?}");
    for row in &rows {
        let silent = document::reasons(&row.shows).iter().all(Option::is_some);
        let expects = matches!(&row.shows, Shows::Values { expected, .. } if !expected.is_empty());
        assert!(silent || expects || matches!(row.shows, Shows::Refusal { .. }), "case {}: no values", row.case);
    }
}

#[test]
fn typed_rust() {
    for (row, expected, run) in table().iter().filter_map(|row| values(row, |typed, _, _| typed)) {
        assert_eq!(run(), *expected, "case {}: {}", row.case, row.law);
    }
}

#[test]
fn layouts_at_run_time() {
    for (row, expected, run) in table().iter().filter_map(|row| values(row, |_, run_time, _| run_time)) {
        assert_eq!(run(), *expected, "case {}: {}", row.case, row.law);
    }
}

#[test]
fn kernels() {
    cuda::check(&table());
}

#[test]
fn mistakes_are_refused() {
    if HostModel::compiler().is_none() {
        skip("cases::mistakes_are_refused, kernels", "no C++ compiler");
    }
    for row in table() {
        let Shows::Refusal { typed, run_time, cuda } = row.shows else { continue };
        let place = format!("case {}: {}", row.case, row.law);
        if let Form::Runs(ui) = typed {
            assert!(ui.said.contains(ui.phrase), "{place}: `{}` is not in {}.stderr", ui.phrase, ui.name);
        }
        if let Form::Runs((tried, phrase)) = run_time {
            let said = tried().map_or_else(|error| error.to_string(), |()| "it is taken".to_owned());
            assert!(said.contains(phrase), "{place}: {said}");
        }
        if let Form::Runs((mistake, phrase)) = cuda
            && let Some(said) = cuda::said(mistake)
        {
            assert!(said.contains(phrase), "{place}: {said}");
        }
    }
}

/// The document is what the table says. `TILEWRIGHT_OVERWRITE` writes it.
#[test]
fn the_document_is_in_step() {
    let text = document::print(&table());
    if std::env::var_os("TILEWRIGHT_OVERWRITE").is_some() {
        let root = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the sources are");
        return std::fs::write(format!("{root}/../docs/typed_dimensions.md"), text)
            .expect("the document can be written");
    }
    let stands = include_str!("../../docs/typed_dimensions.md");
    let line = stands.lines().zip(text.lines()).take_while(|(stands, printed)| stands == printed).count() + 1;
    assert!(
        stands == text,
        "docs/typed_dimensions.md is stale from line {line} on: TILEWRIGHT_OVERWRITE=1 cargo test -p tilewright-tests cases"
    );
}
