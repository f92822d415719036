//! Fused on the CPU, over one `ndarray` expression for each operation.

use crate::Result;
use crate::cases::{CHAIN, Line, Random, chain, chain_of};
use crate::clock::wall_ms;
use crate::machine;
use crate::report::{Report, Row};
use crate::suites::same_bits;
use ndarray::Array1;
use std::hint::black_box;

/// Measures `cpu/chain20`.
pub fn run(quick: bool, report: &mut Report) -> Result<()> {
    let (len, repeats) = if quick { (1 << 22, 3) } else { (1 << 24, 9) };
    let values = Random::new(20).floats(len);
    let x = Line::from_vec([len], values.clone())?;
    let mut y = Line::from_vec([len], vec![f32::NAN; len])?;
    let chain = chain();
    chain.call_into(&mut y, &x)?;
    let got = y.to_vec()?;
    let part = 1 << 18;
    let expected: Vec<f32> = values[len - part..].iter().map(|x| chain_of(*x)).collect();
    same_bits(&got[len - part..], &expected)?;

    let array = Array1::from_vec(values);
    let close = |other: &Array1<f32>| got.iter().zip(other).all(|(got, other)| (got - other).abs() <= 1e-5);
    if !close(&one_allocation_each(&array)) || !close(&in_place(&array)) {
        return Err("ndarray computes something else".into());
    }

    let ours = wall_ms(repeats, || Ok(chain.call_into(&mut y, &x)?))?;
    let allocating = wall_ms(repeats, || {
        black_box(one_allocation_each(&array));
        Ok(())
    })?;
    let in_place = wall_ms(repeats, || {
        black_box(in_place(&array));
        Ok(())
    })?;
    // On a machine with a GPU the report is that of the GPU.
    let here = |row: &mut Row| (row.device, row.driver) = (machine::cpu(), None);
    for (peer, metric, ms) in [
        ("ndarray, an allocation per operation", "ratio", allocating),
        ("ndarray, in place", "ratio_in_place", in_place),
    ] {
        let row = report.add("cpu", "chain20", "ms", ours, "ms");
        here(row.against(peer, ms));
        here(report.add("cpu", "chain20", metric, ms / ours, "x"));
    }
    here(report.add("cpu", "chain20", "cores", machine::cores() as f64, "cores"));
    Ok(())
}

/// As one writes it.
fn one_allocation_each(x: &Array1<f32>) -> Array1<f32> {
    let mut y = x * CHAIN[0].0;
    y = &y + CHAIN[0].1;
    for (a, b) in &CHAIN[1..] {
        y = &y * *a;
        y = &y + *b;
    }
    y
}

/// As one writes it who knows about memory: the input is kept, so it is copied once.
fn in_place(x: &Array1<f32>) -> Array1<f32> {
    let mut y = x.clone();
    for (a, b) in CHAIN {
        y *= a;
        y += b;
    }
    y
}
