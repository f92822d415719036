//! What faer computes, for each scalar type once.
//!
//! faer is generic, and each of its algorithms that is used with another type is compiled anew, which takes the compiler seconds. So the
//! rest of the crate calls it through [`Backend`] alone, whose four implementations are all there are.

mod backend;
mod division;
mod eigen;
mod factor;
mod instances;
mod product;
mod qr;

pub(crate) use backend::{Backend, Triangle};
pub(crate) use division::{Core, Division, Kind, MOST_THREADS};

use faer::dyn_stack::{MemBuffer, StackReq};
use faer::{Conj, Par};

use crate::{Error, matrix::Shape};

/// All cores, where faer finds that it pays.
fn parallelism() -> Par {
    Par::rayon(0)
}

fn conj(conjugated: bool) -> Conj {
    if conjugated { Conj::Yes } else { Conj::No }
}

/// Room for intermediate results of a matrix of this shape.
fn workspace<T>(shape: Shape, wanted: StackReq) -> Result<MemBuffer, Error> {
    MemBuffer::try_new(wanted).map_err(|_| shape.too_large::<T>())
}
