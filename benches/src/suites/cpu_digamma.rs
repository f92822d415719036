//! A special function on one core of the CPU.

use crate::Result;
use crate::cases::{Random, X};
use crate::clock::wall_ms;
use crate::machine;
use crate::report::{Report, Row};
use tilewright_expr::In;
use tilewright_ops::{Tensor, fuse};
use tilewright_special as special;

/// Measures `cpu/digamma`: 2^24 f32 between 0.1 and 10, by one thread.
pub fn run(quick: bool, report: &mut Report) -> Result<()> {
    let (len, repeats) = if quick { (1 << 20, 3) } else { (1 << 24, 9) };
    let values = Random::new(9).floats(len).into_iter().map(|unit| 0.1 + 9.9 * unit.abs()).collect();
    let x = Tensor::<f32, (X,)>::from_vec([len], values)?;
    let mut y = Tensor::<f32, (X,)>::from_vec([len], vec![f32::NAN; len])?;
    let digamma = fuse(|x: In<f32, (X,)>| special::digamma::of(x).store::<(X,)>());
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let ms = wall_ms(repeats, || Ok(one.install(|| digamma.call_into(&mut y, &x))?))?;
    let close =
        x.to_vec()?.iter().zip(y.to_vec()?).step_by(977).all(|(x, y)| special::digamma(*x).to_bits() == y.to_bits());
    if !close {
        return Err("the function says something else".into());
    }
    let row: &mut Row = report.add("cpu", "digamma", "one_core_ms", ms, "ms");
    (row.device, row.driver) = (machine::cpu(), None);
    Ok(())
}
