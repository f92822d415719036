//! What is tuned: two lists of shapes that have nothing to do with each other, and a sample that stays the same.

use std::collections::HashSet;
use std::sync::LazyLock;
use tilewright_benches::shapes::{
    held_out, held_out_fresh, training, training_further, training_odd, training_random, training_threads,
    training_types,
};
use tilewright_benches::tuning::grouped::Grouped;
use tilewright_benches::tuning::plan::{Asked, Group, List, Op, Sampling, planned, strips_of};
use tilewright_benches::tuning::pointwise;
use tilewright_ops::conv::{KernelConfig, Multiprocessor, Pass, Problem, RowOperation, WeightOperation};
use tilewright_ops::pointwise::PointwiseOperation;
use tilewright_perf::dataset::{Named, Row};
use tilewright_perf::training::{Examples, Operation, Plan, train};
use tilewright_perf::{DeviceFacts, Features, Models};

const SM: Multiprocessor = Multiprocessor { shared_bytes: 232_448, bulk_copies: true };
const SAMPLING: Sampling = Sampling { chosen: 0, best: 2, strips: 0, near: 2, random: 1, again: 0 };

/// What an H200 without models would measure.
fn plan(op: Op, sampling: Sampling, known: &[Row]) -> Vec<Group> {
    plan_by(&Models::default(), op, sampling, known)
}

/// [`plan`] of [`SAMPLING`], where nothing is known.
fn sample(op: Op) -> &'static [Group] {
    static ROWS: LazyLock<Vec<Group>> = LazyLock::new(|| plan(Op::Conv2d, SAMPLING, &[]));
    static WEIGHTS: LazyLock<Vec<Group>> = LazyLock::new(|| plan(Op::Conv2dGradWeight, SAMPLING, &[]));
    match op {
        Op::Conv2d => &ROWS,
        Op::Conv2dGradWeight => &WEIGHTS,
    }
}

fn plan_by(models: &Models, op: Op, sampling: Sampling, known: &[Row]) -> Vec<Group> {
    let asked = Asked { sm: SM, device: &DeviceFacts::h200(), models };
    planned((op, List::HeldOut), sampling, &asked, known).unwrap()
}

fn are_close(a: usize, b: usize) -> bool {
    10 * a.abs_diff(b) <= a.max(b)
}

fn are_twins(a: &Problem, b: &Problem) -> bool {
    (a.group_width, a.kernel) == (b.group_width, b.kernel)
        && are_close(a.height, b.height)
        && are_close(a.width, b.width)
        && are_close(a.channels(), b.channels())
}

#[test]
fn no_shape_that_is_held_out_is_trained_on_nor_a_near_twin_of_one() {
    let lists =
        [training(), training_odd(), training_random(), training_threads(), training_further(), training_types()];
    let trained = lists.map(Result::unwrap).concat();
    let (held, fresh) = (held_out().unwrap(), held_out_fresh().unwrap());
    assert!(trained.len() >= 60 && held.len() >= 25, "{} and {}", trained.len(), held.len());
    let twin = fresh.iter().find_map(|fresh| held.iter().find(|held| are_twins(held, fresh)));
    assert_eq!(twin, None, "what is fresh is unlike what plans were judged by");
    let held = [held, fresh].concat();
    assert_eq!(trained.iter().chain(&held).collect::<HashSet<_>>().len(), trained.len() + held.len());
    for held in &held {
        let twin = trained.iter().find(|trained| are_twins(trained, held));
        assert_eq!(twin, None, "{held:?}");
        let alike = trained.iter().find(|it| (it.height, it.channels()) == (held.height, held.channels()));
        assert_eq!(alike, None, "{held:?}");
    }
    // What training has to cover.
    for width in [1, 4, 8, 16] {
        assert!(trained.iter().any(|it| it.group_width == width) && held.iter().any(|it| it.group_width == width));
    }
}

#[test]
fn a_sample_is_the_same_in_every_run_and_what_is_known_is_left_out() {
    let plan = |known: &[Row]| plan(Op::Conv2d, SAMPLING, known);
    let groups = sample(Op::Conv2d);
    assert_eq!(groups.len(), 2 * held_out().unwrap().len());
    assert!(groups == plan(&[]));
    let group = &groups[7];
    assert_eq!((group.configs.len(), group.configs[0]), (5, group.estimated));
    let row = Row {
        op: RowOperation.name().into(),
        problem: RowOperation::problem(&group.problem, group.pass),
        configuration: group.named(group.configs[0]),
        device: "a GPU".into(),
        clock_mhz: 0.0,
        power_w: 0.0,
        median_us: 1.0,
        spread: 0.0,
    };
    let rest = plan(&[row]);
    // It is the last now: what is not known at all comes first.
    let (again, others) = rest.split_last().unwrap();
    assert_eq!((again.problem, again.pass), (group.problem, group.pass));
    assert_eq!(again.configs, group.configs[1..]);
    assert!(others.iter().eq(groups.iter().filter(|it| *it != group)));
}

/// What the names of a configuration give back.
fn of_names(config: &KernelConfig, names: &Named) -> KernelConfig {
    match config {
        KernelConfig::Rows(_) => KernelConfig::Rows(RowOperation::of_configuration(names).unwrap()),
        KernelConfig::Weights(_) => KernelConfig::Weights(WeightOperation::of_configuration(names).unwrap()),
        KernelConfig::Depthwise(config) => panic!("no data set has {config:?}"),
    }
}

fn names_give_all_back(op: Op, operation: &dyn Operation) {
    let device = DeviceFacts::h200();
    let features: Features = operation.features().unwrap();
    for group in sample(op) {
        let problem = RowOperation::problem(&group.problem, group.pass);
        assert_eq!(RowOperation::of_problem(&problem).unwrap(), (group.problem, group.pass));
        for config in &group.configs {
            let configuration = group.named(*config);
            assert_eq!(of_names(config, &configuration), *config);
            let work = operation.work(&problem, &configuration, &device).unwrap();
            let mut row = vec![0.0; features.count()];
            assert!(features.fill(&work, &device, &mut row).unwrap() > 0.0);
            assert!(row.iter().all(|value| value.is_finite()), "{config:?}");
            // Padding adds work, and takes none away; taps that meet no row of a stride are left out.
            let strided = group.problem.stride != [1, 1];
            assert!(strided || work.flops_done > 0.9 * work.flops, "{} of {}", work.flops_done, work.flops);
        }
    }
}

#[test]
fn names_give_problems_and_configurations_back_and_every_work_has_features() {
    names_give_all_back(Op::Conv2d, &RowOperation);
    names_give_all_back(Op::Conv2dGradWeight, &WeightOperation);
    let mut lacking = RowOperation::problem(&held_out().unwrap()[0], Pass::Forward);
    lacking.remove("left");
    assert!(RowOperation::of_problem(&lacking).unwrap_err().to_string().contains("`left`"));
}

/// The fastest of each number of strips, in the order of the estimate.
#[test]
fn each_number_of_strips_has_its_turn() {
    let sampling = Sampling { chosen: 0, best: 1, strips: 1, near: 0, random: 0, again: 0 };
    let [rows, weights] = [Op::Conv2d, Op::Conv2dGradWeight].map(|op| plan(op, sampling, &[]));
    for group in rows.iter().chain(&weights) {
        let numbers: HashSet<_> = group.configs.iter().map(|it| strips_of(*it)).collect();
        assert_eq!(numbers.len(), group.configs.len(), "{}", group.name());
        assert_eq!(group.configs[0], group.estimated);
    }
    let group = rows.iter().max_by_key(|group| group.configs.len()).unwrap();
    assert!(group.configs.len() > 3 && weights.iter().any(|group| group.configs.len() > 3));
    let estimates = RowOperation::estimates(&group.problem, group.pass, SM, &DeviceFacts::h200());
    let mut seen = HashSet::new();
    let first: Vec<_> =
        estimates.into_iter().map(|it| it.1).filter(|it| seen.insert(it.strips)).map(KernelConfig::Rows).collect();
    assert_eq!(group.configs, first);
}

fn tiles(config: &KernelConfig) -> usize {
    match config {
        KernelConfig::Rows(config) => config.tiles,
        KernelConfig::Weights(config) => config.tiles,
        KernelConfig::Depthwise(config) => panic!("no data set has {config:?}"),
    }
}

/// Rows as if a configuration took the longer the more tiles a warp has.
fn made_up() -> Vec<Row> {
    let sampling = Sampling { best: 6, near: 10, random: 0, ..SAMPLING };
    let row = |group: &Group, config: &KernelConfig| Row {
        op: RowOperation.name().into(),
        problem: group.problem(),
        configuration: group.named(*config),
        device: DeviceFacts::h200().name,
        clock_mhz: 0.0,
        power_w: 0.0,
        median_us: 100.0 * tiles(config) as f32,
        spread: 0.0,
    };
    let groups = plan(Op::Conv2d, sampling, &[]);
    groups.iter().flat_map(|group| group.configs.iter().map(|it| row(group, it))).collect()
}

#[test]
fn the_fastest_of_what_is_known_is_measured_again() {
    let known = made_up();
    let sampling = Sampling { best: 0, near: 0, again: 2, random: 0, ..SAMPLING };
    let groups = plan(Op::Conv2d, sampling, &known);
    assert_eq!(groups.len(), sample(Op::Conv2d).len());
    for group in &groups {
        let problem = RowOperation::problem(&group.problem, group.pass);
        let mut rows: Vec<_> = known.iter().filter(|row| row.problem == problem).collect();
        rows.sort_by(|a, b| a.median_us.total_cmp(&b.median_us));
        let fastest: Vec<_> = rows.iter().take(2).map(|row| row.configuration.clone()).collect();
        assert_eq!(group.configs.iter().map(|it| group.named(*it)).collect::<Vec<_>>(), fastest, "{}", group.name());
    }
    // What models choose too, though it is known.
    let models = Models::shipped().unwrap();
    let group = &plan_by(&models, Op::Conv2d, Sampling { chosen: 1, ..sampling }, &known)[0];
    let chosen = RowOperation::chosen(&models, &group.problem, group.pass, SM, &DeviceFacts::h200());
    assert!(group.configs.contains(&KernelConfig::Rows(chosen)));
}

#[test]
fn a_model_chooses_and_without_one_the_estimate_does() {
    let (device, problem) = (DeviceFacts::h200(), training().unwrap()[0]);
    let estimates = RowOperation::estimates(&problem, Pass::Forward, SM, &DeviceFacts::h200());
    let chosen = |models: &Models| RowOperation::chosen(models, &problem, Pass::Forward, SM, &device);
    assert_eq!(chosen(&Models::default()), estimates[0].1);
    let examples = Examples::of(&RowOperation, &made_up(), std::slice::from_ref(&device)).unwrap();
    let mut models = Models::default();
    models.add(train(&RowOperation, &examples, &Plan { seeds: 1, ..Plan::default() }, "2026-11-23").unwrap());
    let fewest = estimates[..128].iter().map(|(_, config)| config.tiles).min().unwrap();
    assert_eq!(chosen(&models).tiles, fewest);
    assert!(estimates[..128].iter().any(|(_, config)| config.tiles > fewest));
}

#[test]
fn what_models_choose_is_measured_first_and_nothing_twice() {
    let models = Models::shipped().unwrap();
    for op in [Op::Conv2d, Op::Conv2dGradWeight] {
        let sampling = Sampling { chosen: 3, ..SAMPLING };
        let (with, without) = (plan_by(&models, op, sampling, &[]), sample(op));
        assert_eq!(with.len(), without.len());
        for (with, without) in with.iter().zip(without) {
            let (problem, pass, device) = (&with.problem, with.pass, DeviceFacts::h200());
            let first = match op {
                Op::Conv2d => KernelConfig::Rows(RowOperation::chosen(&models, problem, pass, SM, &device)),
                Op::Conv2dGradWeight => KernelConfig::Weights(WeightOperation::chosen(&models, problem, SM, &device)),
            };
            assert_eq!(with.configs[0], first);
            assert_eq!(with.configs.iter().collect::<HashSet<_>>().len(), with.configs.len());
            assert!(without.configs.iter().all(|config| with.configs.contains(config)));
        }
    }
}

#[test]
fn no_pointwise_problem_that_is_held_out_is_trained_on_nor_a_near_twin_of_one() {
    let (trained, held) = (pointwise::training().unwrap(), pointwise::held_out().unwrap());
    assert!(trained.len() >= 60 && held.len() >= 25, "{} and {}", trained.len(), held.len());
    assert_eq!(trained.iter().chain(&held).collect::<HashSet<_>>().len(), trained.len() + held.len());
    for held in &held {
        let twin = trained.iter().find(|it| it.body == held.body && are_close(it.points(), held.points()));
        assert_eq!(twin, None, "{held}");
    }
    // What training has to cover.
    let points = || trained.iter().map(pointwise::Problem::points);
    assert!(points().min().unwrap() <= 1 << 12 && points().max().unwrap() >= 1 << 28);
    assert!(points().filter(|n| n % 2 == 1).count() >= 8);
}

/// All problems of both lists plan without a GPU, as kernels that have configurations; what the model is told of each is something else.
#[test]
fn pointwise_problems_have_configurations_to_choose_from() {
    let (device, features) = (DeviceFacts::h200(), PointwiseOperation.features().unwrap());
    let mut names = HashSet::new();
    let (mut most_operands, mut most_results, mut gathered) = (0, 0, 0);
    for list in [List::Training, List::HeldOut] {
        for group in pointwise::planned(list, 64, &[]).unwrap() {
            assert!(
                names.insert(format!("{:?}", group.problem())),
                "{} is a problem that is there already",
                group.name()
            );
            assert!(group.configs.len() >= 6, "{}: {} configurations", group.name(), group.configs.len());
            assert_eq!(group.configs[0], group.plain());
            let named = group.problem();
            most_operands = most_operands.max(named["operands"]);
            most_results = most_results.max(named["results"]);
            gathered += usize::from(named["read_gathered"] > 0);
            for config in &group.configs {
                let work = PointwiseOperation.work(&named, &group.named(*config), &device).unwrap();
                let mut row = vec![0.0; features.count()];
                assert!(features.fill(&work, &device, &mut row).unwrap() > 0.0);
                assert!(row.iter().all(|value| value.is_finite()), "{} {config:?}", group.name());
            }
        }
    }
    assert_eq!((most_operands, most_results), (6, 3));
    assert!(gathered >= 8, "{gathered} problems with pixels that are gathered");
}

#[test]
fn a_pointwise_sample_is_the_same_in_every_run_and_what_is_known_is_left_out() {
    let plan = |known: &[Row]| pointwise::planned(List::HeldOut, 7, known).unwrap();
    let configs = |known: &[Row]| plan(known).into_iter().map(|it| (it.problem, it.configs)).collect::<Vec<_>>();
    let all = configs(&[]);
    assert_eq!(all.len(), pointwise::held_out().unwrap().len());
    assert_eq!(all, configs(&[]));
    let group = plan(&[]).swap_remove(3);
    let row = Row {
        op: PointwiseOperation.name().into(),
        problem: group.problem(),
        configuration: group.named(group.configs[0]),
        device: "a GPU".into(),
        clock_mhz: 0.0,
        power_w: 0.0,
        median_us: 1.0,
        spread: 0.0,
    };
    let rest = configs(&[row]);
    assert_eq!(rest[3], (all[3].0.clone(), all[3].1[1..].to_vec()));
    assert!(pointwise::planned(List::TrainingOdd, 7, &[]).is_err());
}
