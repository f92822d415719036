//! Device times of the configurations of a group.

use super::grouped::Grouped;
use super::plan::Group;
use crate::clock::median;
use crate::kernels::Flush;
use crate::session::Session;
use crate::{Result, shapes};
use std::fmt::Debug;
use tilewright_dims::{Dims, dims};
use tilewright_expr::{bf16, f16};
use tilewright_ops::conv::{Convolved, KernelConfig, Pass, Precision};
use tilewright_ops::conv::{conv2d_grad_input_into, conv2d_grad_weight_into, conv2d_into};
use tilewright_ops::{Device, Tensor};

dims! {
    /// Images.
    N,
    /// Rows.
    H,
    /// Columns.
    W,
    /// Channels.
    C,
    /// Channels of the result.
    K,
    /// Rows of taps.
    R,
    /// Columns of taps.
    S,
}

/// A configuration with its time.
#[derive(Clone, Copy, Debug)]
pub struct Timed<C = KernelConfig> {
    /// The configuration.
    pub config: C,
    /// The median of its times, in microseconds.
    pub median_us: f32,
    /// From the shortest time to the longest, per median.
    pub spread: f32,
}

/// How long the calls between two events take together, in microseconds, and how often each configuration has its turn.
const SPAN_US: f64 = 1000.0;
const ROUNDS: usize = 5;
/// How often a call alone has its turn.
const ROUNDS_ALONE: usize = 15;
/// Host time of a call, at most, in microseconds; the device is kept busy for as long.
const QUEUED_US: f64 = 8.0;

/// Times configurations in turns, so that what changes meanwhile changes all. Those that cannot be launched are told and left out.
pub fn time(session: &Session, group: &Group, configs: &[KernelConfig]) -> Result<Vec<Timed>> {
    match group.problem.precision {
        Precision::F16 => Operands::new(session, group, f16::from_f32)?.time(session, group, configs),
        Precision::Bf16 => Operands::new(session, group, bf16::from_f32)?.time(session, group, configs),
        Precision::F32 => Operands::new(session, group, |value| value)?.time(session, group, configs),
    }
}

/// As [`time`], each call alone, with nothing of its operands in the level-2 cache: as a refined call times them.
pub fn time_alone(session: &Session, group: &Group, configs: &[KernelConfig]) -> Result<Vec<Timed>> {
    match group.problem.precision {
        Precision::F16 => Operands::new(session, group, f16::from_f32)?.time_alone(session, group, configs),
        Precision::Bf16 => Operands::new(session, group, bf16::from_f32)?.time_alone(session, group, configs),
        Precision::F32 => Operands::new(session, group, |value| value)?.time_alone(session, group, configs),
    }
}

/// Sets of operands that are together more than L2 holds.
struct Operands<T> {
    x: Vec<Tensor<T, (N, H, W, C)>>,
    y: Vec<Tensor<T, (N, H, W, K)>>,
    w: Tensor<T, (K, R, S, C)>,
    dw: Tensor<f32, (K, R, S, C)>,
}

impl<T: Convolved> Operands<T> {
    fn new(session: &Session, group: &Group, of: fn(f32) -> T) -> Result<Self> {
        let problem = &group.problem;
        let sets = session.sets(problem.bytes(group.pass) as usize);
        let device = &session.device;
        let x = copies(problem.input_extents(), of, sets, device)?;
        let y = copies(problem.output_extents(), of, sets, device)?;
        let w = copies(problem.weight_extents(), of, 1, device)?.remove(0);
        let dw = Tensor::zeros(problem.weight_extents(), device)?;
        Ok(Self { x, y, w, dw })
    }

    fn call(&mut self, group: &Group, config: KernelConfig, turn: usize) -> Result<()> {
        let (params, turn) = (shapes::params(&group.problem).config(config.into()), turn % self.x.len());
        match group.pass {
            Pass::Forward => conv2d_into(&mut self.y[turn], &self.x[turn], &self.w, &params)?,
            Pass::GradInput => conv2d_grad_input_into(&mut self.x[turn], &self.y[turn], &self.w, &params)?,
            Pass::GradWeight => conv2d_grad_weight_into(&mut self.dw, &self.x[turn], &self.y[turn], &params)?,
        }
        Ok(())
    }

    fn time(&mut self, session: &Session, group: &Group, configs: &[KernelConfig]) -> Result<Vec<Timed>> {
        in_turns(session, &group.name(), configs, |config, turn| self.call(group, config, turn))
    }

    fn time_alone(&mut self, session: &Session, group: &Group, configs: &[KernelConfig]) -> Result<Vec<Timed>> {
        let flush = Flush::new(&session.gpu)?;
        let mut once = |config: KernelConfig| -> Result<f64> {
            flush.launch()?;
            session.clock.between_events(QUEUED_US + 50.0, &mut || self.call(group, config, 0))
        };
        let mut runs: Vec<(KernelConfig, Vec<f64>)> = Vec::new();
        for config in configs {
            match once(*config) {
                Ok(_) => runs.push((*config, Vec::new())),
                Err(error) => eprintln!("{} {config:?}: {error}", group.name()),
            }
        }
        for _ in 0..ROUNDS_ALONE {
            for (config, times) in &mut runs {
                times.push(once(*config)?);
            }
        }
        Ok(runs.into_iter().map(|(config, times)| timed(config, times)).collect())
    }
}

/// Times configurations in turns; `call` queues a call with the operands of a turn. Those that cannot be launched are told and left out.
pub fn in_turns<C: Copy + Debug>(
    session: &Session,
    name: &str,
    configs: &[C],
    mut call: impl FnMut(C, usize) -> Result<()>,
) -> Result<Vec<Timed<C>>> {
    let mut turn = 0;
    let mut span = |config: C, count: usize| -> Result<f64> {
        let mut queue = || {
            (0..count).try_for_each(|_| {
                turn += 1;
                call(config, turn)
            })
        };
        let us = session.clock.between_events(QUEUED_US * count as f64 + 50.0, &mut queue)?;
        Ok(us / count as f64)
    };
    let mut runs: Vec<(C, usize, Vec<f64>)> = Vec::new();
    for config in configs {
        // The first one loads the kernel.
        match span(*config, 1).and_then(|_| span(*config, 3)) {
            Ok(us) => runs.push((*config, ((SPAN_US / us) as usize).clamp(2, 64), Vec::new())),
            Err(error) => eprintln!("{name} {config:?}: {error}"),
        }
    }
    for _ in 0..ROUNDS {
        for (config, count, times) in &mut runs {
            times.push(span(*config, *count)?);
        }
    }
    Ok(runs.into_iter().map(|(config, _, times)| timed(config, times)).collect())
}

fn timed<C>(config: C, times: Vec<f64>) -> Timed<C> {
    let (low, high) = times.iter().fold((f64::INFINITY, 0.0f64), |(low, high), us| (low.min(*us), high.max(*us)));
    let median_us = median(times);
    Timed { config, median_us: median_us as f32, spread: ((high - low) / median_us) as f32 }
}

/// Tensors on the device with the same values, those of [`repeated`].
fn copies<T: Convolved, L: Dims>(
    extents: [usize; 4],
    of: fn(f32) -> T,
    count: usize,
    device: &Device,
) -> Result<Vec<Tensor<T, L>>> {
    let host = repeated(extents, of)?;
    (0..count).map(|_| Ok(host.to(device)?)).collect()
}

/// A tensor of pseudo-random values in -0.5..0.5; they repeat, since times do not depend on them.
pub fn repeated<T: Convolved, L: Dims>(extents: [usize; 4], of: fn(f32) -> T) -> Result<Tensor<T, L>> {
    const PERIOD: u32 = 65_521;
    let value = |at: u32| of((at.wrapping_mul(0x9e37_79b1) >> 8) as f32 / (1 << 24) as f32 - 0.5);
    let period: Vec<T> = (0..PERIOD).map(value).collect();
    let count: usize = extents.iter().product();
    let mut values = Vec::with_capacity(count);
    while values.len() < count {
        values.extend_from_slice(&period[..period.len().min(count - values.len())]);
    }
    Ok(Tensor::from_vec(extents, values)?)
}
