//! Convolutions, each pass with the configuration that is chosen for it: as `peers/conv2d.py` times cuDNN on the same cases.

use crate::Result;
use crate::convolutions::{Convolution, named};
use crate::report::Report;
use crate::session::Session;
use crate::shapes::params;
use crate::tuning::timing::{C, H, K, N, R, S, W, repeated};
use rayon::prelude::*;
use tilewright_driver::DeviceBuffer;
use tilewright_expr::{In, Out, f16};
use tilewright_ops::conv::{Conv2d, Multiprocessor, Pass, chosen_rows, compile_rows};
use tilewright_ops::conv::{conv2d, conv2d_grad_input, conv2d_grad_input_into, conv2d_into};
use tilewright_ops::{Device, Fused, Tensor, fuse};

/// What is written before each run, so that nothing is left in the level-2 cache: more than twice what it holds.
const FLUSH_BYTES: usize = 128 << 20;
/// How far a result may be from the CPU's, which adds in another order, relative to 1 or to the value.
const TOLERANCE: f32 = 1e-2;
/// The passes that have a kernel.
const PASSES: [Pass; 2] = [Pass::Forward, Pass::GradInput];

type Input = Tensor<f16, (N, H, W, C)>;
type Output = Tensor<f16, (N, H, W, K)>;
type Weights = Tensor<f16, (K, R, S, C)>;
type Numbers = Tensor<f32, (K,)>;
type Copy = Fused<(In<f16, (N, H, W, C)>,), Out<f16, (N, H, W, C)>>;

/// Compiles the kernels of these cases on all cores. The one with a bias is compiled by its call.
pub fn compile_ahead(session: &Session, cases: &[&str]) {
    let (gpu, sm) = (&session.gpu, Multiprocessor::of(&session.gpu));
    let (arch, wanted) = (gpu.device().arch(), cases.iter().filter_map(|case| named(case).ok()));
    let jobs: Vec<_> = wanted.flat_map(|it| PASSES.map(|pass| (it.problem, pass))).collect();
    jobs.into_par_iter().for_each(|(problem, pass)| {
        // What fails here fails again where it is called, and is told there.
        drop(compile_rows(&problem, pass, chosen_rows(gpu, &problem, pass), sm, arch));
    });
}

/// Measures the passes of one case that have a kernel.
pub fn run(session: &Session, case: &str, report: &mut Report) -> Result<()> {
    let mut operands = Operands::new(session, named(case)?)?;
    for pass in PASSES {
        operands.check(pass)?;
        let metric = match pass {
            Pass::Forward => "forward_device_us",
            Pass::GradInput => "grad_input_device_us",
            Pass::GradWeight => "grad_weight_device_us",
        };
        let limit = session.limit_us(operands.of.problem.bytes(pass) as usize)?;
        let us = operands.cold_us(session, pass)?;
        report.add("conv2d", case, metric, us, "us").limited(limit);
    }
    if operands.of.sets.iter().any(|set| set == "batch") {
        report.add("conv2d", case, "forward_left_device_us", operands.left_us(session)?, "us");
    }
    Ok(())
}

/// Operands of a case on the GPU and a result of each pass.
struct Operands {
    of: Convolution,
    params: Conv2d,
    x: Input,
    w: Weights,
    dy: Output,
    bias: Numbers,
    y: Output,
    dx: Input,
}

impl Operands {
    fn new(session: &Session, of: Convolution) -> Result<Self> {
        let (problem, device) = (&of.problem, &session.device);
        let x = repeated(problem.input_extents(), f16::from_f32)?.to(device)?;
        let dy = repeated(problem.output_extents(), f16::from_f32)?.to(device)?;
        let w = repeated(problem.weight_extents(), f16::from_f32)?.to(device)?;
        let numbers = (0..problem.channels()).map(|channel| (channel % 7) as f32 / 8.0).collect();
        let bias = Tensor::from_vec([problem.channels()], numbers)?.to(device)?;
        let (y, dx) =
            (Tensor::zeros(problem.output_extents(), device)?, Tensor::zeros(problem.input_extents(), device)?);
        Ok(Self { params: params(problem), of, x, w, dy, bias, y, dx })
    }

    /// A pass into its result.
    fn call(&mut self, pass: Pass) -> Result<()> {
        let Self { of, params, x, w, dy, bias, y, dx } = self;
        match pass {
            Pass::Forward if of.bias => conv2d_into(y, x, w, &params.bias(bias))?,
            Pass::Forward => conv2d_into(y, x, w, params)?,
            Pass::GradInput => conv2d_grad_input_into(dx, dy, w, params)?,
            Pass::GradWeight => return Err("the weights' gradient has no kernel".into()),
        }
        Ok(())
    }

    /// The first image of a pass against the CPU's.
    fn check(&mut self, pass: Pass) -> Result<()> {
        self.call(pass)?;
        let Self { of, params, x, w, dy, bias, y, dx } = self;
        let (w, size) = (w.to(&Device::Cpu)?, [of.problem.height, of.problem.width]);
        let (got, expected) = match pass {
            Pass::GradInput => {
                let dy = dy.narrow::<N>(0, 1)?.to(&Device::Cpu)?;
                (dx.narrow::<N>(0, 1)?.to_vec()?, conv2d_grad_input(&dy, &w, size, params)?.to_vec()?)
            }
            _ => {
                let (x, got) = (x.narrow::<N>(0, 1)?.to(&Device::Cpu)?, y.narrow::<N>(0, 1)?.to_vec()?);
                let expected: Output = match of.bias {
                    true => conv2d(&x, &w, &params.bias(&bias.to(&Device::Cpu)?))?,
                    false => conv2d(&x, &w, params)?,
                };
                (got, expected.to_vec()?)
            }
        };
        are_close(&got, &expected)
    }

    /// A pass that finds nothing of its operands in the level-2 cache.
    fn cold_us(&mut self, session: &Session, pass: Pass) -> Result<f64> {
        let flushed: DeviceBuffer<u8> = session.gpu.stream().alloc(FLUSH_BYTES)?;
        session.clock.single_us(&mut || Ok(flushed.fill_bytes(0)?), &mut || self.call(pass))
    }

    /// The forward pass right after its input was written, as the layer before leaves it.
    fn left_us(&mut self, session: &Session) -> Result<f64> {
        let copy: Copy = fuse(|x: In<f16, (N, H, W, C)>| x.store::<(N, H, W, C)>());
        let Self { of, params, x, w, bias, y, dx, .. } = self;
        let flushed: DeviceBuffer<u8> = session.gpu.stream().alloc(FLUSH_BYTES)?;
        copy.call_into(dx, &*x)?;
        let x = std::cell::RefCell::new(x);
        let mut written_before = || {
            flushed.fill_bytes(0)?;
            Ok(copy.call_into(&mut x.borrow_mut(), &*dx)?)
        };
        let mut forward = || match of.bias {
            true => Ok(conv2d_into(y, &x.borrow(), w, &params.bias(bias))?),
            false => Ok(conv2d_into(y, &x.borrow(), w, params)?),
        };
        session.clock.single_us(&mut written_before, &mut forward)
    }
}

/// Refuses results that are too far from what they should be, and says where the first of them is.
fn are_close(got: &[f16], expected: &[f16]) -> Result<()> {
    if got.len() != expected.len() {
        return Err(format!("{} results, expected {}", got.len(), expected.len()).into());
    }
    let is_far = |(got, expected): (&f16, &f16)| {
        let (got, expected) = (got.to_f32(), expected.to_f32());
        let far = (got - expected).abs();
        far.is_nan() || far > TOLERANCE * expected.abs().max(1.0)
    };
    match got.iter().zip(expected).position(is_far) {
        None => Ok(()),
        Some(at) => Err(format!("result {at} is {}, the CPU's {}", got[at], expected[at]).into()),
    }
}
