//! The rows of the table of operations as functions: those of each element by itself as epilogues, of which the first picture is
//! given, the others as reads.

use super::calls::{Call, How, check_all};
use crate::emitted::compiler;
use crate::table::cells;
use std::collections::BTreeMap;
use tilewright_expr::Error;
use tilewright_expr::emit::Refusal;
use tilewright_expr::join::Joined;

/// Points at once, in turn.
const LANES: [u32; 4] = [1, 2, 4, 8];

#[test]
fn every_operation_of_the_table() {
    let mut rows: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for cell in cells() {
        let name = cell.name.split('`').nth(1).expect("the row's name").to_string();
        rows.entry(name).or_default().push(cell);
    }
    let mut refused: BTreeMap<&'static str, usize> = BTreeMap::new();
    let (mut epilogues, mut reads, mut calls) = (0, 0, Vec::new());
    for (number, (_, cells)) in rows.into_iter().enumerate() {
        let graph = &cells[0].case.graph;
        // The picture, and a result of its shape.
        let shape = |result: &Joined<'_>| graph.operands[0].dims.iter().all(|d| result.dims.contains(d));
        let pointwise =
            graph.reads_in_place() && matches!(graph.results().as_slice(), [r] if r.dims.len() == 3 && shape(r));
        // Types and numbers of channels go round from row to row: a step that has no factor in common with either.
        for (turn, lanes) in LANES.into_iter().enumerate().take(if pointwise { 4 } else { 2 }) {
            let cell = &cells[(number * 17 + turn * 31) % cells.len()];
            let how = match pointwise {
                true => How::given(0, lanes),
                false if cell.case.graph.outputs[0].dims.is_empty() => How::read(1),
                false => How::read(LANES[(number + 3 * turn) % 4]),
            };
            let count = match Call::new(cell.name.clone(), &cell.case, how, "f") {
                Ok(call) => {
                    calls.push(call);
                    if pointwise { &mut epilogues } else { &mut reads }
                }
                Err(Error::Inline(refusal)) if !pointwise => refused.entry(kind(&refusal)).or_default(),
                Err(error) => panic!("{}: {error}", cell.name),
            };
            *count += 1;
        }
    }
    assert!(epilogues > 250 && reads > 150, "{epilogues} epilogues, {reads} reads, refused: {refused:?}");
    let known = ["joined", "scattered", "results", "reduced", "scanned"];
    assert!(refused.keys().all(|k| known.contains(k)), "{refused:?}");
    if compiler("inline::rows::every_operation_of_the_table") {
        let wide = check_all(&calls);
        assert!(wide > 100, "{wide} wide accesses");
    }
}

fn kind(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Joined { .. } => "joined",
        Refusal::Scattered { .. } => "scattered",
        Refusal::Results { .. } => "results",
        Refusal::Reduced { .. } => "reduced",
        Refusal::Scanned { .. } => "scanned",
        other => panic!("{other}"),
    }
}
