//! A sum of two operands, a cheap operation: by size, and by how the second operand varies.

use super::same_bits;
use crate::Result;
use crate::cases::{Random, X, Y};
use crate::report::Report;
use crate::session::Session;
use tilewright_dims::Dims;
use tilewright_expr::{In, Out};
use tilewright_ops::{Device, Fused, Tensor, fuse};

/// The cases: the second operand's pattern, and how many results.
pub const CASES: [&str; 18] = [
    "add/none/2^10",
    "add/none/2^12",
    "add/none/2^14",
    "add/none/2^16",
    "add/none/2^18",
    "add/none/2^20",
    "add/none/2^22",
    "add/none/2^24",
    "add/none/2^26",
    "add/none/2^28",
    "add/row/2^20",
    "add/row/2^26",
    "add/column/2^20",
    "add/column/2^26",
    "add/scalar/2^20",
    "add/scalar/2^26",
    "add/transposed/2^20",
    "add/transposed/2^26",
];
/// Most sets of operands: small ones stay in the level-2 cache, as they would in a program.
const MOST_SETS: usize = 16;

/// The sum as a handle.
type Add<A, B> = Fused<(In<f32, A>, In<f32, B>), Out<f32, A>>;

/// Measures one case.
pub fn run(session: &Session, case: &str, report: &mut Report) -> Result<()> {
    let (pattern, size) = case.strip_prefix("add/").and_then(|rest| rest.split_once("/2^")).ok_or("no such case")?;
    let count = 1usize << size.parse::<u32>()?;
    let columns = 1 << (count.ilog2() / 2);
    let shape @ [rows, columns] = [count / columns, columns];
    let at = (session, case);
    match pattern {
        "none" => {
            let add = fuse(|a: In<f32, (X,)>, b: In<f32, (X,)>| (a + b).store::<(X,)>());
            measure::<(X,), (X,), 1, 1>(at, &add, ([count], [count]), report)
        }
        "row" => {
            let add = fuse(|a: In<f32, (Y, X)>, b: In<f32, (X,)>| (a + b).store::<(Y, X)>());
            measure::<(Y, X), (X,), 2, 1>(at, &add, (shape, [columns]), report)
        }
        "column" => {
            let add = fuse(|a: In<f32, (Y, X)>, b: In<f32, (Y,)>| (a + b).store::<(Y, X)>());
            measure::<(Y, X), (Y,), 2, 1>(at, &add, (shape, [rows]), report)
        }
        "scalar" => {
            let add = fuse(|a: In<f32, (Y, X)>, b: In<f32, ()>| (a + b).store::<(Y, X)>());
            measure::<(Y, X), (), 2, 0>(at, &add, (shape, []), report)
        }
        "transposed" => {
            let add = fuse(|a: In<f32, (Y, X)>, b: In<f32, (X, Y)>| (a + b).store::<(Y, X)>());
            measure::<(Y, X), (X, Y), 2, 2>(at, &add, (shape, [columns, rows]), report)
        }
        other => Err(format!("no pattern `{other}`").into()),
    }
}

/// `a + b` into a tensor like `a`, everything on the device, against the same on the CPU.
fn measure<A: Dims, B: Dims, const M: usize, const N: usize>(
    (session, case): (&Session, &str),
    add: &Add<A, B>,
    (left, right): ([usize; M], [usize; N]),
    report: &mut Report,
) -> Result<()> {
    let len = |extents: &[usize]| extents.iter().product::<usize>();
    let bytes = (2 * len(&left) + len(&right)) * size_of::<f32>();
    let mut random = Random::new(7);
    let mut host = || -> Result<_> {
        let a = Tensor::<f32, A>::from_vec(left, random.floats(len(&left)))?;
        Ok((a, Tensor::<f32, B>::from_vec(right, random.floats(len(&right)))?))
    };
    let mut sets = Vec::new();
    for _ in 0..session.sets(bytes).min(MOST_SETS) {
        let (a, b) = host()?;
        let result = Tensor::<f32, A>::from_vec(left, vec![f32::NAN; len(&left)])?.to(&session.device)?;
        sets.push((a.to(&session.device)?, b.to(&session.device)?, result));
    }
    let (a, b, result) = &mut sets[0];
    add.call_into(result, &*a, &*b)?;
    same_bits(&result.to_vec()?, &add.call(&a.to(&Device::Cpu)?, &b.to(&Device::Cpu)?)?.to_vec()?)?;

    let several = sets.len();
    let mut call = |call: usize| {
        let (a, b, result) = &mut sets[call % several];
        Ok(add.call_into(result, &*a, &*b)?)
    };
    let limit = session.limit_us(bytes)?;
    report.add("special", case, "device_us", session.clock.device_us(&mut call)?, "us").limited(limit);
    report.add("special", case, "device_us_graph", session.clock.graph_us(&mut call)?, "us").limited(limit);
    Ok(())
}
