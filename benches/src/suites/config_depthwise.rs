//! Depthwise convolutions by the kernel in which lanes multiply, and by tensor cores: which is faster, and what the estimate says of it.

use crate::Result;
use crate::convolutions::convolutions;
use crate::report::Report;
use crate::session::Session;
use crate::suites::config::name;
use crate::tuning::grouped::Grouped;
use crate::tuning::plan::{Group, List};
use crate::tuning::timing::{Timed, time_alone};
use rayon::prelude::*;
use tilewright_ops::conv::{
    DepthwiseConfig, KernelConfig, Multiprocessor, Pass, Problem, RowOperation, depthwise_estimates,
};
use tilewright_perf::Models;

/// Of a case of `conv2d`: how many of those that the estimate expects to be fastest, and how many of them with rings of each of these lengths.
const FIRST: usize = 16;
const WITH_RINGS: usize = 4;
const RINGS: [usize; 5] = [4, 5, 6, 8, 10];
/// Of any other shape: how many of them.
const FEW: usize = 5;

/// Measures all passes that the kernel has of all cases of `conv2d`, and of the shapes of all lists, back to back, with operands that rotate.
pub(super) fn run(session: &Session, report: &mut Report) -> Result<()> {
    let models = Models::shipped()?;
    let cases = convolutions()?;
    for of in &cases {
        for pass in [Pass::Forward, Pass::GradInput] {
            let Some(found) = Found::of(session, &models, (&of.problem, pass), true)? else { continue };
            for (what, us) in [("lanes_first", found.first), ("lanes_best", found.best), ("rows_chosen", found.rows)] {
                report.add("config", "depthwise", &format!("{}/{}_{what}_device_us", of.case, name(pass)), us, "us");
            }
        }
    }
    let mut logs = Vec::new();
    for problem in listed()? {
        for pass in [Pass::Forward, Pass::GradInput] {
            // Where calls take the row kernel nothing is compared.
            if let KernelConfig::Depthwise(_) = KernelConfig::on(&session.gpu, &problem, pass)
                && let Some(found) = Found::of(session, &models, (&problem, pass), false)?
            {
                logs.push((found.first / found.rows).ln());
            }
        }
    }
    let count = logs.len() as f64;
    report.add("config", "depthwise", "listed_shapes", count, "");
    report.add("config", "depthwise", "listed_lanes_over_rows", (logs.iter().sum::<f64>() / count).exp(), "");
    report.add("config", "depthwise", "listed_worst", logs.iter().copied().fold(f64::NEG_INFINITY, f64::max).exp(), "");
    Ok(())
}

/// The shapes of groups of one channel of all lists.
fn listed() -> Result<Vec<Problem>> {
    use List::*;
    let mut shapes = Vec::new();
    for list in [Training, TrainingOdd, TrainingRandom, TrainingFurther, TrainingTypes, HeldOut, HeldOutFresh] {
        shapes.extend(list.shapes()?.into_iter().filter(|problem| problem.group_width == 1));
    }
    Ok(shapes)
}

/// Microseconds of a pass.
struct Found {
    /// What a call takes of the kernel in which lanes multiply, or would by the estimate.
    first: f64,
    /// The fastest of all that were timed of that kernel.
    best: f64,
    /// What the model chooses of the row kernel.
    rows: f64,
}

impl Found {
    /// Nothing where the kernel is not made for the pass. All times go to the error stream, with what the estimate says.
    fn of(
        session: &Session,
        models: &Models,
        (problem, pass): (&Problem, Pass),
        thorough: bool,
    ) -> Result<Option<Found>> {
        let (gpu, facts) = (&session.gpu, session.gpu.facts());
        let (sm, arch) = (Multiprocessor::of(gpu), gpu.device().arch());
        let estimates = depthwise_estimates(problem, pass, sm, &facts);
        let Some((_, first)) = estimates.first().copied() else { return Ok(None) };
        let first = match KernelConfig::chosen(models, problem, pass, sm, &facts) {
            KernelConfig::Rows(_) | KernelConfig::Weights(_) => KernelConfig::Depthwise(first),
            taken => taken,
        };
        let rows = KernelConfig::Rows(RowOperation::chosen(models, problem, pass, sm, &facts));
        let count = if thorough { FIRST } else { FEW };
        let mut lanes: Vec<DepthwiseConfig> = estimates.iter().take(count).map(|(_, config)| *config).collect();
        if thorough {
            let of_rings = |config: &DepthwiseConfig| RINGS.map(|slots| DepthwiseConfig { slots, ..*config });
            lanes.extend(lanes.iter().take(WITH_RINGS).flat_map(of_rings).collect::<Vec<_>>());
        }
        let mut once = vec![rows, first];
        lanes.into_iter().map(KernelConfig::Depthwise).for_each(|config| {
            if !once.contains(&config) {
                once.push(config)
            }
        });
        let group = Group { problem: *problem, pass, estimated: rows, configs: Vec::new() };
        // What does not fit a block does not compile.
        once.par_iter().for_each(|config| drop(group.compile(*config, (sm, arch))));
        let timed = group.time(session, &once)?;
        if thorough {
            for Timed { config, median_us, .. } in time_alone(session, &group, &once)? {
                eprintln!("{}, alone: {median_us:.2} us, {config:?}", group.name());
            }
        }
        let expected = |config| {
            let found = estimates.iter().find(|(_, it)| KernelConfig::Depthwise(*it) == config);
            found.map_or("-".into(), |(us, _)| format!("{us:.2}"))
        };
        for Timed { config, median_us, .. } in &timed {
            eprintln!("{}: {median_us:.2} us, expected {}, {config:?}", group.name(), expected(*config));
        }
        let us = |of: &dyn Fn(KernelConfig) -> bool| {
            let times = timed.iter().filter(|it| of(it.config)).map(|it| f64::from(it.median_us));
            times.fold(f64::INFINITY, f64::min)
        };
        Ok(Some(Found {
            first: us(&|config| config == first),
            best: us(&|config| config != rows),
            rows: us(&|config| config == rows),
        }))
    }
}
