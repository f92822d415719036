//! Texts with mistakes put into them: each is refused, or read as a plan that can be planned and emitted; nothing panics, and
//! nothing takes long.

use super::{Pipeline, read_texts, round_trips::with_functions};
use crate::random::{Rng, case, sections};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use tilewright_expr::manifest::{FunctionText, PlanText};

/// Mutated texts; `EXPR_FUZZ` says how many instead. `EXPR_SEED=n` runs one alone.
const CASES: u64 = 2000;
/// More than any text of a test takes, in a build that is not optimised, on a machine that is busy.
const LONGEST: Duration = Duration::from_secs(60);

type Texts = (PlanText, Vec<FunctionText>);

/// Words that stand where they do not belong.
const WORDS: [&str; 64] = [
    "%0",
    "%1",
    "%2",
    "%9",
    "%4294967295",
    "%",
    "f32",
    "i32",
    "u8",
    "bool",
    "f16",
    "bf16",
    "u64",
    "f64",
    "add",
    "shl",
    "fma",
    "select",
    "min",
    "sqrt",
    "cast",
    "bits",
    "guard",
    "at",
    "call",
    "carry",
    "iterate",
    "reduce",
    "scan",
    "sum",
    "const",
    "input",
    "index",
    "extent",
    "any",
    "store",
    "scatter",
    "join",
    "need",
    "equal",
    "inside",
    "order",
    "padded",
    "made",
    "near",
    "filled",
    "held",
    "unique",
    "if",
    "else",
    "boxes",
    "device",
    "host",
    "by",
    "(",
    ")",
    ",",
    "=",
    "@0",
    "\"",
    "#",
    "Rect",
    "🦀",
    "$9",
];
const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "8",
    "9",
    "31",
    "255",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967296",
    "9223372036854775807",
    "0xffffffffffffffff",
];

fn originals() -> Vec<Texts> {
    let random =
        (0..120).flat_map(|seed| [case(seed), sections(seed)]).filter_map(|case| Some(Pipeline::of(&case)?.text()));
    let mut all: Vec<Texts> = random.filter(|(plan, _)| plan.graph.len() < 6000).collect();
    (0..8).for_each(|_| all.push(with_functions().text()));
    all.extend(crate::table::cells().iter().step_by(97).filter_map(|cell| Some(Pipeline::of(&cell.case)?.text())));
    all
}

/// Words and what stands between them, which together are the text.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let kind = |c: char| if c.is_alphanumeric() || "%_.-".contains(c) { 0 } else { 1 + u32::from(c) };
    for c in text.chars() {
        match words.last_mut() {
            Some(last) if last.chars().next_back().is_some_and(|l| kind(l) == kind(c)) => last.push(c),
            _ => words.push(c.into()),
        }
    }
    words
}

fn mutate_words(rng: &mut Rng, text: &mut String) {
    let mut list = words(text);
    if list.is_empty() {
        return text.push_str(rng.pick(&WORDS));
    }
    let at = rng.range(0, list.len() as i64) as usize;
    let other = rng.range(0, list.len() as i64) as usize;
    match rng.range(0, 6) {
        0 => list[at] = list[other].clone(),
        1 => list[at] = rng.pick(&WORDS).into(),
        2 => list[at] = rng.pick(&NUMBERS).into(),
        3 => drop(list.remove(at)),
        4 => list.swap(at, other),
        _ => {
            // A number, or a node, near the one that is there.
            let digits = list[at].trim_start_matches('%').parse::<i64>();
            let sign = if list[at].starts_with('%') { "%" } else { "" };
            let near = match digits {
                Ok(n) => n.saturating_add(rng.range(-3, 4)).to_string(),
                Err(_) => rng.pick(&NUMBERS).into(),
            };
            list[at] = format!("{sign}{near}");
        }
    }
    *text = list.concat();
}

fn mutate_lines(rng: &mut Rng, text: &mut String) {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let at = rng.range(0, lines.len() as i64) as usize;
    let other = rng.range(0, lines.len() as i64) as usize;
    match rng.range(0, 4) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(other, lines[at]),
        2 => lines.swap(at, other),
        _ => lines.truncate(at),
    }
    *text = lines.join("\n");
}

fn mutate(rng: &mut Rng, (plan, functions): &mut Texts) {
    let lists = [&mut plan.dims, &mut plan.operands, &mut plan.results];
    let mut small: Vec<&mut String> = lists.into_iter().flatten().collect();
    for function in functions {
        small.extend([&mut function.id, &mut function.name, &mut function.form, &mut function.text]);
        small.extend(function.signature.as_mut());
        small.extend(function.callees.iter_mut().chain(&mut function.constants));
    }
    if !small.is_empty() && rng.chance(0.3) {
        let at = rng.range(0, small.len() as i64) as usize;
        mutate_words(rng, small[at]);
    } else if rng.chance(0.3) {
        mutate_lines(rng, &mut plan.graph);
    } else {
        mutate_words(rng, &mut plan.graph);
    }
}

#[test]
fn mutated_texts() {
    let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let seeds = number("EXPR_SEED").map_or(0..number("EXPR_FUZZ").unwrap_or(CASES), |seed| seed..seed + 1);
    let (all, total) = (originals(), seeds.end - seeds.start);
    let outcome = |seed: u64| {
        let mut rng = Rng::new(seed ^ 0xf022);
        let mut texts = all[rng.range(0, all.len() as i64) as usize].clone();
        for _ in 0..rng.pick(&[1, 1, 1, 2, 3, 8]) {
            mutate(&mut rng, &mut texts);
        }
        let start = Instant::now();
        let run = || read_texts(&texts.0, &texts.1).map(|pipeline| pipeline.sources().is_ok());
        let result = catch_unwind(AssertUnwindSafe(run));
        let shown = || {
            format!(
                "EXPR_SEED={seed}\n{:?}\n{:?}\n{:?}\n{}",
                texts.0.dims, texts.0.operands, texts.0.results, texts.0.graph
            )
        };
        assert!(start.elapsed() < LONGEST, "{:?}, {}", start.elapsed(), shown());
        match result {
            Err(_) => panic!("{}", shown()),
            Ok(Err(message)) => {
                assert!(!message.is_empty());
                [1, 0, 0]
            }
            Ok(Ok(emitted)) => [0, u64::from(!emitted), u64::from(emitted)],
        }
    };
    let sum = |a: [u64; 3], b: [u64; 3]| std::array::from_fn(|i| a[i] + b[i]);
    let [refused, unplanned, emitted] = seeds.into_par_iter().map(outcome).reduce(|| [0; 3], sum);
    eprintln!("{refused} refused, {unplanned} not planned, {emitted} emitted");
    // What the mutations are there for does happen.
    assert!(total < 1000 || refused > total / 2 && unplanned > 0 && emitted > total / 50);
}
