//! The bias's gradient: sums of the result's gradient over images, rows and columns.
#![allow(clippy::type_complexity, reason = "the tuple says which dimensions a result has, and in which order")]

use super::bias_timing::refined_sums;
use super::config::{Asked, Config, SUMS};
use super::dense::{D3, Quad, one_place};
use super::element::Convolved;
use super::error::{ConvError, of_workspace};
use super::image::{Image, Seen};
use super::params::Conv2d;
use crate::device::Gpu;
use crate::error::Error;
use crate::feed::{Operand, of_tensor};
use crate::fused::Core;
use crate::prefetch::new_on_device;
use crate::tensor::Tensor;
use std::sync::Arc;
use tilewright_dims::{Dim, Dims};
use tilewright_expr::Error::NotShared;
use tilewright_expr::Out;
use tilewright_expr::bind::{Axis, View, dense};

const NAME: &str = "conv2d_grad_bias";

/// The gradient of [`conv2d`](super::conv2d)'s bias, f32: the sum over all pixels of all images of the result's gradient, `dy`, a tensor or an
/// expression ([`read`](super::read)). Of the parameters of the forward pass it takes the configuration alone ([`Config::sums`]).
///
/// An ordinary reduction, with the same bits on every device, in one kernel: an expression is summed as it is evaluated, and is stored by a
/// call of its own before only where it reduces or scans itself. As in every sum, what is a product in f32 is added without being rounded
/// before.
pub fn conv2d_grad_bias<Y, N: Dim, H: Dim, W: Dim, K: Dim, B>(
    dy: &Y,
    params: &Conv2d<B>,
) -> Result<Tensor<f32, (K,)>, Error>
where
    Y: Image<Over = (N, H, W, K)>,
    (N, H, W, K): Dims,
    (K,): Dims,
{
    dy.see(|dy| {
        let mut db = Tensor::result(&dy.sizes().map(|e| e as i64)[3..], dy.device().as_gpu())?;
        write(&mut db, &dy, params.config)?;
        Ok(db)
    })
}

/// [`conv2d_grad_bias`] into `db`, which is as long as `dy` has channels, and shares its memory with nothing.
pub fn conv2d_grad_bias_into<Y, N: Dim, H: Dim, W: Dim, K: Dim, B>(
    db: &mut Tensor<f32, (K,)>,
    dy: &Y,
    params: &Conv2d<B>,
) -> Result<(), Error>
where
    Y: Image<Over = (N, H, W, K)>,
    (N, H, W, K): Dims,
    (K,): Dims,
{
    dy.see(|dy| {
        let ([.., expected], got) = (dy.sizes(), db.len());
        if got != expected {
            return Err(ConvError::Extent { what: "the bias's gradient", dim: K::NAME, got, expected }.into());
        }
        one_place(&[dy.device(), db.device()])?;
        write(db, &dy, params.config)
    })
}

/// Bytes that [`conv2d_grad_bias`] needs where `dy` is, besides it and the result: on a GPU those in which blocks leave their parts of
/// few long sums, and the tensor of an expression that is stored before. It takes any layout as it is.
pub fn conv2d_grad_bias_workspace<Y, N: Dim, H: Dim, W: Dim, K: Dim, B>(
    dy: &Y,
    params: &Conv2d<B>,
) -> Result<usize, Error>
where
    Y: Image<Over = (N, H, W, K)>,
    (N, H, W, K): Dims,
    (K,): Dims,
{
    dy.see(|dy| {
        let device = dy.device();
        let made = match &dy {
            Seen::Computed(it) if it.core().summed().is_none() => {
                dy.sizes().iter().product::<usize>() * size_of::<Y::Item>()
            }
            _ => 0,
        };
        with_views(&dy, |core, views| {
            let core = configured::<Y::Item>(core, views, (params.config, device.as_gpu()), &dy.sizes())?;
            match device.as_gpu() {
                Some(_) => Ok(made + core.plan_of_views(views)?.workspace_bytes()?),
                None => Ok(made),
            }
        })
    })
}

/// Writes the sums.
fn write<T: Convolved, L: Dims, K: Dim>(
    db: &mut Tensor<f32, (K,)>,
    dy: &Seen<'_, T, L>,
    config: Config,
) -> Result<(), Error>
where
    (K,): Dims,
{
    let device = dy.device();
    let core = with_views(dy, |core, views| configured::<T>(core, views, (config, device.as_gpu()), &dy.sizes()))?;
    if let Seen::Computed(it) = dy
        && it.core().summed().is_some()
    {
        return of_workspace(NAME, core.call_into::<Out<f32, (K,)>>(it.operands(), db, Some(&device)));
    }
    let stored = dy.stored(NAME)?;
    let nothing = Tensor::result(&[0], None)?;
    let mut by_position = std::mem::replace(db, nothing).renamed::<(D3,)>();
    let summed = core.call_into::<Out<f32, (D3,)>>(&[of_tensor(&stored)], &mut by_position, None);
    *db = by_position.renamed();
    of_workspace(NAME, summed)
}

/// Does `work` with what sums a gradient, and with its operands as they are bound: those of the gradient's expression, or the gradient.
fn with_views<T: Convolved, L: Dims, R>(
    dy: &Seen<'_, T, L>,
    work: impl FnOnce(&Arc<Core>, &[View<'_>]) -> Result<R, Error>,
) -> Result<R, Error> {
    let sums = T::sums().core();
    match dy {
        Seen::Stored(tensor) => work(sums, &[of_tensor(&(*tensor).clone().renamed::<Quad>()).view()]),
        Seen::Computed(it) => match it.core().summed() {
            Some(core) => work(core, &it.operands().iter().map(Operand::view).collect::<Vec<_>>()),
            None => work(sums, &[new_on_device(&dense_axes(dy.sizes()))]),
        },
    }
}

/// What sums, under the configuration that a call gets. One that does not fit is refused where no kernel is built that would find out: of no
/// elements one fits that does of as good as none.
fn configured<T: Convolved>(
    core: &Arc<Core>,
    views: &[View<'_>],
    (config, gpu): (Config, Option<&Gpu>),
    sizes: &[usize; 4],
) -> Result<Arc<Core>, Error> {
    config.check_named(NAME, &[SUMS])?;
    let (computes, empty) = (gpu.is_some(), sizes.contains(&0));
    if let Asked::Sums(sharing) = config.asked {
        if !computes || empty {
            let some = |view: &View<'_>| view.axes.iter().map(|a| Axis { extent: a.extent.max(1), ..*a }).collect();
            let axes: Vec<Vec<Axis>> = views.iter().map(some).collect();
            // Boxes are looked at where they are.
            let there = |(view, axes)| match view {
                View { boxes: Some(_), .. } => View { axes, ..view },
                _ => new_on_device(axes),
            };
            let there: Vec<View<'_>> = views.iter().copied().zip(axes.iter().map(Vec::as_slice)).map(there).collect();
            core.plan_of_views(&there)?.shares()?.ok_or(NotShared)?.check(sharing)?;
        }
        return Ok(if empty { core.clone() } else { core.kept_under(sharing.into()) });
    }
    let Some(gpu) = gpu.filter(|_| config.asked == Asked::Refined && !empty) else { return Ok(core.clone()) };
    // An expression is left out of what is timed, and may share otherwise.
    let of_tensor = Arc::ptr_eq(core, T::sums().core());
    let dense = dense_axes(*sizes);
    let timed = refined_sums::<T>(gpu, if of_tensor { views[0].axes } else { &dense })?;
    let fits =
        |sharing| Ok::<_, Error>(core.plan_of_views(views)?.shares()?.is_some_and(|it| it.check(sharing).is_ok()));
    match timed {
        Some(sharing) if of_tensor || fits(sharing)? => Ok(core.kept_under(sharing.into())),
        _ => Ok(core.clone()),
    }
}

/// The axes of a tensor of these sizes without gaps.
fn dense_axes(sizes: [usize; 4]) -> Vec<Axis> {
    dense(Quad::IDS, &sizes.map(|size| size as i64))
}
