//! The host's part of a small call: an eager expression, a handle's call, and its call into a given result.

use super::same_bits;
use crate::Result;
use crate::cases::{Line, Random, X};
use crate::report::Report;
use crate::session::Session;
use tilewright_expr::In;
use tilewright_ops::{Evaluate, fuse};

const LEN: usize = 1024;

/// Measures `eager/axpy`: `x * 2.5 + y` over 1024 numbers.
pub fn run(session: &Session, report: &mut Report) -> Result<()> {
    let mut random = Random::new(1);
    let (x, y) = (random.line(LEN)?, random.line(LEN)?);
    let axpy = fuse(|x: In<f32, (X,)>, y: In<f32, (X,)>| (x * 2.5 + y).store::<(X,)>());
    let expected = axpy.call(&x, &y)?.to_vec()?;
    let (x, y) = (x.to(&session.device)?, y.to(&session.device)?);
    let mut z = Line::from_vec([LEN], vec![f32::NAN; LEN])?.to(&session.device)?;
    let eager = || (x.expr() * 2.5 + &y).store::<(X,)>().eval();
    axpy.call_into(&mut z, &x, &y)?;
    for got in [&z, &axpy.call(&x, &y)?, &eager()?] {
        same_bits(&got.to_vec()?, &expected)?;
    }

    let [empty, eager, call, call_into] = session.clock.host_us_of([
        &mut |_| session.empty.launch(),
        &mut |_| Ok(eager().map(drop)?),
        &mut |_| Ok(axpy.call(&x, &y).map(drop)?),
        &mut |_| Ok(axpy.call_into(&mut z, &x, &y)?),
    ])?;
    for (metric, us) in [("eager", eager), ("call", call), ("call_into", call_into)] {
        report.add("eager", "axpy", &format!("{metric}_host_us"), us, "us");
        report.add("eager", "axpy", &format!("{metric}_over_empty_us"), us - empty, "us");
    }
    Ok(())
}
