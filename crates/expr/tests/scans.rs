//! Cumulative sums and their like: what they are, and that every way of computing them gives the same bits.

use crate::emitted::{check_kernels, prepare};
use crate::random::{Case, Operand, Rng};
use crate::tensor::{Layout, Tensor, evaluate_every_way};
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::Place;
use tilewright_expr::graph::Graph;
use tilewright_expr::{DType, Error, In, coordinate, f16, trace};

dims! { Y, X, C, Bin }

/// A graph on random values; `contiguous`: along which of the operand's dimensions, the first one or the last.
fn case(graph: Graph, dtype: DType, shape: &[i64], contiguous: usize) -> Case {
    let mut rng = Rng::new(shape.iter().sum::<i64>() as u64);
    let dims = graph.operands[0].dims.clone();
    let shape: Vec<i64> = dims.iter().map(|d| shape[<(Y, X, C)>::IDS.iter().position(|i| i == d).unwrap()]).collect();
    let operand =
        Operand { tensor: rng.tensor(dtype, &dims, &shape), layout: Layout::dense(shape.len()), place: Place::Device };
    let layout = |dims: &[u64]| {
        let mut layout = Layout::random(&mut rng, dims.len());
        layout.order = (0..dims.len()).collect();
        if contiguous == 0 {
            layout.order.reverse();
        }
        layout
    };
    let outputs = graph.outputs.iter().map(|o| o.dims.clone()).collect::<Vec<_>>();
    let outputs = outputs.iter().map(|d| d.as_ref()).map(layout).collect();
    Case { graph, operands: vec![operand], outputs, known: true }
}

fn cases() -> Vec<(String, Case)> {
    let mut all: Vec<(String, Case)> = Vec::new();
    let mut add = |name: &str, graph: Graph, dtype: DType, shape: &[i64], contiguous: usize| {
        assert!(graph.check().is_ok(), "{name}");
        all.push((format!("{name} of {dtype} {shape:?}"), case(graph, dtype, shape, contiguous)));
    };
    let along_x = || trace(|x: In<f32, (Y, X)>| x.cumsum::<X>().store::<(Y, X)>()).graph;
    // One turn and many, rows that end evenly and not, a warp for a row and eight.
    for shape in [[3, 17], [5, 32], [2, 130], [1, 1024], [2, 2500], [2100, 40], [2050, 300]] {
        add("a row", along_x(), DType::F32, &shape, 1);
    }
    // Rows that are cut.
    for shape in [[1, 20_000], [2, 9_001]] {
        add("a long row", along_x(), DType::F32, &shape, 1);
    }
    add(
        "a long row, scanned twice",
        trace(|x: In<f32, (Y, X)>| (x.cumsum::<X>() * 1e-3).cummax::<X>().store::<(Y, X)>()).graph,
        DType::F32,
        &[1, 17_001],
        1,
    );
    let along_y = || trace(|x: In<f32, (Y, X)>| x.cumsum::<Y>().store::<(Y, X)>()).graph;
    add("long columns", along_y(), DType::F32, &[9000, 9], 1);
    // Rows of columns: neighbouring threads have neighbouring rows.
    for shape in [[20, 9], [300, 33], [1100, 10]] {
        add("a column", along_y(), DType::F32, &shape, 1);
    }
    add("a strided row", along_x(), DType::F32, &[6, 70], 0);
    add("bytes", trace(|x: In<u8, (Y, X)>| x.cumsum::<X>().store::<(Y, X)>()).graph, DType::U8, &[3, 150], 1);
    add("halves", trace(|x: In<f16, (Y, X)>| x.cummax::<X>().store::<(Y, X)>()).graph, DType::F16, &[3, 50], 1);
    add("products", trace(|x: In<i32, (Y, X)>| x.cumprod::<Y>().store::<(Y, X)>()).graph, DType::I32, &[60, 40], 1);
    add(
        "two at once, and a sum",
        trace(|x: In<f64, (Y, X)>| {
            let (low, high) = (x.cummin::<X>(), x.cummax::<X>());
            ((high - low).store::<(Y, X)>(), high.sum::<X>().store::<(Y,)>())
        })
        .graph,
        DType::F64,
        &[4, 200],
        1,
    );
    add(
        "a scan of a scan of what is divided by a sum",
        trace(|x: In<f32, (Y, X)>| (x / x.sum::<X>()).cumsum::<X>().cumsum::<X>().store::<(X, Y)>()).graph,
        DType::F32,
        &[5, 77],
        1,
    );
    add(
        "softmax of a scan",
        trace(|x: In<f32, (Y, X)>| x.cummax::<X>().softmax::<X>().store::<(Y, X)>()).graph,
        DType::F32,
        &[3, 1100],
        1,
    );
    add(
        "a scan of columns, its mean along them",
        trace(|x: In<f32, (Y, X)>| (x.cumsum::<Y>() - x.cumsum::<Y>().mean::<Y>()).store::<(Y, X)>()).graph,
        DType::F32,
        &[150, 20],
        1,
    );
    add(
        "channels in registers",
        trace(|x: In<u8, (Y, X, C)>| (x.cumsum::<X>() + coordinate::<C>().to::<u64>()).store::<(Y, X, C)>()).graph,
        DType::U8,
        &[4, 37, 3],
        1,
    );
    add(
        "read backwards: each value by itself",
        trace(|x: In<f32, (Y, X)>| x.cumsum::<X>().reverse::<X>().store::<(Y, X)>()).graph,
        DType::F32,
        &[3, 40],
        1,
    );
    add(
        "backwards and back: a suffix sum",
        trace(|x: In<f32, (Y, X)>| (x.reverse::<X>().cumsum::<X>() * x).store::<(Y, X)>()).graph,
        DType::F32,
        &[3, 40],
        1,
    );
    add(
        "a table of sums over areas",
        trace(|x: In<u8, (Y, X)>| x.cumsum::<X>().cumsum::<Y>().store::<(Y, X)>()).graph,
        DType::U8,
        &[20, 23],
        1,
    );
    add(
        "a histogram beside a mean",
        trace(|x: In<u8, (Y, X, C)>| {
            ((x.histogram::<(Y, X), Bin>(20) + 1i64).store::<(C, Bin)>(), x.mean::<(Y, X)>().store::<(C,)>())
        })
        .graph,
        DType::U8,
        &[37, 11, 3],
        1,
    );
    add("short", along_x(), DType::F32, &[40, 5], 1);
    add(
        "of what is resized",
        trace(|x: In<f32, (Y, X)>| x.resize::<Y, X>(7, 45).cumsum::<X>().store::<(Y, X)>()).graph,
        DType::F32,
        &[5, 31],
        1,
    );
    add(
        "all along a row, of a longer sum",
        trace(|x: In<f32, (Y, X)>| x.cumsum::<X>().sum::<(Y, X)>().store::<()>()).graph,
        DType::F32,
        &[4, 19],
        1,
    );
    all
}

#[test]
fn the_same_bits_everywhere() {
    let prepared: Vec<_> = cases()
        .iter()
        .enumerate()
        .map(|(i, (name, case))| prepare(name.clone(), case, i).expect("few loops"))
        .collect();
    let text = |name: &str| &prepared[cases().iter().position(|(n, _)| n.starts_with(name)).unwrap()].kernel.source;
    assert!(text("a row of f32 [3, 17]").contains("tw::scan<8, 0>"), "{}", text("a row"));
    assert!(text("a row of f32 [1, 1024]").contains("tw::scan<256, 0>"));
    assert!(text("a row of f32 [2050").contains("tw::scan<32, 0>"));
    assert!(text("a column of f32 [20").contains("tw::scan<8, 32>"), "{}", text("a column"));
    assert!(!text("read backwards").contains("tw::scan<"));
    for name in ["a long row of f32 [1", "a long row, scanned twice", "long columns"] {
        assert!(text(name).contains("tw::wait_for("), "{}", text(name));
    }
    check_kernels("scans::the_same_bits_everywhere", &prepared);
}

fn sums(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    values
        .map(|v| {
            sum += v;
            sum
        })
        .collect()
}

#[test]
fn values_are_those_of_a_loop() {
    let mut rng = Rng::new(7);
    let dims = <(Y, X)>::IDS;
    for shape in [[3, 1], [2, 16], [3, 129], [2, 3000]] {
        let row = shape[1] as usize;
        let float: Vec<f32> = (0..shape[0] * shape[1]).map(|_| rng.unit() as f32).collect();
        let bits = float.iter().map(|v| u64::from(v.to_bits())).collect();
        let tensor = Tensor { dtype: DType::F32, components: 1, dims: dims.to_vec(), shape: shape.to_vec(), bits };
        let graph = trace(|x: In<f32, (Y, X)>| x.cumsum::<X>().store::<(Y, X)>()).graph;
        let got = evaluate_every_way(&graph, &[&tensor]).remove(0);
        let expected = float.chunks(row).flat_map(|r| sums(r.iter().map(|v| f64::from(*v))));
        for (bits, expected) in got.bits.iter().zip(expected) {
            let value = f64::from(f32::from_bits(*bits as u32));
            assert!((value - expected).abs() <= 1e-5 * expected, "{value} and {expected} of {shape:?}");
        }

        let integers = rng.tensor(DType::I16, dims, &shape);
        let graph =
            trace(|x: In<i16, (Y, X)>| (x.cumsum::<X>().store::<(Y, X)>(), x.cummin::<X>().store::<(Y, X)>())).graph;
        let got = evaluate_every_way(&graph, &[&integers]);
        for (i, row) in integers.bits.chunks(row).enumerate() {
            let (mut sum, mut least) = (0i64, i16::MAX);
            for (j, bits) in row.iter().enumerate() {
                (sum, least) = (sum + i64::from(*bits as u16 as i16), least.min(*bits as u16 as i16));
                assert_eq!(got[0].bits[i * row.len() + j] as i64, sum);
                assert_eq!(got[1].bits[i * row.len() + j] as u16 as i16, least);
            }
        }
    }
}

/// A row of up to 16 values is added up as NumPy does; a NaN stays from where it is on.
#[test]
fn short_rows_and_not_a_number() {
    let graph = trace(|x: In<f32, (X,)>| (x.cumsum::<X>().store::<(X,)>(), x.cummax::<X>().store::<(X,)>())).graph;
    let values = [1e8f32, 1.0, -1e8, f32::NAN, 2.0];
    let bits = values.iter().map(|v| u64::from(v.to_bits())).collect();
    let tensor = Tensor { dtype: DType::F32, components: 1, dims: <(X,)>::IDS.to_vec(), shape: vec![5], bits };
    let got = evaluate_every_way(&graph, &[&tensor]);
    let float = |t: &Tensor| t.bits.iter().map(|b| f32::from_bits(*b as u32)).collect::<Vec<_>>();
    assert_eq!(float(&got[0])[..3], [1e8, 1e8, 0.0]);
    assert_eq!(float(&got[1])[..3], [1e8, 1e8, 1e8]);
    assert!(float(&got[0])[3..].iter().chain(&float(&got[1])[3..]).all(|v| v.is_nan()));
}

#[test]
fn nothing_is_scanned_where_there_is_nothing() {
    let graph = trace(|x: In<f32, (Y, X)>| x.cumsum::<X>().store::<(Y, X)>()).graph;
    for shape in [[0, 40], [3, 0]] {
        let tensor = Tensor {
            dtype: DType::F32,
            components: 1,
            dims: <(Y, X)>::IDS.to_vec(),
            shape: shape.to_vec(),
            bits: vec![],
        };
        assert!(evaluate_every_way(&graph, &[&tensor])[0].bits.is_empty());
    }
    let unsized_ = trace(|| coordinate::<X>().cumsum::<X>().store::<(X,)>()).graph;
    let error = tilewright_expr::bind::Binding::new(&unsized_, &[]).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Unsized { dim: "X" }), "{error}");
}

/// Counts of bins, against a loop; values that are no bin count nowhere.
#[test]
fn histograms() {
    let counts = |bits: &[u64], bins: usize| {
        let mut counts = vec![0u64; bins];
        bits.iter().filter(|b| (**b as usize) < bins).for_each(|b| counts[*b as usize] += 1);
        counts
    };
    let mut rng = Rng::new(3);
    let x = rng.tensor(DType::U8, <(Y, X, C)>::IDS, &[37, 11, 3]);
    let of_channels = trace(|x: In<u8, (Y, X, C)>| x.histogram::<(Y, X), Bin>(256).store::<(C, Bin)>()).graph;
    let got = evaluate_every_way(&of_channels, &[&x]).remove(0);
    for c in 0..3 {
        let channel: Vec<u64> = x.bits.iter().skip(c).step_by(3).copied().collect();
        assert_eq!(got.bits[c * 256..][..256], counts(&channel, 256));
    }
    let all = trace(|x: In<i64, (X,)>| x.histogram::<X, Bin>(5).store::<(Bin,)>()).graph;
    let wide = rng.tensor(DType::I64, <(X,)>::IDS, &[700]);
    assert_eq!(evaluate_every_way(&all, &[&wide])[0].bits, counts(&wide.bits, 5));
}
