//! Passes with an expression behind them.
#![allow(clippy::type_complexity, reason = "the tuple says which dimensions a result has, and in which order")]

use super::behind::{Behind, stored};
use super::compute::{Call, Reads, copy_bytes};
use super::dense::{one_place, packed};
use super::ends::reading;
use super::forward::problem;
use super::gradients::of_grad_input;
use super::image::Image;
use super::params::{Bias, Conv2d};
use super::problem::Pass;
use crate::error::Error;
use crate::feed::{Feeds, Operand};
use crate::fused::Fused;
use crate::tensor::{Item, Tensor};
use std::marker::PhantomData;
use tilewright_dims::{Dim, Dims};
use tilewright_expr::{Expr, Out};

/// The functions' names, for errors.
pub(super) const NAME: &str = "conv2d_with";
pub(super) const GRAD_NAME: &str = "conv2d_grad_input_with";

/// What an expression takes beside the sums: a tuple of what [`Fused::call`] takes, `()` if that is all.
///
/// `A` are the operands of the expression, of which sums over `S` are the first.
pub trait Beside<S, A> {
    /// Does `work` with all operands in their order, of which `sums` are the first.
    fn behind<R>(&self, sums: Operand<'_>, work: impl FnOnce(&[Operand<'_>]) -> R) -> R;
}

macro_rules! beside {
    ($($T:ident $S:ident $F:ident $i:tt),*) => {
        impl<SUM, $($T, $S, $F: Feeds<Expr<$T, $S>>),*> Beside<SUM, (Expr<f32, SUM>, $(Expr<$T, $S>,)*)> for ($($F,)*) {
            fn behind<R>(&self, sums: Operand<'_>, work: impl FnOnce(&[Operand<'_>]) -> R) -> R {
                work(&[sums, $(self.$i.operand()),*])
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
pub fn conv2d_with<X, U, L, N, H, W, C, K, R, S, B, A, P>(
    x: &X,
    w: &Tensor<X::Item, (K, R, S, C)>,
    params: &Conv2d<B>,
    epilogue: &Fused<A, Out<U, L>>,
    beside: P,
) -> Result<Tensor<U, L>, Error>
where
    X: Image<Over = (N, H, W, C)>,
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
    x.see(|x| {
        let (problem, bias) = (problem(&x, w, params)?, params.bias.tensor());
        let devices = [x.device(), w.device(), bias.map_or_else(|| x.device(), Tensor::device)];
        let call = Call::new((Pass::Forward, &problem), params.config, stored::<U>(), one_place(&devices)?)?;
        let behind = Behind::<(N, H, W, K)> { call, pass: Pass::Forward, core: epilogue.core(), _sums: PhantomData };
        let (image, w) = (x.ready(NAME)?, packed(NAME, w)?);
        let bias = bias.map(|bias| packed(NAME, bias)).transpose()?;
        behind.made(Reads { image: &image, w: &w, bias: bias.as_ref() }, &beside)
    })
}

/// [`conv2d_with`] into `y`, which has the sizes and any layout of what `epilogue` stores, and shares its memory with nothing. Where
/// `y` has gaps, sums go through memory, in as many bytes of f32 besides what [`conv2d_with_workspace`] says.
pub fn conv2d_with_into<X, U, L, N, H, W, C, K, R, S, B, A, P>(
    y: &mut Tensor<U, L>,
    x: &X,
    w: &Tensor<X::Item, (K, R, S, C)>,
    params: &Conv2d<B>,
    epilogue: &Fused<A, Out<U, L>>,
    beside: P,
) -> Result<(), Error>
where
    X: Image<Over = (N, H, W, C)>,
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
    x.see(|x| {
        let (problem, bias) = (problem(&x, w, params)?, params.bias.tensor());
        let devices = [x.device(), w.device(), y.device(), bias.map_or_else(|| x.device(), Tensor::device)];
        let call = Call::new((Pass::Forward, &problem), params.config, stored::<U>(), one_place(&devices)?)?;
        let behind = Behind::<(N, H, W, K)> { call, pass: Pass::Forward, core: epilogue.core(), _sums: PhantomData };
        let (image, w) = (x.ready(NAME)?, packed(NAME, w)?);
        let bias = bias.map(|bias| packed(NAME, bias)).transpose()?;
        behind.made_into(y, Reads { image: &image, w: &w, bias: bias.as_ref() }, &beside)
    })
}

/// Bytes that [`conv2d_with`] needs where its operands are, besides them and the result: copies of what is not dense, and the sums where
/// they go through memory, as they always do on the CPU.
pub fn conv2d_with_workspace<X, U, L, N, H, W, C, K, R, S, B, A, P>(
    x: &X,
    w: &Tensor<X::Item, (K, R, S, C)>,
    params: &Conv2d<B>,
    epilogue: &Fused<A, Out<U, L>>,
    beside: P,
) -> Result<usize, Error>
where
    X: Image<Over = (N, H, W, C)>,
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
    x.see(|x| {
        let (problem, bias) = (problem(&x, w, params)?, params.bias.tensor());
        let devices = [x.device(), w.device(), bias.map_or_else(|| x.device(), Tensor::device)];
        let call = Call::new((Pass::Forward, &problem), params.config, stored::<U>(), one_place(&devices)?)?;
        let behind = Behind::<(N, H, W, K)> { call, pass: Pass::Forward, core: epilogue.core(), _sums: PhantomData };
        let copies = x.made_bytes() + copy_bytes(w) + bias.map_or(0, copy_bytes);
        Ok(copies + behind.workspace::<U, L, _>(&beside, reading(x.number()))?)
    })
}

/// What `epilogue` makes of the sums of [`conv2d_grad_input`](super::conv2d_grad_input), the derivative of the activation before, say.
///
/// The first operand of `epilogue` are the sums, `In<f32, (N, H, W, C)>`, unrounded; `beside` has the others. All else is as with
/// [`conv2d_with`], over `(N, H, W, C)`.
///
/// ```
/// use tilewright_dims::dims;
/// use tilewright_expr::In;
/// use tilewright_ops::conv::{Conv2d, conv2d_grad_input_with};
/// use tilewright_ops::{Tensor, fuse};
/// dims! { N, H, W, C, K, R, S }
/// let dy = Tensor::<f32, (N, H, W, K)>::from_vec([1, 1, 2, 4], vec![1.0; 8])?;
/// let w = Tensor::<f32, (K, R, S, C)>::from_vec([4, 1, 1, 4], vec![0.5; 16])?;
/// // What the activation before, a ReLU, was given.
/// let before = Tensor::<f32, (N, H, W, C)>::from_vec([1, 1, 2, 4], vec![-1.0, 2.0, -3.0, 4.0, 5.0, 6.0, -7.0, 8.0])?;
/// let relu = fuse(|dx: In<f32, (N, H, W, C)>, before: In<f32, (N, H, W, C)>| {
///     before.gt(0.0).select(dx, 0.0).store::<(N, H, W, C)>()
/// });
/// let dx = conv2d_grad_input_with(&dy, &w, [1, 2], &Conv2d::new(), &relu, (&before,))?;
/// assert_eq!(dx.to_vec()?, [0.0, 2.0, 0.0, 2.0, 2.0, 2.0, 0.0, 2.0]);
/// # Ok::<(), tilewright_ops::Error>(())
/// ```
pub fn conv2d_grad_input_with<Y, U, L, N, H, W, C, K, R, S, B, A, P>(
    dy: &Y,
    w: &Tensor<Y::Item, (K, R, S, C)>,
    input: [usize; 2],
    params: &Conv2d<B>,
    epilogue: &Fused<A, Out<U, L>>,
    beside: P,
) -> Result<Tensor<U, L>, Error>
where
    Y: Image<Over = (N, H, W, K)>,
    U: Item,
    L: Dims,
    (N, H, W, C): Dims,
    (K, R, S, C): Dims,
    (N, H, W, K): Dims,
    N: Dim,
    H: Dim,
    W: Dim,
    C: Dim,
    K: Dim,
    R: Dim,
    S: Dim,
    P: Beside<<(N, H, W, C) as Dims>::Set, A>,
{
    dy.see(|dy| {
        let problem = of_grad_input(&dy, w, input, params)?;
        let devices = [dy.device(), w.device()];
        let call = Call::new((Pass::GradInput, &problem), params.config, stored::<U>(), one_place(&devices)?)?;
        let behind = Behind::<(N, H, W, C)> { call, pass: Pass::GradInput, core: epilogue.core(), _sums: PhantomData };
        let (image, w) = (dy.ready(GRAD_NAME)?, packed(GRAD_NAME, w)?);
        behind.made(Reads { image: &image, w: &w, bias: None }, &beside)
    })
}

/// [`conv2d_grad_input_with`] into `dx`, which has the sizes and any layout of what `epilogue` stores, and shares its memory with nothing.
/// Where `dx` has gaps, sums go through memory, in as many bytes of f32 besides what [`conv2d_grad_input_with_workspace`] says.
pub fn conv2d_grad_input_with_into<Y, U, L, N, H, W, C, K, R, S, B, A, P>(
    dx: &mut Tensor<U, L>,
    dy: &Y,
    w: &Tensor<Y::Item, (K, R, S, C)>,
    input: [usize; 2],
    params: &Conv2d<B>,
    epilogue: &Fused<A, Out<U, L>>,
    beside: P,
) -> Result<(), Error>
where
    Y: Image<Over = (N, H, W, K)>,
    U: Item,
    L: Dims,
    (N, H, W, C): Dims,
    (K, R, S, C): Dims,
    (N, H, W, K): Dims,
    N: Dim,
    H: Dim,
    W: Dim,
    C: Dim,
    K: Dim,
    R: Dim,
    S: Dim,
    P: Beside<<(N, H, W, C) as Dims>::Set, A>,
{
    dy.see(|dy| {
        let problem = of_grad_input(&dy, w, input, params)?;
        let devices = [dy.device(), w.device(), dx.device()];
        let call = Call::new((Pass::GradInput, &problem), params.config, stored::<U>(), one_place(&devices)?)?;
        let behind = Behind::<(N, H, W, C)> { call, pass: Pass::GradInput, core: epilogue.core(), _sums: PhantomData };
        let (image, w) = (dy.ready(GRAD_NAME)?, packed(GRAD_NAME, w)?);
        behind.made_into(dx, Reads { image: &image, w: &w, bias: None }, &beside)
    })
}

/// Bytes that [`conv2d_grad_input_with`] needs where its operands are, besides them and the result, as [`conv2d_with_workspace`] has them.
pub fn conv2d_grad_input_with_workspace<Y, U, L, N, H, W, C, K, R, S, B, A, P>(
    dy: &Y,
    w: &Tensor<Y::Item, (K, R, S, C)>,
    input: [usize; 2],
    params: &Conv2d<B>,
    epilogue: &Fused<A, Out<U, L>>,
    beside: P,
) -> Result<usize, Error>
where
    Y: Image<Over = (N, H, W, K)>,
    U: Item,
    L: Dims,
    (N, H, W, C): Dims,
    (K, R, S, C): Dims,
    (N, H, W, K): Dims,
    N: Dim,
    H: Dim,
    W: Dim,
    C: Dim,
    K: Dim,
    R: Dim,
    S: Dim,
    P: Beside<<(N, H, W, C) as Dims>::Set, A>,
{
    dy.see(|dy| {
        let problem = of_grad_input(&dy, w, input, params)?;
        let devices = [dy.device(), w.device()];
        let call = Call::new((Pass::GradInput, &problem), params.config, stored::<U>(), one_place(&devices)?)?;
        let behind = Behind::<(N, H, W, C)> { call, pass: Pass::GradInput, core: epilogue.core(), _sums: PhantomData };
        Ok(dy.made_bytes() + copy_bytes(w) + behind.workspace::<U, L, _>(&beside, reading(dy.number()))?)
    })
}
