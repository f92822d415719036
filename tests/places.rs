//! The same layouts in Rust and in CUDA C++: offsets of thousands of points, cursors, slices, vectors, swizzles.

use crate::runner::{Kernel, everywhere, read, reported, written};
use tilewright_driver::TargetKind;
use tilewright_headers::layout::{Layout, expand};

const TEXT: &str = include_str!("kernels/places.cu");
const POINTS: usize = 1024;

fn kernel<'a>(text: &'a str, entry: &'a str, blocks: u32, threads: u32) -> Kernel<'a> {
    let (grid, block, target) = ([blocks, 1, 1], [threads, 1, 1], TargetKind::Plain);
    Kernel { name: "places", text, entry, grid, block, shared_bytes: 2304, target }
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| i as f32).collect()
}

fn layout(text: &str) -> Layout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

#[test]
fn offsets_agree() {
    let text = expand(TEXT).unwrap();
    let mut state = 7u32;
    let mut next = |low: i32, high: i32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        low + (state >> 8) as i32 % (high - low)
    };
    let points: Vec<i32> =
        (0..POINTS).flat_map(|_| [next(-40, 160), next(-9, 40), next(-70, 90), next(-40, 70)]).collect();
    let (plain, padded) = (layout("I: 10, J: 10"), layout("I: 8 => 64, J: 32"));
    let folded = layout("K/8: 4, I: 4, K%8");
    let swizzled = layout("[K/16: 4, I/16: 8, CELL: 32] via checkerboard(8: I%16, K/8%2 -> CELL)");
    let loaded = layout(
        "[K/16: 4, I/16: 8, CELL: 32] via index(LANE -> [K/8: 2, I: 16]) via checkerboard(8: I%16, K/8%2 -> CELL)",
    );
    let part = folded.slice("K", 8, 2).unwrap().1;
    let fours = folded.vectors(4).unwrap();
    let args = [read(&numbers(1024)), read(&points), written::<i32>(16 * POINTS), written::<f32>(512)];
    everywhere(&kernel(&text, "offsets", 4, 256), &args, |outputs, place| {
        let results = outputs.get::<i32>(0);
        for (point, got) in points.chunks(4).zip(results.chunks(16)) {
            let [i, j, k, lane] = [0, 1, 2, 3].map(|n| i64::from(point[n]));
            let of = |layout: &Layout, coords: &[(&str, i64)]| layout.offset(coords).unwrap();
            let (ij, ik) = ([("I", i), ("J", j)], [("I", i), ("K", k)]);
            let sum = of(&folded, &ik);
            let lt = (i < lane && j < k) as i64 + 2 * (i >= lane && j >= k) as i64 + 4 * (i == lane && j == k) as i64;
            let expected = [
                of(&plain, &ij),
                sum,
                sum,
                of(&swizzled, &ik),
                of(&swizzled, &ik),
                of(&loaded, &[("LANE", lane), ("I", 16), ("K", 16)]),
                of(&padded, &ij),
                of(&part, &ik),
                of(&fours, &ik),
                swizzled.checked_offset(&ik).is_ok() as i64,
                sum,
                k.min(8) * 1000 + k.max(8),
                lt + 8 * (i >= lane && j >= k) as i64,
                i.min(lane) * 1000 + j.min(k),
                j * 1000 + i,
                k.div_euclid(8) * 1000 + k.rem_euclid(8),
            ];
            assert_eq!(got.iter().map(|v| i64::from(*v)).collect::<Vec<_>>(), expected, "{place}: {point:?}");
        }
    });
}

#[test]
fn a_tile_is_turned() {
    let text = expand(TEXT).unwrap();
    let x = numbers(512);
    for threads in [1, 32, 96, 1000] {
        let args = [read(&x), read(&[0i32]), written::<i32>(1), written::<f32>(512)];
        everywhere(&kernel(&text, "turned", 1, threads), &args, |outputs, place| {
            assert!(outputs.get::<f32>(1).iter().zip(&x).all(|(y, x)| *y == x + 1.0), "{place}");
            assert_eq!(outputs.get::<i32>(0), [256], "{place}");
        });
    }
}

/// What lies outside is named, with the tensor and the line; the barrier that is missing is seen by the shadow of shared memory.
#[test]
fn mutants_are_reported() {
    let args = [read(&numbers(512)), read(&[0i32]), written::<i32>(1), written::<f32>(512)];
    let text = expand(&TEXT.replace("*turned.at(i).at(k)", "*turned.at(i).at(k + K(1))")).unwrap();
    reported(
        &kernel(&text, "turned", 1, 32),
        &args,
        &["Turned: K(16) lies outside 0..16", "places.cu:64", "block (0, 0, 0)"],
    );
    let text = expand(&TEXT.replace("  __syncthreads();\n", "")).unwrap();
    reported(
        &kernel(&text, "turned", 1, 64),
        &args,
        &["0_places.cu:59: it reads Turned at I(3) + K(15)", "nothing in this block has written them", "a barrier"],
    );
    let text = expand(&TEXT.replace(
        "Tile::partition(threadIdx.x, blockDim.x)) *turned",
        "Tile::partition(threadIdx.x + 1, blockDim.x)) *turned",
    ))
    .unwrap();
    reported(
        &kernel(&text, "turned", 1, 64),
        &args,
        &["reads Turned at ", "nothing in this block has written them yet"],
    );
}

use tilewright_headers::host_model::HostModel;

/// Mistakes with dimensions do not compile in C++ either.
#[test]
fn mistakes_do_not_compile() {
    if HostModel::compiler().is_none() {
        return tilewright_headers::host_model::skip("places::mistakes_do_not_compile", "no C++ compiler");
    }
    for (line, message) in [
        ("I(1) < J(1)", "different dimensions do not compare"),
        ("Plain{p.x}.at(K(1)).offset()", "none of these dimensions is one of the layout's"),
        ("Plain{p.x}.at(I(1)).at(K(1)).offset()", "none of these dimensions is one of the layout's"),
        ("Plain::extent<K>().value", "the tensor has no such dimension"),
        ("tw::all_lt(I(1) + J(1), K(3))", "the two sides share no dimension"),
        ("(I(1) += J(1)).value", "lies along another dimension"),
        ("tw::without<K>(I(1) + J(1)).get<I>()", "no such dimension among these coordinates"),
        ("K8(K(3)).fold<12>().value", "one of the two units must divide the other"),
        ("Plain{p.x}.slice<K, 2>(K(1)).at(I(0)).offset()", "no outermost axis of this dimension"),
        ("Plain{p.x}.slice<I, 2>(J(1)).at(I(0)).offset()", "begins along another dimension"),
        ("Plain{p.x}.as<float4>().at(I(0)).offset()", "does not divide into vectors"),
    ] {
        let text = expand(&TEXT.replace("r[0] = Plain::offset(I(i) + J(j));", &format!("r[0] = {line};"))).unwrap();
        let source = tilewright_headers::host_model::KernelSource { name: "mistake", text: &text };
        let said = HostModel::compile(&[source]).map(|_| ()).unwrap_err().to_string();
        assert!(said.contains(message), "{line}: {said}");
    }
}
