//! A chain of twenty element-wise operations: as many passes over memory for others, one for us.

use super::same_bits;
use crate::Result;
use crate::cases::{Line, Random, chain, chain_of};
use crate::report::Report;
use crate::session::Session;

const LEN: usize = 1 << 26;

/// Measures `chain/20`.
pub fn run(session: &Session, report: &mut Report) -> Result<()> {
    let values = Random::new(20).floats(LEN);
    let x = Line::from_vec([LEN], values.clone())?.to(&session.device)?;
    let mut y = Line::from_vec([LEN], vec![f32::NAN; LEN])?.to(&session.device)?;
    let chain = chain();
    chain.call_into(&mut y, &x)?;
    // A part of each end: fused multiplication and addition is slow on a processor without it.
    let got = y.to_vec()?;
    let expected = |part: &[f32]| part.iter().map(|x| chain_of(*x)).collect::<Vec<_>>();
    for part in [0..1 << 18, LEN - (1 << 18)..LEN] {
        same_bits(&got[part.clone()], &expected(&values[part]))?;
    }
    if got.iter().any(|y| !y.is_finite()) {
        return Err("a result was not written".into());
    }

    let bytes = 2 * size_of::<f32>() * LEN;
    let us = session.clock.device_us(&mut |_| Ok(chain.call_into(&mut y, &x)?))?;
    let row = report.add("chain", "20", "device_us", us, "us");
    row.limited(session.limit_us(bytes)?).against("device copy of the same size", session.copy_us(LEN.ilog2())?);
    Ok(())
}
