//! The forward pass with an expression behind it.
#![allow(clippy::type_complexity, reason = "the tuple says which dimensions a result has, and in which order")]

use super::compute::Call;
use super::dense::{one_place, packed};
use super::element::Convolved;
use super::epilogue::Epilogue;
use super::forward::problem;
use super::params::{Bias, Conv2d};
use super::problem::Precision;
use crate::device::{Device, Gpu};
use crate::error::Error;
use crate::feed::{Feeds, Operand, of_tensor};
use crate::fused::{Core, Fused};
use crate::tensor::{Item, Tensor};
use std::sync::Arc;
use tilewright_dims::{Dim, Dims};
use tilewright_expr::bind::View;
use tilewright_expr::emit::{Caller, Inline};
use tilewright_expr::{DType, Expr, Out};

/// Bytes of a kernel's parameters for an expression's operands in host memory.
const ROOM: usize = 256;

/// What an expression takes beside the sums: a tuple of what [`Fused::call`] takes, `()` if that is all.
///
/// `A` are the operands of the expression, of which sums over `S` are the first.
pub trait Beside<S, A> {
    /// The operands, in their order.
    fn operands(&self) -> Vec<Operand<'_>>;
}

macro_rules! beside {
    ($($T:ident $S:ident $F:ident $i:tt),*) => {
        impl<SUM, $($T, $S, $F: Feeds<Expr<$T, $S>>),*> Beside<SUM, (Expr<f32, SUM>, $(Expr<$T, $S>,)*)> for ($($F,)*) {
            fn operands(&self) -> Vec<Operand<'_>> {
                vec![$(self.$i.operand()),*]
            }
        }
    };
}
beside!();
beside!(A SA FA 0);
beside!(A SA FA 0, B SB FB 1);
beside!(A SA FA 0, B SB FB 1, C SC FC 2);
beside!(A SA FA 0, B SB FB 1, C SC FC 2, D SD FD 3);
beside!(A SA FA 0, B SB FB 1, C SC FC 2, D SD FD 3, E SE FE 4);
beside!(A SA FA 0, B SB FB 1, C SC FC 2, D SD FD 3, E SE FE 4, G SG FG 5);
beside!(A SA FA 0, B SB FB 1, C SC FC 2, D SD FD 3, E SE FE 4, G SG FG 5, H SH FH 6);

/// What `epilogue` makes of [`conv2d`](super::conv2d)'s sums: an activation, a residual that is added, a scale, any expression.
///
/// The first operand of `epilogue` are the sums, `In<f32, (N, H, W, K)>`, with the bias and unrounded; `beside` has the others. The
/// result is what the expression stores, on the CPU the same bits as of one call after the other.
///
/// On a GPU it is one kernel where each value of the result is made of the sum at its own place, and stored over `(N, H, W, K)`, in
/// that order, as `f16`, `bf16` or `f32`. What reads sums at other places, reduces them over more than a few, or stores them otherwise
/// is two: sums are written as `f32`, and read again.
///
/// ```
/// use tilewright_dims::dims;
/// use tilewright_expr::In;
/// use tilewright_ops::conv::{Conv2d, conv2d_with};
/// use tilewright_ops::{Tensor, fuse};
/// dims! { N, H, W, C, K, R, S }
/// let x = Tensor::<f32, (N, H, W, C)>::from_vec([1, 2, 2, 8], vec![1.0; 32])?;
/// let w = Tensor::<f32, (K, R, S, C)>::from_vec([8, 1, 1, 8], vec![-0.5; 64])?;
/// let residual = Tensor::<f32, (N, H, W, K)>::from_vec([1, 2, 2, 8], vec![1.0; 32])?;
/// let activate = fuse(|sum: In<f32, (N, H, W, K)>, residual: In<f32, (N, H, W, K)>| {
///     (sum + residual * 6.0).max(0.0).store::<(N, H, W, K)>()
/// });
/// let y = conv2d_with(&x, &w, &Conv2d::new(), &activate, (&residual,))?;
/// assert_eq!(y.to_vec()?, [2.0; 32]);
/// # Ok::<(), tilewright_ops::Error>(())
/// ```
pub fn conv2d_with<T, U, L, N, H, W, C, K, R, S, B, A, P>(
    x: &Tensor<T, (N, H, W, C)>,
    w: &Tensor<T, (K, R, S, C)>,
    params: &Conv2d<B>,
    epilogue: &Fused<A, Out<U, L>>,
    beside: P,
) -> Result<Tensor<U, L>, Error>
where
    T: Convolved,
    U: Item,
    L: Dims,
    (N, H, W, C): Dims,
    (K, R, S, C): Dims,
    (N, H, W, K): Dims,
    (K,): Dims,
    N: Dim,
    H: Dim,
    W: Dim,
    C: Dim,
    K: Dim,
    R: Dim,
    S: Dim,
    B: Bias<K>,
    P: Beside<<(N, H, W, K) as Dims>::Set, A>,
{
    let problem = problem(x, w, params)?;
    let bias = params.bias.tensor();
    let mut devices = vec![x.device(), w.device()];
    devices.extend(bias.map(Tensor::device));
    let gpu = one_place(&devices)?;
    let call = Call { problem: &problem, config: params.config, gpu };
    let (x, w, bias) = (packed(x)?, packed(w)?, bias.map(packed).transpose()?);
    let others = beside.operands();
    let extents = problem.output_extents().map(|e| e as i64);
    together(gpu, epilogue.core(), &others)?;
    let in_order = L::IDS == <(N, H, W, K)>::IDS;
    if let (Some(gpu), Some(written)) = (gpu.filter(|_| problem.images > 0 && in_order), written::<U>()) {
        let points: [_; 4] = std::array::from_fn(|i| (L::IDS[i], L::NAMES[i], extents[i]));
        if let Some(function) = inlined(epilogue.core(), beside.operands(), &points)? {
            let mut y = Tensor::<U, L>::result(&extents, Some(gpu))?;
            call.finished([&x, &w], bias.as_ref(), &mut y, (written, Some(&function)))?;
            return Ok(y);
        }
    }
    let mut sums = Tensor::<f32, (N, H, W, K)>::result(&extents, gpu)?;
    call.sums([&x, &w], bias.as_ref(), &mut sums)?;
    let operands: Vec<Operand<'_>> = std::iter::once(of_tensor(&sums)).chain(others).collect();
    epilogue.core().call::<Out<U, L>>(&operands, None)
}

/// What the kernel can write as elements of `U`.
fn written<U: Item>() -> Option<Precision> {
    match (U::DTYPE, U::COMPONENTS) {
        (DType::F16, 1) => Some(Precision::F16),
        (DType::BF16, 1) => Some(Precision::Bf16),
        (DType::F32, 1) => Some(Precision::F32),
        _ => None,
    }
}

/// Refuses operands of an expression that are tensors elsewhere than the convolution's.
fn together(gpu: Option<&Gpu>, core: &Core, others: &[Operand<'_>]) -> Result<(), Error> {
    let place = |gpu: Option<&Gpu>| gpu.map_or(Device::Cpu, |gpu| Device::Gpu(gpu.clone())).to_string();
    match (core.device(others, gpu)?, gpu) {
        (Some(found), Some(gpu)) if found.same(gpu) => Ok(()),
        (None, None) => Ok(()),
        (found, _) => {
            let operand = others.iter().position(|o| o.address().is_some()).map_or(0, |i| i + 1);
            Err(Error::Devices { operand, got: place(found), expected: place(gpu) })
        }
    }
}

/// The expression as a function of a place, if it is one, and what it takes has room.
fn inlined<'a>(
    core: &Arc<Core>,
    others: Vec<Operand<'a>>,
    points: &[(u64, &'static str, i64); 4],
) -> Result<Option<Epilogue<'a>>, Error> {
    let views: Vec<View<'_>> = others.iter().map(Operand::view).collect();
    let lanes = if points[3].2 % 2 == 0 { 2 } else { 1 };
    let caller = Caller { points, given: Some(0), lanes, room: ROOM };
    match Inline::new(core.graph(), &views, &caller) {
        Ok(inline) => Epilogue::new(core, inline, others),
        Err(tilewright_expr::Error::Inline(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
