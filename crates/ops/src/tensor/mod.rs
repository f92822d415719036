//! [`Tensor`]: elements over named dimensions, on the host or on a GPU.

mod align;
mod argument;
mod axes;
mod transfer;
mod views;

pub use align::broadcast_shapes;
pub(crate) use axes::{Axes, for_each_offset};
pub use views::AllNamed;

use crate::device::{Device, Gpu};
use crate::error::Error;
use axes::{checked, names};
use bytemuck::{CheckedBitPattern, NoUninit};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use tilewright_dims::{Dim, Dims, Present, Without};
use tilewright_driver::DeviceBuffer;
use tilewright_expr::bind::MAX_RANK;
use tilewright_expr::{DType, Element};

/// What tensors hold: a scalar type or a small struct such as [`Rect`](tilewright_expr::Rect), with plain bytes.
pub trait Item: Element + Default + NoUninit + CheckedBitPattern {}
impl<T: Element + Default + NoUninit + CheckedBitPattern> Item for T {}

/// Elements of `T` over the dimensions of the tuple `L`, outermost first.
///
/// The memory is shared by clones and views, and never changes while it is shared.
pub struct Tensor<T, L> {
    memory: Memory<T>,
    axes: Axes,
    /// The element whose coordinates are all 0.
    start: usize,
    _layout: PhantomData<L>,
}

impl<T, L> Clone for Tensor<T, L> {
    fn clone(&self) -> Self {
        Tensor { memory: self.memory.clone(), axes: self.axes, start: self.start, _layout: PhantomData }
    }
}

pub(crate) enum Memory<T> {
    Host(Arc<Vec<T>>),
    Gpu(Arc<GpuMemory>),
}

impl<T> Clone for Memory<T> {
    fn clone(&self) -> Self {
        match self {
            Memory::Host(m) => Memory::Host(m.clone()),
            Memory::Gpu(m) => Memory::Gpu(m.clone()),
        }
    }
}

/// Bytes on a GPU.
pub(crate) struct GpuMemory {
    pub(crate) gpu: Gpu,
    pub(crate) bytes: DeviceBuffer<u8>,
}

impl<T: Item, L: Dims> Tensor<T, L> {
    /// A host tensor of these extents (in `L`'s order) that holds `values`, the last dimension fastest.
    pub fn from_vec<const R: usize>(extents: [usize; R], values: Vec<T>) -> Result<Self, Error> {
        let (axes, expected) = checked::<L>(&extents)?;
        if values.len() != expected {
            let dims = names::<L>();
            return Err(Error::Length { dims, extents: extents.to_vec(), expected, got: values.len() });
        }
        Ok(Tensor { memory: Memory::Host(Arc::new(values)), axes, start: 0, _layout: PhantomData })
    }

    /// A tensor of zeros on `device`.
    pub fn zeros<const R: usize>(extents: [usize; R], device: &Device) -> Result<Self, Error> {
        let (axes, _) = checked::<L>(&extents)?;
        let tensor = Tensor::unwritten(axes, device.as_gpu())?;
        if let Memory::Gpu(m) = &tensor.memory {
            m.bytes.fill_bytes(0)?;
        }
        Ok(tensor)
    }

    /// A copy of an array whose axes are `L`'s dimensions in order.
    pub fn from_array<S: ndarray::Data<Elem = T>, D: ndarray::Dimension>(
        array: &ndarray::ArrayBase<S, D>,
    ) -> Result<Self, Error> {
        let (axes, _) = checked::<L>(array.shape())?;
        let values = array.iter().copied().collect();
        Ok(Tensor { memory: Memory::Host(Arc::new(values)), axes, start: 0, _layout: PhantomData })
    }

    /// Dense memory on a GPU, whose contents are unspecified, or on the host.
    pub(crate) fn unwritten(axes: Axes, gpu: Option<&Gpu>) -> Result<Self, Error> {
        let len = axes.len();
        let memory = match gpu {
            None => Memory::Host(Arc::new(vec![T::default(); len])),
            Some(gpu) => {
                let bytes = gpu.stream().alloc(len * size_of::<T>())?;
                Memory::Gpu(Arc::new(GpuMemory { gpu: gpu.clone(), bytes }))
            }
        };
        Ok(Tensor { memory, axes, start: 0, _layout: PhantomData })
    }

    /// A result of these extents.
    pub(crate) fn result(extents: &[i64], gpu: Option<&Gpu>) -> Result<Self, Error> {
        let mut sizes = [0; MAX_RANK];
        sizes.iter_mut().zip(extents).for_each(|(size, extent)| *size = (*extent).max(0) as usize);
        Tensor::unwritten(checked::<L>(&sizes[..extents.len().min(MAX_RANK)])?.0, gpu)
    }

    /// The size along `D`.
    pub fn extent<D: Dim>(&self) -> usize
    where
        L::Set: Without<D, Was: Present<D>>,
    {
        self.axes.find(D::ID).map_or(0, |(extent, _)| extent as usize)
    }

    /// The sizes, in `L`'s order.
    pub fn extents(&self) -> Vec<usize> {
        self.axes.extents()
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.axes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where it is.
    pub fn device(&self) -> Device {
        match &self.memory {
            Memory::Host(_) => Device::Cpu,
            Memory::Gpu(m) => Device::Gpu(m.gpu.clone()),
        }
    }

    /// The element that is lowest in memory.
    fn lowest(&self) -> usize {
        self.start - self.axes.origin()
    }

    /// Memory, axes, and the element whose coordinates are all 0.
    pub(crate) fn parts(&self) -> (&Memory<T>, &Axes, usize) {
        (&self.memory, &self.axes, self.start)
    }

    pub(crate) fn parts_mut(&mut self) -> (&mut Memory<T>, &Axes, usize) {
        (&mut self.memory, &self.axes, self.start)
    }

    /// The type of each component.
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }
}

impl<T: Item, L: Dims> fmt::Debug for Tensor<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> =
            L::NAMES.iter().zip(self.axes.as_slice()).map(|(n, a)| format!("{n}: {}", a.extent)).collect();
        write!(f, "Tensor {} ({}) on {}", T::DTYPE, sizes.join(", "), self.device())
    }
}
