//! What cannot be a function of a point: errors that name the dimension and what to do.

use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::{Axis, Place, View, dense};
use tilewright_expr::emit::{Caller, Inline};
use tilewright_expr::graph::Graph;
use tilewright_expr::{Border, In, Initial, Rect, concatenate, coordinate, meet, trace};

dims! { N, H, W, K, C, Bin }

type Image<T> = In<T, (H, W, K)>;

/// The message for points over `dims`: every dimension has 5 points, `C` and `Bin` 40.
fn refused(graph: &Graph, dims: &[u64], (given, lanes): (Option<u16>, u32), name: &str) -> String {
    graph.check().unwrap_or_else(|e| panic!("{e}"));
    let size = |d: &u64| if <(C, Bin)>::IDS.contains(d) { 40 } else { 5 };
    let axes = |dims: &[u64]| dense(dims, &dims.iter().map(size).collect::<Vec<_>>());
    let all: Vec<Vec<Axis>> = graph.operands.iter().map(|o| axes(&o.dims)).collect();
    let read = all.iter().enumerate().filter(|(i, _)| Some(*i as u16) != given);
    let views: Vec<View<'_>> =
        read.map(|(_, axes)| View { axes, place: Place::Device, alignment: 16, boxes: None }).collect();
    let names = <(N, H, W, K, C, Bin)>::IDS.iter().zip(<(N, H, W, K, C, Bin)>::NAMES);
    let name_of = |dim: &u64| names.clone().find(|(d, _)| *d == dim).map_or("?", |(_, name)| name);
    let points: Vec<_> = dims.iter().map(|d| (*d, name_of(d), size(d))).collect();
    let caller = Caller { points: &points, given, lanes, sized: false, room: 0 };
    let made = Inline::new(graph, &views, &caller).and_then(|inline| inline.emit(graph, name));
    made.expect_err("it is refused").to_string()
}

/// As [`refused`], of points over `(H, W, K)`, where operand 0 is given.
fn message(graph: &Graph) -> String {
    refused(graph, <(H, W, K)>::IDS, (Some(0), 4), "f")
}

#[test]
fn results() {
    let two = trace(|x: Image<f32>| (x.store::<(H, W, K)>(), (x + 1.0).store::<(H, W, K)>())).graph;
    assert_eq!(
        message(&two),
        "the expression has 2 results, a kernel takes 1 value from a function; store one of them, and inline the others under names of their own"
    );
    let joined = trace(|x: Image<f32>| concatenate::<W, _>((x, x)).store::<(H, W, K)>()).graph;
    assert_eq!(
        message(&joined),
        "the expression joins 2 parts along dimension `W`, each of which a kernel would compute alone; store the result of `concatenate` first, and read that"
    );
    let scattered = trace(|x: Image<i32>| {
        x.scatter::<W, Bin, _, _>(coordinate::<W>(), 9, meet::Max, Initial::Filled(0)).store::<(H, K, Bin)>()
    });
    let expected = "the expression decides where along dimension `Bin` its values are stored, which is the kernel's to decide; `.store` the values, and scatter what the kernel stored in a call of its own";
    assert_eq!(message(&scattered.graph), expected);
    let some = trace(|x: Image<f32>| x.store_where::<(H, W, K), _>(x.gt(0.0), 0.0)).graph;
    assert_eq!(message(&some), expected.replace("`Bin`", "`H`"));
}

#[test]
fn dimensions() {
    let beyond = trace(|x: Image<f32>, y: In<f32, (C,)>| (x + y).store::<(H, W, K, C)>()).graph;
    assert_eq!(
        message(&beyond),
        "the expression stores dimension `C`, which the kernel's points over (H, W, K) lack; `.rename::<C, _>()` it to one of those, or reduce it"
    );
    let lacks = trace(|x: In<f32, (H, W)>| x.store::<(H, W)>()).graph;
    assert_eq!(
        message(&lacks),
        "the kernel's points over (H, W, K) have dimension `K`, which the expression over (H, W) does not store; store it too: an operand without it does not vary along it"
    );
    let [h, w, k] = <(H, W, K)>::IDS else { panic!("three") };
    let plain = trace(|x: Image<f32>| x.store::<(H, W, K)>()).graph;
    assert_eq!(
        refused(&plain, &[*h, *w, *k, *w], (None, 1), "f"),
        "dimension `W` stands twice among the kernel's points over (H, W, K, W); `rename` one of its two roles"
    );
    // A size that the expression knows better.
    let other =
        trace(|x: Image<f32>, y: In<f32, (W,)>| (x + y.at_sized::<W, _>(coordinate::<W>(), 3)).store::<(H, W, K)>());
    assert_eq!(
        message(&other.graph),
        "dimension `W` is 5 long in operand 0 and 3 long in the expression (a literal 3); operands that share a dimension must agree"
    );
}

#[test]
fn what_threads_share() {
    let reduced = trace(|x: Image<f32>, y: In<f32, (K, C)>| (x + y.sum::<C>()).store::<(H, W, K)>()).graph;
    assert_eq!(
        message(&reduced),
        "the expression reduces 40 values along dimension `C`, and a point takes at most 16 by itself; reduce it in a call of its own, and read the result as an operand"
    );
    let scanned = trace(|x: Image<f32>, y: In<f32, (W,)>| (x + y.cumsum::<W>()).store::<(H, W, K)>()).graph;
    assert_eq!(
        message(&scanned),
        "the expression scans dimension `W`, of which a kernel has one point at a time; scan in a call of its own, and read the result as an operand"
    );
}

#[test]
fn what_is_given() {
    let elsewhere = |dim: &str| {
        format!(
            "operand 0 is given, so there is its value at the point alone, but the expression reads it at another `{dim}`; store it and read it in a call of its own, or leave out what moves it along `{dim}`"
        )
    };
    let flipped = trace(|x: Image<f32>| x.reverse::<W>().store::<(H, W, K)>()).graph;
    assert_eq!(message(&flipped), elsewhere("W"));
    let beside =
        trace(|x: Image<f32>| (x + x.at_border::<K, _>(coordinate::<K>() + 1, Border::Replicate)).store::<(H, W, K)>());
    assert_eq!(message(&beside.graph), elsewhere("K"));
    let pooled = trace(|x: Image<f32>| (x - x.mean::<H>()).store::<(H, W, K)>()).graph;
    assert_eq!(message(&pooled), elsewhere("H"));
    let fewer = trace(|x: In<f32, (H, W)>, y: In<f32, (K,)>| (x + y).store::<(H, W, K)>()).graph;
    assert_eq!(
        message(&fewer),
        "operand 0 is given at points over (H, W, K), and differs from them in dimension `K`; declare it over exactly those"
    );
    let boxes =
        trace(|b: In<Rect, (N,)>, x: In<u8, (H, W)>| x.crop::<H, W, _>(b).resize::<H, W>(5, 5).store::<(N, H, W)>());
    assert_eq!(
        refused(&boxes.graph, <(N, H, W)>::IDS, (Some(0), 1), "f"),
        "operand 0 is given, but its elements have 4 components; a kernel passes one value, the others are read from memory"
    );
    assert_eq!(
        refused(&flipped, <(H, W, K)>::IDS, (Some(3), 1), "f"),
        "operand 3 is said to be given, but the expression has 1, counted from 0"
    );
}

#[test]
fn names_and_numbers() {
    let plain = trace(|x: Image<f32>| x.store::<(H, W, K)>()).graph;
    for lanes in [0, 3, 16] {
        assert_eq!(
            refused(&plain, <(H, W, K)>::IDS, (Some(0), lanes), "f"),
            format!(
                "a function has 1, 2, 4 or 8 points at once, got {lanes}; more than 1 need a dimension to stand along"
            )
        );
    }
    let long = "f".repeat(65);
    for name in ["", "8", "a b", "f(", "_f", "a__b", "f\u{e9}", &long] {
        let text = refused(&plain, <(H, W, K)>::IDS, (Some(0), 1), name);
        assert!(text.starts_with(&format!("`{name}` cannot be the name of a function; use letters")), "{text}");
    }
}
