//! Configurations of the bias's gradient, timed on a GPU.

use super::element::Convolved;
use super::problem::Precision;
use super::refined::{Remembered, TIMED};
use super::scratch::{Scratch, compile_at_once};
use crate::device::Gpu;
use crate::error::Error;
use crate::launcher::{Given, Launcher, Taken};
use crate::manifest::unrecorded;
use crate::prefetch::new_on_device;
use std::sync::Arc;
use tilewright_expr::bind::{Axis, View};
use tilewright_expr::collective::{Shares, Sharing};

/// What a configuration is timed for: the device, the elements, and how they lie.
type Key = (usize, Precision, Vec<[i64; 2]>);

static REMEMBERED: Remembered<Key, Sharing> = Remembered::new();

/// The configuration that [`Config::refined`](super::Config::refined) takes on a GPU for the sums of a tensor with these axes: it is timed
/// unless it is remembered. Nothing where there is none to choose. Fails where timing does, but for lack of memory.
pub(super) fn refined_sums<T: Convolved>(gpu: &Gpu, axes: &[Axis]) -> Result<Option<Sharing>, Error> {
    let key = (gpu.ordinal(), T::PRECISION, axes.iter().map(|axis| [axis.extent, axis.stride]).collect());
    let first = || {
        let shares = T::sums().plan_of_views(&[new_on_device(axes)]).and_then(|plan| plan.shares());
        // What cannot be planned is the call's to tell.
        shares.ok().flatten().map_or_else(Vec::new, |shares| to_time(&shares))
    };
    REMEMBERED.get(key, first, |configs| unrecorded(|| times::<T>(gpu, axes, configs)))
}

/// The plan's own, and those that are nearest to it: of as many threads a block first.
fn to_time(shares: &Shares) -> Vec<Sharing> {
    let own = shares.untold;
    let away = |config: &Sharing| {
        let block = |it: &Sharing| (it.threads * it.rows).ilog2();
        (block(config).abs_diff(block(&own)), config.threads.ilog2().abs_diff(own.threads.ilog2()))
    };
    let mut configs = shares.configurations();
    configs.sort_by_key(away);
    configs.truncate(TIMED);
    configs
}

/// Microseconds of configurations ([`Scratch::times`]).
fn times<T: Convolved>(gpu: &Gpu, axes: &[Axis], configs: &[Sharing]) -> Result<Vec<f64>, Error> {
    let own = gpu.beside()?;
    let scratch = Scratch::on(&own, own.stream().clone())?;
    let sets = scratch.sets([View::reach(axes) as usize * size_of::<T>()])?;
    let [.., channels] = axes else { return Ok(Vec::new()) };
    let db_axes = [Axis { stride: 1, ..*channels }];
    let mut db = scratch.operand(channels.extent as usize * size_of::<f32>())?;

    let (sums, view) = (T::sums(), new_on_device(axes));
    let plan = sums.plan_of_views(&[view])?;
    compile_at_once(gpu, configs, |config, arch| drop(plan.compile_configured(*config, arch)));
    let under = |config: &Sharing| Launcher::of(Arc::new(sums.core().under((*config).into())));
    let kernels: Vec<Launcher> = configs.iter().map(under).collect();
    scratch.times(&kernels, |kernel, turn| {
        let [dy] = sets.of(turn);
        let taken = Taken { room: db.device_room(), at: 0, axes: &db_axes };
        kernel.launch(&own, &[Given::Buffer(dy, axes)], &mut [taken])
    })
}
