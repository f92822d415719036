//! Stores under a condition: where it is false a tensor keeps what it held, and a new one holds the value that is given.

use super::{Case, check_cases, prepare};
use crate::random::Rng;
use tilewright_dims::{Dims, dims};
use tilewright_expr::graph::Graph;
use tilewright_expr::{DType, Element, In, Value, trace};

dims! { N, Y, X, C }

fn of<T: Value + Element>(initial: T) -> Graph {
    let f = trace(move |x: In<T, (Y, X)>, on: In<bool, (Y,)>| x.store_where::<(X, Y), _>(on, initial));
    f.graph
}

#[test]
fn every_type() {
    let mut rng = Rng::new(11);
    let mut cases = Vec::new();
    macro_rules! types { ($($T:ty: $v:expr),*) => { [$((<$T as Value>::DTYPE, of::<$T>($v))),*] } }
    let half = tilewright_expr::f16::from_f32(0.5);
    let brain = tilewright_expr::bf16::from_f32(-2.0);
    let all = types!(
        bool: true, u8: 1, i8: -1, u16: 2, i16: -2, u32: 3, i32: -3, u64: 4, i64: -4, tilewright_expr::f16: half,
        tilewright_expr::bf16: brain, f32: 0.25, f64: -0.0
    );
    for (i, (dtype, graph)) in all.into_iter().enumerate() {
        for (seed, shape) in [[37, 41], [1, 1], [64, 128], [5, 0]].into_iter().enumerate() {
            let x = rng.tensor(dtype, <(Y, X)>::IDS, &shape);
            let on = rng.tensor(DType::Bool, <(Y,)>::IDS, &shape[..1]);
            let fresh = graph.fresh().expect("places are held");
            assert!(fresh.partial(0).is_none() && graph.fresh().is_some());
            for (what, graph) in [("there", graph.clone()), ("new", fresh)] {
                let name = format!("{dtype} of {shape:?}, {what}");
                cases.push(Case::new(name, graph, vec![x.clone(), on.clone()], (i + seed) as u64));
            }
        }
    }
    check_cases("scatter::under::every_type", &cases);
}

/// A condition over more dimensions than the values, channels in registers, results beside others: one launch.
#[test]
fn shapes() {
    let mut rng = Rng::new(12);
    let mut cases = Vec::new();
    for (seed, shape) in [[2, 17, 33, 3], [1, 40, 64, 4], [3, 5, 7, 1]].into_iter().enumerate() {
        let x = rng.tensor(DType::U8, <(N, Y, X, C)>::IDS, &shape);
        let sprite = trace(|x: In<u8, (N, Y, X, C)>| {
            let opaque = x.reduce_first();
            ((x / 2).store_where::<(N, Y, X, C), _>(opaque, 0), (x * 3).store::<(N, C, Y, X)>())
        });
        cases.push(Case::new(format!("a sprite of {shape:?}"), sprite.graph, vec![x.clone()], seed as u64));
        let mask = trace(|x: In<u8, (N, Y, X, C)>| {
            tilewright_expr::constant(7u8).store_where::<(N, Y, X, C), _>(x.lt(100), 0)
        });
        cases.push(Case::new(format!("a mask of {shape:?}"), mask.graph, vec![x.clone()], seed as u64));
        let rows = trace(|x: In<u8, (N, Y, X, C)>| {
            let sum = x.sum::<X>();
            sum.store_where::<(N, Y, C), _>(sum.gt(3000), 1)
        });
        cases.push(Case::new(format!("sums of {shape:?}"), rows.graph, vec![x], seed as u64));
    }
    for (i, case) in cases.iter().enumerate() {
        let prepared = prepare(case, i);
        assert_eq!(prepared.parts.len(), 1, "{}", case.name);
        // Words where all of it is stored.
        let text = prepared.sources();
        let words = ["((unsigned*)", "((uint"].iter().any(|kind| text.contains(&format!("store<false>{kind}")));
        assert!(!case.name.starts_with("a mask of [1, 40") || words, "{text}");
    }
    check_cases("scatter::under::shapes", &cases);
}

/// The condition of a sprite: its first channel is not 0.
trait First {
    type Set;
    fn reduce_first(self) -> tilewright_expr::Expr<bool, Self::Set>;
}

impl First for In<u8, (N, Y, X, C)> {
    type Set = <(N, Y, X) as Dims>::Set;
    fn reduce_first(self) -> tilewright_expr::Expr<bool, Self::Set> {
        self.at::<C, _>(0).ne(0)
    }
}
