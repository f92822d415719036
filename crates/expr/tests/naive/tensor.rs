//! Tensors of the tests: a logical array of bits, stored under any layout, at any alignment.

pub use crate::layout::Layout;
use crate::random::Rng;
use ndarray::ArrayD;
use std::sync::OnceLock;
use tilewright_expr::bind::{Axis, Place, View};
use tilewright_expr::dtype::{HostSlice, HostSliceMut};
use tilewright_expr::eval::HostKernel;
use tilewright_expr::graph::Graph;
use tilewright_expr::{DType, Error, Rect, Value};

/// What a test knows of an operand: its values in the order of its dimensions, in no memory layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub dtype: DType,
    pub components: usize,
    pub dims: Vec<u64>,
    pub shape: Vec<i64>,
    /// Bits of each value, the components of one element together.
    pub bits: Vec<u64>,
}

impl Tensor {
    pub fn of<T: Value>(dims: &[u64], values: &ArrayD<T>) -> Tensor {
        Tensor {
            dtype: T::DTYPE,
            components: 1,
            dims: dims.to_vec(),
            shape: values.shape().iter().map(|n| *n as i64).collect(),
            bits: values.iter().map(|v| v.to_bits64()).collect(),
        }
    }

    pub fn boxes(dims: &[u64], shape: &[i64], boxes: &[Rect]) -> Tensor {
        let bits = boxes.iter().flat_map(|r| [r.x, r.y, r.width, r.height]).map(Value::to_bits64).collect();
        Tensor { dtype: DType::I32, components: 4, dims: dims.to_vec(), shape: shape.to_vec(), bits }
    }

    /// Elements of several `f32`, one after the other.
    pub fn maps(dims: &[u64], shape: &[i64], components: usize, values: &[f32]) -> Tensor {
        let bits: Vec<u64> = values.iter().map(|v| v.to_bits64()).collect();
        assert_eq!(bits.len(), components * shape.iter().product::<i64>() as usize);
        Tensor { dtype: DType::F32, components, dims: dims.to_vec(), shape: shape.to_vec(), bits }
    }

    pub fn array<T: Value>(&self) -> ArrayD<T> {
        assert_eq!(self.dtype, T::DTYPE);
        let shape: Vec<usize> = self.shape.iter().map(|n| *n as usize).collect();
        ArrayD::from_shape_vec(shape, self.bits.iter().map(|b| T::from_bits64(*b)).collect()).expect("as many values")
    }

    /// The bits at a coordinate along each dimension.
    pub fn at(&self, coords: &[i64], component: usize) -> u64 {
        let element = coords.iter().zip(&self.shape).fold(0, |at, (c, n)| {
            assert!((0..*n).contains(c), "coordinate {c} of {n}");
            at * n + c
        });
        self.bits[element as usize * self.components + component]
    }

    /// Whether both hold the same bits, any two NaNs being the same.
    pub fn same(&self, other: &Tensor) -> bool {
        let equal = |(a, b): (&u64, &u64)| same_bits(self.dtype, *a, *b);
        self.dtype == other.dtype
            && self.dims == other.dims
            && self.shape == other.shape
            && self.bits.iter().zip(&other.bits).all(equal)
    }

    /// Where two results differ first, to print.
    pub fn difference(&self, other: &Tensor) -> String {
        if (self.dtype, &self.dims, &self.shape) != (other.dtype, &other.dims, &other.shape) {
            return format!("{} {:?} against {} {:?}", self.dtype, self.shape, other.dtype, other.shape);
        }
        let unequal = |i: &usize| !same_bits(self.dtype, self.bits[*i], other.bits[*i]);
        let places: Vec<usize> = (0..self.bits.len()).filter(unequal).collect();
        let show = |i: &usize| {
            let (a, b) = (self.bits[*i], other.bits[*i]);
            format!("  [{i}] {} ({a:#x}) against {} ({b:#x})", show(self.dtype, a), show(self.dtype, b))
        };
        let first: Vec<String> = places.iter().take(4).map(show).collect();
        format!(
            "{} of {} values of {} {:?} differ:\n{}",
            places.len(),
            self.bits.len(),
            self.dtype,
            self.shape,
            first.join("\n")
        )
    }
}

pub fn same_bits(dtype: DType, a: u64, b: u64) -> bool {
    let nan = |v: u64| match dtype {
        DType::F16 => v & 0x7fff > 0x7c00,
        DType::BF16 => v & 0x7fff > 0x7f80,
        DType::F32 => f32::from_bits(v as u32).is_nan(),
        DType::F64 => f64::from_bits(v).is_nan(),
        _ => false,
    };
    a == b || nan(a) && nan(b)
}

fn show(dtype: DType, bits: u64) -> String {
    match dtype {
        DType::F16 => format!("{:?}", tilewright_expr::f16::from_bits(bits as u16)),
        DType::BF16 => format!("{:?}", tilewright_expr::bf16::from_bits(bits as u16)),
        DType::F32 => format!("{:?}", f32::from_bits(bits as u32)),
        DType::F64 => format!("{:?}", f64::from_bits(bits)),
        _ => bits.to_string(),
    }
}

/// A tensor in memory.
#[derive(Clone)]
pub struct Stored {
    pub axes: Vec<Axis>,
    pub alignment: usize,
    dims: Vec<u64>,
    dtype: DType,
    components: usize,
    memory: Vec<u128>,
    offset: usize,
    len: usize,
    poison: u8,
    boxes: Option<Vec<Rect>>,
}

impl Stored {
    pub fn new(tensor: &Tensor, layout: &Layout) -> Stored {
        let mut stored = Stored::empty(tensor.dtype, tensor.components, (&tensor.dims, &tensor.shape), layout, 0);
        let size = stored.dtype.size();
        for (i, place) in stored.places().enumerate().collect::<Vec<_>>() {
            for c in 0..stored.components {
                let bits = tensor.bits[i * stored.components + c].to_ne_bytes();
                let at = stored.offset + (place as usize * stored.components + c) * size;
                stored.bytes_mut()[at..at + size].copy_from_slice(&bits[..size]);
            }
        }
        let dense = stored.axes == tilewright_expr::bind::dense(&order(&stored.axes), &extents(&stored.axes));
        if let (HostSlice::Rect(boxes), true) = (stored.slice(), dense) {
            stored.boxes = Some(boxes.to_vec());
        }
        stored
    }

    /// Memory for a result, every byte `poison`.
    pub fn poisoned(dtype: DType, dims: &[u64], shape: &[i64], layout: &Layout, poison: u8) -> Stored {
        Stored::empty(dtype, 1, (dims, shape), layout, poison)
    }

    fn empty(dtype: DType, components: usize, (dims, shape): (&[u64], &[i64]), layout: &Layout, poison: u8) -> Stored {
        let natural = if components == 4 { 16 } else { dtype.size() };
        let alignment = layout.alignment.max(natural);
        let axes = layout.axes(dims, shape);
        let len = View::reach(&axes) as usize;
        let element = dtype.size() * components;
        let (bytes, origin) = (len * element, View::origin(&axes) as usize);
        let offset = (alignment % 16 + 15 * origin * element) % 16;
        let memory = vec![u128::from_ne_bytes([poison; 16]); (offset + bytes).div_ceil(16) + 1];
        Stored { axes, alignment, dims: dims.to_vec(), dtype, components, memory, offset, len, poison, boxes: None }
    }

    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.memory)
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.memory)
    }

    fn range(&self) -> std::ops::Range<usize> {
        self.offset..self.offset + self.len * self.dtype.size() * self.components
    }

    /// Where the element at coordinates 0 stands, in bytes.
    fn first(&self) -> usize {
        self.offset + View::origin(&self.axes) as usize * self.dtype.size() * self.components
    }

    pub fn pointer(&self) -> *const u8 {
        self.bytes()[self.first()..].as_ptr()
    }

    pub fn pointer_mut(&mut self) -> *mut u8 {
        let first = self.first();
        self.bytes_mut()[first..].as_mut_ptr()
    }

    /// The elements in the order of the axes, without gaps: what travels with a launch.
    pub fn packed(&self) -> Vec<u8> {
        let mut ordered = self.clone();
        ordered.dims = order(&self.axes);
        let size = self.dtype.size() * self.components;
        let bytes = |place: i64| {
            let at = self.offset + place as usize * size;
            self.bytes()[at..at + size].to_vec()
        };
        ordered.places().flat_map(bytes).collect()
    }

    /// The view; `known` tells whether boxes on the host may be looked at.
    pub fn view(&self, place: Place, known: bool) -> View<'_> {
        let boxes = if known { self.boxes.as_deref() } else { None };
        View { axes: &self.axes, place, alignment: self.alignment as u32, boxes }
    }

    pub fn slice(&self) -> HostSlice<'_> {
        let bytes = &self.bytes()[self.range()];
        match self.components {
            4 => return HostSlice::Rect(bytemuck::cast_slice(bytes)),
            6 => return HostSlice::Affine(bytemuck::cast_slice(bytes)),
            9 => return HostSlice::Perspective(bytemuck::cast_slice(bytes)),
            _ => {}
        }
        macro_rules! typed {
            ($($v:ident),*) => { match self.dtype {
                DType::Bool => HostSlice::Bool(bytemuck::checked::cast_slice(bytes)),
                $(DType::$v => HostSlice::$v(bytemuck::cast_slice(bytes)),)*
            } };
        }
        typed!(U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64)
    }

    pub fn slice_mut(&mut self) -> HostSliceMut<'_> {
        let (dtype, range) = (self.dtype, self.range());
        let bytes = &mut self.bytes_mut()[range];
        macro_rules! typed {
            ($($v:ident),*) => { match dtype {
                DType::Bool => HostSliceMut::Bool(bytemuck::checked::cast_slice_mut(bytes)),
                $(DType::$v => HostSliceMut::$v(bytemuck::cast_slice_mut(bytes)),)*
            } };
        }
        typed!(U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64)
    }

    /// The place of each element above the lowest, in the order of the tensor's dimensions.
    fn places(&self) -> impl Iterator<Item = i64> + use<> {
        let axes: Vec<Axis> =
            self.dims.iter().map(|d| *self.axes.iter().find(|a| a.dim == *d).expect("an axis")).collect();
        let count: i64 = axes.iter().map(|a| a.extent).product();
        let origin = View::origin(&axes);
        (0..count).map(move |mut i| {
            axes.iter().rev().fold(origin, |at, a| {
                let c = i % a.extent;
                i /= a.extent;
                at + c * a.stride
            })
        })
    }

    /// What is stored, as a tensor.
    pub fn read(&self) -> Tensor {
        let shape = self.dims.iter().map(|d| self.axes.iter().find(|a| a.dim == *d).expect("an axis").extent).collect();
        let size = self.dtype.size();
        let bits = self.places().map(|place| {
            let mut bits = [0; 8];
            let at = self.offset + place as usize * size;
            bits[..size].copy_from_slice(&self.bytes()[at..at + size]);
            u64::from_ne_bytes(bits)
        });
        Tensor { dtype: self.dtype, components: 1, dims: self.dims.clone(), shape, bits: bits.collect() }
    }

    /// Panics if anything but the tensor's elements was written.
    pub fn assert_gaps_untouched(&self) {
        let mut written = vec![false; self.bytes().len()];
        let size = self.dtype.size();
        for place in self.places() {
            let at = self.offset + place as usize * size;
            written[at..at + size].fill(true);
        }
        let touched = self.bytes().iter().zip(written).position(|(b, written)| !written && *b != self.poison);
        assert_eq!(touched, None, "a byte outside of the result was written");
    }
}

fn order(axes: &[Axis]) -> Vec<u64> {
    axes.iter().map(|a| a.dim).collect()
}

fn extents(axes: &[Axis]) -> Vec<i64> {
    axes.iter().map(|a| a.extent).collect()
}

/// A byte that no result is likely to consist of, and that a `bool` may be.
pub fn poison(dtype: DType, round: usize) -> u8 {
    match (dtype, round % 2) {
        (DType::Bool, round) => round as u8,
        (_, 0) => 0xa5,
        _ => 0x5b,
    }
}

/// Pools of one thread and of several.
pub fn pools() -> &'static [rayon::ThreadPool; 2] {
    static POOLS: OnceLock<[rayon::ThreadPool; 2]> = OnceLock::new();
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads start");
    POOLS.get_or_init(|| [pool(1), pool(5)])
}

/// Evaluates on the host under the layouts given; boxes are looked at if `known`. The flag: whether a guard failed.
pub fn evaluate(
    graph: &Graph,
    inputs: &[Stored],
    layouts: &[Layout],
    known: bool,
    round: usize,
) -> Result<(Vec<Tensor>, Option<Error>), Error> {
    let views: Vec<View<'_>> = inputs.iter().map(|s| s.view(Place::Device, known)).collect();
    let mut outputs = Vec::new();
    for (i, (result, layout)) in graph.results().iter().zip(layouts).enumerate() {
        let shape = HostKernel::output_extents(graph, &views, i)?;
        let dtype = graph.node(graph.outputs[result.outputs.start].node).dtype;
        outputs.push(Stored::poisoned(dtype, result.dims, &shape, layout, poison(dtype, round)));
    }
    let out_views: Vec<View<'_>> = outputs.iter().map(|s| s.view(Place::Device, known)).collect();
    let kernel = HostKernel::new(graph, &views, &out_views)?;
    let slices: Vec<HostSlice<'_>> = inputs.iter().map(Stored::slice).collect();
    let mut targets: Vec<HostSliceMut<'_>> = outputs.iter_mut().map(Stored::slice_mut).collect();
    let failed = match pools()[round % 2].install(|| kernel.run(&slices, &mut targets)) {
        Ok(()) => None,
        Err(error @ (Error::Guard { .. } | Error::Coordinate { .. })) => Some(error),
        Err(error) => return Err(error),
    };
    outputs.iter().for_each(Stored::assert_gaps_untouched);
    Ok((outputs.iter().map(Stored::read).collect(), failed))
}

/// Evaluates on the host in every way that must not matter (dense, permuted, padded and strided memory, one thread and
/// several, boxes checked before and guarded within) and returns the results, which are the same bits each time.
pub fn evaluate_every_way(graph: &Graph, inputs: &[&Tensor]) -> Vec<Tensor> {
    let mut rng = Rng::new(inputs.iter().map(|t| t.bits.len() as u64).sum());
    let mut first: Option<Vec<Tensor>> = None;
    for round in 0..6 {
        let mut layout = |rank: usize| if round < 2 { Layout::dense(rank) } else { Layout::random(&mut rng, rank) };
        let stored: Vec<Stored> = inputs.iter().map(|t| Stored::new(t, &layout(t.dims.len()))).collect();
        let layouts: Vec<Layout> = graph.results().iter().map(|r| layout(r.dims.len())).collect();
        let known = round != 3;
        let results = match evaluate(graph, &stored, &layouts, known, round) {
            Ok((results, failed)) => {
                assert_eq!(failed, None);
                results
            }
            Err(Error::SizeOnDevice { .. }) if round > 1 => continue,
            Err(error) => panic!("{error}"),
        };
        match &first {
            None => first = Some(results),
            Some(first) => {
                for (a, b) in first.iter().zip(&results) {
                    assert!(a.same(b), "round {round}: {}", a.difference(b));
                }
            }
        }
    }
    first.expect("rounds")
}
