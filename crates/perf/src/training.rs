//! From rows that were measured to a model, and how good it is on problems that it has not seen.

use crate::dataset::{Named, Row};
use crate::device::DeviceFacts;
use crate::features::Features;
use crate::gbt::{Ensemble, GbtParams, Table};
use crate::model::{Body, Model};
use crate::work::Work;
use crate::{Error, evaluation};
use std::collections::BTreeMap;

/// What an operation says of itself, so that its rows can be learned from.
pub trait Operation {
    /// Its name, that of rows and models.
    fn name(&self) -> &str;

    /// The features of its works.
    fn features(&self) -> Result<Features, Error>;

    /// What a configuration does for a problem on a device. Errors for names that are missing and for configurations that are illegal.
    fn work(&self, problem: &Named, configuration: &Named, device: &DeviceFacts) -> Result<Work, Error>;

    /// What a configuration has in common with those that a model is wrong about alike: of each kind one is timed first
    /// ([`shortlist`](crate::shortlist())). Its own kind, unless an operation knows better.
    fn kind(&self, configuration: &Named) -> Result<Vec<i64>, Error> {
        Ok(configuration.values().copied().collect())
    }

    /// The shape that a problem has in common with others, passes of the same layer say: no fit is tested on a shape that it has seen of
    /// another one. The problem itself, unless an operation knows better.
    fn shape(&self, problem: &Named) -> Named {
        problem.clone()
    }

    /// How its models are fitted.
    fn plan(&self) -> Plan {
        Plan::default()
    }
}

/// How to fit.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The trees.
    pub params: GbtParams,
    /// How many fits with different seeds.
    pub seeds: u64,
    /// How many folds cross-validation has.
    pub folds: usize,
}

impl Default for Plan {
    /// Three seeds of trees that take small steps; five folds. Fewer and smaller trees are asked faster, and choose worse: docs/performance-model.md.
    fn default() -> Self {
        let params = GbtParams::default().trees(300).depth(6).rate(0.06).early_stopping(0.1, 30);
        Self { params, seeds: 3, folds: 5 }
    }
}

/// Rows as a learner sees them.
#[derive(Clone, Debug)]
pub struct Examples {
    features: Vec<f32>,
    columns: usize,
    targets: Vec<f32>,
    expected: Vec<f32>,
    measured: Vec<f32>,
    groups: Vec<u32>,
    shapes: Vec<u32>,
    cases: Vec<u32>,
    kinds: Vec<u32>,
    problems: Vec<Named>,
    devices: Vec<DeviceFacts>,
}

impl Examples {
    /// The examples that rows of an operation make. Refuses rows of other operations, of devices that are not among `devices`, and
    /// those that [`Operation::work`] or [`Features::fill`] refuses.
    pub fn of(operation: &dyn Operation, rows: &[Row], devices: &[DeviceFacts]) -> Result<Self, Error> {
        let features = operation.features()?;
        let columns = features.count();
        let mut examples = Self {
            features: Vec::with_capacity(rows.len() * columns),
            columns,
            targets: Vec::with_capacity(rows.len()),
            expected: Vec::with_capacity(rows.len()),
            measured: Vec::with_capacity(rows.len()),
            groups: Vec::with_capacity(rows.len()),
            shapes: Vec::with_capacity(rows.len()),
            cases: Vec::with_capacity(rows.len()),
            kinds: Vec::with_capacity(rows.len()),
            problems: Vec::new(),
            devices: Vec::new(),
        };
        let (mut groups, mut cases, mut kinds) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        // The number of each shape, and that of each group's.
        let (mut shapes, mut shape_of) = (BTreeMap::new(), Vec::new());
        let mut values = vec![0.0; columns];
        for row in rows.iter().filter(|row| row.op == operation.name()) {
            let device = devices.iter().find(|device| device.name == row.device);
            let device =
                device.ok_or_else(|| Error::UnknownDevice { name: row.device.clone(), known: devices.len() })?;
            device.check()?;
            let work = operation.work(&row.problem, &row.configuration, device)?;
            let expected = features.fill(&work, device, &mut values)?;
            examples.features.extend(&values);
            examples.targets.push((row.median_us / expected).ln());
            examples.expected.push(expected);
            examples.measured.push(row.median_us);
            let next = groups.len() as u32;
            let group = *groups.entry(&row.problem).or_insert(next);
            if group == next {
                examples.problems.push(row.problem.clone());
                let next = shapes.len() as u32;
                shape_of.push(*shapes.entry(operation.shape(&row.problem)).or_insert(next));
            }
            examples.groups.push(group);
            examples.shapes.push(shape_of[group as usize]);
            let next = cases.len() as u32;
            examples.cases.push(*cases.entry((group, &row.device)).or_insert(next));
            let next = kinds.len() as u32;
            examples.kinds.push(*kinds.entry(operation.kind(&row.configuration)?).or_insert(next));
            if !examples.devices.contains(device) {
                examples.devices.push(device.clone());
            }
        }
        Ok(examples)
    }

    /// How many there are.
    pub fn rows(&self) -> usize {
        self.targets.len()
    }

    /// The problems; [`Examples::groups`] counts them.
    pub fn problems(&self) -> &[Named] {
        &self.problems
    }

    /// The problem of each row.
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// The shape of each row ([`Operation::shape`]), counted: what cross-validation deals.
    pub fn shapes(&self) -> &[u32] {
        &self.shapes
    }

    /// The problem and device of each row, counted: among the rows of one a configuration is chosen.
    pub fn cases(&self) -> &[u32] {
        &self.cases
    }

    /// The kind of each row's configuration ([`Operation::kind`]), counted.
    pub fn kinds(&self) -> &[u32] {
        &self.kinds
    }

    /// What was measured, in microseconds.
    pub fn measured(&self) -> &[f32] {
        &self.measured
    }

    /// What each row's time is learned in relation to, in microseconds.
    pub fn expected(&self) -> &[f32] {
        &self.expected
    }

    fn table(&self) -> Table<'_> {
        let Self { features, columns, targets, groups, .. } = self;
        Table { features, columns: *columns, targets, groups }
    }

    fn only(&self, pick: impl Fn(usize) -> bool) -> Self {
        let rows: Vec<usize> = (0..self.rows()).filter(|row| pick(*row)).collect();
        let of = |values: &[f32]| rows.iter().map(|row| values[*row]).collect();
        let numbers = |values: &[u32]| rows.iter().map(|row| values[*row]).collect();
        let row = |row: &usize| &self.features[row * self.columns..][..self.columns];
        Self {
            features: rows.iter().flat_map(row).copied().collect(),
            columns: self.columns,
            targets: of(&self.targets),
            expected: of(&self.expected),
            measured: of(&self.measured),
            groups: numbers(&self.groups),
            shapes: numbers(&self.shapes),
            cases: numbers(&self.cases),
            kinds: numbers(&self.kinds),
            problems: self.problems.clone(),
            devices: self.devices.clone(),
        }
    }
}

/// The time of each example, in microseconds, as a fit predicts it that has seen no row of the example's shape.
pub fn cross_validate(examples: &Examples, plan: &Plan) -> Result<Vec<f32>, Error> {
    let fold = evaluation::folds(&examples.shapes, plan.folds, 1)?;
    let mut predicted = vec![0.0; examples.rows()];
    for held in 0..plan.folds {
        let known = examples.only(|row| fold[row] != held);
        let tested = examples.only(|row| fold[row] == held);
        let times = predict(&known, &tested, plan)?;
        let places = predicted.iter_mut().enumerate().filter(|(row, _)| fold[*row] == held);
        places.zip(times).for_each(|((_, place), time)| *place = time);
    }
    Ok(predicted)
}

/// The times of examples, in microseconds, as a fit of others predicts them.
pub fn predict(known: &Examples, asked: &Examples, plan: &Plan) -> Result<Vec<f32>, Error> {
    let said = Ensemble::fit(&plan.params, plan.seeds, known.table())?.predict_rows(&asked.features)?;
    Ok(said.iter().zip(&asked.expected).map(|((mean, _), expected)| expected * mean.exp()).collect())
}

/// A model of all examples. `trained` is the day, year-month-day.
pub fn train(operation: &dyn Operation, examples: &Examples, plan: &Plan, trained: &str) -> Result<Model, Error> {
    let ensemble = Ensemble::fit(&plan.params, plan.seeds, examples.table())?;
    let features = operation.features()?;
    Ok(Model::new(Body {
        op: operation.name().to_owned(),
        names: features.names(),
        features,
        devices: examples.devices.clone(),
        trained: trained.to_owned(),
        rows: examples.rows() as u64,
        problems: examples.problems.len() as u64,
        trees: ensemble.into_trees(),
    }))
}
