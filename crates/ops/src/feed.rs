//! What a call is given: operands to read, results to write.

use crate::device::Gpu;
use crate::error::Error;
use crate::tensor::{Axes, GpuMemory, Item, Memory, Tensor};
use std::ops::Range;
use std::sync::Arc;
use tilewright_dims::Dims;
use tilewright_expr::bind::{Axis, Place, View};
use tilewright_expr::dtype::{HostSlice, HostSliceMut};
use tilewright_expr::{Affine, Expr, Out, Outputs, Perspective, Rect, bf16, f16};

/// An operand as a call sees it.
#[derive(Clone, Copy)]
pub struct Operand<'a> {
    pub(crate) axes: &'a [Axis],
    pub(crate) memory: Source<'a>,
}

#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    Host { slice: HostSlice<'a>, dense: bool, bytes: &'a [u8], element: usize },
    Gpu { address: u64, gpu: &'a Gpu },
}

impl Operand<'_> {
    pub(crate) fn place(&self) -> Place {
        match self.memory {
            Source::Host { .. } => Place::Host,
            Source::Gpu { .. } => Place::Device,
        }
    }

    pub(crate) fn alignment(&self) -> u32 {
        match self.memory {
            Source::Host { .. } => 16,
            Source::Gpu { address, .. } => 1 << address.trailing_zeros().min(4),
        }
    }

    pub(crate) fn address(&self) -> Option<u64> {
        match self.memory {
            Source::Host { .. } => None,
            Source::Gpu { address, .. } => Some(address),
        }
    }

    /// The address of an element, the lowest one on the host.
    fn first(&self) -> Option<u64> {
        match self.memory {
            Source::Host { bytes, .. } => (!bytes.is_empty()).then(|| bytes.as_ptr().addr() as u64),
            Source::Gpu { address, .. } => Some(address),
        }
    }

    pub(crate) fn boxes(&self) -> Option<&[Rect]> {
        match self.memory {
            Source::Host { slice: HostSlice::Rect(boxes), dense: true, .. } => Some(boxes),
            _ => None,
        }
    }

    /// Elements that the axes name.
    pub(crate) fn len(&self) -> usize {
        self.axes.iter().map(|a| a.extent as usize).product()
    }

    pub(crate) fn view(&self) -> View<'_> {
        let place = self.place();
        View { axes: self.axes, place, alignment: self.alignment(), boxes: self.boxes() }
    }
}

/// What can be bound to an operand `E` of a fused expression: a reference to a tensor with the same elements and dimensions,
/// under any layout, or a scalar for an operand without dimensions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit the operand `{E}`",
    label = "the elements or the dimensions differ",
    note = "an operand `In<T, (dims)>` takes `&Tensor<T, L>` where `L` names the same dimensions in any order"
)]
pub trait Feeds<E> {
    /// The operand.
    fn operand(&self) -> Operand<'_>;
}

impl<T: Item, L: Dims> Feeds<Expr<T, L::Set>> for &Tensor<T, L> {
    fn operand(&self) -> Operand<'_> {
        of_tensor(self)
    }
}

/// A tensor as an operand.
pub(crate) fn of_tensor<T: Item, L: Dims>(tensor: &Tensor<T, L>) -> Operand<'_> {
    let (memory, axes, start) = tensor.parts();
    let memory = match memory {
        Memory::Host(m) => of_host(m, axes, start),
        Memory::Gpu(m) => of_gpu(m, start * size_of::<T>()),
    };
    Operand { axes: axes.as_slice(), memory }
}

/// Elements on the host, of which the one at coordinates 0 is number `start`.
pub(crate) fn of_host<'a, T: Item>(values: &'a [T], axes: &Axes, start: usize) -> Source<'a> {
    let (lowest, dense) = (start - axes.origin(), axes.is_dense());
    // It ends where its elements do, so that boxes that are dense are exactly the boxes.
    let slice = &values[lowest.min(values.len())..][..axes.reach()];
    Source::Host { slice: T::slice(slice), dense, bytes: bytemuck::cast_slice(slice), element: size_of::<T>() }
}

/// Memory of a GPU, from byte `start` on.
pub(crate) fn of_gpu(memory: &GpuMemory, start: usize) -> Source<'_> {
    Source::Gpu { address: memory.bytes.device_ptr() + start as u64, gpu: &memory.gpu }
}

macro_rules! scalars {
    ($($t:ty),*) => { $(impl Feeds<Expr<$t, ()>> for $t {
        fn operand(&self) -> Operand<'_> {
            let slice = std::slice::from_ref(self);
            let memory = Source::Host {
                slice: <$t as tilewright_expr::Element>::slice(slice),
                dense: true,
                bytes: bytemuck::cast_slice(slice),
                element: size_of::<$t>(),
            };
            Operand { axes: &[], memory }
        }
    })* };
}
scalars!(bool, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64, Rect, Affine, Perspective);

/// A result as a call sees it.
pub struct Target<'a> {
    pub(crate) axes: &'a [Axis],
    pub(crate) memory: Sink<'a>,
}

pub(crate) enum Sink<'a> {
    Host(HostSliceMut<'a>),
    Gpu { address: u64, gpu: &'a Gpu },
}

impl Target<'_> {
    pub(crate) fn address(&self) -> Option<u64> {
        match self.memory {
            Sink::Host(_) => None,
            Sink::Gpu { address, .. } => Some(address),
        }
    }

    pub(crate) fn alignment(&self) -> u32 {
        match self.memory {
            Sink::Host(_) => 16,
            Sink::Gpu { address, .. } => 1 << address.trailing_zeros().min(4),
        }
    }

    pub(crate) fn view(&self) -> View<'_> {
        let place = match self.memory {
            Sink::Host(_) => Place::Host,
            Sink::Gpu { .. } => Place::Device,
        };
        View { axes: self.axes, place, alignment: self.alignment(), boxes: None }
    }
}

/// Most results of one expression.
pub(crate) const MAX_OUTPUTS: usize = 4;

/// The targets of a call, in place.
pub type Targets<'a> = [Option<Target<'a>>; MAX_OUTPUTS];

/// What a fused expression makes: a tensor for each stored expression.
pub trait Results: Outputs {
    /// The tensors.
    type Tensors;
    /// How many there are.
    const COUNT: usize;
    /// New tensors of these extents, on a GPU or on the host.
    fn allocate(extents: &[Vec<i64>], gpu: Option<&Gpu>) -> Result<Self::Tensors, Error>;
    /// The tensors' memory, to write.
    ///
    /// Memory that anything else holds, be it a clone, a view or an operand, is refused: nothing is read and written at once.
    fn targets<'a>(tensors: &'a mut Self::Tensors, operands: &[Operand<'_>]) -> Result<Targets<'a>, Error>;
}

fn target<'a, T: Item, L: Dims>(
    tensor: &'a mut Tensor<T, L>,
    output: usize,
    operands: &[Operand<'_>],
) -> Result<Option<Target<'a>>, Error> {
    let (memory, axes, start) = tensor.parts_mut();
    let shared = |range: Range<u64>| {
        let inside = operands.iter().position(|o| o.first().is_some_and(|at| range.contains(&at)));
        let sizes = |i: usize| (i, operands[i].axes.iter().map(|a| a.extent).collect());
        Error::shared_output(output, axes, inside.map(sizes))
    };
    let memory = match memory {
        Memory::Host(m) => {
            let bytes = bytemuck::cast_slice::<T, u8>(m).as_ptr_range();
            let range = bytes.start.addr() as u64..bytes.end.addr() as u64;
            let values = Arc::get_mut(m).ok_or_else(|| shared(range))?;
            let lowest = (start - axes.origin()).min(values.len());
            let elements = T::slice_mut(&mut values[lowest..]);
            Sink::Host(elements.ok_or_else(|| Error::shared(axes))?)
        }
        Memory::Gpu(m) => {
            let range = m.bytes.device_ptr()..m.bytes.device_ptr() + m.bytes.len() as u64;
            let m = Arc::get_mut(m).ok_or_else(|| shared(range))?;
            Sink::Gpu { address: m.bytes.device_ptr() + (start * size_of::<T>()) as u64, gpu: &m.gpu }
        }
    };
    Ok(Some(Target { axes: axes.as_slice(), memory }))
}

impl<T: Item, L: Dims> Results for Out<T, L> {
    type Tensors = Tensor<T, L>;
    const COUNT: usize = 1;
    fn allocate(extents: &[Vec<i64>], gpu: Option<&Gpu>) -> Result<Self::Tensors, Error> {
        Tensor::result(&extents[0], gpu)
    }
    fn targets<'a>(tensors: &'a mut Self::Tensors, operands: &[Operand<'_>]) -> Result<Targets<'a>, Error> {
        Ok([target(tensors, 0, operands)?, None, None, None])
    }
}

macro_rules! tuples {
    ($n:literal: $($T:ident $L:ident $i:tt),*; $($rest:expr),*) => {
        impl<$($T: Item, $L: Dims),*> Results for ($(Out<$T, $L>,)*) {
            type Tensors = ($(Tensor<$T, $L>,)*);
            const COUNT: usize = $n;
            fn allocate(extents: &[Vec<i64>], gpu: Option<&Gpu>) -> Result<Self::Tensors, Error> {
                Ok(($(Tensor::result(&extents[$i], gpu)?,)*))
            }
            fn targets<'a>(tensors: &'a mut Self::Tensors, operands: &[Operand<'_>]) -> Result<Targets<'a>, Error> {
                Ok([$(target(&mut tensors.$i, $i, operands)?,)* $($rest),*])
            }
        }
    };
}
tuples!(2: A LA 0, B LB 1; None, None);
tuples!(3: A LA 0, B LB 1, C LC 2; None);
tuples!(4: A LA 0, B LB 1, C LC 2, D LD 3;);
