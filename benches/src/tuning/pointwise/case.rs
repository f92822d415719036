//! [`Case`]: an expression with operands of some sizes, planned without a GPU and called on one.

use crate::Result;
use crate::cases::{C, N, X, Y};
use crate::session::Session;
use tilewright_dims::{Dim, Dims};
use tilewright_expr::bind::{Axis, dense};
use tilewright_expr::{Rect, f16};
use tilewright_ops::pointwise::Pointwise;
use tilewright_ops::{Item, Plan, Tensor};

/// How long dimensions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// Pictures, or crops.
    pub images: usize,
    /// Rows.
    pub rows: usize,
    /// Columns, or elements of a line.
    pub columns: usize,
    /// Channels.
    pub channels: usize,
}

impl Sizes {
    /// Extents along these dimensions; of memory of which every `step`-th column is taken.
    pub fn of(self, dims: &[u64], step: usize) -> Vec<usize> {
        let one = |dim: &u64| match *dim {
            N::ID => self.images,
            Y::ID => self.rows,
            C::ID => self.channels,
            _ => self.columns * step,
        };
        dims.iter().map(one).collect()
    }

    /// The axes of such an operand.
    pub fn axes(self, dims: &[u64], step: usize) -> Vec<Axis> {
        let extents: Vec<i64> = self.of(dims, step).into_iter().map(|n| n as i64).collect();
        let stepped = |a: Axis| match a.dim == X::ID {
            true => Axis { extent: a.extent / step as i64, stride: a.stride * step as i64, ..a },
            false => a,
        };
        dense(dims, &extents).into_iter().map(stepped).collect()
    }
}

/// Queues a call under a configuration with the operands of a turn.
pub type Call = Box<dyn FnMut(Pointwise, usize) -> Result<()>>;

/// Makes so many sets of operands on a GPU.
pub type Open = Box<dyn Fn(&Session, usize) -> Result<Call> + Send + Sync>;

/// An expression with operands of some sizes.
pub struct Case {
    /// What a call runs.
    pub plan: Plan,
    /// How it is called.
    pub open: Open,
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Case {}", self.plan.name())
    }
}

/// Elements with values that the functions of the bodies take.
pub trait Sample: Item + Copy {
    /// The value of number `at` of a sequence.
    fn sample(at: u32, sizes: Sizes) -> Self;
}

/// A number in 0.1..0.9 that looks random.
fn unit(at: u32) -> f64 {
    0.1 + 0.8 * f64::from(at.wrapping_mul(0x9e37_79b1) >> 8) / f64::from(1 << 24)
}

macro_rules! samples {
    ($($t:ty: $of:expr),*) => { $(impl Sample for $t {
        fn sample(at: u32, _: Sizes) -> Self {
            let of: fn(f64) -> $t = $of;
            of(unit(at))
        }
    })* };
}
samples!(f32: |v| v as f32, f64: |v| v, f16: f16::from_f64, u8: |v| (v * 255.0) as u8, i64: |v| (v * 1e9) as i64, i32: |v| (v * 1e9) as i32);

impl Sample for Rect {
    fn sample(at: u32, sizes: Sizes) -> Self {
        let part = |n: usize, at: u32| ((n as f64 * unit(at)) as i32).max(1);
        let (width, height) = (part(sizes.columns, at) / 2 + 1, part(sizes.rows, at + 1) / 2 + 1);
        let from = |n: usize, length: i32, at: u32| ((n as i32 - length).max(0) as f64 * unit(at)) as i32;
        Rect::new(from(sizes.columns, width, at + 2), from(sizes.rows, height, at + 3), width, height)
    }
}

/// Tensors on the device with the same values, which repeat: times do not depend on them.
pub fn tensors<T: Sample, L: Dims, const R: usize>(
    session: &Session,
    sizes: Sizes,
    step: usize,
    count: usize,
) -> Result<Vec<Tensor<T, L>>> {
    const PERIOD: u32 = 65_521;
    let extents = <[usize; R]>::try_from(sizes.of(L::IDS, step)).map_err(|_| "extents for every dimension")?;
    let (length, period): (usize, Vec<T>) =
        (extents.iter().product(), (0..PERIOD).map(|at| T::sample(at, sizes)).collect());
    let mut values: Vec<T> = Vec::with_capacity(length + period.len());
    while values.len() < length {
        values.extend_from_slice(&period);
    }
    values.truncate(length);
    let host = Tensor::from_vec(extents, values)?;
    (0..count).map(|_| Ok(host.to(&session.device)?)).collect()
}

/// A [`Case`] of an expression and its operands: `name: type, layout`, with `every n` where each n-th column of the memory is read.
macro_rules! case {
    ($sizes:expr, $fused:expr, $($a:ident: $T:ty, $L:ty $(, every $n:literal)?);*) => {{
        let (sizes, fused): ($crate::tuning::pointwise::Sizes, _) = ($sizes, $fused);
        let axes = [$(sizes.axes(<$L as tilewright_dims::Dims>::IDS, 1 $(* $n)?)),*];
        let on_device = |axes| tilewright_expr::bind::View {
            axes,
            place: tilewright_expr::bind::Place::Device,
            alignment: 16,
            boxes: None,
        };
        let views: Vec<_> = axes.iter().map(|axes| on_device(axes.as_slice())).collect();
        let plan = fused.plan_of_views(&views)?;
        let open: $crate::tuning::pointwise::case::Open = Box::new(move |session, sets| {
            $(
                let $a = $crate::tuning::pointwise::case::tensors::<
                    $T,
                    $L,
                    { <$L as tilewright_dims::Dims>::IDS.len() },
                >(session, sizes, 1 $(* $n)?, sets)?;
                $(let $a = $a.iter().map(|t| Ok(t.step_by::<X>($n)?)).collect::<$crate::Result<Vec<_>>>()?;)?
            )*
            let results = (0..sets).map(|turn| Ok(fused.call($(&$a[turn]),*)?));
            let mut results = results.collect::<$crate::Result<Vec<_>>>()?;
            let mut handles: Vec<(tilewright_ops::pointwise::Pointwise, _)> = Vec::new();
            let fused = fused.clone();
            let call: $crate::tuning::pointwise::case::Call = Box::new(move |config, turn| {
                let known = handles.iter().position(|(of, _)| *of == config).unwrap_or_else(|| {
                    handles.push((config, fused.configured(config)));
                    handles.len() - 1
                });
                let turn = turn % results.len();
                Ok(handles[known].1.call_into(&mut results[turn], $(&$a[turn]),*)?)
            });
            Ok(call)
        });
        Ok($crate::tuning::pointwise::Case { plan, open })
    }};
}
pub(crate) use case;
