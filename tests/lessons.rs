//! The lessons of `tilewright_dims`: each kernel gives what the Rust program beside it gives, and what a plain loop gives.

use crate::runner::{Arg, Kernel, everywhere, read, reported, written};
use tilewright_driver::TargetKind;
use tilewright_headers::host_model::{HostModel, KernelSource, skip};
use tilewright_headers::layout::expand;

#[path = "../crates/dims/examples/05_compound_index.rs"]
#[allow(dead_code, reason = "its main")]
mod compound_index;
#[path = "../crates/dims/examples/02_cursors.rs"]
#[allow(dead_code, reason = "its main")]
mod cursors;
#[path = "../crates/dims/examples/03_folding.rs"]
#[allow(dead_code, reason = "its main")]
mod folding;
#[path = "../crates/dims/examples/04_projection.rs"]
#[allow(dead_code, reason = "its main")]
mod projection;
#[path = "../crates/dims/examples/06_tiled_matmul.rs"]
#[allow(dead_code, reason = "its main")]
mod tiled_matmul;
#[path = "../crates/dims/examples/01_type_safety.rs"]
#[allow(dead_code, reason = "its main")]
mod type_safety;

/// The text of a lesson's kernel, its declarations expanded.
macro_rules! text {
    ($name:literal) => {
        expand(include_str!(concat!("../crates/dims/examples/", $name, ".cu"))).unwrap()
    };
}

fn kernel<'a>(text: &'a str, entry: &'a str, blocks: u32, threads: u32, shared_bytes: u32) -> Kernel<'a> {
    let (grid, block, target) = ([blocks, 1, 1], [threads, 1, 1], TargetKind::Plain);
    Kernel { name: entry, text, entry, grid, block, shared_bytes, target }
}

/// Runs one block of the kernel and demands that it writes `expected`.
fn writes(text: &str, entry: &str, threads: u32, inputs: &[&[i32]], expected: &[i32]) {
    let args: Vec<Arg> = inputs.iter().map(|input| read(input)).chain([written::<i32>(expected.len())]).collect();
    everywhere(&kernel(text, entry, 1, threads, 0), &args, |outputs, place| {
        assert_eq!(outputs.get::<i32>(0), expected, "{place}");
    });
}

/// Pseudo-random numbers from -9 to 9.
fn numbers(count: usize, seed: u32) -> Vec<i32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as i32 % 19 - 9
    };
    (0..count).map(next).collect()
}

#[test]
fn type_safety_and_commutativity() {
    let rows = numbers(15, 1);
    let plain: Vec<i32> = (0..15).map(|n| rows[n % 3 * 5 + n / 3]).collect();
    assert_eq!(type_safety::turned(&rows), Ok(plain.clone()));
    writes(&text!("01_type_safety"), "turned", 32, &[&rows], &plain);
}

#[test]
fn cursors() {
    let picture = numbers(24, 2);
    let pixel = |y: i32, x: i32| if (0..12).contains(&x) { picture[(x / 4 * 8 + y * 4 + x % 4) as usize] } else { 0 };
    let plain: Vec<i32> = (0..24).map(|n| (n % 12 - 1..n % 12 + 2).map(|x| pixel(n / 12, x)).sum::<i32>()).collect();
    assert_eq!(cursors::three_point_sums(&picture), Ok(plain.clone()));
    writes(&text!("02_cursors"), "three_point_sums", 3, &[&picture], &plain);
}

#[test]
fn folding_and_carry() {
    let a = numbers(48, 3);
    let window = |i: usize, block: usize| (8 * block + 3..8 * block + 11).map(|k| a[k / 8 * 16 + i * 8 + k % 8]).sum();
    let plain: Vec<i32> = (0..4).map(|n| window(n / 2, n % 2)).collect();
    assert_eq!(folding::window_sums(&a), Ok(plain.clone()));
    writes(&text!("03_folding"), "window_sums", 3, &[&a], &plain);
}

#[test]
fn projection() {
    let (samples, gain, bias) = (numbers(24, 4), numbers(2, 5), numbers(3, 6));
    let total = |n: usize, c: usize| (0..4).map(|x| samples[n * 12 + c * 4 + x] * gain[n] + bias[c]).sum();
    let plain: Vec<i32> = (0..6).map(|of| total(of / 3, of % 3)).collect();
    assert_eq!(projection::totals(&samples, &gain, &bias), Ok(plain.clone()));
    writes(&text!("04_projection"), "totals", 4, &[&samples, &gain, &bias], &plain);
}

#[test]
fn compound_index() {
    let [dealt, paired]: [Vec<i32>; 2] = [(0..64).map(|n| n % 32).collect(), (0..64).map(|n| n / 2).collect()];
    assert_eq!(compound_index::lanes(), Ok([dealt.clone(), paired.clone()]));
    let text = text!("05_compound_index");
    let args = [written::<i32>(64), written::<i32>(64), written::<i32>(64)];
    everywhere(&kernel(&text, "lanes", 1, 32, 0), &args, |outputs, place| {
        let expected = [&dealt, &paired, &paired];
        expected.iter().enumerate().for_each(|(n, expected)| assert_eq!(outputs.get::<i32>(n), **expected, "{place}"));
    });
}

/// Small integers, so that every order of summation gives the same bits: A, B, and their product by a plain loop.
fn matrices() -> [Vec<f32>; 3] {
    let floats = |numbers: Vec<i32>| numbers.into_iter().map(|n| n as f32).collect::<Vec<_>>();
    let (a, b) = (floats(numbers(50 * 75, 7)), floats(numbers(75 * 70, 8)));
    let sum = |i: usize, j: usize| (0..75).map(|k| a[75 * i + k] * b[70 * k + j]).sum();
    let c = (0..50 * 70).map(|n| sum(n / 70, n % 70)).collect();
    [a, b, c]
}

#[test]
fn tiled_product() {
    let [a, b, c] = matrices();
    assert_eq!(tiled_matmul::product(&a, &b).as_ref(), Ok(&c));
    let text = text!("06_tiled_matmul");
    let args = [read(&a), read(&b), written::<f32>(c.len())];
    everywhere(&kernel(&text, "product", 6, 64, 8320), &args, |outputs, place| {
        assert!(outputs.get::<f32>(0) == c, "{place}");
    });
}

/// The only product is that of two elements, and nothing is divided; numbers of threads go to layouts alone.
#[test]
fn the_product_has_no_index_arithmetic() {
    let text = text!("06_tiled_matmul");
    let kernel = &text[text.find("extern \"C\"").unwrap()..];
    assert_eq!([" * ", " / ", " % "].map(|operator| kernel.matches(operator).count()), [1, 0, 0]);
    let layouts = ["partition(threadIdx.x, blockDim.x)", "coords_of(threadIdx.x)", "coords_of(blockIdx.x)"];
    let rest = layouts.iter().fold(kernel.to_owned(), |rest, of| rest.replace(of, ""));
    assert!(!rest.contains("Idx") && !rest.contains("Dim."), "{rest}");
}

/// Each of the two barriers dropped: a tile is read before it is there, and written while others still read it.
#[test]
fn a_product_without_a_barrier_is_reported() {
    let [a, b, c] = matrices();
    let (text, args) = (text!("06_tiled_matmul"), [read(&a), read(&b), written::<f32>(c.len())]);
    let barriers: Vec<usize> = text.match_indices("__syncthreads();").map(|(at, _)| at).collect();
    let expected: [&[&str]; 2] = [
        &["0_product.cu:38: it reads ATile at I(", "nothing in this block has written them yet"],
        &[
            "0_product.cu:38: it reads ATile at I(",
            "wrote them at 0_product.cu:34, and nothing orders the two: write __syncthreads()",
        ],
    ];
    assert_eq!(barriers.len(), expected.len());
    for (at, parts) in barriers.into_iter().zip(expected) {
        let mutant = format!("{}{}", &text[..at], &text[at + "__syncthreads();".len()..]);
        reported(&kernel(&mutant, "product", 6, 64, 8320), &args, parts);
    }
}

/// What the Rust lessons show not to compile does not compile in C++ either.
#[test]
fn wrong_versions_do_not_compile() {
    if HostModel::compiler().is_none() {
        return skip("lessons::wrong_versions_do_not_compile", "no C++ compiler");
    }
    let lessons = [text!("01_type_safety"), text!("03_folding"), text!("04_projection")];
    for (lesson, right, wrong, message) in [
        (0, "y < Rows::extent<Y>()", "y < Rows::extent<X>()", "different dimensions do not compare"),
        (0, "*rows.at(y + x)", "*rows.at(y + 3)", "operator+"),
        (1, "*a.at(i + block + k)", "*a.at(i + block + k * K8(1))", "operator*"),
        (2, "*gain.at(at)", "*gain.at(x)", "none of these dimensions is one of the layout's"),
    ] {
        assert!(lessons[lesson].contains(right), "{right}");
        let text = lessons[lesson].replace(right, wrong);
        let said = HostModel::compile(&[KernelSource { name: "wrong", text: &text }]).map(|_| ()).unwrap_err();
        assert!(said.to_string().contains(message), "{wrong}: {said}");
    }
}
