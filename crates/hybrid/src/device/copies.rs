//! Operands that lie elsewhere, in host memory: copies, and leave to take the memory.

use super::multiplicand::Multiplicand;
use super::operand::{Form, Operand};
use super::own::{HostMemory, Own};
use super::stored::Read;
use crate::budget::{Budget, Permit};
use crate::linear::DeviceRef;
use crate::matrix::Element;
use crate::store::Stored;
use crate::{Error, MatRef};
use ndarray::Array2;

/// How a matrix on a GPU comes to the host: bytes of host memory that it takes, and a copy.
pub(super) struct Download<'a, T: Element> {
    bytes: fn(&DeviceRef<'_, T>) -> Result<u64, Error>,
    copy: fn(DeviceRef<'_, T>) -> Result<Array2<T>, Error>,
    /// Of what lies alone it is memory that is kept.
    passing: Option<&'a HostMemory>,
}

impl<T: Element> Download<'_, T> {
    /// With all that it is a part of, where it has gaps: what no routine copies on the device.
    pub(super) const WHOLE: Self =
        Self { bytes: |matrix| matrix.bytes_of_whole(), copy: |matrix| matrix.download_whole(), passing: None };
}

impl<'a, T: Multiplicand> Download<'a, T> {
    /// As its elements can.
    pub(super) fn own(room: &'a HostMemory) -> Self {
        Self {
            bytes: |matrix| if T::COMES_IN_PARTS { matrix.bytes_of_download() } else { matrix.bytes_of_whole() },
            copy: T::download,
            passing: Some(room),
        }
    }
}

/// A copy of an operand.
enum Copied<'a, T: Element> {
    Read(Read<T>),
    /// Of what is stored of a matrix on a GPU.
    Stored(Own<T>, DeviceRef<'a, T>),
}

impl<T: Element> Copied<'_, T> {
    fn view(&self) -> MatRef<'_, T> {
        match self {
            Copied::Read(read) => read.view(),
            Copied::Stored(own, matrix) => {
                matrix.read_from(own.values()).unwrap_or_else(|_| unreachable!("made for its values"))
            }
        }
    }
}

/// Copies of some operands.
pub(super) struct Copies<'a, T: Element, const N: usize> {
    copies: [Option<Copied<'a, T>>; N],
    _host: Permit,
}

impl<'a, T: Element + Stored, const N: usize> Copies<'a, T, N> {
    /// Those of the operands that lie as `are_copied` says, but for what host memory has already, with leave to take so many bytes besides.
    pub(super) fn of(
        (host, besides): (&Budget, u64),
        operands: [Operand<'a, T>; N],
        are_copied: impl Fn(&Form<'_, T>) -> bool,
        download: Download<'_, T>,
    ) -> Result<Self, Error> {
        let copied = operands.map(|operand| Some(operand.in_memory()).filter(|it| are_copied(&it.0)));
        let mut bytes = besides;
        for operand in copied.iter().flatten() {
            bytes = bytes.saturating_add(match operand.0 {
                Form::Gpu(matrix) => match matrix.stored_alone().filter(|_| download.passing.is_some()) {
                    Some(stored) => stored.bytes::<T>()?.0 as u64,
                    None => (download.bytes)(&matrix)?,
                },
                Form::Stored(_) => operand.shape().bytes::<T>()?.0 as u64,
                Form::Host(_) | Form::Diagonal(_) => 0,
            });
        }
        let _host = host.try_acquire(bytes)?;
        let mut copies = [const { None }; N];
        for (copy, operand) in copies.iter_mut().zip(copied) {
            *copy = match operand.map(|it| (it.0, it.shape())) {
                Some((Form::Gpu(matrix), _)) => Some(match (download.passing, matrix.stored_alone()) {
                    (Some(room), Some(stored)) => {
                        let mut own = Own::new(room, Some(matrix.gpu()), stored)?;
                        matrix.bring(own.values_mut())?;
                        Copied::Stored(own, matrix)
                    }
                    _ => Copied::Read(Read::lying((download.copy)(matrix)?)),
                }),
                Some((Form::Stored(stored), shape)) => {
                    Some(Copied::Read(stored.read(0..shape.rows.0, 0..shape.columns.0)?))
                }
                Some((Form::Host(_) | Form::Diagonal(_), _)) | None => None,
            };
        }
        Ok(Self { copies, _host })
    }

    /// The operands, copies standing for those that have one, and what lies in host memory being there.
    pub(super) fn operands<'b>(&'b self, own: [Operand<'b, T>; N]) -> [Operand<'b, T>; N] {
        std::array::from_fn(|i| self.copies[i].as_ref().map_or(own[i].in_memory(), |copy| copy.view().into()))
    }
}
