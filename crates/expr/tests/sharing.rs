//! Configurations of kernels whose threads reduce rows together: all of them give the same bits, the one that is taken unasked is the plan's
//! own, and what is not legal is refused with its number.

use crate::emitted::{Prepared, check_kernels, prepare};
use crate::pointwise::{C, X, Y, dense_case};
use crate::random::Case;
use std::collections::HashSet;
use tilewright_dims::Dim;
use tilewright_expr::bind::{Place, View, dense};
use tilewright_expr::collective::{Shares, Sharing};
use tilewright_expr::emit::emit;
use tilewright_expr::plan::Plan;
use tilewright_expr::{Error, In, bf16, f16, trace};

/// Sums of several kinds: along rows and across them, cut and whole, of whole vectors and of what ends anywhere.
fn kernels() -> Vec<(&'static str, Case)> {
    let yx: &[u64] = &[Y::ID, X::ID];
    let columns = || trace(|a: In<f16, (Y, X)>| a.to::<f32>().sum::<Y>().store::<(X,)>()).graph;
    let rows = || trace(|a: In<f32, (Y, X)>| a.sum::<X>().store::<(Y,)>()).graph;
    let largest = trace(|a: In<u8, (Y, X)>| a.maximum::<X>().store::<(Y,)>()).graph;
    let two = trace(|a: In<f64, (Y, X)>, b: In<f64, (Y,)>| {
        ((a * b).sum::<X>().store::<(Y,)>(), a.minimum::<X>().store::<(Y,)>())
    });
    let pixels = trace(|a: In<bf16, (Y, X, C)>| a.to::<f32>().sum::<(Y, X)>().store::<(C,)>()).graph;
    let all = trace(|a: In<f32, (Y, X)>| (a.sum::<(Y, X)>() * 0.5).store::<()>()).graph;
    vec![
        ("columns", dense_case(columns(), [1, 301, 67, 1], &[yx])),
        ("columns that are cut", dense_case(columns(), [1, 9001, 40, 1], &[yx])),
        ("a few columns that are cut", dense_case(columns(), [1, 8200, 9, 1], &[yx])),
        ("short rows", dense_case(rows(), [1, 50, 20, 1], &[yx])),
        ("rows of whole vectors", dense_case(rows(), [1, 37, 512, 1], &[yx])),
        ("rows of any length", dense_case(rows(), [1, 5, 4097, 1], &[yx])),
        ("rows that are cut", dense_case(rows(), [1, 3, 20_001, 1], &[yx])),
        ("bytes", dense_case(largest, [1, 40, 333, 1], &[yx])),
        ("two results", dense_case(two.graph, [1, 21, 130, 1], &[yx, &[Y::ID]])),
        ("pixels", dense_case(pixels, [1, 40, 60, 24], &[&[Y::ID, X::ID, C::ID]])),
        ("everything", dense_case(all, [1, 130, 77, 1], &[yx])),
    ]
}

fn shares(name: &str, own: &Prepared) -> Shares {
    own.plan.shares().unwrap_or_else(|| panic!("{name} shares nothing"))
}

fn configured(name: &str, case: &Case, own: &Prepared, config: Sharing) -> Prepared {
    let plan = own.plan.configured(&case.graph, config).unwrap_or_else(|e| panic!("{name} {config:?}: {e}"));
    own.planned(format!("{name} {config:?}"), &case.graph, plan)
}

#[test]
fn all_configurations_give_the_same_bits() {
    let mut all: Vec<Prepared> = Vec::new();
    for (name, case) in kernels() {
        let own = prepare(name.to_string(), &case, 0).expect("one section");
        let configs = shares(name, &own).configurations();
        assert!(configs.len() > 3, "{name}: {configs:?}");
        // Every fourth, others for each kernel, and the last: compiling the texts takes the time.
        let some = configs.iter().skip(all.len() % 4).step_by(4).chain(configs.last());
        all.extend(some.map(|config| configured(name, &case, &own, *config)));
    }
    assert!(all.len() > 40, "{} kernels", all.len());
    check_kernels("sharing::all_configurations_give_the_same_bits", &all);
}

#[test]
fn what_is_taken_unasked_is_the_plans_own() {
    for (name, case) in kernels() {
        let own = prepare(name.to_string(), &case, 0).expect("one section");
        let shares = shares(name, &own);
        let configs = shares.configurations();
        assert_eq!(configs[0], shares.untold);
        let plan = own.plan.configured(&case.graph, shares.untold).expect("the plan's own is legal");
        assert_eq!(plan.key(), own.plan.key(), "{name}");
        assert_eq!(emit(&case.graph, &plan).expect("it is emitted").source, own.kernel.source, "{name}");
        // There and back again.
        let other = *configs.last().expect("at least one");
        let back = own.plan.configured(&case.graph, other).and_then(|p| p.configured(&case.graph, shares.untold));
        assert_eq!(back.expect("the plan's own is legal").key(), own.plan.key(), "{name}");
        let keys: HashSet<Vec<u64>> =
            configs.iter().map(|config| configured(name, &case, &own, *config).plan.key()).collect();
        assert_eq!(keys.len(), configs.len(), "{name}: equal keys");
    }
}

#[test]
fn what_is_not_legal_is_refused_with_its_number() {
    let (name, case) = kernels().swap_remove(1);
    let own = prepare(name.to_string(), &case, 0).expect("one section");
    assert!(own.plan.configured(&case.graph, Sharing { threads: 64, rows: 8 }).is_ok());
    for (threads, rows, number, range) in [
        (48, 8, "number of threads of a row is 48", "32 to 1024"),
        // Nobody would combine all of the segments' results.
        (16, 8, "number of threads of a row is 16", "32 to 1024"),
        (2048, 1, "number of threads of a row is 2048", "32 to 1024"),
        (64, 0, "number of rows of a block is 0", "1 to 16"),
        (64, 32, "number of rows of a block is 32", "1 to 16"),
    ] {
        let text = own.plan.configured(&case.graph, Sharing { threads, rows }).expect_err("not legal").to_string();
        assert!(text.contains(number) && text.contains(range), "{text}");
    }
}

#[test]
fn only_rows_that_are_gone_along_once_have_a_configuration() {
    let softmax = trace(|a: In<f32, (Y, X)>| a.softmax::<X>().store::<(Y, X)>()).graph;
    let scan = trace(|a: In<f32, (Y, X)>| a.cumsum::<X>().store::<(Y, X)>()).graph;
    let plain = trace(|a: In<f32, (Y, X)>| a.exp().store::<(Y, X)>()).graph;
    let few = trace(|a: In<f32, (Y, C)>| a.sum::<C>().store::<(Y,)>()).graph;
    for (name, graph) in [("softmax", softmax), ("scan", scan), ("plain", plain), ("few", few)] {
        let order: &[u64] = if name == "few" { &[Y::ID, C::ID] } else { &[Y::ID, X::ID] };
        let case = dense_case(graph, [1, 20, 300, 5], &[order]);
        let own = prepare(name.to_string(), &case, 0).expect("one section");
        assert_eq!(own.plan.shares(), None, "{name}");
        let refused = own.plan.configured(&case.graph, Sharing { threads: 32, rows: 8 });
        assert_eq!(refused.err(), Some(Error::NotShared), "{name}");
    }
}

/// Columns that are not cut have as few rows a block as it takes to keep a GPU busy; others have rows for a line of memory.
#[test]
fn few_columns_have_blocks_of_few() {
    let columns = trace(|a: In<f16, (Y, X)>| a.to::<f32>().sum::<Y>().store::<(X,)>()).graph;
    for (n, rows, block) in [
        (3000, 4096, [32, 32]),
        (3000, 1024, [8, 128]),
        (3000, 2000, [16, 64]),
        (9000, 40, [32, 32]),
        (60, 1024, [8, 32]),
        (20, 40, [8, 32]),
    ] {
        let (from, to) = (dense(&[Y::ID, X::ID], &[n, rows]), dense(&[X::ID], &[rows]));
        let view = |axes| View { axes, place: Place::Device, alignment: 16, boxes: None };
        let plan = Plan::new(&columns, &[view(&from)], &[view(&to)]).expect("it is planned");
        assert_eq!(plan.block, block, "{n} values of {rows} rows: {:?}", plan.shares());
    }
}
