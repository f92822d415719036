//! What is measured: of each problem a sample of configurations, the same in every run.

use super::bodies::case;
use super::case::Case;
use super::list::{Problem, held_out, training};
use crate::Result;
use crate::session::Session;
use crate::tuning::grouped::{For, Grouped};
use crate::tuning::plan::{List, Random};
use crate::tuning::timing::{Timed, in_turns};
use std::collections::HashSet;
use tilewright_ops::Error;
use tilewright_ops::pointwise::{Pointwise, PointwiseOperation, PointwiseProblem};
use tilewright_perf::dataset::{Named, Row};

/// A problem with configurations to measure.
#[derive(Debug)]
pub struct PointwiseGroup {
    /// The body and its sizes.
    pub problem: Problem,
    /// What the model is told of it.
    pub facts: PointwiseProblem,
    /// What is measured.
    pub configs: Vec<Pointwise>,
    case: Case,
}

/// The groups of a list without what is known, in an order in which the first of them are a sample of all: of each problem so many
/// configurations, the plan's own first, the others at random. Refuses problems whose kernels are not pointwise ones.
pub fn planned(list: List, count: usize, known: &[Row]) -> Result<Vec<PointwiseGroup>> {
    let mut problems = match list {
        List::Training => training()?,
        List::HeldOut => held_out()?,
        _ => return Err("pointwise kernels have the lists `training` and `held-out` alone".into()),
    };
    Random(list.seed()).shuffle(&mut problems);
    let known: HashSet<_> = known.iter().map(|row| (&row.problem, &row.configuration)).collect();
    let mut groups = Vec::new();
    for (at, problem) in problems.into_iter().enumerate() {
        let mut group = PointwiseGroup::new(problem, count, &mut Random(at as u64 + 1000))?;
        let names = group.facts.names();
        group.configs.retain(|config| !known.contains(&(&names, &PointwiseOperation::configuration(config))));
        groups.extend((!group.configs.is_empty()).then_some(group));
    }
    Ok(groups)
}

impl PointwiseGroup {
    fn new(problem: Problem, count: usize, numbers: &mut Random) -> Result<Self> {
        let case = case(&problem.body, problem.sizes)?;
        let facts = case.plan.pointwise()?.ok_or_else(|| format!("{problem} is no pointwise kernel"))?;
        let mut configs = facts.division().configurations();
        let mut others = configs.split_off(1);
        numbers.shuffle(&mut others);
        configs.extend(others.into_iter().take(count.saturating_sub(1)));
        Ok(Self { problem, facts, configs, case })
    }
}

/// Most sets of operands, and beyond how many times L2 one is enough.
const SETS: usize = 256;
const LARGE: usize = 8;

impl Grouped for PointwiseGroup {
    type Config = Pointwise;

    fn name(&self) -> String {
        self.problem.to_string()
    }

    fn configs(&self) -> &[Pointwise] {
        &self.configs
    }

    fn plain(&self) -> Pointwise {
        self.facts.division().untold
    }

    fn problem(&self) -> Named {
        self.facts.names()
    }

    fn named(&self, config: Pointwise) -> Named {
        PointwiseOperation::configuration(&config)
    }

    fn compile(&self, config: Pointwise, (_, arch): For) -> std::result::Result<(), Error> {
        self.case.plan.compile_configured(config, arch)
    }

    fn time(&self, session: &Session, configs: &[Pointwise]) -> Result<Vec<Timed<Pointwise>>> {
        let bytes = self.facts.bytes();
        let large = bytes > LARGE * session.gpu.device().l2_bytes();
        let call = (self.case.open)(session, if large { 1 } else { session.sets(bytes).min(SETS) })?;
        in_turns(session, &self.name(), configs, call)
    }
}
