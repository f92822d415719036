//! Depthwise convolutions by the kernel in which lanes multiply, under many of its configurations, and by the row kernel's choice.

use crate::Result;
use crate::convolutions::{Convolution, convolutions};
use crate::report::Report;
use crate::session::Session;
use crate::shapes::params;
use crate::suites::config::name;
use crate::tuning::timing::{C, H, K, N, R, S, W, in_turns, repeated};
use rayon::prelude::*;
use tilewright_expr::{bf16, f16};
use tilewright_ops::Tensor;
use tilewright_ops::conv::{
    Config, Convolved, DepthwiseConfig, Multiprocessor, Pass, Precision, RowConfig, chosen_rows,
};
use tilewright_ops::conv::{compile_depthwise, compile_rows, conv2d_grad_input_into, conv2d_into, depthwise_estimates};

/// How many of those that the estimate expects to be fastest, and how many of them with rings of each of these lengths.
const FIRST: usize = 24;
const WITH_RINGS: usize = 6;
const RINGS: [usize; 5] = [3, 4, 5, 6, 8];

/// Measures all passes of all cases of `conv2d` that the kernel is made for, back to back, with operands that rotate.
pub(super) fn run(session: &Session, report: &mut Report) -> Result<()> {
    for of in convolutions()?.iter().filter(|of| of.problem.group_width == 1) {
        for pass in [Pass::Forward, Pass::GradInput] {
            match of.problem.precision {
                Precision::F16 => one(session, of, pass, f16::from_f32, report)?,
                Precision::Bf16 => one(session, of, pass, bf16::from_f32, report)?,
                Precision::F32 => one(session, of, pass, |value| value, report)?,
            }
        }
    }
    Ok(())
}

fn one<T: Convolved>(
    session: &Session,
    of: &Convolution,
    pass: Pass,
    number: fn(f32) -> T,
    report: &mut Report,
) -> Result<()> {
    let (gpu, problem) = (&session.gpu, &of.problem);
    let (sm, arch) = (Multiprocessor::of(gpu), gpu.device().arch());
    let estimates = depthwise_estimates(problem, pass, sm, &gpu.facts());
    let Some((_, first)) = estimates.first().copied() else { return Ok(()) };
    let mut lanes: Vec<DepthwiseConfig> = estimates.iter().take(FIRST).map(|(_, config)| *config).collect();
    let of_rings = |config: &DepthwiseConfig| RINGS.map(|slots| DepthwiseConfig { slots, ..*config });
    lanes.extend(lanes.iter().take(WITH_RINGS).flat_map(of_rings).collect::<Vec<_>>());
    let mut once = Vec::new();
    lanes.into_iter().for_each(|config| {
        if !once.contains(&config) {
            once.push(config)
        }
    });
    // What does not fit a block does not compile.
    let fits = |config: &DepthwiseConfig| compile_depthwise(problem, pass, *config, sm, arch).is_ok();
    let lanes: Vec<DepthwiseConfig> = once.into_par_iter().filter(fits).collect();
    let rows = chosen_rows(gpu, problem, pass);
    compile_rows(problem, pass, rows, sm, arch)?;

    let sets = session.sets(problem.bytes(pass) as usize);
    let (x, y) = (repeated(problem.input_extents(), number)?, repeated(problem.output_extents(), number)?);
    let mut x = (0..sets).map(|_| Ok(x.to(&session.device)?)).collect::<Result<Vec<Tensor<T, (N, H, W, C)>>>>()?;
    let mut y = (0..sets).map(|_| Ok(y.to(&session.device)?)).collect::<Result<Vec<Tensor<T, (N, H, W, K)>>>>()?;
    let w: Tensor<T, (K, R, S, C)> = repeated(problem.weight_extents(), number)?.to(&session.device)?;
    let call = |config: Choice, turn: usize| -> Result<()> {
        let (turn, params) = (turn % sets, params(problem).config(config.config()));
        match pass {
            Pass::GradInput => conv2d_grad_input_into(&mut x[turn], &y[turn], &w, &params)?,
            _ => conv2d_into(&mut y[turn], &x[turn], &w, &params)?,
        }
        Ok(())
    };
    let all: Vec<Choice> = lanes.into_iter().map(Choice::Lanes).chain([Choice::Tensors(rows)]).collect();
    let timed = in_turns(session, &of.case, &all, call)?;
    let us = |choice| timed.iter().find(|it| it.config == choice).map(|it| f64::from(it.median_us));
    let of_lanes = timed.iter().filter(|it| matches!(it.config, Choice::Lanes(_)));
    let best = of_lanes.min_by(|a, b| a.median_us.total_cmp(&b.median_us));
    if let Some(best) = best {
        eprintln!("{} {}: {:?}, first {first:?}", of.case, name(pass), best.config);
    }
    let figures = [
        ("lanes_first", us(Choice::Lanes(first))),
        ("lanes_best", best.map(|it| f64::from(it.median_us))),
        ("rows_chosen", us(Choice::Tensors(rows))),
    ];
    for (what, us) in figures {
        let Some(us) = us else { continue };
        report.add("config", "depthwise", &format!("{}/{}_{what}_device_us", of.case, name(pass)), us, "us");
    }
    Ok(())
}

/// One of either kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choice {
    Lanes(DepthwiseConfig),
    Tensors(RowConfig),
}

impl Choice {
    fn config(self) -> Config {
        match self {
            Choice::Lanes(config) => Config::depthwise(config),
            Choice::Tensors(config) => Config::rows(config),
        }
    }
}
