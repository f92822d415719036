//! Convolutions, each pass with the configuration that is chosen for it: as `peers/conv2d.py` times cuDNN on the same cases.

use crate::Result;
use crate::convolutions::{Convolution, named};
use crate::kernels::Flush;
use crate::report::Report;
use crate::session::Session;
use crate::shapes::params;
use crate::suites::conv2d_fused;
use crate::tuning::timing::{C, H, K, N, R, S, W, repeated};
use rayon::prelude::*;
use std::fmt::Display;
use tilewright_expr::{In, Out, bf16, f16};
use tilewright_ops::conv::{Conv2d, Convolved, KernelConfig, Multiprocessor, Pass, Precision, Problem};
use tilewright_ops::conv::{conv2d, conv2d_grad_input, conv2d_grad_input_into, conv2d_into};
use tilewright_ops::conv::{conv2d_grad_weight, conv2d_grad_weight_into};
use tilewright_ops::{Device, Fused, Tensor, fuse};
use tilewright_perf::DeviceFacts;

/// How far a result may be from the CPU's, which adds in another order, relative to 1 or to the value.
const TOLERANCE: f32 = 1e-2;
/// Operations per second of products that warps make (`mma.sync`) of f16 and bf16 on an H200 and an H100: one of 16 x 8 x 16 takes a scheduler's tensor core
/// 6 cycles (docs/notes/conv.md), of 1.71 GHz under load; tf32 is half as fast.
const PRODUCTS: f64 = 617e12;
/// Channels of which a weights' gradient is compared with the CPU's: whole groups of any width.
const CHECKED_CHANNELS: usize = 16;

pub(super) type Input<T> = Tensor<T, (N, H, W, C)>;
pub(super) type Output<T> = Tensor<T, (N, H, W, K)>;
pub(super) type Weights<T> = Tensor<T, (K, R, S, C)>;
type Gradient = Tensor<f32, (K, R, S, C)>;
type Numbers = Tensor<f32, (K,)>;
type Copy = Fused<(In<f16, (N, H, W, C)>,), Out<f16, (N, H, W, C)>>;

/// Compiles the kernels of these cases on all cores. The one with a bias is compiled by its call.
pub fn compile_ahead(session: &Session, cases: &[&str]) {
    let (gpu, sm) = (&session.gpu, Multiprocessor::of(&session.gpu));
    let (arch, wanted) = (gpu.device().arch(), cases.iter().filter_map(|case| named(case).ok()));
    let all = wanted.flat_map(|it| Pass::ALL.map(|pass| (it.problem, pass, it.bias && pass == Pass::Forward)));
    let jobs: Vec<_> = all.filter(|(.., has_bias)| !has_bias).map(|(problem, pass, _)| (problem, pass)).collect();
    // What fails here fails again where it is called, and is told there.
    jobs.into_par_iter().for_each(|(problem, pass)| {
        drop(KernelConfig::on(gpu, &problem, pass).compile(&problem, pass, sm, arch));
    });
}

/// Microseconds that a pass takes at least: those of its bytes, or of its products where they take longer.
pub(super) fn limit_us(session: &Session, problem: &Problem, pass: Pass) -> Result<f64> {
    let rate = if problem.precision == Precision::F32 { PRODUCTS / 2.0 } else { PRODUCTS };
    Ok(session.limit_us(problem.bytes(pass) as usize)?.max(problem.flops() / rate * 1e6))
}

/// Measures all passes of one case.
pub fn run(session: &Session, case: &str, report: &mut Report) -> Result<()> {
    let of = named(case)?;
    match of.problem.precision {
        Precision::F16 => {
            let is_in = |name: &str| of.sets.iter().any(|set| set == name);
            let mut operands = Operands::new(session, of.clone(), f16::from_f32)?;
            passes(session, &mut operands, report)?;
            if is_in("batch") {
                let limit = of.problem.bytes(Pass::Forward) as f64 / DeviceFacts::h200().l2_bandwidth * 1e6;
                report.add("conv2d", case, "forward_left_device_us", operands.left_us(session)?, "us").limited(limit);
            }
            if is_in("table") {
                rotating(session, operands, report)?;
            }
            if case == conv2d_fused::CASE { conv2d_fused::run(session, of, report) } else { Ok(()) }
        }
        Precision::Bf16 => passes(session, &mut Operands::new(session, of, bf16::from_f32)?, report),
        Precision::F32 => passes(session, &mut Operands::new(session, of, |value| value)?, report),
    }
}

fn passes<T: Number>(session: &Session, operands: &mut Operands<T>, report: &mut Report) -> Result<()> {
    for pass in Pass::ALL {
        operands.check(pass)?;
        let metric = metric(pass);
        let limit = limit_us(session, &operands.of.problem, pass)?;
        let us = operands.cold_us(session, pass)?;
        report.add("conv2d", &operands.of.case, metric, us, "us").limited(limit);
        // The weights' gradient allocates parts of its sum, which no graph may.
        if pass != Pass::GradWeight {
            let us = operands.cold_in_graph_us(session, pass)?;
            let metric = metric.replace("_device_us", "_graph_us");
            report.add("conv2d", &operands.of.case, &metric, us, "us").limited(limit);
        }
    }
    Ok(())
}

/// All passes back to back, each with the operands that were used longest ago.
fn rotating(session: &Session, first: Operands<f16>, report: &mut Report) -> Result<()> {
    let of = first.of.clone();
    let count = session.sets(of.problem.bytes(Pass::Forward) as usize);
    let more = (1..count).map(|_| Operands::new(session, of.clone(), f16::from_f32));
    let mut sets = std::iter::once(Ok(first)).chain(more).collect::<Result<Vec<_>>>()?;
    for pass in Pass::ALL {
        let us = session.clock.device_us(&mut |call| sets[call % count].call(pass))?;
        let metric = format!("{}_rotating", metric(pass));
        report.add("conv2d", &of.case, &metric, us, "us").limited(limit_us(session, &of.problem, pass)?);
    }
    Ok(())
}

fn metric(pass: Pass) -> &'static str {
    match pass {
        Pass::Forward => "forward_device_us",
        Pass::GradInput => "grad_input_device_us",
        Pass::GradWeight => "grad_weight_device_us",
    }
}

/// What operands are of.
pub(super) trait Number: Convolved + Display + Into<f32> {}
impl<T: Convolved + Display + Into<f32>> Number for T {}

/// Operands of a case on the GPU and a result of each pass.
struct Operands<T> {
    of: Convolution,
    params: Conv2d,
    x: Input<T>,
    w: Weights<T>,
    dy: Output<T>,
    bias: Numbers,
    y: Output<T>,
    dx: Input<T>,
    dw: Gradient,
}

impl<T: Number> Operands<T> {
    fn new(session: &Session, of: Convolution, number: fn(f32) -> T) -> Result<Self> {
        let (problem, device) = (&of.problem, &session.device);
        let x = repeated(problem.input_extents(), number)?.to(device)?;
        let dy = repeated(problem.output_extents(), number)?.to(device)?;
        let w = repeated(problem.weight_extents(), number)?.to(device)?;
        let numbers = (0..problem.channels()).map(|channel| (channel % 7) as f32 / 8.0).collect();
        let bias = Tensor::from_vec([problem.channels()], numbers)?.to(device)?;
        let (y, dx) =
            (Tensor::zeros(problem.output_extents(), device)?, Tensor::zeros(problem.input_extents(), device)?);
        let dw = Tensor::zeros(problem.weight_extents(), device)?;
        Ok(Self { params: params(problem), of, x, w, dy, bias, y, dx, dw })
    }

    /// A pass into its result.
    fn call(&mut self, pass: Pass) -> Result<()> {
        let Self { of, params, x, w, dy, bias, y, dx, dw } = self;
        match pass {
            Pass::Forward if of.bias => conv2d_into(y, x, w, &params.bias(bias))?,
            Pass::Forward => conv2d_into(y, x, w, params)?,
            Pass::GradInput => conv2d_grad_input_into(dx, dy, w, params)?,
            Pass::GradWeight => conv2d_grad_weight_into(dw, x, dy, params)?,
        }
        Ok(())
    }

    /// The first image of a pass against the CPU's; of the weights' gradient, which adds up all images, the first channels.
    fn check(&mut self, pass: Pass) -> Result<()> {
        if pass == Pass::GradWeight {
            return self.check_grad_weight();
        }
        self.call(pass)?;
        let Self { of, params, x, w, dy, bias, y, dx, .. } = self;
        let (w, size) = (w.to(&Device::Cpu)?, [of.problem.height, of.problem.width]);
        let (got, expected) = match pass {
            Pass::GradInput => {
                let dy = dy.narrow::<N>(0, 1)?.to(&Device::Cpu)?;
                (dx.narrow::<N>(0, 1)?.to_vec()?, conv2d_grad_input(&dy, &w, size, params)?.to_vec()?)
            }
            _ => {
                let (x, got) = (x.narrow::<N>(0, 1)?.to(&Device::Cpu)?, y.narrow::<N>(0, 1)?.to_vec()?);
                let expected: Output<T> = match of.bias {
                    true => conv2d(&x, &w, &params.bias(&bias.to(&Device::Cpu)?))?,
                    false => conv2d(&x, &w, params)?,
                };
                (got, expected.to_vec()?)
            }
        };
        are_close(&got, &expected)
    }

    fn check_grad_weight(&mut self) -> Result<()> {
        self.call(Pass::GradWeight)?;
        let problem = &self.of.problem;
        let channels = CHECKED_CHANNELS.min(problem.channels());
        let x = self.x.narrow::<C>(0, channels)?.to(&Device::Cpu)?;
        let dy = self.dy.narrow::<K>(0, channels)?.to(&Device::Cpu)?;
        let kernel = [problem.kernel[0], problem.kernel[1], problem.group_width];
        let expected: Gradient = conv2d_grad_weight(&x, &dy, kernel, &self.params)?;
        let got = self.dw.narrow::<K>(0, channels)?.to(&Device::Cpu)?;
        are_close(&got.to_vec()?, &expected.to_vec()?)
    }

    /// A pass that finds nothing of its operands in the level-2 cache, between two events.
    fn cold_us(&mut self, session: &Session, pass: Pass) -> Result<f64> {
        let flush = Flush::new(&session.gpu)?;
        session.clock.single_us(&mut || flush.launch(), &mut || self.call(pass))
    }

    /// The same in a graph.
    fn cold_in_graph_us(&mut self, session: &Session, pass: Pass) -> Result<f64> {
        let flush = Flush::new(&session.gpu)?;
        session.clock.added_us(&mut || flush.launch(), &mut || self.call(pass))
    }
}

impl Operands<f16> {
    /// The forward pass right after its input was written, as the layer before leaves it.
    fn left_us(&mut self, session: &Session) -> Result<f64> {
        let copy: Copy = fuse(|x: In<f16, (N, H, W, C)>| x.store::<(N, H, W, C)>());
        let Self { of, params, x, w, bias, y, dx, .. } = self;
        let flush = Flush::new(&session.gpu)?;
        copy.call_into(dx, &*x)?;
        let x = std::cell::RefCell::new(x);
        let mut written_before = || {
            flush.launch()?;
            Ok(copy.call_into(&mut x.borrow_mut(), &*dx)?)
        };
        let mut forward = || match of.bias {
            true => Ok(conv2d_into(y, &**x.borrow(), w, &params.bias(bias))?),
            false => Ok(conv2d_into(y, &**x.borrow(), w, params)?),
        };
        session.clock.single_us(&mut written_before, &mut forward)
    }
}

/// Refuses results that are too far from what they should be, and says where the first of them is.
pub(super) fn are_close<T: Number>(got: &[T], expected: &[T]) -> Result<()> {
    if got.len() != expected.len() {
        return Err(format!("{} results, expected {}", got.len(), expected.len()).into());
    }
    let is_far = |(got, expected): (&T, &T)| {
        let (got, expected): (f32, f32) = ((*got).into(), (*expected).into());
        let far = (got - expected).abs();
        far.is_nan() || far > TOLERANCE * expected.abs().max(1.0)
    };
    match got.iter().zip(expected).position(is_far) {
        None => Ok(()),
        Some(at) => Err(format!("result {at} is {}, the CPU's {}", got[at], expected[at]).into()),
    }
}
