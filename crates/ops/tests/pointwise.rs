//! Configurations of pointwise kernels and the learned choice among them: what the model is told, which class a size is of, what is refused,
//! and the same bits on a GPU.

use crate::support::{Random, assert_same, gpu, skip};
use std::collections::HashSet;
use tilewright_dims::{Dims, dims};
use tilewright_driver::{Arch, toolkit};
use tilewright_expr::bind::{Axis, Place, View, dense};
use tilewright_expr::{In, f16};
use tilewright_ops::pointwise::{Pointwise, PointwiseOperation, PointwiseProblem};
use tilewright_ops::{Plan, Tensor, fuse};
use tilewright_perf::dataset::Row;
use tilewright_perf::training::{Examples, Operation, train};
use tilewright_perf::{DeviceFacts, Features, Model};

dims! { N, Y, X, C }

fn on_device(axes: &[Axis]) -> View<'_> {
    View { axes, place: Place::Device, alignment: 16, boxes: None }
}

/// `a * 2.5 + b` over lines.
fn line(n: i64) -> Plan {
    let axes = dense(<(X,)>::IDS, &[n]);
    let f = fuse(|a: In<f32, (X,)>, b: In<f32, (X,)>| (a * 2.5 + b).store::<(X,)>());
    f.plan_of_views(&[on_device(&axes), on_device(&axes)]).unwrap()
}

/// Rows of a batch, scaled.
fn rows(images: i64, columns: i64) -> Plan {
    let f = fuse(|a: In<f16, (N, X)>, m: In<f32, (N,)>| (a.to::<f32>() * m).exp().store::<(N, X)>());
    let (a, m) = (dense(<(N, X)>::IDS, &[images, columns]), dense(<(N,)>::IDS, &[images]));
    f.plan_of_views(&[on_device(&a), on_device(&m)]).unwrap()
}

/// Packed pixels to planes.
fn planes(images: i64) -> Plan {
    let f = fuse(|p: In<u8, (N, Y, X, C)>| (p.to::<f32>() / 255.0).store::<(N, C, Y, X)>());
    f.plan_of_views(&[on_device(&dense(<(N, Y, X, C)>::IDS, &[images, 40, 50, 3]))]).unwrap()
}

fn facts(plan: &Plan) -> PointwiseProblem {
    plan.pointwise().unwrap().expect("it is pointwise")
}

#[test]
fn every_candidate_has_finite_features_and_names_give_it_back() {
    let (device, features): (DeviceFacts, Features) = (DeviceFacts::h200(), PointwiseOperation.features().unwrap());
    let mut seen = HashSet::new();
    for plan in [line(4096), line(1_000_003), line(1), rows(7, 301), rows(64, 4096), planes(1), planes(33)] {
        let problem = facts(&plan);
        assert_eq!(PointwiseProblem::of_names(&problem.names()).unwrap(), problem);
        assert!(seen.insert(format!("{:?}", problem.names())), "two problems have the same names");
        for class in [problem, problem.class()] {
            let candidates = class.division().configurations();
            assert!((1..=64).contains(&candidates.len()), "{} candidates", candidates.len());
            for config in candidates {
                let named = PointwiseOperation::configuration(&config);
                assert_eq!(PointwiseOperation::of_configuration(&named).unwrap(), config);
                let work = PointwiseOperation.work(&class.names(), &named, &device).unwrap();
                let mut row = vec![0.0; features.count()];
                assert!(features.fill(&work, &device, &mut row).unwrap() > 0.0);
                assert!(row.iter().all(|value| value.is_finite()), "{config:?}");
                assert!(work.flops_done >= work.flops, "{} of {}", work.flops_done, work.flops);
            }
        }
    }
    let illegal = PointwiseOperation::configuration(&Pointwise { lanes: 64, words: 1, threads: 256 });
    let error = PointwiseOperation.work(&facts(&line(4096)).names(), &illegal, &device).unwrap_err().to_string();
    assert!(error.contains("number of lanes is 64"), "{error}");
    let mut lacking = facts(&line(4096)).names();
    lacking.remove("divisor");
    assert!(PointwiseProblem::of_names(&lacking).unwrap_err().to_string().contains("`divisor`"));
}

#[test]
fn facts_are_those_of_the_expression() {
    let of = |plan: &Plan, names: &[&str]| names.iter().map(|n| facts(plan).names()[*n]).collect::<Vec<_>>();
    let traffic = ["read_beside", "read_again", "written_beside", "bytes_read", "bytes_written", "light", "heavy"];
    assert_eq!(of(&line(4096), &traffic), [8, 0, 4, 32768, 16384, 1, 0]);
    assert_eq!(of(&planes(2), &["held", "read_beside", "written_beside", "heavy"]), [3, 3, 12, 3]);
    let scaled = of(&rows(64, 4096), &["inner", "outer", "read_beside", "read_again", "written_beside"]);
    assert_eq!(scaled, [4096, 64, 2, 4, 4]);
    // No kernel is written for what is not pointwise.
    let sum = fuse(|a: In<f32, (Y, X)>| a.sum::<X>().store::<(Y,)>());
    let axes = dense(<(Y, X)>::IDS, &[64, 640]);
    assert_eq!(sum.plan_of_views(&[on_device(&axes)]).unwrap().pointwise().unwrap(), None);
}

/// A model of lines and rows that take these times per byte on a device.
pub(crate) fn model_of(device: DeviceFacts, time: impl Fn(&PointwiseProblem, Pointwise) -> f32) -> Model {
    let mut rows_: Vec<Row> = Vec::new();
    for plan in (10..26).map(|k| line(1 << k)).chain((0..8).map(|k| rows(1 << k, 1024))) {
        let problem = facts(&plan);
        for config in problem.division().configurations() {
            rows_.push(Row {
                op: PointwiseOperation.name().into(),
                problem: problem.names(),
                configuration: PointwiseOperation::configuration(&config),
                device: device.name.clone(),
                clock_mhz: 0.0,
                power_w: 0.0,
                median_us: time(&problem, config) * problem.bytes() as f32 / 1e5,
                spread: 0.0,
            });
        }
    }
    let examples = Examples::of(&PointwiseOperation, &rows_, &[device]).unwrap();
    train(&PointwiseOperation, &examples, &PointwiseOperation.plan(), "2026-11-23").unwrap()
}

#[test]
fn a_model_chooses_one_configuration_for_all_sizes_of_a_class() {
    // Words save time, and the more threads the better.
    let time = |_: &PointwiseProblem, it: Pointwise| 40.0 / it.words as f32 + 1000.0 / it.threads as f32;
    let device = DeviceFacts::h200();
    let model = model_of(device.clone(), time);
    let chosen = |plan: &Plan| facts(plan).chosen(&model, &device).expect("it ranks them");
    let large = chosen(&line(1 << 24));
    assert_eq!((large.lanes, large.words, large.threads), (4, 4, 512));
    // Batches of one class: one configuration, whatever their sizes. Of all batches few.
    let mut all = HashSet::new();
    for from in (0..11).map(|k| 1i64 << k) {
        let sizes = [from, from + from / 3, 2 * from - 1];
        let of: HashSet<Pointwise> = sizes.iter().map(|n| chosen(&rows(*n, 1024))).collect();
        assert_eq!(of.len(), 1, "{sizes:?}: {of:?}");
        all.extend(of);
    }
    assert!(all.len() <= 4, "{all:?}");
}

#[test]
fn what_no_model_makes_much_faster_keeps_the_plans_own() {
    let (device, problem) = (DeviceFacts::h200(), facts(&line(1 << 20)));
    let row = |config: &Pointwise| Row {
        op: PointwiseOperation.name().into(),
        problem: problem.names(),
        configuration: PointwiseOperation::configuration(config),
        device: device.name.clone(),
        clock_mhz: 0.0,
        power_w: 0.0,
        median_us: 10.0 - 0.02 * config.words as f32,
        spread: 0.0,
    };
    let configs = problem.division().configurations();
    let mut rows: Vec<Row> = configs.iter().map(row).collect();
    let other = facts(&line(1 << 22)).names();
    rows.extend(rows.clone().into_iter().map(|it| Row { problem: other.clone(), ..it }));
    let examples = Examples::of(&PointwiseOperation, &rows, std::slice::from_ref(&device)).unwrap();
    let model = train(&PointwiseOperation, &examples, &PointwiseOperation.plan(), "2026-11-23").unwrap();
    assert_eq!(problem.chosen(&model, &device), Some(problem.division().untold));
}

#[test]
fn what_is_not_legal_is_refused() {
    let refused = |plan: &Plan, config| plan.compile_configured(config, Arch::new(9, 0)).unwrap_err().to_string();
    let text = refused(&line(4096), Pointwise { lanes: 32, words: 1, threads: 256 });
    assert!(text.contains("number of lanes is 32") && text.contains("1 to 4"), "{text}");
    let sum = fuse(|a: In<f32, (Y, X)>| a.sum::<X>().store::<(Y,)>());
    let axes = dense(<(Y, X)>::IDS, &[64, 640]);
    let plan = sum.plan_of_views(&[on_device(&axes)]).unwrap();
    assert!(refused(&plan, Pointwise { lanes: 1, words: 1, threads: 256 }).contains("only a pointwise kernel"));
}

#[test]
fn configured_kernels_compile() {
    if toolkit::nvrtc().is_err() {
        return skip("pointwise::configured_kernels_compile", "no NVRTC");
    }
    let config = Pointwise { lanes: 2, words: 2, threads: 128 };
    for plan in [line(4099), rows(5, 1300), planes(3)] {
        plan.compile_configured(config, Arch::new(9, 0)).unwrap();
    }
}

#[test]
fn the_cpu_does_not_look_at_a_configuration() {
    let f = fuse(|a: In<f32, (X,)>| (a * 2.0).store::<(X,)>());
    let x = Tensor::<f32, (X,)>::from_vec([3], vec![1.0, 2.0, 3.0]).unwrap();
    let wrong = f.configured(Pointwise { lanes: 5, words: 7, threads: 9 });
    assert_eq!(wrong.call(&x).unwrap().to_vec().unwrap(), [2.0, 4.0, 6.0]);
}

#[test]
fn all_configurations_give_the_same_bits_on_a_gpu() {
    let Some((device, _lock)) = gpu("pointwise::all_configurations_give_the_same_bits_on_a_gpu") else { return };
    let mut r = Random(5);
    let f = fuse(|a: In<f32, (Y, X)>, b: In<f32, (X,)>| ((a * b).exp().store::<(Y, X)>(), (a - b).store::<(Y, X)>()));
    for extents in [[1, 70_001], [9, 4096], [33, 1303]] {
        let a = r.vec(extents[0] * extents[1], |r| r.unit() as f32);
        let a = Tensor::<f32, (Y, X)>::from_vec(extents, a).unwrap();
        let b = Tensor::<f32, (X,)>::from_vec([extents[1]], r.vec(extents[1], |r| r.unit() as f32)).unwrap();
        let expected = f.call(&a, &b).unwrap();
        let (a, b) = (a.to(&device).unwrap(), b.to(&device).unwrap());
        let configs = facts(&f.plan(&a, &b).unwrap()).division().configurations();
        assert!(configs.len() > 20);
        for config in configs {
            let got = f.configured(config).call(&a, &b).unwrap_or_else(|e| panic!("{extents:?} {config:?}: {e}"));
            let name = format!("{extents:?} {config:?}");
            assert_same(&name, &got.0.to_vec().unwrap(), &expected.0.to_vec().unwrap());
            assert_same(&name, &got.1.to_vec().unwrap(), &expected.1.to_vec().unwrap());
        }
    }
    let (x, lanes) = (Tensor::<f32, (X,)>::from_vec([64], vec![1.0; 64]).unwrap().to(&device).unwrap(), 64);
    let twice = fuse(|a: In<f32, (X,)>| (a * 2.0).store::<(X,)>());
    let error = twice.configured(Pointwise { lanes, words: 1, threads: 256 }).call(&x).unwrap_err().to_string();
    assert!(error.contains("number of lanes is 64"), "{error}");
}
