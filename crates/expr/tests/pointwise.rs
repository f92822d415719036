//! Configurations of pointwise kernels: all of them give the same bits, the one that is taken unasked is the plan's own, and what is not
//! legal is refused with its number.

use crate::emitted::{Prepared, check_kernels, prepare};
use crate::random::{Case, Operand, Rng, case};
use crate::tensor::Layout;
use tilewright_dims::{Dim, Dims, dims};
use tilewright_expr::bind::{Place, View, dense};
use tilewright_expr::emit::emit;
use tilewright_expr::graph::Graph;
use tilewright_expr::plan::{Division, Plan, Pointwise};
use tilewright_expr::sections::Sections;
use tilewright_expr::{Error, In, Rect, trace};

dims! { N, Y, X, C }

/// A graph over dense operands with random values, of these sizes along N, Y, X and C.
pub(crate) fn dense_case(graph: Graph, sizes: [i64; 4], orders: &[&[u64]]) -> Case {
    let mut rng = Rng::new(sizes[2] as u64);
    let size = |dim: &u64| <(N, Y, X, C)>::IDS.iter().position(|d| d == dim).map_or(1, |i| sizes[i]);
    let operands = graph.operands.iter().zip(orders).map(|(spec, order)| {
        let shape: Vec<i64> = order.iter().map(size).collect();
        let tensor = rng.tensor(spec.dtype, order, &shape);
        Operand { tensor, layout: Layout::dense(order.len()), place: Place::Device }
    });
    let operands = operands.collect();
    let outputs = graph.outputs.iter().map(|o| Layout::dense(o.dims.len())).collect();
    Case { graph, operands, outputs, known: true }
}

/// Pointwise kernels of several kinds, with rows of odd lengths that end within a word, within a block, and nowhere.
fn kernels() -> Vec<(&'static str, Case)> {
    let [y, x] = [&[Y::ID, X::ID][..], &[X::ID][..]];
    let line = |n| {
        let graph =
            trace(|a: In<f32, (X,)>, b: In<f32, (X,)>| ((a * 2.5 + b).store::<(X,)>(), (a - b).store::<(X,)>()));
        dense_case(graph.graph, [1, 1, n, 1], &[x, x])
    };
    let bytes = trace(|a: In<u8, (X,)>| (a.to::<f32>() / 3.0).round().to::<u8>().store::<(X,)>()).graph;
    let widened = trace(|a: In<u8, (X,)>| (a.to::<f32>() * 0.25 + 1.0).store::<(X,)>()).graph;
    let doubles = trace(|a: In<f64, (X,)>, b: In<f64, (X,)>| (a / b).store::<(X,)>()).graph;
    let chain = trace(|a: In<f32, (X,)>| (a.iterate(9, |x| x * 0.75 + 1.5) - a).store::<(X,)>()).graph;
    let rows = trace(|a: In<f32, (Y, X)>, s: In<f32, (X,)>, b: In<f32, (Y,)>| (a * s + b).exp().store::<(Y, X)>());
    let planes = trace(|p: In<u8, (Y, X, C)>, m: In<f32, (C,)>| (p.to::<f32>() - m).store::<(C, Y, X)>()).graph;
    let gathered = trace(|p: In<u8, (Y, X, C)>| p.resize::<Y, X>(29, 70).store::<(Y, X, C)>()).graph;
    vec![
        ("a line of whole vectors", line(4096)),
        ("a line of any length", line(4099)),
        ("a short line", line(3)),
        ("bytes", dense_case(bytes, [1, 1, 9001, 1], &[x])),
        ("bytes to floats", dense_case(widened, [1, 1, 5008, 1], &[x])),
        ("doubles", dense_case(doubles, [1, 1, 2047, 1], &[x, x])),
        ("a chain", dense_case(chain, [1, 1, 3001, 1], &[x])),
        ("rows", dense_case(rows.graph.clone(), [1, 5, 1301, 1], &[y, x, &[Y::ID]])),
        ("rows of whole vectors", dense_case(rows.graph.clone(), [1, 3, 1024, 1], &[y, x, &[Y::ID]])),
        ("columns", dense_case(rows.graph, [1, 7, 600, 1], &[y, x, &[Y::ID]])),
        ("pixels to planes", dense_case(planes, [1, 6, 333, 3], &[&[Y::ID, X::ID, C::ID], &[C::ID]])),
        ("gathered", dense_case(gathered, [1, 31, 40, 3], &[&[Y::ID, X::ID, C::ID]])),
    ]
}

fn division(name: &str, case: &Case, plan: &Plan) -> Division {
    plan.division(&case.graph).unwrap_or_else(|| panic!("{name} is not pointwise"))
}

/// The kernels of a case under these configurations, beside the plan's own.
fn configured(name: &str, case: &Case, configs: &[Pointwise]) -> Vec<Prepared> {
    let own = prepare(name.to_string(), case, 0).unwrap_or_else(|| panic!("{name} has several sections"));
    let with = |config: &Pointwise| {
        let plan = own.plan.configured(&case.graph, *config).unwrap_or_else(|e| panic!("{name} {config:?}: {e}"));
        own.planned(format!("{name} {config:?}"), &case.graph, plan)
    };
    configs.iter().map(with).collect()
}

#[test]
fn all_configurations_give_the_same_bits() {
    let mut all: Vec<Prepared> = Vec::new();
    for (name, case) in kernels() {
        let plan = prepare(name.to_string(), &case, 0).expect("one section").plan;
        let configs = division(name, &case, &plan).configurations();
        // A third of them, another one for each kernel: the text is what takes time.
        let some: Vec<Pointwise> = configs.into_iter().skip(all.len() % 3).step_by(3).collect();
        all.extend(configured(name, &case, &some));
    }
    let texts = |what: &str| all.iter().filter(|p| p.kernel.source.contains(what)).count();
    assert!(all.len() > 60, "{} kernels", all.len());
    assert!(texts("void word(") > 15, "{} kernels end in words", texts("void word("));
    check_kernels("pointwise::all_configurations_give_the_same_bits", &all);
}

#[test]
fn random_graphs_under_a_random_configuration() {
    let mut rng = Rng::new(17);
    let mut all: Vec<Prepared> = Vec::new();
    for seed in 0..180 {
        let case = case(seed);
        let Some(own) = prepare(format!("EXPR_SEED={seed}"), &case, seed as usize) else { continue };
        let Some(division) = own.plan.division(&case.graph).filter(|_| own.kernel.source.len() < 6000) else {
            continue;
        };
        let config = rng.pick(&division.configurations());
        let plan = own.plan.configured(&case.graph, config).unwrap_or_else(|e| panic!("{seed} {config:?}: {e}"));
        all.push(own.planned(format!("EXPR_SEED={seed} {config:?}"), &case.graph, plan));
    }
    assert!(all.len() > 50, "{} kernels", all.len());
    check_kernels("pointwise::random_graphs_under_a_random_configuration", &all);
}

#[test]
fn what_is_taken_unasked_is_the_plans_own() {
    for (name, case) in kernels() {
        let own = prepare(name.to_string(), &case, 0).expect("one section");
        let division = division(name, &case, &own.plan);
        let plan = own.plan.configured(&case.graph, division.untold).expect("the plan's own is legal");
        assert_eq!(plan.key(), own.plan.key(), "{name}");
        assert_eq!(emit(&case.graph, &plan).expect("it is emitted").source, own.kernel.source, "{name}");
        assert_eq!(division.configurations()[0], division.untold);
        // There and back again.
        let other = *division.configurations().last().expect("at least one");
        let back = own.plan.configured(&case.graph, other).and_then(|p| p.configured(&case.graph, division.untold));
        assert_eq!(back.expect("the plan's own is legal").key(), own.plan.key(), "{name}");
    }
}

#[test]
fn blocks_are_those_of_the_plan() {
    for (name, case) in kernels() {
        let own = prepare(name.to_string(), &case, 0).expect("one section");
        let division = division(name, &case, &own.plan);
        for config in division.configurations() {
            let plan = own.plan.configured(&case.graph, config).expect("it is legal");
            assert_eq!((division.block(config), division.blocks(config).iter().product()), (plan.block, plan.blocks()));
            assert_eq!((plan.lanes, plan.words), (config.lanes, config.words), "{name}");
        }
    }
}

#[test]
fn kernels_of_configurations_are_told_apart() {
    for (name, case) in kernels() {
        let own = prepare(name.to_string(), &case, 0).expect("one section");
        let configs = division(name, &case, &own.plan).configurations();
        let texts: std::collections::HashMap<Vec<u64>, String> =
            configured(name, &case, &configs).into_iter().map(|p| (p.plan.key(), p.kernel.source)).collect();
        assert_eq!(texts.len(), configs.len(), "{name}: equal keys");
    }
}

#[test]
fn what_is_not_legal_is_refused_with_its_number() {
    let (_, case) = kernels().swap_remove(1);
    let own = prepare("a line".into(), &case, 0).expect("one section");
    let refused = |config| own.plan.configured(&case.graph, config).expect_err("not legal").to_string();
    let legal = Pointwise { lanes: 4, words: 2, threads: 128 };
    assert!(own.plan.configured(&case.graph, legal).is_ok());
    for (config, number, range) in [
        (Pointwise { lanes: 3, ..legal }, "number of lanes is 3", "1 to 4"),
        (Pointwise { lanes: 8, ..legal }, "number of lanes is 8", "1 to 4"),
        (Pointwise { words: 8, ..legal }, "number of words is 8", "1 to 4"),
        (Pointwise { words: 0, ..legal }, "number of words is 0", "1 to 4"),
        (Pointwise { threads: 1024, ..legal }, "number of threads of a block is 1024", "64 to 512"),
        (Pointwise { threads: 96, ..legal }, "number of threads of a block is 96", "64 to 512"),
    ] {
        let text = refused(config);
        assert!(text.contains(number) && text.contains(range), "{text}");
    }
    let division = division("a line", &case, &own.plan);
    let short = Division { loops: [7, 1, 1], ..division };
    assert!(short.check(legal).is_err_and(|e| e.to_string().contains("points of a thread along one loop is 8")));
    let long = Division { loops: [i64::from(i32::MAX) - 100, 1, 1], ..division };
    assert!(long.check(legal).is_err() && long.check(Pointwise { words: 1, ..legal }).is_ok());
    assert!(Division { loops: [1 << 32, 1, 1], ..division }.check(legal).is_ok());
    assert!(Division { nodes: 600, ..division }.check(legal).is_err());
}

/// Reductions, stages, scatters and several sections keep what their plans choose.
#[test]
fn only_pointwise_kernels_have_a_configuration() {
    let sections = |graph: &Graph, axes: &[Vec<tilewright_expr::bind::Axis>]| {
        let view = |axes| View { axes, place: Place::Device, alignment: 16, boxes: None };
        let views: Vec<View<'_>> = axes.iter().map(|a| view(a.as_slice())).collect();
        let (inputs, outputs) = views.split_at(graph.operands.len());
        let sections = Sections::new(graph, inputs, outputs).unwrap_or_else(|e| panic!("{e}"));
        let config = Pointwise { lanes: 1, words: 1, threads: 128 };
        (sections.division().is_some(), sections.configured(config).map(|_| ()))
    };
    let (yx, x) = (dense(<(Y, X)>::IDS, &[64, 96]), dense(<(X,)>::IDS, &[96]));
    let refused = (false, Err(Error::NotPointwise));
    let sum = trace(|a: In<f32, (Y, X)>| a.sum::<X>().store::<(Y,)>()).graph;
    assert_eq!(sections(&sum, &[yx.clone(), dense(<(Y,)>::IDS, &[64])]), refused);
    let turned = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>| (a + b).store::<(Y, X)>()).graph;
    assert_eq!(sections(&turned, &[yx.clone(), dense(<(X, Y)>::IDS, &[96, 64]), yx.clone()]), refused);
    let two = trace(|a: In<f32, (Y, X)>, b: In<f32, (N,)>| (a.exp().store::<(Y, X)>(), b.exp().store::<(N,)>())).graph;
    assert_eq!(sections(&two, &[yx.clone(), dense(<(N,)>::IDS, &[9]), yx, dense(<(N,)>::IDS, &[9])]), refused);
    let plain = trace(|a: In<f32, (X,)>| a.exp().store::<(X,)>()).graph;
    assert_eq!(sections(&plain, &[x.clone(), x]), (true, Ok(())));
    let crop =
        trace(|p: In<u8, (Y, X)>, b: In<Rect, (N,)>| p.crop::<Y, X, _>(b).resize::<Y, X>(8, 16).store::<(N, Y, X)>());
    let boxes = dense(<(N,)>::IDS, &[3]);
    let out = dense(<(N, Y, X)>::IDS, &[3, 8, 16]);
    assert_eq!(sections(&crop.graph, &[dense(<(Y, X)>::IDS, &[64, 96]), boxes, out]), (true, Ok(())));
}
