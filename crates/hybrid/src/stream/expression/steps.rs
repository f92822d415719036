//! How an expression is computed that cannot be cut as it is, or of which no band fits: in steps.

use super::evaluation::{Evaluation, Fed, Made, On};
use super::folded::{Fold, MOST};
use super::passes::{Compute, Passes, Under, results_of};
use super::plan::{ExpressionPlan, OtherPasses};
use super::section::Goal;
use super::split::Split;
use crate::Error;
use crate::stream::control::Control;
use crate::stream::matmul::Traffic;
use tilewright_expr::cut::{self, Numbers};
use tilewright_expr::graph::{DimId, Node, Op};
use tilewright_expr::reduce::Reduction;
use tilewright_ops::Launcher;

/// Bytes from which on it is better to begin before all of them are there.
const LONG: u64 = 256 << 20;
/// How much more may be copied of page-locked memory by whole rows than threads would gather of parts of rows: these have 16 GB/s each way of 55 (16 cores
/// beside an H200, rows of 2 KB, 2026-11-29).
const GATHERED: u128 = 2;

/// Nodes at which it is tried to have an expression in two.
const MOST_SPLITS: usize = 8;

/// What computes a whole expression, in steps of its own where it has to.
pub(super) type Evaluate<'c> = dyn FnMut(&Evaluation<'_>, Control<'_>) -> Result<Traffic, Error> + 'c;

/// How an expression is computed in steps.
pub(super) enum Steps<'a> {
    /// Bands are reduced, and what is left is evaluated.
    Folded(Box<Fold<'a>>),
    /// What stands before bands is found where scans go along the dimension, then they are evaluated.
    Passes(Passes<'a>),
    /// Some of the results, and then others.
    Apart(Vec<Evaluation<'a>>),
    /// A part of the expression is stored, and then the rest is evaluated.
    Split(Box<Split<'a>>),
}

impl<'a> Steps<'a> {
    /// Computes all of it into these results.
    pub(super) fn run(
        &self,
        (under, made): (Under<'_>, &[Made<'_>]),
        compute: &mut Compute<'_>,
        evaluate: &mut Evaluate<'_>,
    ) -> Result<Traffic, Error> {
        match self {
            Steps::Folded(fold) => {
                let (first, (rest, _parts)) = fold.run((under, made), compute)?;
                Ok(first.and(evaluate(&rest, under.control)?))
            }
            Steps::Passes(passes) => passes.run(under, made.iter().map(Made::same).collect(), compute),
            Steps::Split(split) => split.run((under, made), evaluate),
            Steps::Apart(parts) => {
                parts.iter().try_fold(Traffic::default(), |done, part| Ok(done.and(evaluate(part, under.control)?)))
            }
        }
    }

    /// Its plan in bands of one index each, where memory is no matter for what other passes do.
    fn of_indices(&self, made: &[Made<'_>], on: On) -> Result<ExpressionPlan, Error> {
        let Steps::Apart(parts) = self else { return Ok(self.plan(made, on, u64::MAX)?.with_others().of_length(1)) };
        let plans = parts.iter().map(|part| Ok((part.planned(on, u64::MAX)?.with_others(), part)));
        let plans = plans.collect::<Result<Vec<_>, Error>>()?;
        let each = |plan: &ExpressionPlan| OtherPasses::of(plan).and(plan.others);
        let all = plans.iter().fold(OtherPasses::default(), |all, (plan, _)| all.and(each(plan)));
        let most = plans.iter().max_by_key(|(plan, _)| plan.bytes_to_gpu() + plan.bytes_to_host());
        let (plan, part) = most.ok_or_else(|| Error::Uncut { dimension: "?", why: "it has no results".into() })?;
        Ok(ExpressionPlan { others: all.but(OtherPasses::of(plan)), ..part.of_indices(on) })
    }

    /// Its plan: of the bands that are reduced, of those of the results, or of the part that copies most. And those of all passes.
    fn plan(&self, made: &[Made<'_>], on: On, budget: u64) -> Result<Planned, Error> {
        match self {
            Steps::Folded(fold) => {
                let plan = fold.parts.plan(on, budget)?;
                let (rest, held) = fold.left_to_plan(made, &plan)?;
                let left = if on == On::HOST { budget.saturating_sub(held) } else { budget };
                let mut passes = fold.parts.plans(on, &plan);
                passes.extend(rest.planned(on, left)?.passes);
                Ok(Planned { plan, passes })
            }
            Steps::Passes(bands) => {
                let plan = bands.plan(on, budget)?;
                Ok(Planned { plan, passes: bands.plans(on, &plan) })
            }
            Steps::Split(split) => split.plan(made, on, budget),
            Steps::Apart(parts) => {
                let plans = parts.iter().map(|part| part.planned(on, budget)).collect::<Result<Vec<_>, Error>>()?;
                let bytes = |plan: &ExpressionPlan| plan.bytes_to_gpu() + plan.bytes_to_host();
                let most = plans.iter().map(|it| it.plan).max_by_key(bytes);
                let plan = most.unwrap_or_else(|| ExpressionPlan::of_indices(&parts[0], on));
                Ok(Planned { plan, passes: plans.into_iter().flat_map(|it| it.passes).collect() })
            }
        }
    }
}

/// A plan, and those of all passes, of which it is one.
pub(super) struct Planned {
    pub(super) plan: ExpressionPlan,
    pub(super) passes: Vec<ExpressionPlan>,
}

impl Planned {
    /// The plan, which says what the other passes copy.
    pub(super) fn with_others(self) -> ExpressionPlan {
        let all = self.passes.iter().fold(OtherPasses::default(), |all, pass| all.and(OtherPasses::of(pass)));
        ExpressionPlan { others: all.but(OtherPasses::of(&self.plan)), ..self.plan }
    }
}

impl<'a> Evaluation<'a> {
    /// How it is computed where there are so many bytes.
    pub(super) fn planned(&self, on: On, budget: u64) -> Result<Planned, Error> {
        if let Some((_, planned)) = self.planned_steps(on, budget)? {
            return Ok(planned);
        }
        let plan = ExpressionPlan::new(self, on, budget)?;
        Ok(Planned { plan, passes: vec![plan] })
    }

    /// Bands of all passes.
    pub(super) fn passes_of(&self, on: On, budget: u64) -> Result<u64, Error> {
        Ok(self.planned(on, budget)?.passes.iter().map(|plan| plan.count() as u64).sum())
    }

    /// How it is computed in steps where there are so many bytes, and in which bands, unless it is cut into such as fit, or all of it is one band: a short
    /// one, or the only one that fits.
    pub(super) fn planned_steps(&self, on: On, budget: u64) -> Result<Option<(Steps<'a>, Planned)>, Error> {
        let plan = ExpressionPlan::new(self, on, budget);
        let fits = || !matches!(plan, Err(Error::Budget { .. } | Error::Uncut { .. }));
        let is_done_at_once = if self.cut.is_ok() { fits() } else { self.is_short(on, budget) };
        if is_done_at_once {
            let narrow = plan.ok().filter(|plan| self.cut.is_ok() && self.is_narrow(on, plan));
            return Ok(narrow.and_then(|plan| self.in_whole_rows(&plan, on, budget)));
        }
        let mut refused = None;
        for steps in self.steps() {
            match steps.plan(&self.made, on, budget) {
                Ok(planned) => return Ok(Some((steps, planned))),
                Err(error @ (Error::Budget { .. } | Error::Uncut { .. })) => _ = refused.get_or_insert(error),
                Err(error) => return Err(error),
            }
        }
        // Bands that do not fit ask for less than all of it.
        match refused.filter(|_| self.cut.is_err() && !fits()) {
            Some(error) => Err(error),
            None => Ok(None),
        }
    }

    /// Cut along a dimension whose bands are whole rows, where no more is copied than [`GATHERED`] times what a plan has whose are not, and the bits are the same.
    fn in_whole_rows(&self, narrow: &ExpressionPlan, on: On, budget: u64) -> Option<(Steps<'a>, Planned)> {
        let copied = |plan: &ExpressionPlan| plan.bytes_to_gpu() + plan.bytes_to_host();
        let is_rounded =
            |node: &Node| matches!(node.op, Op::Scan { reduction: Reduction::Sum, .. }) && node.dtype.is_float();
        let scanned = self.scanned().filter(|_| !self.expression.graph().nodes().any(is_rounded));
        let ways = self.elsewhere().chain(scanned).filter_map(|passes| {
            passes.plan(on, budget).ok().filter(|plan| !passes.bands.is_narrow(on, plan))?;
            let steps = Steps::Passes(passes);
            let planned = steps.plan(&self.made, on, budget).ok()?;
            let all = planned.passes.iter().map(copied).sum::<u128>();
            (all <= GATHERED * copied(narrow)).then_some((all, (steps, planned)))
        });
        ways.min_by_key(|(all, _)| *all).map(|(_, way)| way)
    }

    /// Whether all of it is one band, and a short one.
    fn is_short(&self, on: On, budget: u64) -> bool {
        let ExpressionPlan { bytes_in, bytes_out, bytes_once, .. } = ExpressionPlan::of_indices(self, on);
        bytes_in + bytes_out + bytes_once <= u128::from(budget.min(LONG))
    }

    /// Its plan in bands of one index each, or that of the first steps in which it could be computed.
    pub(super) fn of_indices(&self, on: On) -> ExpressionPlan {
        let steps = if self.cut.is_ok() { Vec::new() } else { self.steps() };
        let plan = steps.iter().find_map(|steps| steps.of_indices(&self.made, on).ok());
        plan.unwrap_or_else(|| ExpressionPlan::of_indices(self, on))
    }

    /// In which steps it could be computed: the first ones that fit are taken.
    pub(super) fn steps(&self) -> Vec<Steps<'a>> {
        let mut steps: Vec<Steps<'a>> = self.scanned().map(Steps::Passes).into_iter().collect();
        if self.is_by_choice {
            steps.extend(self.twice().map(Steps::Passes));
            steps.extend(self.elsewhere().map(Steps::Passes));
            steps.extend(self.parts());
            steps.extend(self.split());
            return steps;
        }
        // Where bands come to more than they are made of, another way may do.
        let (few, many): (Vec<_>, Vec<_>) = self.folds(Fold::of).partition(|fold| self.gathers_little(fold));
        let folded = |folds: Vec<Fold<'a>>| folds.into_iter().next().map(Box::new).map(Steps::Folded);
        steps.extend(folded(few));
        steps.extend(self.twice().map(Steps::Passes));
        steps.extend(self.elsewhere().map(Steps::Passes));
        let images = self.folds(Fold::of_images).filter(|fold| self.gathers_little(fold)).collect();
        steps.extend(folded(images));
        steps.extend(self.apart());
        steps.extend(self.parts());
        steps.extend(folded(many));
        steps.extend(self.split());
        steps
    }

    /// Cut along the first dimension that scans go along.
    fn scanned(&self) -> Option<Passes<'a>> {
        let scans = |dim| self.expression.graph().cut_scans(dim, MOST, self.lengths());
        self.first_passes(scans)
    }

    /// Cut along the first dimension along which operands are read around the point and anywhere too.
    fn twice(&self) -> Option<Passes<'a>> {
        let twice = |dim| self.expression.graph().cut_twice(dim, MOST, self.lengths());
        self.first_passes(twice)
    }

    fn first_passes(&self, passes: impl Fn(DimId) -> Result<cut::Passes, cut::Uncut>) -> Option<Passes<'a>> {
        let cut = self.cut.as_ref().ok().map(|cut| cut.dim);
        let dims = self.dims.iter().filter(|dim| Some(**dim) != cut);
        dims.filter_map(|dim| Passes::of_results(self, passes(*dim).ok()?).ok()).next()
    }

    /// Cut along each dimension, operands being read elsewhere than around the point in bands too.
    fn elsewhere(&self) -> impl Iterator<Item = Passes<'a>> {
        let images = |dim: &DimId| self.expression.graph().cut_images(*dim, self.lengths(), self.goes_on()).ok();
        self.dims.iter().filter_map(images).filter_map(|passes| Passes::of_results(self, passes).ok())
    }

    /// Folded along each dimension, of the largest operand first. What bands were reduced to before is not folded again: so each fold leaves fewer
    /// reductions, and the last one none.
    fn folds(
        &self,
        fold: impl Fn(&Evaluation<'a>, DimId) -> Result<Fold<'a>, String>,
    ) -> impl Iterator<Item = Fold<'a>> {
        self.dims_of_operands().filter(|dim| !self.folded.contains(dim)).filter_map(move |dim| fold(self, dim).ok())
    }

    /// Whether what a band comes to is no more than all that is read.
    fn gathers_little(&self, fold: &Fold<'_>) -> bool {
        let read: u128 = self.fed.iter().map(|fed| fed.shape.bytes() as u128).sum();
        fold.parts.bands.bytes_of_parts() <= read
    }

    /// Results that cannot be cut along one dimension, as many at a time as can.
    fn apart(&self) -> Option<Steps<'a>> {
        let mut parts: Vec<(Vec<usize>, Evaluation<'a>)> = Vec::new();
        for result in 0..self.made.len() {
            let beside = |(results, _): &(Vec<usize>, Evaluation<'a>)| {
                let results = [&results[..], &[result]].concat();
                let part = self.only(&results).filter(|part| part.cut.is_ok())?;
                Some((results, part))
            };
            match parts.iter().enumerate().find_map(|(number, part)| Some((number, beside(part)?))) {
                Some((number, part)) => parts[number] = part,
                None => parts.push((vec![result], self.only(&[result])?)),
            }
        }
        (parts.len() > 1).then(|| Steps::Apart(parts.into_iter().map(|(_, part)| part).collect()))
    }

    /// Some of its results, by their numbers.
    fn only(&self, results: &[usize]) -> Option<Evaluation<'a>> {
        let (graph, kept) = self.expression.graph().only_results(results, self.lengths()).ok()?;
        let operands = kept.into_iter().map(|operand| self.fed[usize::from(operand)].operand()).collect();
        let goals: Vec<Goal<'a>> = results.iter().map(|result| self.made[*result].goal.clone()).collect();
        let numbers: Vec<String> = results.iter().map(usize::to_string).collect();
        let name = format!("{}, result {}", self.expression.name(), numbers.join(" and "));
        Evaluation::left(Launcher::new(graph, &name), operands, &goals, &self.folded).ok()
    }

    /// In two, where neither can be cut with the other.
    fn split(&self) -> impl Iterator<Item = Steps<'a>> {
        let nodes = self.expression.graph().splits().into_iter().take(MOST_SPLITS);
        nodes.filter_map(|node| Split::of(self, node)).map(Box::new).map(Steps::Split)
    }

    /// The parts of its only result, one after the other, each into its section of the sink.
    fn parts(&self) -> Option<Steps<'a>> {
        let (graph, [made]) = (self.expression.graph(), &self.made[..]) else { return None };
        let (along, outputs) =
            graph.results().first().and_then(|joined| Some((joined.along?, joined.outputs.clone())))?;
        let (mut begin, mut parts) = (0, Vec::new());
        for output in outputs {
            let (graph, kept) = graph.only_part(output, self.lengths()).ok()?;
            let operands: Vec<Fed<'a>> =
                kept.into_iter().map(|operand| self.fed[usize::from(operand)].clone()).collect();
            let extents = results_of(&graph, &operands, Numbers::None).ok()?;
            let dims = &graph.outputs[0].dims;
            let length = dims.iter().position(|dim| *dim == along).map_or(1, |axis| extents[0][axis] as usize);
            let tile = made.shape.tile(along, begin..begin + length)?;
            begin += length;
            let name = format!("{}, part {}", self.expression.name(), parts.len());
            let operands = operands.iter().map(Fed::operand).collect();
            let goal = made.goal.section(tile);
            let part = Evaluation::left(Launcher::new(graph, &name), operands, &[goal], &self.folded).ok()?;
            let is_chosen = |dim: &DimId| part.made[0].shape.extent(*dim).is_some();
            let chosen: Vec<DimId> =
                self.dims.iter().copied().filter(|_| self.is_by_choice).filter(is_chosen).collect();
            parts.push(if chosen.is_empty() { part } else { part.by_choice(chosen) });
        }
        Some(Steps::Apart(parts))
    }
}
