//! Fragments over typed dimensions: which lane holds what, loads and stores through typed views, a whole product.

use crate::numbers::{BF16, F16, Random, Short, block};
use crate::runner::{Arg, Kernel, everywhere, read, reported, written};
use tilewright_headers::host_model::{Error, HostModel, KernelSource, skip};

const DIMS: &str = r#"
#include "tilewright/fragment.cuh"
struct I : tw::Dim<I> { using Dim::Dim; };
struct J : tw::Dim<J> { using Dim::Dim; };
struct K : tw::Dim<K> { using Dim::Dim; };
"#;

const MAPS: &str = r#"
struct Params { int* out; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  using F = FRAGMENT;
  const int lane = threadIdx.x;
  int* out = p.out + lane * 20;
  for (int i = 0; i < F::elements; ++i) {
    out[2 * i] = F::coords(lane, i).get<ROW>();
    out[2 * i + 1] = F::coords(lane, i).get<COLUMN>();
  }
  LOAD
}
"#;
const LOAD_MAP: &str = "out[16] = F::row_coords(lane).get<ROW>(); out[17] = F::row_coords(lane).get<COLUMN>();
  out[18] = F::row_coords_trans(lane).get<ROW>(); out[19] = F::row_coords_trans(lane).get<COLUMN>();";

/// The formulas by which the documentation of mma.sync places register `f`'s pair `p` (f16, bf16) or element (tf32): row and
/// column.
fn place(operand: char, deep: i32, short: bool, lane: i32, f: i32, p: i32) -> (i32, i32) {
    let inner = |f: i32| if short { 2 * (lane % 4 + 4 * f) + p } else { lane % 4 + 4 * f };
    match operand {
        'A' => (lane / 4 + 8 * (f & 1), inner(f >> 1)),
        'B' => (inner(f % deep), lane / 4 + 8 * (f / deep)),
        _ => (lane / 4 + 8 * (f & 1), 2 * (lane % 4 + 4 * (f >> 1)) + p),
    }
}

#[test]
fn maps_of_elements() {
    let cases = [
        ('A', "tw::FragmentA<tw::f16, I, K, 16, 8>", "I", "K", 2, 1, true),
        ('A', "tw::FragmentA<tw::bf16, I, K, 16, 16>", "I", "K", 4, 2, true),
        ('A', "tw::FragmentA<tw::tf32, I, K, 16, 4>", "I", "K", 2, 1, false),
        ('A', "tw::FragmentA<tw::tf32, I, K, 16, 8>", "I", "K", 4, 2, false),
        ('B', "tw::FragmentB<tw::f16, K, J, 8, 8>", "K", "J", 1, 1, true),
        ('B', "tw::FragmentB<tw::bf16, K, J, 16, 8>", "K", "J", 2, 2, true),
        ('B', "tw::FragmentB<tw::f16, K, J, 8, 16>", "K", "J", 2, 1, true),
        ('B', "tw::FragmentB<tw::f16, K, J, 16, 16>", "K", "J", 4, 2, true),
        ('B', "tw::FragmentB<tw::tf32, K, J, 8, 16>", "K", "J", 4, 2, false),
        ('C', "tw::FragmentC<I, J, 16, 8>", "I", "J", 2, 1, true),
        ('C', "tw::FragmentC<I, J, 16, 16>", "I", "J", 4, 1, true),
    ];
    for (operand, fragment, row, column, registers, deep, short) in cases {
        let load = if operand == 'C' { "" } else { LOAD_MAP };
        let text =
            MAPS.replace("FRAGMENT", fragment).replace("LOAD", load).replace("ROW", row).replace("COLUMN", column);
        everywhere(&block("maps", &(DIMS.to_owned() + &text), 32, 0), &[written::<i32>(640)], |outputs, at| {
            let out = outputs.get::<i32>(0);
            for lane in 0..32 {
                let mut i = lane as usize * 20;
                for (f, p) in (0..registers).flat_map(|f| (0..if short { 2 } else { 1 }).map(move |p| (f, p))) {
                    let truth = place(operand, deep, short, lane, f, p);
                    assert_eq!((out[i], out[i + 1]), truth, "{at}, {fragment}, lane {lane}, register {f}, part {p}");
                    i += 2;
                }
            }
        });
    }
}

#[test]
fn maps_of_rows_to_load() {
    type Map = fn(i32) -> [(i32, i32); 2];
    // For each, the place of the row in units of elements, plain and transposed.
    let cases: [(&str, &str, &str, Map); 6] = [
        ("tw::FragmentA<tw::f16, I, K, 16, 16>", "I", "K", |l| {
            [(l & 15, 8 * (l >> 4)), (8 * (l >> 3 & 1), (l & 7) + 8 * (l >> 4))]
        }),
        ("tw::FragmentA<tw::f16, I, K, 16, 8>", "I", "K", |l| [(l & 15, 0), (8 * (l >> 3 & 1), l & 7)]),
        ("tw::FragmentB<tw::f16, K, J, 16, 16>", "K", "J", |l| {
            [(8 * (l >> 3 & 1), (l & 7) + ((l & 16) >> 1)), (l & 15, 8 * (l >> 4))]
        }),
        ("tw::FragmentB<tw::f16, K, J, 16, 8>", "K", "J", |l| [(8 * (l >> 3 & 1), l & 7), (l & 15, 0)]),
        ("tw::FragmentB<tw::f16, K, J, 8, 8>", "K", "J", |l| [(0, l & 7), (l & 7, 0)]),
        ("tw::FragmentB<tw::f16, K, J, 8, 16>", "K", "J", |l| [(0, l & 15), (l & 7, 8 * (l >> 3 & 1))]),
    ];
    for (fragment, row, column, map) in cases {
        let text =
            MAPS.replace("FRAGMENT", fragment).replace("LOAD", LOAD_MAP).replace("ROW", row).replace("COLUMN", column);
        everywhere(&block("rows", &(DIMS.to_owned() + &text), 32, 0), &[written::<i32>(640)], |outputs, at| {
            for (lane, out) in (0..32).zip(outputs.get::<i32>(0).chunks(20)) {
                assert_eq!([(out[16], out[17]), (out[18], out[19])], map(lane), "{at}, {fragment}, lane {lane}");
            }
        });
    }
}

/// A fragment loaded by ldmatrix from a padded tile holds what it gathers; stored by stmatrix it is the tile again.
const MOVES: &str = r#"
using Along = tw::Layout<tw::Axis<I, 1, 32, 24, false>, tw::Axis<K, 1, 24, 1, false>>;
using Across = tw::Layout<tw::Axis<K, 1, 24, 40, false>, tw::Axis<I, 1, 32, 1, false>>;
struct Params { const tw::bf16* x; unsigned* differences; tw::bf16* y; };
template <class F, class Cursor> TW_DEVICE unsigned load_differs(Cursor at, bool trans) {
  F loaded, gathered;
  if (trans) loaded.load_trans(at); else loaded.load(at);
  gathered.gather(at);
  unsigned differs = 0;
  for (int i = 0; i < F::registers; ++i) differs |= loaded.bits[i] ^ gathered.bits[i];
  return differs;
}
extern "C" __global__ void run(const __grid_constant__ Params p) {
  tw::bf16* memory = (tw::bf16*)tw::shared_memory();
  const tw::Tensor<tw::bf16, Along> along{memory};
  const tw::Tensor<tw::bf16, Across> across{memory + 1024};
  const tw::Tensor<const tw::bf16, tw::Layout<tw::Axis<I, 1, 32, 24, false>, tw::Axis<K, 1, 24, 1, false>>> x{p.x};
  const tw::Tensor<tw::bf16, tw::Layout<tw::Axis<I, 1, 16, 16, false>, tw::Axis<K, 1, 16, 1, false>>> y{p.y};
  for (int k = 0; k < 24; ++k) {
    const auto at = I((int)threadIdx.x) + K(k);
    *along.at(at) = *x.at(at);
    *across.at(at) = *x.at(at);
  }
  __syncwarp();
  const auto corner = I(8) + K(8);
  unsigned* out = p.differences + threadIdx.x * 8;
  using A16 = tw::FragmentA<tw::bf16, I, K, 16, 16>;
  using A8 = tw::FragmentA<tw::bf16, I, K, 16, 8>;
  out[0] = load_differs<A16>(along.at(corner), false);
  out[1] = load_differs<A16>(across.at(corner), true);
  out[2] = load_differs<A8>(along.at(corner), false);
  out[3] = load_differs<A8>(across.at(corner), true);
  out[4] = load_differs<tw::FragmentB<tw::bf16, K, I, 16, 8>>(along.at(corner), false);
  out[5] = load_differs<tw::FragmentB<tw::bf16, K, I, 16, 16>>(across.at(corner), true);
  out[6] = load_differs<tw::FragmentB<tw::bf16, K, I, 8, 16>>(along.at(corner), false);
  out[7] = load_differs<tw::FragmentB<tw::bf16, K, I, 8, 8>>(across.at(corner), true);
  A16 a;
  a.load(along.at(corner));
  __syncwarp();
  a.store(along.at(K(0)));
  a.store_trans(across.at(I(0)));
  __syncwarp();
  unsigned differs = 0;
  a.for_each([&](tw::bf16 value, tw::Coords<I, K> at) {
    differs |= along.at(at).load().bits ^ value.bits;
    differs |= across.at(at).load().bits ^ value.bits;
    *y.at(at) = value;
  });
  out[0] |= differs;
}
"#;

#[test]
fn loads_and_stores_through_views() {
    let x: Vec<u16> = {
        let mut random = Random(1);
        (0..768).map(|_| random.next() as u16).collect()
    };
    let text = DIMS.to_owned() + MOVES;
    let args = [read(&x), written::<u32>(256), written::<u16>(256)];
    everywhere(&block("moves", &text, 32, 4096), &args, |outputs, at| {
        assert_eq!(outputs.get::<u32>(0), [0; 256], "{at}");
        let y = outputs.get::<u16>(1);
        for i in 0..256 {
            assert_eq!(y[i], x[(8 + i / 16) * 24 + 8 + i % 16], "{at}, {i}");
        }
    });
    let wrong = text.replace("a.load(along", "a.load(across");
    reported(&block("moves", &wrong, 32, 4096), &args, &["load: a row's elements are not neighbours", ".cu:43"]);
    let wrong = text.replace("a.store_trans(across", "a.store_trans(along");
    reported(&block("moves", &wrong, 32, 4096), &args, &["store_trans: a column's elements are not neighbours"]);
    let wrong = text.replace("a.load(along.at(corner))", "a.load(along.at(corner + K(1)))");
    reported(&block("moves", &wrong, 32, 4096), &args, &["2 bytes past a multiple of 16"]);
    let wrong = text.replace("a.store(along.at(K(0)))", "if (threadIdx.x == 3) return; a.store(along.at(K(0)))");
    reported(&block("moves", &wrong, 32, 4096), &args, &["stmatrix needs all 32 lanes"]);
}

/// 48 x 40 = 48 x 32 times 32 x 40: three warps, each with 16 rows.
const PRODUCT: &str = r#"
using Left = tw::Layout<tw::Axis<I, 1, 48, 32, false>, tw::Axis<K, 1, 32, 1, false>>;
using Right = tw::Layout<tw::Axis<K, 1, 32, 40, false>, tw::Axis<J, 1, 40, 1, false>>;
using Sums = tw::Layout<tw::Axis<I, 1, 48, 40, false>, tw::Axis<J, 1, 40, 1, false>>;
using LeftTile = tw::Layout<tw::Axis<I, 1, 48, 40, false>, tw::Axis<K, 1, 32, 1, false>>;
using RightTile = tw::Layout<tw::Axis<K, 1, 32, 56, false>, tw::Axis<J, 1, 40, 1, false>>;
struct Params { const tw::f16* a; const tw::f16* b; float* d; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  using A = tw::FragmentA<tw::f16, I, K, 16, 16>;
  using B = tw::FragmentB<tw::f16, K, J, 16, 8>;
  using C = tw::FragmentC<I, J, 16, 8>;
  const tw::Tensor<const tw::f16, Left> left{p.a};
  const tw::Tensor<const tw::f16, Right> right{p.b};
  const tw::Tensor<float, Sums> sums{p.d};
  const tw::Tensor<tw::f16, LeftTile> a_tile{(tw::f16*)tw::shared_memory()};
  const tw::Tensor<tw::f16, RightTile> b_tile{(tw::f16*)tw::shared_memory() + 48 * 40};

  const tw::Fold<I, 16> strip((int)threadIdx.x / 32);
  for (K k(0); k < K(32); k.value += A::columns) {
    A tile;
    tile.gather(left.at(strip + k));
    tile.store(a_tile.at(strip + k));
  }
  for (tw::Fold<J, 8> j((int)threadIdx.x / 32); j < J(40); j.value += 3) {
    for (K k(0); k < K(32); k.value += 16) {
      tw::FragmentA<tw::f16, K, J, 16, 8> tile;
      tile.gather(right.at(k + j));
      tile.store(b_tile.at(k + j));
    }
  }
  __syncthreads();
  for (tw::Fold<J, 8> j(0); j < J(40); ++j.value) {
    C sum;
    sum.fill(0.0f);
    for (K k(0); k < K(32); k.value += A::columns) {
      A a;
      B b;
      a.load(a_tile.at(strip + k));
      b.load_trans(b_tile.at(k + j));
      tw::mma(sum, a, b, sum);
    }
    sum.scatter(sums.at(strip + j));
  }
}
"#;

fn product(format: Short, draw: fn(&mut Random) -> f32) -> ([Arg; 3], Vec<f64>, Vec<f64>) {
    let mut random = Random(11);
    let mut operand = |n| format.all(&random.many(n, draw));
    let (a, b) = (operand(48 * 32), operand(32 * 40));
    let terms = |i: usize| (0..32).map(move |k| (i / 40 * 32 + k, k * 40 + i % 40));
    let value = |(x, y): (usize, usize)| format.value(a[x]) * format.value(b[y]);
    let sums = (0..48 * 40).map(|i| terms(i).map(value).sum()).collect();
    let sizes = (0..48 * 40).map(|i| terms(i).map(|t| value(t).abs()).sum()).collect();
    ([read(&a), read(&b), written::<f32>(48 * 40)], sums, sizes)
}

fn product_kernel(text: &str) -> Kernel<'_> {
    block("product", text, 96, 2 * (48 * 40 + 32 * 56))
}

/// Small integers are exact; of floats, each of the 32 sums may lose one unit in the last place of the largest sum on the way.
#[test]
fn a_whole_product() {
    for format in [F16, BF16] {
        let text = DIMS.to_owned() + &PRODUCT.replace("tw::f16", &format!("tw::{}", format.name));
        for (draw, unit) in [(Random::small as fn(&mut Random) -> f32, 0.0), (Random::unit, 2f64.powi(-23))] {
            let (args, sums, sizes) = product(format, draw);
            everywhere(&product_kernel(&text), &args, |outputs, place| {
                for (i, d) in outputs.get::<f32>(0).iter().enumerate() {
                    let off = (f64::from(*d) - sums[i]).abs();
                    assert!(off <= 34.0 * unit * sizes[i], "{place}, {i}: {d} is off by {off}");
                }
            });
        }
    }
}

#[test]
fn what_does_not_fit_is_a_compile_error() {
    if HostModel::compiler().is_none() {
        return skip("fragments::what_does_not_fit", "no C++ compiler");
    }
    let good = DIMS.to_owned() + PRODUCT;
    let cases = [
        (
            "tw::FragmentB<tw::f16, K, J, 16, 8>",
            "tw::FragmentB<tw::f16, J, K, 16, 8>",
            "the dimension of a's columns is not that",
        ),
        ("tw::FragmentB<tw::f16, K, J, 16, 8>", "tw::FragmentB<tw::bf16, K, J, 16, 8>", "different element types"),
        (
            "tw::FragmentB<tw::f16, K, J, 16, 8>",
            "tw::FragmentB<tw::f16, K, J, 8, 8>",
            "a's columns and b's rows are not as many",
        ),
        (
            "using C = tw::FragmentC<I, J, 16, 8>",
            "using C = tw::FragmentC<J, I, 16, 8>",
            "the dimension of c's rows is not",
        ),
        (
            "using C = tw::FragmentC<I, J, 16, 8>",
            "using C = tw::FragmentC<I, K, 16, 8>",
            "the dimension of c's columns is not",
        ),
        (
            "using C = tw::FragmentC<I, J, 16, 8>",
            "using C = tw::FragmentC<I, J, 16, 16>",
            "c's columns and b's columns are not",
        ),
        ("using C = tw::FragmentC<I, J, 16, 8>", "using C = tw::FragmentC<I, J, 8, 8>", "an accumulator has 16 rows"),
        (
            "a.load(a_tile.at(strip + k))",
            "a.load(sums.at(strip + k))",
            "load: the tensor's elements are not the fragment's",
        ),
    ];
    for (from, to, message) in cases {
        let text = good.replace(from, to);
        assert_ne!(text, good, "{from}");
        let source = KernelSource { name: "unfit", text: &text };
        let error = HostModel::compile(&[source]).expect_err(message);
        let Error::Compile { errors, folder, .. } = &error else { panic!("{error}") };
        assert!(errors.contains(message), "{message}: {error}");
        // The folder is kept for whoever looks at the error; one of ours, and below the system's.
        assert!(folder.starts_with(std::env::temp_dir()) && folder != &std::env::temp_dir());
        std::fs::remove_dir_all(folder).unwrap();
    }
}

#[test]
fn a_wrong_product_is_seen() {
    let good = DIMS.to_owned() + PRODUCT;
    let (args, ..) = product(F16, Random::small);
    let missing = good.replace("tw::mma(sum", "if (threadIdx.x == 40) return; tw::mma(sum");
    reported(&product_kernel(&missing), &args, &["mma.sync needs all 32 lanes", "mask 0x100"]);
    let unordered = good.replace("__syncthreads();", "");
    reported(&product_kernel(&unordered), &args, &["nothing orders the two"]);
    let no_trans = good.replace("b.load_trans", "b.load");
    reported(&product_kernel(&no_trans), &args, &["load: a row's elements are not neighbours"]);
    let outside = good.replace("b.load_trans(b_tile.at(k + j))", "b.load_trans(b_tile.at(k + K(16) + j))");
    reported(&product_kernel(&outside), &args, &["ldmatrix: a row at byte"]);
}

/// Sums become the left operand of another product, and short floats in shared memory; row sums come from a product with ones.
const CHAIN: &str = r#"
using Square = tw::Layout<tw::Axis<I, 1, 16, 16, false>, tw::Axis<K, 1, 16, 1, false>>;
using Middle = tw::Layout<tw::Axis<K, 1, 16, 16, false>, tw::Axis<J, 1, 16, 1, false>>;
using Last = tw::Layout<tw::Axis<J, 1, 16, 8, false>, tw::Axis<N, 1, 8, 1, false>>;
using Sums = tw::Layout<tw::Axis<I, 1, 16, 16, false>, tw::Axis<J, 1, 16, 1, false>>;
using Tile = tw::Layout<tw::Axis<I, 1, 16, 24, false>, tw::Axis<J, 1, 16, 1, false>>;
using Out = tw::Layout<tw::Axis<I, 1, 16, 8, false>, tw::Axis<N, 1, 8, 1, false>>;
struct Params { const tw::f16* a; const tw::f16* b; const float* c; const tw::f16* e; tw::f16* middle; float* d; float* rows; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  const tw::Tensor<const tw::f16, Square> x{p.a};
  const tw::Tensor<const tw::f16, Middle> y{p.b};
  const tw::Tensor<const float, Sums> c{p.c};
  const tw::Tensor<const tw::f16, Last> e{p.e};
  const tw::Tensor<tw::f16, Sums> middle{p.middle};
  const tw::Tensor<float, Out> d{p.d}, rows{p.rows};
  const tw::Tensor<tw::f16, Tile> tile{(tw::f16*)tw::shared_memory()};
  tw::FragmentA<tw::f16, I, K, 16, 16> a;
  tw::FragmentB<tw::f16, K, J, 16, 16> b;
  tw::FragmentB<tw::f16, J, N, 16, 8> right, ones;
  tw::FragmentC<I, J, 16, 16> sum, more;
  tw::FragmentC<I, N, 16, 8> last, zero;
  a.gather(x.at(I(0)));
  b.gather(y.at(K(0)));
  right.gather(e.at(J(0)));
  more.gather(c.at(I(0)));
  ones.fill(tw::f16(1.0f));
  zero.fill(0.0f);
  sum.fill(0.0f);
  tw::mma(sum, a, b, sum);
  sum.add(more);
  const auto left = sum.as<tw::f16>();
  left.store(tile.at(I(0)));
  __syncwarp();
  sum.for_each([&](float&, tw::Coords<I, J> at) { *middle.at(at) = *tile.at(at); });
  tw::mma(last, left, right, zero);
  last.scatter(d.at(I(0)));
  tw::mma(last, left, ones, zero);
  last.scatter(rows.at(I(0)));
}
"#;

#[test]
fn a_product_of_a_product() {
    let text = DIMS.to_owned() + "struct N : tw::Dim<N> { using Dim::Dim; };" + CHAIN;
    let mut random = Random(23);
    let mut operand = |n| random.many(n, Random::small);
    let (a, b, c, e) = (operand(256), operand(256), operand(256), operand(128));
    let sum = |i: usize, j: usize| (0..16).map(|k| a[i * 16 + k] * b[k * 16 + j]).sum::<f32>() + c[i * 16 + j];
    let args = [
        read(&F16.all(&a)),
        read(&F16.all(&b)),
        read(&c),
        read(&F16.all(&e)),
        written::<u16>(256),
        written::<f32>(128),
        written::<f32>(128),
    ];
    everywhere(&block("chain", &text, 32, 1024), &args, |outputs, place| {
        let (middle, d, rows) = (outputs.get::<u16>(0), outputs.get::<f32>(1), outputs.get::<f32>(2));
        for (i, m) in middle.iter().enumerate() {
            assert_eq!(F16.value(*m), f64::from(sum(i / 16, i % 16)), "{place}, {i}");
        }
        for i in 0..128 {
            let truth: f32 = (0..16).map(|j| sum(i / 8, j) * e[j * 8 + i % 8]).sum();
            assert_eq!(d[i], truth, "{place}, {i}");
            assert_eq!(rows[i], (0..16).map(|j| sum(i / 8, j)).sum::<f32>(), "{place}, {i}");
        }
    });
}

/// f32 in shared memory, read as tf32: left by rows, right by columns, both by ldmatrix.
const TF32: &str = r#"
using Left = tw::Layout<tw::Axis<I, 1, 16, 12, false>, tw::Axis<K, 1, 8, 1, false>>;
using Right = tw::Layout<tw::Axis<J, 1, 16, 12, false>, tw::Axis<K, 1, 8, 1, false>>;
using Sums = tw::Layout<tw::Axis<I, 1, 16, 16, false>, tw::Axis<J, 1, 16, 1, false>>;
struct Params { const float* a; const float* b; float* d; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  float* memory = (float*)tw::shared_memory();
  for (int i = threadIdx.x; i < 192; i += 32) {
    memory[i] = p.a[i];
    memory[192 + i] = p.b[i];
  }
  __syncwarp();
  const tw::Tensor<float, Left> left{memory};
  const tw::Tensor<float, Right> right{memory + 192};
  const tw::Tensor<float, Sums> sums{p.d};
  tw::FragmentC<I, J, 16, 16> sum;
  sum.fill(0.0f);
  for (K k(0); k < K(8); k.value += DEEP) {
    tw::FragmentA<tw::tf32, I, K, 16, DEEP> a;
    tw::FragmentB<tw::tf32, K, J, DEEP, 16> b;
    a.load(left.at(I(0) + k));
    b.load(right.at(J(0) + k));
    tw::mma(sum, a, b, sum);
  }
  sum.scatter(sums.at(I(0)));
}
"#;

#[test]
fn tf32_from_floats() {
    let mut random = Random(31);
    let (a, b) = (random.many(192, Random::small), random.many(192, Random::small));
    // Bits beyond tf32 are not read.
    let dirty = |x: &[f32]| x.iter().map(|v| f32::from_bits(v.to_bits() | 0x1fff)).collect::<Vec<f32>>();
    for deep in ["4", "8"] {
        let text = DIMS.to_owned() + &TF32.replace("DEEP", deep);
        let args = [read(&dirty(&a)), read(&dirty(&b)), written::<f32>(256)];
        everywhere(&block("tf32", &text, 32, 2048), &args, |outputs, place| {
            for (i, d) in outputs.get::<f32>(0).iter().enumerate() {
                let truth: f32 = (0..8).map(|k| a[i / 16 * 12 + k] * b[i % 16 * 12 + k]).sum();
                assert_eq!(*d, truth, "{place}, {i}, k{deep}");
            }
        });
    }
}

/// A tile behind a checkerboard: the fragment's lanes find their rows through two maps, and no two of 8 rows share a bank.
const SWIZZLED: &str = r#"
struct CELL : tw::Dim<CELL> { using Dim::Dim; };
using Cells = tw::Layout<tw::Axis<I, 16, 2, 256, false>, tw::Axis<CELL, 1, 32, 8, false>, tw::Axis<K, 1, 8, 1, true>>;
using Tile = tw::Through<tw::Checkerboard<I, 16, K, 8, CELL, 8>, Cells>;
struct Params { const tw::f16* x; tw::f16* y; int* rows; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  const tw::Tensor<const tw::f16, tw::Layout<tw::Axis<I, 1, 32, 16, false>, tw::Axis<K, 1, 16, 1, false>>> x{p.x};
  const tw::Tensor<tw::f16, tw::Layout<tw::Axis<I, 1, 16, 16, false>, tw::Axis<K, 1, 16, 1, false>>> y{p.y};
  const tw::Tensor<tw::f16, Tile> tile{(tw::f16*)tw::shared_memory()};
  for (K k(0); k < K(16); ++k.value) *tile.at(I((int)threadIdx.x) + k) = x.at(I((int)threadIdx.x) + k).load();
  __syncwarp();
  tw::FragmentA<tw::f16, I, K, 16, 16> a;
  a.load(tile.at(I(16)));
  a.for_each([&](tw::f16 value, tw::Coords<I, K> at) { *y.at(at) = value; });
  p.rows[threadIdx.x] = tile.at(I(16)).at(a.row_coords(threadIdx.x)).offset();
}
"#;

#[test]
fn a_swizzled_tile() {
    let mut random = Random(41);
    let x: Vec<u16> = (0..512).map(|_| random.next() as u16).collect();
    let args = [read(&x), written::<u16>(256), written::<i32>(32)];
    everywhere(&block("swizzled", &(DIMS.to_owned() + SWIZZLED), 32, 1024), &args, |outputs, place| {
        assert_eq!(outputs.get::<u16>(0), x[256..], "{place}");
        for matrix in outputs.get::<i32>(1).chunks(8) {
            let mut banks: Vec<i32> = matrix.iter().map(|offset| offset / 8 % 8).collect();
            banks.sort_unstable();
            assert!(banks.into_iter().eq(0..8), "{place}: {matrix:?}");
        }
    });
}
