//! Gradients over named dimensions.
#![allow(clippy::type_complexity, reason = "the tuple says which dimensions a result has, and in which order")]

use super::compute::{Call, Reads, copy_bytes};
use super::dense::{one_place, packed, sizes, write_packed};
use super::element::Convolved;
use super::ends::{Ends, reading};
use super::error::ConvError;
use super::forward::names;
use super::image::{Image, Seen};
use super::params::Conv2d;
use super::problem::{Pass, Precision, Problem};
use crate::error::Error;
use crate::tensor::Tensor;
use tilewright_dims::{Dim, Dims};

/// The gradient of [`conv2d`](super::conv2d)'s input, of rows and columns `input`, from the result's, `dy`, a tensor or
/// an expression ([`read`](super::read)), and the weights.
///
/// `dx[n, h, w, c]` is the sum of `dy[n, p, q, k] * w[k, r, s, c]` over all places of the result, channels of the group and taps that
/// have met `x[n, h, w, c]`. Sums are f32, and rounded once. Refused is what `conv2d` refuses, and a `dy` of other sizes than its result.
pub fn conv2d_grad_input<Y, N: Dim, H: Dim, W: Dim, C: Dim, K: Dim, R: Dim, S: Dim, B>(
    dy: &Y,
    w: &Tensor<Y::Item, (K, R, S, C)>,
    input: [usize; 2],
    params: &Conv2d<B>,
) -> Result<Tensor<Y::Item, (N, H, W, C)>, Error>
where
    Y: Image<Over = (N, H, W, K)>,
    (N, H, W, C): Dims,
    (K, R, S, C): Dims,
    (N, H, W, K): Dims,
{
    dy.see(|dy| {
        let problem = of_grad_input(&dy, w, input, params)?;
        let mut dx = Tensor::result(&problem.input_extents().map(|e| e as i64), dy.device().as_gpu())?;
        write_grad_input(&mut dx, &dy, w, params, &problem)?;
        Ok(dx)
    })
}

/// [`conv2d_grad_input`] into `dx`, which has the input's sizes and any layout, and shares its memory with nothing. One with gaps takes the
/// bytes of a dense result besides what [`conv2d_grad_input_workspace`] says.
pub fn conv2d_grad_input_into<Y, N: Dim, H: Dim, W: Dim, C: Dim, K: Dim, R: Dim, S: Dim, B>(
    dx: &mut Tensor<Y::Item, (N, H, W, C)>,
    dy: &Y,
    w: &Tensor<Y::Item, (K, R, S, C)>,
    params: &Conv2d<B>,
) -> Result<(), Error>
where
    Y: Image<Over = (N, H, W, K)>,
    (N, H, W, C): Dims,
    (K, R, S, C): Dims,
    (N, H, W, K): Dims,
{
    dy.see(|dy| {
        let [_, height, width, _] = sizes(dx);
        let problem = of_grad_input(&dy, w, [height, width], params)?;
        let dims = [N::NAME, H::NAME, W::NAME, C::NAME];
        check("the input's gradient", dims, sizes(dx), problem.input_extents())?;
        write_grad_input(dx, &dy, w, params, &problem)
    })
}

/// Bytes that [`conv2d_grad_input`] needs where its operands are, besides them and the result.
pub fn conv2d_grad_input_workspace<Y, N: Dim, H: Dim, W: Dim, C: Dim, K: Dim, R: Dim, S: Dim, B>(
    dy: &Y,
    w: &Tensor<Y::Item, (K, R, S, C)>,
    input: [usize; 2],
    params: &Conv2d<B>,
) -> Result<usize, Error>
where
    Y: Image<Over = (N, H, W, K)>,
    (K, R, S, C): Dims,
    (N, H, W, K): Dims,
{
    dy.see(|dy| {
        let (problem, devices) = (of_grad_input(&dy, w, input, params)?, [dy.device(), w.device()]);
        let ends = Ends { reading: reading(dy.number()), written: Y::Item::PRECISION, loads: false, behind: false };
        Call::asked((Pass::GradInput, &problem), params.config, ends, one_place(&devices)?)?;
        Ok(dy.made_bytes() + copy_bytes(w))
    })
}

fn write_grad_input<T: Convolved, L: Dims, M: Dims, O: Dims, B>(
    dx: &mut Tensor<T, O>,
    dy: &Seen<'_, T, L>,
    w: &Tensor<T, M>,
    params: &Conv2d<B>,
    problem: &Problem,
) -> Result<(), Error> {
    let devices = [dy.device(), w.device(), dx.device()];
    let call = Call::new((Pass::GradInput, problem), params.config, T::PRECISION, one_place(&devices)?)?;
    let name = Pass::GradInput.name();
    let (image, w) = (dy.ready(name)?, packed(name, w)?);
    write_packed(name, dx, |dx| call.grad_input(Reads { image: &image, w: &w, bias: None }, dx))
}

/// The gradient of [`conv2d`](super::conv2d)'s weights, f32, from its input and the result's gradient, tensors or
/// expressions ([`read`](super::read)). `kernel` is what the weights
/// have along their last three dimensions: rows and columns of taps, channels of a group.
///
/// `dw[k, r, s, c]` is the sum of `x * dy` over all pixels that have met there, in f32 and in an order that follows from sizes alone:
/// the same bits on every run. Refused is what `conv2d` refuses, and a `dy` of other sizes than its result.
pub fn conv2d_grad_weight<X, N: Dim, H: Dim, W: Dim, C: Dim, K: Dim, R: Dim, S: Dim, B>(
    x: &X,
    dy: &impl Image<Item = X::Item, Over = (N, H, W, K)>,
    kernel: [usize; 3],
    params: &Conv2d<B>,
) -> Result<Tensor<f32, (K, R, S, C)>, Error>
where
    X: Image<Over = (N, H, W, C)>,
    (N, H, W, C): Dims,
    (K, R, S, C): Dims,
    (N, H, W, K): Dims,
{
    see_both(x, dy, |x, dy| {
        let problem = of_grad_weight::<_, _, _, _, _, _, R, S, _>(&x, &dy, kernel, params)?;
        let mut dw = Tensor::result(&problem.weight_extents().map(|e| e as i64), x.device().as_gpu())?;
        write_grad_weight(&mut dw, &x, &dy, params, &problem)?;
        Ok(dw)
    })
}

/// [`conv2d_grad_weight`] into `dw`, which has the weights' sizes and any layout, and shares its memory with nothing. One with gaps takes
/// the bytes of a dense result besides what [`conv2d_grad_weight_workspace`] says.
pub fn conv2d_grad_weight_into<X, N: Dim, H: Dim, W: Dim, C: Dim, K: Dim, R: Dim, S: Dim, B>(
    dw: &mut Tensor<f32, (K, R, S, C)>,
    x: &X,
    dy: &impl Image<Item = X::Item, Over = (N, H, W, K)>,
    params: &Conv2d<B>,
) -> Result<(), Error>
where
    X: Image<Over = (N, H, W, C)>,
    (N, H, W, C): Dims,
    (K, R, S, C): Dims,
    (N, H, W, K): Dims,
{
    see_both(x, dy, |x, dy| {
        let [_, kernel @ ..] = sizes(dw);
        let problem = of_grad_weight::<_, _, _, _, _, _, R, S, _>(&x, &dy, kernel, params)?;
        let dims = [K::NAME, R::NAME, S::NAME, C::NAME];
        check("the weights' gradient", dims, sizes(dw), problem.weight_extents())?;
        write_grad_weight(dw, &x, &dy, params, &problem)
    })
}

/// Bytes that [`conv2d_grad_weight`] needs where its operands are, besides them and the result.
pub fn conv2d_grad_weight_workspace<X, N: Dim, H: Dim, W: Dim, C: Dim, K: Dim, B>(
    x: &X,
    dy: &impl Image<Item = X::Item, Over = (N, H, W, K)>,
    kernel: [usize; 3],
    params: &Conv2d<B>,
) -> Result<usize, Error>
where
    X: Image<Over = (N, H, W, C)>,
    (N, H, W, C): Dims,
    (N, H, W, K): Dims,
{
    see_both(x, dy, |x, dy| {
        let problem = Problem::of_grad_weight(x.sizes(), dy.sizes(), kernel, X::Item::PRECISION, params)?;
        let devices = [x.device(), dy.device()];
        let call = Call::new((Pass::GradWeight, &problem), params.config, Precision::F32, one_place(&devices)?)?;
        Ok(x.made_bytes() + dy.made_bytes() + call.grad_weight_workspace([x.number(), dy.number()])?)
    })
}

/// Does `work` with the input and the result's gradient.
fn see_both<X: Image, Y: Image, V>(
    x: &X,
    dy: &Y,
    work: impl FnOnce(Seen<'_, X::Item, X::Over>, Seen<'_, Y::Item, Y::Over>) -> Result<V, Error>,
) -> Result<V, Error> {
    x.see(|x| dy.see(|dy| work(x, dy)))
}

fn write_grad_weight<T: Convolved, L: Dims, M: Dims, O: Dims, B>(
    dw: &mut Tensor<f32, O>,
    x: &Seen<'_, T, L>,
    dy: &Seen<'_, T, M>,
    params: &Conv2d<B>,
    problem: &Problem,
) -> Result<(), Error> {
    let devices = [x.device(), dy.device(), dw.device()];
    let call = Call::new((Pass::GradWeight, problem), params.config, Precision::F32, one_place(&devices)?)?;
    let name = Pass::GradWeight.name();
    let (x, dy) = (x.ready(name)?, dy.ready(name)?);
    if problem.images == 0 {
        return dw.write(&vec![0.0; dw.len()]);
    }
    write_packed(name, dw, |dw| call.grad_weight([&x, &dy], dw))
}

pub(super) fn of_grad_input<T: Convolved, N: Dim, H: Dim, W: Dim, C: Dim, K: Dim, R: Dim, S: Dim, B>(
    dy: &Seen<'_, T, (N, H, W, K)>,
    w: &Tensor<T, (K, R, S, C)>,
    [height, width]: [usize; 2],
    params: &Conv2d<B>,
) -> Result<Problem, Error>
where
    (K, R, S, C): Dims,
    (N, H, W, K): Dims,
{
    let (names, [images, .., channels]) = (names::<N, H, W, C, K, R, S>(), dy.sizes());
    let problem = Problem::named([images, height, width, channels], sizes(w), T::PRECISION, params, &names)?;
    problem.check_result("the result's gradient", dy.sizes(), &names)?;
    Ok(problem)
}

fn of_grad_weight<T: Convolved, N: Dim, H: Dim, W: Dim, C: Dim, K: Dim, R: Dim, S: Dim, B>(
    x: &Seen<'_, T, (N, H, W, C)>,
    dy: &Seen<'_, T, (N, H, W, K)>,
    [rows, columns, group_width]: [usize; 3],
    params: &Conv2d<B>,
) -> Result<Problem, Error>
where
    (N, H, W, C): Dims,
    (N, H, W, K): Dims,
{
    let (names, [.., channels]) = (names::<N, H, W, C, K, R, S>(), dy.sizes());
    let w = [channels, rows, columns, group_width];
    let problem = Problem::named(x.sizes(), w, T::PRECISION, params, &names)?;
    problem.check_result("the result's gradient", dy.sizes(), &names)?;
    Ok(problem)
}

/// Refuses a result of other sizes than these.
pub(super) fn check(
    what: &'static str,
    dims: [&'static str; 4],
    got: [usize; 4],
    expected: [usize; 4],
) -> Result<(), ConvError> {
    match (0..4).find(|i| got[*i] != expected[*i]) {
        Some(i) => Err(ConvError::Extent { what, dim: dims[i], got: got[i], expected: expected[i] }),
        None => Ok(()),
    }
}
