//! [`Tensor`]: elements over named dimensions, on the host or on a GPU.

use crate::device::{Device, Gpu};
use crate::error::Error;
use bytemuck::{CheckedBitPattern, NoUninit};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use tilewright_dims::{Dim, Dims, Present, Without};
use tilewright_driver::argument::{self, Access, Given, MOST_AXES, Shape};
use tilewright_driver::{Argument, DeviceBuffer, IntoArgument};
use tilewright_expr::bind::{Axis, MAX_RANK, View};
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

/// Up to [`MAX_RANK`] axes in place.
#[derive(Clone, Copy)]
pub(crate) struct Axes {
    axes: [Axis; MAX_RANK],
    rank: usize,
}

impl Axes {
    fn dense<L: Dims>(extents: &[i64]) -> Axes {
        let mut axes = [Axis { dim: 0, extent: 1, stride: 0 }; MAX_RANK];
        let mut stride = 1;
        for i in (0..L::RANK).rev() {
            axes[i] = Axis { dim: L::IDS[i], extent: extents[i], stride };
            stride *= extents[i].max(1);
        }
        Axes { axes, rank: L::RANK }
    }

    pub(crate) fn as_slice(&self) -> &[Axis] {
        &self.axes[..self.rank]
    }

    /// Elements.
    pub(crate) fn len(&self) -> usize {
        self.as_slice().iter().map(|a| a.extent as usize).product()
    }

    /// Whether the elements are contiguous, the last axis fastest.
    pub(crate) fn is_dense(&self) -> bool {
        let mut stride = 1;
        self.as_slice().iter().rev().all(|a| {
            let fits = a.extent == 1 || a.stride == stride;
            stride *= a.extent;
            fits
        })
    }
}

/// Calls `f` with the offset of every element, in layout order.
pub(crate) fn for_each_offset(axes: &[Axis], mut f: impl FnMut(usize)) {
    let mut index = [0i64; MAX_RANK];
    for _ in 0..axes.iter().map(|a| a.extent).product::<i64>() {
        f(axes.iter().zip(&index).map(|(a, i)| a.stride * i).sum::<i64>() as usize);
        for d in (0..axes.len()).rev() {
            index[d] += 1;
            if index[d] < axes[d].extent {
                break;
            }
            index[d] = 0;
        }
    }
}

fn names<L: Dims>() -> String {
    L::NAMES.join(", ")
}

fn checked<L: Dims>(extents: &[usize]) -> Result<(Axes, usize), Error> {
    if extents.len() != L::RANK {
        return Err(Error::Rank { dims: names::<L>(), expected: L::RANK, got: extents.len() });
    }
    let product = extents.iter().try_fold(1usize, |p, e| p.checked_mul((*e).max(1)));
    let bytes = product.and_then(|p| p.checked_mul(16)).filter(|b| i64::try_from(*b).is_ok());
    if bytes.is_none() {
        return Err(Error::TooLarge { extents: extents.to_vec() });
    }
    let mut sizes = [0i64; MAX_RANK];
    for (to, from) in sizes.iter_mut().zip(extents) {
        *to = *from as i64;
    }
    Ok((Axes::dense::<L>(&sizes), extents.iter().product()))
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
        self.axes.as_slice().iter().find(|a| a.dim == D::ID).map_or(0, |a| a.extent as usize)
    }

    /// The sizes, in `L`'s order.
    pub fn extents(&self) -> Vec<usize> {
        self.axes.as_slice().iter().map(|a| a.extent as usize).collect()
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

    /// The part `start..start + len` along `D`: a view of the same memory.
    pub fn narrow<D: Dim>(&self, start: usize, len: usize) -> Result<Self, Error>
    where
        L::Set: Without<D, Was: Present<D>>,
    {
        let extent = self.extent::<D>();
        let end = start.saturating_add(len);
        if end > extent {
            return Err(Error::Range { dim: D::NAME, start, end, extent });
        }
        let mut view = self.clone();
        for a in view.axes.axes[..L::RANK].iter_mut().filter(|a| a.dim == D::ID) {
            a.extent = len as i64;
            view.start += start * a.stride as usize;
        }
        Ok(view)
    }

    /// The same memory from element `start` on, under other dimensions: extent and stride of each. `None` if they reach
    /// beyond it.
    pub(crate) fn viewed<M: Dims>(&self, start: usize, axes: impl Fn(u64) -> (i64, i64)) -> Option<Tensor<T, M>> {
        let mut view = Axes { axes: [Axis { dim: 0, extent: 1, stride: 0 }; MAX_RANK], rank: M::RANK };
        for (axis, dim) in view.axes.iter_mut().zip(M::IDS) {
            let (extent, stride) = axes(*dim);
            *axis = Axis { dim: *dim, extent, stride };
        }
        let len = match &self.memory {
            Memory::Host(m) => m.len(),
            Memory::Gpu(m) => m.bytes.len() / size_of::<T>(),
        };
        let start = self.start + start;
        let inside = View::reach(view.as_slice()) <= len.saturating_sub(start) as i64;
        inside.then(|| Tensor { memory: self.memory.clone(), axes: view, start, _layout: PhantomData })
    }

    /// The same tensor on `device`: itself if it is there, else a copy. From a GPU this waits for the results.
    pub fn to(&self, device: &Device) -> Result<Self, Error> {
        match (&self.memory, device) {
            (Memory::Host(_), Device::Cpu) => Ok(self.clone()),
            (Memory::Host(_), Device::Gpu(gpu)) => {
                let values = self.dense_host();
                let bytes = gpu.stream().upload(bytemuck::cast_slice(&values))?;
                let memory = Memory::Gpu(Arc::new(GpuMemory { gpu: gpu.clone(), bytes }));
                Ok(Tensor { memory, axes: self.dense_axes(), start: 0, _layout: PhantomData })
            }
            (Memory::Gpu(m), Device::Gpu(gpu)) if m.gpu.same(gpu) => Ok(self.clone()),
            (Memory::Gpu(_), _) => self.download()?.to(device),
        }
    }

    fn download(&self) -> Result<Self, Error> {
        let Memory::Gpu(m) = &self.memory else { return Ok(self.clone()) };
        m.gpu.synchronize()?;
        let len = m.bytes.len() / size_of::<T>();
        // Words, so that the bytes are aligned for every element type.
        let mut words = vec![0u128; m.bytes.len().div_ceil(16)];
        m.bytes.copy_to_slice(&mut bytemuck::cast_slice_mut(&mut words)[..m.bytes.len()])?;
        let bytes: &[u8] = &bytemuck::cast_slice(&words)[..m.bytes.len()];
        let values: &[T] =
            bytemuck::checked::try_cast_slice(bytes).map_err(|_| Error::Bits { element: T::DTYPE.name() })?;
        debug_assert_eq!(values.len(), len);
        let memory = Memory::Host(Arc::new(values.to_vec()));
        Ok(Tensor { memory, axes: self.axes, start: self.start, _layout: PhantomData })
    }

    /// The elements in `L`'s order, the last dimension fastest. From a GPU this waits for the results.
    pub fn to_vec(&self) -> Result<Vec<T>, Error> {
        Ok(self.to(&Device::Cpu)?.dense_host())
    }

    /// The elements as an array whose axes are `L`'s dimensions in order.
    pub fn to_array(&self) -> Result<ndarray::ArrayD<T>, Error> {
        let (extents, values) = (self.extents(), self.to_vec()?);
        let got = values.len();
        ndarray::ArrayD::from_shape_vec(extents.clone(), values).map_err(|_| Error::Length {
            dims: names::<L>(),
            expected: extents.iter().product(),
            extents,
            got,
        })
    }

    /// Copies `values` into the tensor, which keeps its place and layout.
    pub fn write(&mut self, values: &[T]) -> Result<(), Error> {
        if values.len() != self.len() || !self.axes.is_dense() {
            let dims = names::<L>();
            return Err(Error::Length { dims, extents: self.extents(), expected: self.len(), got: values.len() });
        }
        let start = self.start;
        match &mut self.memory {
            Memory::Host(m) => {
                let memory = Arc::get_mut(m).ok_or(Error::Shared { output: 0 })?;
                memory[start..start + values.len()].copy_from_slice(values);
            }
            Memory::Gpu(m) => {
                let memory = Arc::get_mut(m).ok_or(Error::Shared { output: 0 })?;
                memory.bytes.copy_from_slice(bytemuck::cast_slice(values))?;
            }
        }
        Ok(())
    }

    fn dense_axes(&self) -> Axes {
        let mut extents = [0i64; MAX_RANK];
        for (to, a) in extents.iter_mut().zip(self.axes.as_slice()) {
            *to = a.extent;
        }
        Axes::dense::<L>(&extents)
    }

    fn dense_host(&self) -> Vec<T> {
        let Memory::Host(m) = &self.memory else { return Vec::new() };
        let memory = &m[self.start.min(m.len())..];
        if self.axes.is_dense() {
            return memory[..self.len()].to_vec();
        }
        let mut values = Vec::with_capacity(self.len());
        for_each_offset(self.axes.as_slice(), |at| values.push(memory[at]));
        values
    }

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

impl<T: Item, L: Dims> Tensor<T, L> {
    fn described(&self, access: Access) -> Argument<'_> {
        let (mut extents, mut strides) = ([1; MOST_AXES], [0; MOST_AXES]);
        for (axis, (extent, stride)) in self.axes.as_slice().iter().zip(extents.iter_mut().zip(&mut strides)) {
            (*extent, *stride) = (axis.extent, axis.stride);
        }
        let shape = Shape::Axes(argument::Axes { names: L::NAMES, extents, strides });
        let memory = match &self.memory {
            Memory::Host(m) => {
                let len = m.len().saturating_sub(self.start);
                argument::Memory { address: 0, len, access, device: None, stream: None, shape }
            }
            Memory::Gpu(m) => argument::Memory {
                address: m.bytes.device_ptr() + (self.start * size_of::<T>()) as u64,
                len: (m.bytes.len() / size_of::<T>()).saturating_sub(self.start),
                access,
                device: Some(m.gpu.ordinal()),
                stream: Some(m.gpu.stream()),
                shape,
            },
        };
        Argument { element: argument::ElementType::of::<T>(), given: Given::Memory(memory) }
    }
}

impl<T: Item, L: Dims> IntoArgument for &Tensor<T, L> {
    fn argument(&mut self) -> Argument<'_> {
        self.described(Access::Read)
    }
}

impl<T: Item, L: Dims> IntoArgument for &mut Tensor<T, L> {
    fn argument(&mut self) -> Argument<'_> {
        let alone = match &mut self.memory {
            Memory::Host(m) => Arc::get_mut(m).is_some(),
            Memory::Gpu(m) => Arc::get_mut(m).is_some(),
        };
        self.described(if alone { Access::Write } else { Access::Shared })
    }
}

impl<T: Item, L: Dims> fmt::Debug for Tensor<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> =
            L::NAMES.iter().zip(self.axes.as_slice()).map(|(n, a)| format!("{n}: {}", a.extent)).collect();
        write!(f, "Tensor {} ({}) on {}", T::DTYPE, sizes.join(", "), self.device())
    }
}
