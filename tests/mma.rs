//! mma.sync with raw registers: each lane's are laid out here, by the tables of the PTX documentation.

use crate::numbers::{BF16, F16, Random, Short, block, tf32};
use crate::runner::{Arg, Kernel, everywhere, read, reported, written};

const PRODUCT: &str = r#"
#include "tilewright/arch/mma.cuh"
struct Params { const unsigned* a; const unsigned* b; const float* c; float* d; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  const int lane = threadIdx.x;
  unsigned a[4], b[2];
  float c[4], d[4];
  for (int i = 0; i < 4; ++i) a[i] = p.a[lane * 4 + i];
  for (int i = 0; i < 2; ++i) b[i] = p.b[lane * 2 + i];
  for (int i = 0; i < 4; ++i) c[i] = p.c[lane * 4 + i];
  MULTIPLY
  for (int i = 0; i < 4; ++i) p.d[lane * 4 + i] = d[i];
}
"#;

/// How a shape's elements stand in registers.
#[derive(Clone, Copy)]
struct Shape {
    /// `None`: tf32.
    format: Option<Short>,
    k: usize,
}

impl Shape {
    fn name(self) -> &'static str {
        self.format.map_or("tf32", |format| format.name)
    }

    fn rounded(self, value: f32) -> f32 {
        self.format.map_or_else(|| tf32(value), |f| f.value(f.bits(value)) as f32)
    }

    /// The registers of one lane, from the elements in the order in which the documentation counts them.
    fn pack(self, elements: &[f32]) -> Vec<u32> {
        match self.format {
            None => elements.iter().map(|v| v.to_bits()).collect(),
            Some(f) => elements.chunks(2).map(|v| u32::from(f.bits(v[0])) | u32::from(f.bits(v[1])) << 16).collect(),
        }
    }

    fn a(self, lane: usize) -> Vec<(usize, usize)> {
        let (group, thread) = (lane / 4, lane % 4);
        match (self.format.is_some(), self.k) {
            (true, 8) => (0..4).map(|i| (if i < 2 { group } else { group + 8 }, thread * 2 + (i & 1))).collect(),
            (true, _) => (0..8)
                .map(|i| {
                    let row = if i < 2 || (4..6).contains(&i) { group } else { group + 8 };
                    (row, thread * 2 + (i & 1) + if i >= 4 { 8 } else { 0 })
                })
                .collect(),
            (false, 4) => vec![(group, thread), (group + 8, thread)],
            (false, _) => vec![(group, thread), (group + 8, thread), (group, thread + 4), (group + 8, thread + 4)],
        }
    }

    fn b(self, lane: usize) -> Vec<(usize, usize)> {
        let (group, thread) = (lane / 4, lane % 4);
        match (self.format.is_some(), self.k) {
            (true, 8) => (0..2).map(|i| (thread * 2 + i, group)).collect(),
            (true, _) => (0..4).map(|i| (thread * 2 + (i & 1) + if i >= 2 { 8 } else { 0 }, group)).collect(),
            (false, 4) => vec![(thread, group)],
            (false, _) => vec![(thread, group), (thread + 4, group)],
        }
    }
}

fn c(lane: usize) -> [(usize, usize); 4] {
    [0, 1, 2, 3].map(|i| (if i < 2 { lane / 4 } else { lane / 4 + 8 }, lane % 4 * 2 + (i & 1)))
}

struct Operands {
    a: Vec<f32>,
    b: Vec<f32>,
    c: Vec<f32>,
}

impl Operands {
    fn new(shape: Shape, draw: fn(&mut Random) -> f32) -> Operands {
        let mut random = Random(shape.k as u64);
        let mut rounded = |n| random.many(n, draw).into_iter().map(|v| shape.rounded(v)).collect();
        Operands { a: rounded(16 * shape.k), b: rounded(shape.k * 8), c: rounded(16 * 8) }
    }

    fn args(&self, shape: Shape) -> [Arg; 4] {
        let (mut a, mut b, mut c0) = (vec![!0u32; 128], vec![!0u32; 64], vec![0.0f32; 128]);
        for lane in 0..32 {
            let pick = |from: &[f32], width: usize, at: &[(usize, usize)]| -> Vec<f32> {
                at.iter().map(|(row, column)| from[row * width + column]).collect()
            };
            let registers = shape.pack(&pick(&self.a, shape.k, &shape.a(lane)));
            a[lane * 4..][..registers.len()].copy_from_slice(&registers);
            let registers = shape.pack(&pick(&self.b, 8, &shape.b(lane)));
            b[lane * 2..][..registers.len()].copy_from_slice(&registers);
            c0[lane * 4..][..4].copy_from_slice(&pick(&self.c, 8, &c(lane)));
        }
        [read(&a), read(&b), read(&c0), written::<f32>(128)]
    }
}

fn text(shape: Shape) -> String {
    let call = format!("tw::arch::Mma<tw::{}, {}>::run(d, a, b, c, tw::Place::here());", shape.name(), shape.k);
    PRODUCT.replace("MULTIPLY", &call)
}

fn shapes() -> impl Iterator<Item = Shape> {
    [(Some(F16), 8), (Some(F16), 16), (Some(BF16), 8), (Some(BF16), 16), (None, 4), (None, 8)]
        .into_iter()
        .map(|(format, k)| Shape { format, k })
}

fn kernel(text: &str) -> Kernel<'_> {
    block("mma", text, 32, 0)
}

/// Products of two short floats are exact in f32. Each of the k + 1 terms may lose one unit in the last place of the largest
/// number on the way, and that is below the sum of all sizes.
#[test]
fn products_of_floats() {
    for shape in shapes() {
        let x = Operands::new(shape, Random::unit);
        everywhere(&kernel(&text(shape)), &x.args(shape), |outputs, place| {
            let d = outputs.get::<f32>(0);
            for (lane, i) in (0..32).flat_map(|lane| (0..4).map(move |i| (lane, i))) {
                let (row, column) = c(lane)[i];
                let terms = (0..shape.k).map(|k| f64::from(x.a[row * shape.k + k]) * f64::from(x.b[k * 8 + column]));
                let terms: Vec<f64> = terms.chain([f64::from(x.c[row * 8 + column])]).collect();
                let (sum, size) = (terms.iter().sum::<f64>(), terms.iter().map(|t| t.abs()).sum::<f64>());
                let off = (f64::from(d[lane * 4 + i]) - sum).abs();
                let allowed = (shape.k + 1) as f64 * size * 2f64.powi(-23);
                assert!(off <= allowed, "{place}, {} k{}, ({row}, {column}): off by {off}", shape.name(), shape.k);
            }
        });
    }
}

#[test]
fn products_of_small_integers_are_exact() {
    for shape in shapes() {
        let x = Operands::new(shape, Random::small);
        everywhere(&kernel(&text(shape)), &x.args(shape), |outputs, place| {
            let d = outputs.get::<f32>(0);
            for (lane, i) in (0..32).flat_map(|lane| (0..4).map(move |i| (lane, i))) {
                let (row, column) = c(lane)[i];
                let sum: f32 = (0..shape.k).map(|k| x.a[row * shape.k + k] * x.b[k * 8 + column]).sum();
                assert_eq!(d[lane * 4 + i], sum + x.c[row * 8 + column], "{place}, {} k{}", shape.name(), shape.k);
            }
        });
    }
}

#[test]
fn a_missing_lane_is_reported() {
    let shape = Shape { format: Some(F16), k: 16 };
    let (good, args) = (text(shape), Operands::new(shape, Random::small).args(shape));
    let ended = good.replace("tw::arch", "if (lane == 5) return; tw::arch");
    reported(&kernel(&ended), &args, &["mma.sync needs all 32 lanes", "mask 0x20", ".cu:11"]);
    let elsewhere = good.replace("tw::arch", "if (lane == 5) __syncthreads(); tw::arch");
    reported(&kernel(&elsewhere), &args, &["mma.sync", "deadlock"]);
    reported(
        &Kernel { block: [20, 1, 1], ..kernel(&good) },
        &args,
        &["mma.sync needs all 32 lanes", "mask 0xfff00000"],
    );
}
