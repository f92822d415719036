//! Histograms that are stored: their source is read once, and blocks count for themselves.

use super::{Case, Prepared, check, check_cases, prepare};
use crate::emitted::compiler;
use crate::random::Rng;
use crate::tensor::{Layout, Stored, Tensor, evaluate};
use tilewright_dims::{Dims, dims};
use tilewright_expr::bind::{Axis, Place, View, dense};
use tilewright_expr::emit::{MOST_PARAMETER_BYTES, Room, combine};
use tilewright_expr::explain::Explanation;
use tilewright_expr::graph::Graph;
use tilewright_expr::sections::Sections;
use tilewright_expr::{DType, In, Rect, trace};
use tilewright_headers::host_model::{HostModel, KernelSource};

dims! { N, Y, X, C, Bin }

fn picture(rng: &mut Rng, dtype: DType, dims: &[u64], shape: &[i64]) -> Tensor {
    rng.tensor(dtype, dims, shape)
}

fn cases() -> Vec<Case> {
    let mut rng = Rng::new(41);
    let mut all = Vec::new();
    let mut add = |name: &str, graph: Graph, dtype: DType, shape: &[i64]| {
        for seed in 0..2 {
            let dims = graph.operands[0].dims.clone();
            let order: Vec<i64> =
                dims.iter().map(|d| shape[<(N, Y, X, C)>::IDS.iter().position(|i| i == d).unwrap()]).collect();
            let x = picture(&mut rng, dtype, &dims, &order);
            all.push(Case::new(format!("{name} {shape:?}, seed {seed}"), graph.clone(), vec![x], seed));
        }
    };
    let plain = || trace(|x: In<u8, (Y, X)>| x.histogram::<(Y, X), Bin>(256).store::<(Bin,)>()).graph;
    // None, one, fewer than a block, several blocks.
    for shape in [[1, 0, 7, 1], [1, 1, 1, 1], [1, 3, 5, 1], [1, 37, 53, 1], [1, 130, 517, 1]] {
        add("a plane", plain(), DType::U8, &shape);
    }
    let channels = || trace(|x: In<u8, (N, Y, X, C)>| x.histogram::<(Y, X), Bin>(256).store::<(N, C, Bin)>()).graph;
    for shape in [[2, 9, 11, 3], [3, 40, 70, 3], [2, 61, 67, 4], [1, 31, 40, 5], [0, 3, 4, 3]] {
        add("channels of a batch", channels(), DType::U8, &shape);
    }
    let rows = trace(|x: In<i16, (N, Y, X)>| (x & 15).histogram::<X, Bin>(16).store::<(Bin, N, Y)>()).graph;
    add("rows", rows, DType::I16, &[2, 5, 300, 1]);
    let columns = trace(|x: In<u8, (Y, X)>| (x & 7).histogram::<Y, Bin>(8).store::<(X, Bin)>()).graph;
    add("columns", columns, DType::U8, &[1, 70, 33, 1]);
    let wide = trace(|x: In<i64, (Y, X)>| x.histogram::<(Y, X), Bin>(5).store::<(Bin,)>()).graph;
    add("64 bits", wide, DType::I64, &[1, 20, 33, 1]);
    let floats = trace(|x: In<f32, (Y, X)>| {
        ((x + 40.0) * 0.5).floor().to::<i32>().histogram::<(Y, X), Bin>(40).store::<(Bin,)>()
    });
    add("of floats, computed", floats.graph, DType::F32, &[1, 33, 65, 1]);
    let many = trace(|x: In<u16, (Y, X)>| x.histogram::<(Y, X), Bin>(65_536).store::<(Bin,)>()).graph;
    add("more bins than shared memory has room for", many, DType::U16, &[1, 40, 60, 1]);
    let fewer = trace(|x: In<u8, (Y, X)>| x.histogram::<(Y, X), Bin>(100).store::<(Bin,)>()).graph;
    add("fewer bins than values", fewer, DType::U8, &[1, 33, 41, 1]);
    let signed = trace(|x: In<i8, (Y, X)>| x.histogram::<(Y, X), Bin>(128).store::<(Bin,)>()).graph;
    add("values below the first bin", signed, DType::I8, &[1, 33, 41, 1]);
    let conditions = trace(|x: In<f32, (Y, X)>| x.gt(1.0).to::<u8>().histogram::<(Y, X), Bin>(2).store::<(Bin,)>());
    add("of conditions", conditions.graph, DType::F32, &[1, 33, 41, 1]);
    let resized = trace(|x: In<u8, (Y, X, C)>| {
        x.resize::<Y, X>(19, 23).reverse::<C>().to::<u8>().histogram::<(Y, X), Bin>(256).store::<(C, Bin)>()
    });
    add("of what is resized", resized.graph, DType::U8, &[1, 30, 41, 3]);
    all
}

#[test]
fn the_same_counts_everywhere() {
    let cases = cases();
    let prepared: Vec<Prepared<'_>> = cases.iter().enumerate().map(|(i, c)| prepare(c, i)).collect();
    let private = prepared.iter().filter(|p| p.private() > 0).count();
    assert!(private >= 12, "{private} of {} count in shared memory", prepared.len());
    // A plane that is dense is one loop, read 16 bytes at a time, once.
    let dense = prepared.iter().find(|p| p.case.name.starts_with("a plane [1, 130, 517, 1], seed 0")).unwrap();
    let text = dense.sources();
    assert_eq!(text.matches("*(const uint4*)").count(), 1, "{text}");
    assert!(
        text.contains("unsigned* const table = ")
            && text.contains("tw::scattered::meet(tw::scattered::Sum{}, table + "),
        "{text}"
    );
    check("scatter::histograms::the_same_counts_everywhere", &prepared);
}

/// Sums of weights against a loop.
#[test]
fn weights() {
    let mut rng = Rng::new(42);
    let x = rng.tensor(DType::U8, <(Y, X, C)>::IDS, &[23, 31, 3]);
    let mut cases = Vec::new();
    macro_rules! of {
        ($T:ty, $dtype:ident) => {{
            let weight = rng.tensor(DType::$dtype, <(Y, X)>::IDS, &[23, 31]);
            let graph = trace(|x: In<u8, (Y, X, C)>, w: In<$T, (Y, X)>| {
                (x & 31).weighted_histogram::<(Y, X), Bin, _, _>(32, w).store::<(C, Bin)>()
            })
            .graph;
            for seed in 0..2 {
                cases.push(Case::new(stringify!($T), graph.clone(), vec![x.clone(), weight.clone()], seed));
            }
            let mut sums = vec![0i64; 3 * 32];
            for (i, v) in x.bits.iter().enumerate() {
                let sum = &mut sums[i % 3 * 32 + (*v as usize & 31)];
                *sum = sum.wrapping_add(<$T as tilewright_expr::Value>::from_bits64(weight.bits[i / 3]) as i64);
            }
            (graph, weight, sums)
        }};
    }
    macro_rules! all { ($($T:ty, $dtype:ident;)*) => { vec![$(of!($T, $dtype)),*] } }
    let references = all! { u8, U8; i8, I8; u16, U16; i16, I16; u32, U32; i32, I32; i64, I64; };
    for (graph, weight, sums) in references {
        let stored = [Stored::new(&x, &Layout::dense(3)), Stored::new(&weight, &Layout::dense(2))];
        let got = evaluate(&graph, &stored, &[Layout::dense(2)], true, 0).unwrap().0.remove(0);
        assert_eq!(got.bits.iter().map(|b| *b as i64).collect::<Vec<_>>(), sums);
    }
    check_cases("scatter::histograms::weights", &cases);
}

/// Boxes of one size are counted in one pass, boxes that differ in the general way: in both the counts are those of the pixels.
#[test]
fn crops() {
    let graph = trace(|x: In<u8, (Y, X)>, boxes: In<Rect, (N,)>| {
        x.crop::<Y, X, _>(boxes).histogram::<(Y, X), Bin>(256).store::<(N, Bin)>()
    })
    .graph;
    let mut rng = Rng::new(43);
    let x = rng.tensor(DType::U8, <(Y, X)>::IDS, &[40, 50]);
    let equal = [Rect::new(3, 4, 20, 30), Rect::new(0, 0, 20, 30), Rect::new(30, 10, 20, 30)];
    let ragged = [Rect::new(3, 4, 20, 30), Rect::new(0, 0, 1, 2), Rect::new(10, 10, 40, 30)];
    for (boxes, launches) in [(equal, 2), (ragged, 1)] {
        let bits = boxes.iter().flat_map(|r| [r.x, r.y, r.width, r.height]).map(|v| u64::from(v as u32)).collect();
        let list = Tensor { dtype: DType::I32, components: 4, dims: <(N,)>::IDS.to_vec(), shape: vec![3], bits };
        let mut case = Case::new("crops", graph.clone(), vec![x.clone(), list], 0);
        let prepared = crops_of(&case, &x, &boxes);
        assert_eq!(prepared.parts.len(), launches);
        check("scatter::histograms::crops", &[prepared]);
        case.name.clear();
    }
}

/// Evaluates, and compares with a loop over pixels: the definition's loops have no such sizes.
fn crops_of<'a>(case: &'a Case, x: &Tensor, boxes: &[Rect]) -> Prepared<'a> {
    let mut counts = vec![0u64; boxes.len() * 256];
    for (n, b) in boxes.iter().enumerate() {
        for (y, column) in (b.y..b.y + b.height).flat_map(|y| (b.x..b.x + b.width).map(move |c| (y, c))) {
            counts[n * 256 + x.bits[(y * 50 + column) as usize] as usize] += 1;
        }
    }
    let prepared = super::launches(case, 1).expect("boxes inside");
    assert_eq!(prepared.expected[0].bits, counts);
    prepared
}

/// What an explanation says of it.
#[test]
fn explained() {
    let graph = trace(|x: In<u8, (N, Y, X, C)>| x.histogram::<(Y, X), Bin>(256).store::<(N, C, Bin)>()).graph;
    let axes = [dense(<(N, Y, X, C)>::IDS, &[2, 1080, 1920, 3]), dense(<(N, C, Bin)>::IDS, &[2, 3, 256])];
    let view = |axes| View { axes, place: Place::Device, alignment: 256, boxes: None };
    let e = Explanation::new(&graph, "counts", &[view(&axes[0][..])], &[view(&axes[1][..])]).unwrap();
    let page = e.to_string();
    for line in [
        "scattered    values that meet become one by Sum, in 768 places (3072 bytes) of each block first, for its ",
        "before       a launch gives result 0 its initial value",
        "operand 0    u8 (N = 2, Y = 1080, X = 1920, C = 3), dense, on the device, aligned to 4; 4-byte accesses, 12,441,600 bytes",
        "result 0     i64 (N = 2, C = 3, Bin = 256), dense, on the device, aligned to 8; 8-byte accesses, 12,288 bytes",
        "result 0 (N, C, Bin), scattered\n└ 1\nat Bin\n└ to i32: i32 (N, C, Y, X)\n  └ operand 0: u8 (N, C, Y, X)",
    ] {
        assert!(page.contains(line), "{line}\nin\n{page}");
    }
    assert_eq!((e.filled.as_slice(), e.bytes_read()), (&[0][..], 12_441_600));
    let scatters = e.sections[0].scatters.as_ref().expect("it scatters");
    assert!(scatters.private.is_some_and(|[places, _, turns]| places == 768 && turns > 1), "{scatters}");
}

/// Kernels for more pixels than 32 bits count, compiled and not run.
#[test]
fn huge_planes_compile() {
    if !compiler("scatter::histograms::huge_planes_compile") {
        return;
    }
    let plane = trace(|x: In<u8, (Y, X)>| x.histogram::<(Y, X), Bin>(256).store::<(Bin,)>()).graph;
    let batch = trace(|x: In<u8, (N, Y, X)>| x.histogram::<(Y, X), Bin>(256).store::<(Bin, N)>()).graph;
    let wide: i64 = 3_000_000_000;
    let sizes: [(&Graph, Vec<Axis>, Vec<Axis>); 3] = [
        (&plane, dense(<(Y, X)>::IDS, &[70_000, 70_000]), dense(<(Bin,)>::IDS, &[256])),
        (&batch, dense(<(N, Y, X)>::IDS, &[3, 70_000, 70_001]), dense(<(Bin, N)>::IDS, &[256, 3])),
        (&batch, dense(<(N, Y, X)>::IDS, &[wide, 40, 40]), dense(<(Bin, N)>::IDS, &[256, wide])),
    ];
    let text = |(graph, x, counts): &(&Graph, Vec<Axis>, Vec<Axis>)| {
        let view = |axes| View { axes, place: Place::Device, alignment: 16, boxes: None };
        let sections = Sections::new(graph, &[view(&x[..])], &[view(&counts[..])]).unwrap_or_else(|e| panic!("{e}"));
        assert!(sections.list[0].plan.private.is_some());
        combine(&sections, Room::Small, MOST_PARAMETER_BYTES).unwrap_or_else(|e| panic!("{e}")).source
    };
    let texts: Vec<String> = sizes.iter().map(text).collect();
    assert!(texts.iter().all(|t| t.contains("long long")));
    let sources: Vec<KernelSource<'_>> = texts.iter().map(|text| KernelSource { name: "case", text }).collect();
    HostModel::compile(&sources).unwrap_or_else(|e| panic!("{e}"));
}
