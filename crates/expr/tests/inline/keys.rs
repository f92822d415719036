//! The text is a function of the graph, the key and the name.

use crate::random::Rng;
use std::collections::HashMap;
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::{Place, View, dense};
use tilewright_expr::emit::{Caller, Inline};
use tilewright_expr::graph::Graph;
use tilewright_expr::{In, f16, trace};

dims! { N, H, W, K, Batch, Row, Column, Channel }

fn graph() -> Graph {
    trace(|acc: In<f32, (N, H, W, K)>, x: In<f16, (N, H, W, K)>, bias: In<f32, (K,)>, scale: In<f32, ()>| {
        (acc * scale + bias / scale + x.to::<f32>()).to::<f16>().store::<(N, H, W, K)>()
    })
    .graph
}

fn renamed() -> Graph {
    type Image<T> = In<T, (Batch, Row, Column, Channel)>;
    trace(|acc: Image<f32>, x: Image<f16>, bias: In<f32, (Channel,)>, scale: In<f32, ()>| {
        (acc * scale + bias / scale + x.to::<f32>()).to::<f16>().store::<(Batch, Row, Column, Channel)>()
    })
    .graph
}

/// The key and the text for these sizes; elements left free behind each row of `x`, and where the bias is.
fn text_of(
    graph: &Graph,
    extents: [i64; 4],
    (pad, alignment, place): (i64, u32, Place),
    caller: &Caller<'_>,
) -> (Vec<u64>, String) {
    let dims = &graph.outputs[0].dims;
    let mut x = dense(dims, &extents);
    for (i, axis) in x.iter_mut().enumerate().take(3) {
        axis.stride += pad * extents[i + 1..3].iter().product::<i64>();
    }
    let bias = dense(&dims[3..], &extents[3..]);
    let view = |axes, place| View { axes, place, alignment, boxes: None };
    let acc = dense(dims, &extents);
    let mut views = vec![view(&acc[..], Place::Device), view(&x[..], Place::Device)];
    views.extend([view(&bias[..], place), view(&[], Place::Host)]);
    if let Some(given) = caller.given {
        views.remove(usize::from(given));
    }
    let points: Vec<_> = dims.iter().zip(extents).map(|(d, n)| (*d, graph.dim_name(*d), n)).collect();
    let caller = Caller { points: &points, ..*caller };
    let inline = Inline::new(graph, &views, &caller).unwrap_or_else(|e| panic!("{e}"));
    let source = inline.emit(graph, "f").unwrap_or_else(|e| panic!("{e}")).source;
    (inline.key(), source)
}

/// As [`text_of`], the bias being on the device.
fn text(graph: &Graph, extents: [i64; 4], (pad, alignment): (i64, u32), caller: &Caller<'_>) -> (Vec<u64>, String) {
    text_of(graph, extents, (pad, alignment, Place::Device), caller)
}

const CALLER: Caller<'static> = Caller { points: &[], given: Some(0), lanes: 4, sized: false, room: 0 };

#[test]
fn equal_keys_mean_equal_texts() {
    let (graph, mut rng) = (graph(), Rng::new(5));
    let mut known: HashMap<Vec<u64>, String> = HashMap::new();
    let mut of_sizes = HashMap::new();
    for _ in 0..400 {
        let extents = [rng.range(1, 300), rng.range(1, 99), rng.range(1, 99), rng.range(1, 600)];
        let memory = (
            rng.pick(&[0, 0, 1, 2, 4, 8]),
            rng.pick(&[4, 8, 16]),
            rng.pick(&[Place::Host, Place::Device, Place::Device]),
        );
        let given = rng.pick(&[Some(0), Some(0), Some(1), None]);
        let caller = Caller { given, lanes: rng.pick(&[1, 2, 4, 8]), room: rng.pick(&[0, 64]), ..CALLER };
        let (key, source) = text_of(&graph, extents, memory, &caller);
        assert_eq!(known.entry(key.clone()).or_insert_with(|| source.clone()), &source);
        // Those for these sizes alone are others, but where they know no more.
        let (sized_key, sized) = text_of(&graph, extents, memory, &Caller { sized: true, ..caller });
        assert!(sized_key != key || sized == source);
        assert_eq!(of_sizes.entry(sized_key).or_insert_with(|| sized.clone()), &sized);
    }
    assert!((8..250).contains(&known.len()), "{} functions for 400 sizes", known.len());
}

/// Sizes are parameters: another batch, another picture is the same function.
#[test]
fn sizes_compile_nothing() {
    let graph = graph();
    let (key, source) = text(&graph, [128, 64, 64, 64], (0, 16), &CALLER);
    for extents in [[1, 7, 7, 1152], [320, 56, 56, 80], [2, 1, 3, 16]] {
        let other = text(&graph, extents, (0, 16), &CALLER);
        assert_eq!((&other.0, &other.1), (&key, &source));
    }
    // A row that is no multiple of vectors is another one; so are points beyond 32 bits.
    assert_ne!(text(&graph, [1, 7, 7, 9], (0, 16), &CALLER).1, source);
    let (far, wide) = text(&graph, [3 << 31, 1, 1, 16], (0, 16), &CALLER);
    assert!(wide.contains("const long long i_W") && wide.contains("const int i_X") && far != key);
}

/// A kernel of these sizes alone knows all strides of what has no gaps.
#[test]
fn sizes_that_are_known_are_literals() {
    let (graph, caller) = (graph(), Caller { sized: true, ..CALLER });
    let (key, source) = text(&graph, [128, 64, 56, 64], (0, 16), &caller);
    assert!(source.contains("* 229376") && source.contains("* 3584") && !source.contains("_s0"), "{source}");
    assert_ne!(text(&graph, [128, 64, 64, 64], (0, 16), &caller).0, key);
    assert!(text(&graph, [128, 64, 56, 64], (8, 16), &caller).1.contains("_s0"));
}

/// Names of dimensions stand in comments alone.
#[test]
fn names_are_canonical() {
    let [here, there] = [graph(), renamed()].map(|g| text(&g, [2, 3, 4, 64], (0, 16), &CALLER).1);
    assert_eq!(here, there);
}

/// A function's own name is everywhere in what others could have too.
#[test]
fn a_name_is_its_own() {
    let graph = graph();
    let points = [("N", 2), ("H", 3), ("W", 4), ("K", 8)];
    let points: Vec<_> = <(N, H, W, K)>::IDS.iter().zip(points).map(|(d, (name, n))| (*d, name, n)).collect();
    let caller = Caller { points: &points, ..CALLER };
    let axes = [dense(<(N, H, W, K)>::IDS, &[2, 3, 4, 8]), dense(<(K,)>::IDS, &[8]), Vec::new()];
    let views: Vec<View<'_>> =
        axes.iter().map(|a| View { axes: a, place: Place::Device, alignment: 16, boxes: None }).collect();
    let inline = Inline::new(&graph, &views, &caller).unwrap_or_else(|e| panic!("{e}"));
    let [a, b] = ["epilogue", "other"].map(|name| inline.emit(&graph, name).unwrap_or_else(|e| panic!("{e}")));
    assert_eq!(a.source.replace("epilogue", "other"), b.source);
    assert!(a.head.contains("N as W") && a.head.contains("f16 (N, H, W, K)"), "{}", a.head);
}
