//! What calls choose for shapes that no model has seen, timed beside the best that are known of them.

use crate::Result;
use crate::report::Report;
use crate::session::Session;
use crate::suites::config::measured;
use crate::tuning::grouped::Grouped;
use crate::tuning::plan::{Asked, Group, List, Op, Sampling, planned};
use crate::tuning::timing::{Timed, time, time_alone};
use rayon::prelude::*;
use tilewright_ops::conv::{KernelConfig, Multiprocessor, RowOperation, WeightOperation};
use tilewright_perf::Models;
use tilewright_perf::evaluation::Regret;
use tilewright_perf::training::Operation;

/// Of each shape and pass: all that a refined call times, none of what is new, and those that data sets have as the fastest on this GPU.
const SAMPLING: Sampling = Sampling { chosen: 3, best: 0, strips: 0, near: 0, random: 0, again: 5 };

/// By how much what a call takes, and what one takes that times a few, is slower than the best of what is known: each timed here and now, in turns. All times go
/// to the error stream.
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

        let ways: [(&str, Way); 2] = [("", time), ("_alone", time_alone)];
        let mut told: Vec<_> = ways.iter().map(|(name, _)| Told::new(name)).collect();
        for (number, group) in groups.into_iter().enumerate() {
            let (problem, pass) = (group.problem, group.pass);
            let taken = [KernelConfig::on(gpu, &problem, pass), KernelConfig::refined(gpu, &problem, pass)?];
            let configs = [&group.configs[..], &taken].concat();
            let group = Group { configs: unique(configs), ..group };
            for (told, (_, way)) in told.iter_mut().zip(ways) {
                let timed = way(session, &group, &group.configs)?;
                for Timed { config, median_us, .. } in &timed {
                    let by = match taken.map(|it| it == *config) {
                        [true, true] => ", of calls and refined calls",
                        [true, false] => ", of calls",
                        [false, true] => ", of refined calls",
                        [false, false] => "",
                    };
                    eprintln!("{}{}: {median_us:.2} us{by}, {config:?}", group.name(), told.way);
                }
                told.add(number, &timed, taken);
            }
        }
        told.iter().try_for_each(|told| told.tell(&op.name(), report))?;
    }
    Ok(())
}

/// How configurations are timed: back to back, or alone.
type Way = fn(&Session, &Group, &[KernelConfig]) -> Result<Vec<Timed>>;

/// What calls and refined calls took in one of these ways, beside all that was timed.
struct Told {
    way: &'static str,
    problems: Vec<u32>,
    times: Vec<f32>,
    /// 0 for what is taken, 1 for the rest.
    places: [Vec<f32>; 2],
}

impl Told {
    fn new(way: &'static str) -> Told {
        Told { way, problems: Vec::new(), times: Vec::new(), places: [Vec::new(), Vec::new()] }
    }

    fn add(&mut self, number: usize, timed: &[Timed], taken: [KernelConfig; 2]) {
        for Timed { config, median_us, .. } in timed {
            self.problems.push(number as u32);
            self.times.push(*median_us);
            for (places, taken) in self.places.iter_mut().zip(taken) {
                places.push(if *config == taken { 0.0 } else { 1.0 });
            }
        }
    }

    fn tell(&self, operation: &str, report: &mut Report) -> Result<()> {
        for (choice, places) in ["call", "refined_call"].into_iter().zip(&self.places) {
            let regret = Regret::of_top(1, &self.problems, &self.times, places)?;
            for (what, part) in
                [("geometric_mean", regret.geometric_mean), ("90th", regret.ninetieth), ("worst", regret.worst)]
            {
                let metric = format!("{operation}/{choice}{}_{what}", self.way);
                report.add("config", "refined-held-out", &metric, 100.0 * part, "%");
            }
        }
        Ok(())
    }
}

/// Each once.
fn unique(configs: Vec<KernelConfig>) -> Vec<KernelConfig> {
    let mut once = Vec::new();
    configs.into_iter().for_each(|config| {
        if !once.contains(&config) {
            once.push(config)
        }
    });
    once
}
