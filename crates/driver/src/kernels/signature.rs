//! What a kernel in Rust takes, and whether arguments fit.

use super::Misfit;
use crate::argument::{Argument, ElementType, Given, Memory};
use crate::{Device, Error};
use std::fmt;

/// CUDA's limit of a grid.
const MOST_BLOCKS: i64 = i32::MAX as i64;
/// Places within a tile are 32-bit.
const MOST_SPAN: i64 = i32::MAX as i64;

/// What a kernel takes.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// The kernel.
    pub kernel: &'static str,
    /// Its dimensions, in the order of the sizes.
    pub dims: &'static [&'static str],
    /// Rows that a block sees of a matrix.
    pub rows: i64,
    /// Its parameters behind the sizes.
    pub parameters: &'static [Parameter],
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The type of the value or of an element.
    pub element: fn() -> ElementType,
    /// Whether it is a value, or memory over which dimensions.
    pub over: Over,
}

/// What a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// A value.
    Value,
    /// Memory to read, over these dimensions, the last one fast.
    Read(&'static [&'static str]),
    /// Memory to write.
    Write(&'static [&'static str]),
}

impl Signature {
    /// Checks sizes, and for each memory its length, its device and how far a tile of it reaches.
    pub(crate) fn check(&self, device: Device, sizes: &[i64], given: &[Argument<'_>]) -> Result<(), Error> {
        for (dim, size) in self.dims.iter().zip(sizes) {
            if *size < 0 {
                return Err(self.size(format!("`{dim}`"), *size, MOST_SPAN));
            }
        }
        for (parameter, argument) in self.parameters.iter().zip(given) {
            if let (Over::Read(over) | Over::Write(over), Given::Memory(memory)) = (parameter.over, &argument.given) {
                self.fits(device, sizes, over, memory).map_err(|misfit| Error::Operand {
                    kernel: self.kernel,
                    parameter: parameter.name,
                    misfit: Box::new(misfit),
                })?;
            }
        }
        Ok(())
    }

    fn fits(&self, device: Device, sizes: &[i64], over: &[&str], memory: &Memory<'_>) -> Result<(), Misfit> {
        let size = |dim: &&str| self.dims.iter().position(|own| own == dim).map_or(0, |at| sizes[at]);
        let shown = || over.iter().map(|dim| format!("{dim}: {}", size(dim))).collect::<Vec<_>>().join(", ");
        let expected = over.iter().map(|dim| size(dim).unsigned_abs() as u128).product();
        if memory.len as u128 != expected {
            return Err(Misfit::Length { over: shown(), expected, got: memory.len });
        }
        if memory.device.is_some_and(|own| own != device.ordinal()) {
            return Err(Misfit::Place { expected: device.ordinal(), got: memory.device.unwrap_or_default() });
        }
        if let [_, columns] = over {
            let got = size(columns).saturating_mul(self.rows);
            if got > MOST_SPAN {
                return Err(Misfit::Span { over: shown(), rows: self.rows, got, limit: MOST_SPAN });
            }
        }
        Ok(())
    }

    /// The grid's length; `None` when there is nothing to do.
    pub(crate) fn grid(&self, blocks: i64) -> Result<Option<u32>, Error> {
        match blocks {
            ..=0 => Ok(None),
            1..=MOST_BLOCKS => Ok(Some(blocks as u32)),
            _ => Err(self.size("the number of blocks".into(), blocks, MOST_BLOCKS)),
        }
    }

    fn size(&self, what: String, got: i64, limit: i64) -> Error {
        Error::KernelSize { kernel: self.kernel, what, got, limit }
    }
}

impl fmt::Display for Signature {
    /// As a call would look: `saxpy(a: f32, x: &[f32] over [I], y: &mut [f32] over [I])`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.parameters.iter().map(|p| {
            let (name, element) = (p.name, (p.element)().name);
            match p.over {
                Over::Value => format!("{name}: {element}"),
                Over::Read(over) => format!("{name}: &[{element}] over [{}]", over.join(", ")),
                Over::Write(over) => format!("{name}: &mut [{element}] over [{}]", over.join(", ")),
            }
        });
        write!(f, "{}({})", self.kernel, shown.collect::<Vec<_>>().join(", "))
    }
}
