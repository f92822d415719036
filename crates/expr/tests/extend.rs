//! Functions that are given as text: the same bits from the text and from Rust, in every place where a value can stand; parts
//! of one's own, and what explanations call them.

use crate::emitted::check_all;
use crate::random::{Case, Operand, Rng};
use crate::tensor::Layout;
use tilewright_dims::{Dims, Merge, Present, Without, dims};
use tilewright_expr::bind::{Place, View, dense};
use tilewright_expr::emit::emit;
use tilewright_expr::explain::Explanation;
use tilewright_expr::extend::{Apply, Pattern, Read, Write, scalar_fn};
use tilewright_expr::graph::Graph;
use tilewright_expr::plan::Plan;
use tilewright_expr::{Border, DType, Error, Expr, In, Out, Per, World, bf16, coordinate, f16, trace};

dims! { Y, X, K }

/// A hash of one value, with a loop.
#[scalar_fn(cuda = "
    unsigned mixed(unsigned x) {
        unsigned h = x;
        for (int i = 0; i < 3; ++i) h = (h ^ h >> 15) * 0x85ebca6bu + i;
        return h;
    }")]
fn mixed(x: u32) -> u32 {
    (0..3).fold(x, |h, i| (h ^ h >> 15).wrapping_mul(0x85eb_ca6b).wrapping_add(i))
}

/// Rounds twice where a contraction would round once.
#[scalar_fn(cuda = "float knee(float x, float y, float z) { return x < y ? x : y + (x - y) * z; }")]
fn knee(x: f32, y: f32, z: f32) -> f32 {
    if x < y { x } else { y + (x - y) * z }
}

/// Types of every width, one of them a condition.
#[scalar_fn(cuda = "double picked(bool x, long long y, unsigned char z) { return x ? (double)y : (double)z * 0.5; }")]
fn picked(x: bool, y: i64, z: u8) -> f64 {
    if x { y as f64 } else { f64::from(z) * 0.5 }
}

/// Halves go in and out as they are. (Which NaN it is decides nothing.)
#[scalar_fn(cuda = "
    // Its own functions stand beside it.
    template <class T> bool is_nan(T bits) { return (bits & 0x7fff) > 0x7c00; }
    tw::bf16 swapped(tw::f16 x, unsigned short y) {
        return tw::bits<tw::bf16>((unsigned short)(is_nan(x.bits) ? 0 : x.bits ^ y));
    }")]
fn swapped(x: f16, y: u16) -> bf16 {
    bf16::from_bits(if x.is_nan() { 0 } else { x.to_bits() ^ y })
}

mod other {
    use tilewright_expr::extend::scalar_fn;

    /// The same name with another text.
    #[scalar_fn(cuda = "float knee(float x, float y, float z) { return x + y * z; }")]
    pub(super) fn knee(x: f32, y: f32, z: f32) -> f32 {
        x + y * z
    }
}

const SHAPE: [i64; 3] = [5, 37, 3];

fn cases(name: &str, graph: Graph) -> impl Iterator<Item = (String, Case)> {
    graph.check().unwrap_or_else(|e| panic!("{name}: {e}"));
    (0..2).map(move |seed| {
        let mut rng = Rng::new(seed + 7);
        let operand = |rng: &mut Rng, spec: &tilewright_expr::graph::OperandSpec| {
            let size = |d: &u64| SHAPE[<(Y, X, K)>::IDS.iter().position(|id| id == d).expect("declared above")];
            let shape: Vec<i64> = spec.dims.iter().map(size).collect();
            let layout = if seed == 0 { Layout::dense(shape.len()) } else { Layout::random(rng, shape.len()) };
            Operand { tensor: rng.tensor(spec.dtype, &spec.dims, &shape), layout, place: Place::Device }
        };
        let operands = graph.operands.clone().iter().map(|spec| operand(&mut rng, spec)).collect();
        let outputs = graph.outputs.iter().map(|o| Layout::dense(o.dims.len())).collect();
        (format!("{name}, {seed}"), Case { outputs, graph: graph.clone(), operands, known: seed == 0 })
    })
}

/// Functions of blocks and of literals, of coordinates, in loops, in reductions that threads share, under a read elsewhere.
#[test]
fn the_text_and_its_twin_agree() {
    let pointwise = trace(|a: In<u32, (Y, X)>, b: In<f32, (Y, X, K)>, c: In<f32, (K,)>| {
        let knee = knee::of(b, c, 0.3);
        let hashed = mixed::of(a ^ mixed::of(coordinate::<X>().wrapping_to::<u32>()));
        (hashed.store::<(Y, X)>(), (knee + other::knee::of(knee, c, b)).store::<(X, K, Y)>())
    });
    let types = trace(|a: In<i64, (Y, X)>, b: In<u8, (Y,)>, c: In<f16, (X,)>, d: In<u16, (Y,)>| {
        (picked::of(a.lt(3), a, b).store::<(Y, X)>(), swapped::of(c, d).store::<(Y, X)>())
    });
    let reduced = trace(|a: In<u32, (Y, X)>, b: In<f32, (X, K)>, c: In<f32, (Y,)>| {
        let shared = mixed::of(a).to::<f32>().sum::<X>();
        let own = knee::of(b, c, 0.25).reverse::<X>().at::<X, _>(2).sum::<K>();
        (shared.store::<(Y,)>(), knee::of(own, c, c).store::<(Y,)>())
    });
    let all =
        cases("pointwise", pointwise.graph).chain(cases("types", types.graph)).chain(cases("reduced", reduced.graph));
    check_all("extend::the_text_and_its_twin_agree", all);
}

/// The views of a call with operands and results of [`SHAPE`].
fn with_views<R>(graph: &Graph, f: impl FnOnce(&[View<'_>], &[View<'_>]) -> R) -> R {
    let size = |d: &u64| SHAPE[<(Y, X, K)>::IDS.iter().position(|id| id == d).expect("declared above")];
    let axes = |dims: &[u64]| dense(dims, &dims.iter().map(size).collect::<Vec<_>>());
    let inputs: Vec<_> = graph.operands.iter().map(|o| axes(&o.dims)).collect();
    let outputs: Vec<_> = graph.outputs.iter().map(|o| axes(&o.dims)).collect();
    let view = |axes| View { axes, place: Place::Device, alignment: 16, boxes: None };
    let (inputs, outputs): (Vec<_>, Vec<_>) =
        (inputs.iter().map(|a| view(a)).collect(), outputs.iter().map(|a| view(a)).collect());
    f(&inputs, &outputs)
}

#[test]
fn a_kernel_defines_each_function_once() {
    let t = trace(|a: In<f32, (Y, X)>| {
        let first = knee::of(a, 1.0, 0.5);
        (knee::of(first, 2.0, 0.5) + other::knee::of(a, a, a)).store::<(Y, X)>()
    });
    let text = with_views(&t.graph, |inputs, outputs| {
        let plan = Plan::new(&t.graph, inputs, outputs).unwrap_or_else(|e| panic!("{e}"));
        emit(&t.graph, &plan).unwrap_or_else(|e| panic!("{e}")).source
    });
    assert_eq!(text.matches("namespace own_knee_").count(), 2, "{text}");
    assert!(text.matches("own_knee_").count() > 2 + 3, "the points of a thread call them: {text}");
}

/// A call is hash-consed by name, text and types; another text is another function.
#[test]
fn equal_calls_are_one_node() {
    let t = trace(|a: In<f32, (Y, X)>| {
        (knee::of(a, 1.0, 0.5) - knee::of(a, 1.0, 0.5) + other::knee::of(a, 1.0, 0.5)).store::<(Y, X)>()
    });
    let calls = t.graph.nodes().filter(|n| matches!(n.op, tilewright_expr::graph::Op::Call(..))).count();
    assert_eq!(calls, 2);
    let graph = || trace(|a: In<f32, (Y, X)>| knee::of(a, 1.0, 0.5).store::<(Y, X)>()).graph;
    let other = trace(|a: In<f32, (Y, X)>| other::knee::of(a, 1.0, 0.5).store::<(Y, X)>()).graph;
    assert!(graph().same(&graph()) && !graph().same(&other));
}

#[test]
fn an_argument_of_another_trace_is_refused() {
    let mut kept = None;
    let _ = trace(|a: In<f32, (Y, X)>| {
        kept = Some(a);
        a.store::<(Y, X)>()
    });
    let stale = kept.expect("the closure ran");
    let t = trace(|a: In<f32, (Y, X)>| knee::of(a, stale, 0.5).store::<(Y, X)>());
    assert_eq!(t.graph.check(), Err(Error::Stale));
}

struct Nibbles;
impl Read<In<u8, (Y, K)>> for Nibbles {
    type Elem = u8;
    type Set = <(Y, X) as Dims>::Set;
    const NAME: &'static str = "nibbles";
    fn read(self, bytes: In<u8, (Y, K)>) -> In<u8, (Y, X)> {
        let x = coordinate::<X>().repeat::<X>(6);
        (bytes.at::<K, _>(x >> 1) >> ((x & 1) << 2).to::<u8>()) & 15
    }
}

struct Peaks;
impl<S> Pattern<Expr<u8, S>> for Peaks
where
    S: World + Without<X, Was: Present<X>, Rest: Merge<Per<X>, Out = S>>,
{
    type Output = (Expr<u8, S>, Expr<bool, S>);
    const NAME: &'static str = "peaks";
    fn apply(self, value: Expr<u8, S>) -> Self::Output {
        let beside = |step: i32| value.at_border::<X, _>(coordinate::<X>() + step, Border::Replicate);
        let peak = value.gt(beside(-1).max(beside(1)));
        (peak.select(value, 0), peak)
    }
}

struct Both;
impl Write<(In<u8, (Y, X)>, In<bool, (Y, X)>)> for Both {
    type Outputs = (Out<u8, (Y, X)>, Out<bool, (X, Y)>);
    const NAME: &'static str = "both";
    fn write(self, (a, b): (In<u8, (Y, X)>, In<bool, (Y, X)>)) -> Self::Outputs {
        ((a + 1).store(), (!b).store())
    }
}

/// A part is one operation for who looks inside, whatever it is made of, and its parameters are what it was given.
#[test]
fn explanations_name_parts() {
    let t = trace(|bytes: In<u8, (Y, K)>| bytes.read(Nibbles).apply(Peaks).write(Both));
    t.graph.check().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(t.graph.operands[0].dtype, DType::U8);
    let axes = [dense(<(Y, K)>::IDS, &[5, 3]), dense(<(Y, X)>::IDS, &[5, 6]), dense(<(X, Y)>::IDS, &[6, 5])];
    let views: Vec<View<'_>> =
        axes.iter().map(|a| View { axes: a, place: Place::Device, alignment: 16, boxes: None }).collect();
    let text = Explanation::new(&t.graph, "parts", &views[..1], &views[1..]).unwrap_or_else(|e| panic!("{e}")).tree;
    for name in ["both", "peaks", "nibbles", "operand 0"] {
        assert!(text.contains(name), "{name}: {text}");
    }
    assert!(!text.contains("select") && !text.contains("shr"), "{text}");
}
