//! Literals: each comes back with all of its bits, and as a number that people can read where that says them.

use super::read_texts;
use super::wrong::plan;
use std::collections::BTreeSet;
use tilewright_expr::DType;
use tilewright_expr::graph::{Graph, Op};
use tilewright_expr::manifest::PlanText;

/// Values of a graph.
const MANY: usize = 5_000;

/// A plan with such literals.
fn literals<'a>(dtype: DType, literals: impl Iterator<Item = &'a String>) -> PlanText {
    let line = |(place, literal)| format!("%{} = {dtype} const {literal}\n", place + 4);
    let lines: String = literals.enumerate().map(line).collect();
    plan(&format!("{lines}store %0 (Y, X)\n"))
}

fn constants(graph: &Graph, dtype: DType) -> BTreeSet<u64> {
    let bits = |op: &Op| match op {
        Op::Const(value) if value.dtype == dtype => Some(value.bits),
        _ => None,
    };
    graph.nodes().filter_map(|node| bits(&node.op)).collect()
}

#[test]
fn every_bit_comes_back() {
    let mut state = 1u64;
    for dtype in DType::ALL {
        let most = if dtype == DType::Bool { 1 } else { u64::MAX >> (64 - 8 * dtype.size()) };
        let ends = [0, 1, most, most >> 1, (most >> 1) + 1].into_iter().map(|bits| bits & most);
        let bits: Vec<u64> = match dtype.size() {
            1 | 2 => (0..=most).collect(),
            _ => {
                let random = (0..MANY).map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (state ^ (state >> 29)) & most
                });
                ends.chain(random).collect()
            }
        };
        for bits in bits.chunks(MANY) {
            let given: Vec<String> = bits.iter().map(|bits| format!("0x{bits:x}")).collect();
            let read = |text: &PlanText| read_texts(text, &[]).unwrap_or_else(|error| panic!("{dtype}: {error}"));
            let by_bits = read(&literals(dtype, given.iter()));
            let wanted: BTreeSet<u64> = bits.iter().copied().collect();
            let is_all = |graph: &Graph| constants(graph, dtype).is_superset(&wanted);
            assert!(is_all(&by_bits.graph), "{dtype}: what was read by its bits");
            // As they are printed now, numbers among them.
            let (text, _) = by_bits.text();
            assert!(
                is_all(&read(&text).graph),
                "{dtype}: what was printed\n{}",
                &text.graph[..text.graph.len().min(2000)]
            );
        }
    }
}

#[test]
fn people_can_read_what_a_number_says() {
    for (dtype, literal, printed) in [
        (DType::F32, "0x3f000000", "0.5"),
        (DType::F16, "0x3e00", "1.5"),
        (DType::I16, "0xffff", "-1"),
        (DType::U64, "0xffffffffffffffff", "18446744073709551615"),
        (DType::Bool, "0x1", "true"),
        (DType::F64, "0x7ff8000000000000", "0x7ff8000000000000"),
    ] {
        let read =
            read_texts(&literals(dtype, [literal.to_owned()].iter()), &[]).unwrap_or_else(|error| panic!("{error}"));
        let text = read.text().0.graph;
        assert!(text.contains(&format!("= {dtype} const {printed}\n")), "{text}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    for (dtype, literal) in [
        (DType::U8, "256"),
        (DType::U8, "-1"),
        (DType::U8, "0x100"),
        (DType::Bool, "2"),
        (DType::Bool, "0x2"),
        (DType::I32, "1.5"),
        (DType::F32, "1e999"),
        (DType::F32, "nan"),
        (DType::F32, "0x100000000"),
        (DType::F64, ""),
        (DType::I8, "x"),
    ] {
        let error = read_texts(&literals(dtype, [literal.to_owned()].iter()), &[]).err();
        let error = error.unwrap_or_else(|| panic!("{literal} of {dtype} was read"));
        assert!(error.contains("literal") || error.contains("the end of the line"), "{error}");
    }
}
