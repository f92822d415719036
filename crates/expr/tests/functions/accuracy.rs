//! Errors in units in the last place: of f32 against f64 over all bits, of f64 against golden values.

use super::table::{Of, Row, TABLE};
use super::values;
use crate::random::Rng;
use rayon::prelude::*;
use std::collections::HashMap;

/// Values of mpmath, by golden/functions.py.
const GOLDEN: &str = include_str!("../golden/functions.txt");

/// Arguments that are special somewhere.
fn edges() -> Vec<f32> {
    let mut edges = vec![0.0, f32::INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE, 1e-45, 1.0, 0.5, 2.0];
    edges.extend((1..40).map(|n| f64::from(n) * std::f64::consts::FRAC_PI_2).map(|v| v as f32));
    edges.extend((-40..40).flat_map(|k| [1.0 + 2f32.powi(k), 1.0 - 2f32.powi(k), 2f32.powi(3 * k)]));
    edges.iter().flat_map(|v| [*v, v.next_up(), v.next_down()]).flat_map(|v| [v, -v]).collect()
}

/// The error of `got`, or why there is none: both are NaN, or the same infinity.
fn error(got: f32, truth: f64) -> f64 {
    if truth.is_nan() || got.is_nan() {
        return if truth.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    // Half a unit above the largest float, the nearest one is infinity.
    let beyond = truth.abs() >= f64::from(f32::MAX) * (1.0 + 2f64.powi(-25));
    if beyond || got.is_infinite() {
        let same = beyond && f64::from(got) == truth.signum() * f64::INFINITY;
        // One unit below infinity stands the largest float.
        let below = truth.is_finite() && got.abs() == f32::MAX && truth.abs() < f64::from(f32::MAX) * 1.000_000_1;
        let above = got.is_infinite() && truth.abs() > f64::from(f32::MAX) * (1.0 - 1e-12);
        return if same {
            0.0
        } else if below || above {
            0.9
        } else {
            f64::INFINITY
        };
    }
    let last = (truth.abs().log2().floor().max(-126.0) - 23.0) as i32;
    (f64::from(got) - truth).abs() * 2f64.powi(-last)
}

fn arguments(row: &Row, rng: &mut Rng) -> Vec<Vec<f32>> {
    let (low, high) = row.interval;
    let inside = |rng: &mut Rng| (low + rng.unit() * (high - low)) as f32;
    match row.of {
        Of::One(..) => {
            // Bits at even steps through all floats.
            let mut x: Vec<f32> = (0..1u32 << 19).map(|i| f32::from_bits(i * 8191 + 77)).collect();
            x.extend((0..1 << 19).map(|_| inside(rng)));
            x.extend(edges());
            vec![x]
        }
        Of::Two(..) => {
            let some = [0.0, 1.0, 0.5, 2.0, 3.0, 1e10, 7e-3, f32::INFINITY, f32::NAN, f32::MAX, 1e-45, 4_194_303.5];
            let some: Vec<f32> = some.iter().flat_map(|v| [*v, -*v]).collect();
            let mut pairs: Vec<(f32, f32)> = some.iter().flat_map(|x| some.iter().map(|y| (*x, *y))).collect();
            pairs.extend((0..1 << 18).map(|_| (f32::from_bits(rng.next() as u32), f32::from_bits(rng.next() as u32))));
            pairs.extend((0..1 << 18).map(|_| (inside(rng), inside(rng))));
            // Results all over the range, of bases all over the range.
            pairs.extend((0..1 << 18).map(|_| {
                let x = f32::from_bits(rng.range(1, 0x7f80_0000) as u32);
                (x, ((rng.unit() * 280.0 - 150.0) / f64::from(x).log2()) as f32)
            }));
            pairs.extend((0..1 << 17).map(|_| {
                let x = inside(rng);
                (x, (f64::from(x) * (rng.unit() * 2.0)) as f32)
            }));
            let (x, y) = pairs.into_iter().unzip();
            vec![x, y]
        }
    }
}

fn single(row: &Row) -> (f64, String) {
    let args = arguments(row, &mut Rng::new(row.name.len() as u64));
    let got = values(row.of, &args);
    let mut worst = (0.0, String::new());
    for (i, got) in got.iter().enumerate() {
        let x = f64::from(args[0][i]);
        let truth = match row.of {
            Of::One(_, f) => f(x),
            Of::Two(_, f) => f(x, f64::from(args[1][i])),
        };
        let error = error(*got, truth);
        let zero = truth == 0.0 && *got == 0.0 && truth.is_sign_negative() != got.is_sign_negative();
        let error = if zero { f64::INFINITY } else { error };
        if error > worst.0 {
            let all: Vec<f32> = args.iter().map(|a| a[i]).collect();
            worst = (error, format!("{all:?}: {got:e} for {truth:e}"));
        }
    }
    worst
}

fn double(row: &Row, lines: &[&str]) -> (f64, String) {
    let parse = |text: &str| f64::from_bits(u64::from_str_radix(text, 16).expect("hexadecimal digits"));
    let count = if matches!(row.of, Of::One(..)) { 1 } else { 2 };
    let lines: Vec<Vec<&str>> = lines.iter().map(|line| line.split(' ').collect()).collect();
    let args: Vec<Vec<f64>> = (0..count).map(|a| lines.iter().map(|l| parse(l[a])).collect()).collect();
    let got = values(row.of, &args);
    let mut worst = (0.0, String::new());
    for (line, got) in lines.iter().zip(&got) {
        let (nearest, above) = (parse(line[count]), line[count + 1].parse::<f64>().expect("a number"));
        let last = ((nearest.to_bits() >> 52 & 0x7ff) as i32).max(1) - 1075;
        // In two steps: the last place may be the smallest subnormal.
        let distance = (got - nearest) * 2f64.powi(-last / 2) * 2f64.powi(-last - -last / 2);
        let error = (distance - above).abs();
        let error = if error.is_nan() { f64::INFINITY } else { error };
        if error > worst.0 {
            let args: Vec<f64> = line[..count].iter().map(|a| parse(a)).collect();
            worst = (error, format!("{args:?}: {got:e} for {nearest:e}"));
        }
    }
    worst
}

/// The golden lines of each function.
fn golden(text: &str) -> HashMap<&str, Vec<&str>> {
    let (mut sections, mut name) = (HashMap::<&str, Vec<&str>>::new(), "");
    for line in text.lines() {
        match line.contains(' ') {
            true => sections.entry(name).or_default().push(line),
            false => name = line,
        }
    }
    sections
}

#[test]
fn within_what_is_documented() {
    let larger = std::env::var("EXPR_GOLDEN").ok().map(|path| std::fs::read_to_string(path).expect("golden values"));
    let sections = golden(larger.as_deref().unwrap_or(GOLDEN));
    let measured: Vec<_> = TABLE
        .par_iter()
        .map(|row| {
            let lines = sections.get(row.name).map_or(&[][..], |l| l);
            assert!(lines.len() > 60, "{}: {} golden values", row.name, lines.len());
            (row, single(row), double(row, lines))
        })
        .collect();
    let mut failures = Vec::new();
    eprintln!("| function | f32 | f64 |\n|---|---|---|");
    for (row, single, double) in measured {
        eprintln!("| `{}` | {:.3} | {:.3} |", row.name, single.0, double.0);
        for (worst, limit) in [(single, row.limits.0), (double, row.limits.1)] {
            assert!(worst.0 > 0.4, "{}: the comparison sees roundings", row.name);
            if worst.0 > limit {
                failures.push(format!("{}: {} units at {}", row.name, worst.0, worst.1));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
