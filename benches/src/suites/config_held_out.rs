//! What calls choose for shapes that no model has seen, timed beside the best that are known of them.

use crate::Result;
use crate::report::Report;
use crate::session::Session;
use crate::suites::config::measured;
use crate::tuning::grouped::Grouped;
use crate::tuning::plan::{Asked, Choice, Group, List, Op, Sampling, planned};
use rayon::prelude::*;
use tilewright_ops::conv::{Multiprocessor, RowOperation, WeightOperation};
use tilewright_perf::Models;
use tilewright_perf::evaluation::Regret;
use tilewright_perf::training::Operation;

/// Of each shape and pass: all that a refined call times, none of what is new, and those that data sets have as the fastest on this GPU.
const SAMPLING: Sampling = Sampling { chosen: 3, best: 0, strips: 0, near: 0, random: 0, again: 5 };

/// By how much what a call takes, and what one takes that times a few, is slower than the best of what is known: each timed here and now, in turns.
pub(super) fn run(session: &Session, report: &mut Report) -> Result<()> {
    let (gpu, device) = (&session.gpu, session.gpu.facts());
    let (models, sm) = (Models::shipped()?, Multiprocessor::of(gpu));
    let operations: [(Op, &dyn Operation); 2] = [(Op::Conv2d, &RowOperation), (Op::Conv2dGradWeight, &WeightOperation)];
    for (op, operation) in operations {
        let asked = Asked { sm, device: &device, models: &models };
        let mut groups = Vec::new();
        for list in [List::HeldOut, List::HeldOutFresh] {
            let mut known = measured(operation, list)?;
            known.retain(|row| row.device == device.name);
            groups.extend(planned((op, list), SAMPLING, &asked, &known)?);
        }
        let on = (sm, gpu.device().arch());
        // What fails here fails again where it is timed, and is told there.
        let jobs: Vec<_> = groups.iter().flat_map(|group| group.configs.iter().map(move |it| (group, *it))).collect();
        jobs.par_iter().for_each(|(group, config)| drop(group.compile(*config, on)));

        let (mut problems, mut times, mut places) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
        for (number, group) in groups.into_iter().enumerate() {
            let (problem, pass) = (group.problem, group.pass);
            let taken = [Choice::of_a_call(gpu, &problem, pass), Choice::refined(gpu, &problem, pass)?];
            let configs = [&group.configs[..], &taken].concat();
            let group = Group { configs: unique(configs), ..group };
            for timed in group.time(session, &group.configs)? {
                problems.push(number as u32);
                times.push(timed.median_us);
                for (places, taken) in places.iter_mut().zip(taken) {
                    places.push(if timed.config == taken { 0.0 } else { 1.0 });
                }
            }
        }
        for (choice, places) in ["call", "refined_call"].into_iter().zip(&places) {
            let regret = Regret::of_top(1, &problems, &times, places)?;
            for (what, part) in
                [("geometric_mean", regret.geometric_mean), ("90th", regret.ninetieth), ("worst", regret.worst)]
            {
                let metric = format!("{}/{choice}_{what}", op.name());
                report.add("config", "refined-held-out", &metric, 100.0 * part, "%");
            }
        }
    }
    Ok(())
}

/// Each once.
fn unique(configs: Vec<Choice>) -> Vec<Choice> {
    let mut once = Vec::new();
    configs.into_iter().for_each(|config| {
        if !once.contains(&config) {
            once.push(config)
        }
    });
    once
}
