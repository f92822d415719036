//! The forward pass over named dimensions.
#![allow(clippy::type_complexity, reason = "the tuple says which dimensions a result has, and in which order")]

use super::compute::{Call, Reads, copy_bytes};
use super::dense::{one_place, packed, sizes, write_packed};
use super::element::Convolved;
use super::ends::{Ends, reading};
use super::error::{ConvError, Names};
use super::image::{Image, Seen};
use super::params::{Bias, Conv2d};
use super::problem::{Pass, Problem};
use crate::error::Error;
use crate::tensor::Tensor;
use tilewright_dims::{Dim, Dims};

/// The convolution of `x` with `w`: pixels of the result are sums over the pixels of `x` around them, each group of channels by itself.
///
/// `y[n, h, w, k] = bias[k] + sum over r, s, c of x[n, h * stride + r * dilation - top, w * stride + s * dilation - left, g + c] * w[k, r, s, c]`,
/// where `g` is the first channel of `k`'s group, and nothing is added where padding stands. Sums are f32, and rounded once.
///
/// `x` is over (images, rows, columns, channels), a tensor or an expression ([`read`](super::read)), `w` over (channels, rows of taps, columns of taps, channels of a group): 1 for a
/// depthwise convolution, 4, 8 or 16. Elements are `f16`, `bf16` or `f32`, on the CPU or on one GPU. Refused are sizes that do not fit
/// each other, kernels and paddings over 7, strides and dilations over 2, and results without a place: [`ConvError`].
pub fn conv2d<X, N: Dim, H: Dim, W: Dim, C: Dim, K: Dim, R: Dim, S: Dim, B: Bias<K>>(
    x: &X,
    w: &Tensor<X::Item, (K, R, S, C)>,
    params: &Conv2d<B>,
) -> Result<Tensor<X::Item, (N, H, W, K)>, Error>
where
    X: Image<Over = (N, H, W, C)>,
    (N, H, W, C): Dims,
    (K, R, S, C): Dims,
    (N, H, W, K): Dims,
    (K,): Dims,
{
    x.see(|x| {
        let problem = problem(&x, w, params)?;
        let mut y = Tensor::result(&problem.output_extents().map(|e| e as i64), x.device().as_gpu())?;
        write(&mut y, &x, w, params, &problem)?;
        Ok(y)
    })
}

/// [`conv2d`] into `y`, which has the result's sizes and any layout, and shares its memory with nothing. One with gaps takes the bytes of a
/// dense result besides what [`conv2d_workspace`] says.
pub fn conv2d_into<X, N: Dim, H: Dim, W: Dim, C: Dim, K: Dim, R: Dim, S: Dim, B: Bias<K>>(
    y: &mut Tensor<X::Item, (N, H, W, K)>,
    x: &X,
    w: &Tensor<X::Item, (K, R, S, C)>,
    params: &Conv2d<B>,
) -> Result<(), Error>
where
    X: Image<Over = (N, H, W, C)>,
    (N, H, W, C): Dims,
    (K, R, S, C): Dims,
    (N, H, W, K): Dims,
    (K,): Dims,
{
    x.see(|x| {
        let problem = problem(&x, w, params)?;
        problem.check_result("the result", sizes(y), &names::<N, H, W, C, K, R, S>())?;
        write(y, &x, w, params, &problem)
    })
}

/// Bytes that [`conv2d`] needs where its operands are, besides them and the result: copies of what is not dense, and
/// an expression that no kernel evaluates, as a tensor.
pub fn conv2d_workspace<X, N: Dim, H: Dim, W: Dim, C: Dim, K: Dim, R: Dim, S: Dim, B: Bias<K>>(
    x: &X,
    w: &Tensor<X::Item, (K, R, S, C)>,
    params: &Conv2d<B>,
) -> Result<usize, Error>
where
    X: Image<Over = (N, H, W, C)>,
    (N, H, W, C): Dims,
    (K, R, S, C): Dims,
    (K,): Dims,
{
    x.see(|x| {
        let (problem, devices) = (problem(&x, w, params)?, [x.device(), w.device()]);
        let ends = Ends { reading: reading(x.number()), written: X::Item::PRECISION, loads: false, behind: false };
        Call::asked((Pass::Forward, &problem), params.config, ends, one_place(&devices)?)?;
        Ok(x.made_bytes() + copy_bytes(w) + params.bias.tensor().map_or(0, copy_bytes))
    })
}

/// Writes the result of a problem into a tensor of its sizes.
fn write<T: Convolved, L: Dims, M: Dims, O: Dims, K: Dim, B: Bias<K>>(
    y: &mut Tensor<T, O>,
    x: &Seen<'_, T, L>,
    w: &Tensor<T, M>,
    params: &Conv2d<B>,
    problem: &Problem,
) -> Result<(), Error>
where
    (K,): Dims,
{
    let bias = params.bias.tensor();
    let devices = [x.device(), w.device(), y.device(), bias.map_or_else(|| x.device(), Tensor::device)];
    let call = Call::new((Pass::Forward, problem), params.config, T::PRECISION, one_place(&devices)?)?;
    let name = Pass::Forward.name();
    let (image, w) = (x.ready(name)?, packed(name, w)?);
    let bias = bias.map(|bias| packed(name, bias)).transpose()?;
    write_packed(name, y, |y| call.forward(Reads { image: &image, w: &w, bias: bias.as_ref() }, y))
}

/// The problem of these tensors, with a bias that fits.
pub(super) fn problem<T: Convolved, N: Dim, H: Dim, W: Dim, C: Dim, K: Dim, R: Dim, S: Dim, B: Bias<K>>(
    x: &Seen<'_, T, (N, H, W, C)>,
    w: &Tensor<T, (K, R, S, C)>,
    params: &Conv2d<B>,
) -> Result<Problem, Error>
where
    (N, H, W, C): Dims,
    (K, R, S, C): Dims,
    (K,): Dims,
{
    let problem = Problem::named(x.sizes(), sizes(w), T::PRECISION, params, &names::<N, H, W, C, K, R, S>())?;
    let (expected, got) = (problem.channels(), params.bias.tensor().map(Tensor::len));
    match got.filter(|got| *got != expected) {
        Some(got) => Err(ConvError::Extent { what: "the bias", dim: K::NAME, got, expected }.into()),
        None => Ok(problem),
    }
}

/// The names of dimensions, by what they are for.
pub(super) fn names<N: Dim, H: Dim, W: Dim, C: Dim, K: Dim, R: Dim, S: Dim>() -> Names {
    Names { n: N::NAME, h: H::NAME, w: W::NAME, c: C::NAME, k: K::NAME, r: R::NAME, s: S::NAME }
}
