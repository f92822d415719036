//! f16, bf16 and tf32: every bit pattern, and floats of all sizes, against the definition of the formats.

use crate::numbers::{BF16, F16, Random, Short, tf32};
use crate::runner::{Kernel, everywhere, read, value, written};
use tilewright_driver::TargetKind;

const CONVERT: &str = r#"
#include "tilewright/half.cuh"
struct Params { const unsigned short* bits; float* values; const float* x; unsigned short* shorts; unsigned* pairs; int n; };
extern "C" __global__ void convert(const __grid_constant__ Params p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p.n) return;
  tw::TYPE given;
  given.bits = p.bits[i];
  p.values[i] = (float)given;
  p.shorts[i] = tw::TYPE(p.x[i]).bits;
  const tw::TYPEx2 pair(p.x[i], p.x[p.n - 1 - i]), same(pair.high(), pair.low());
  p.pairs[2 * i] = pair.bits;
  p.pairs[2 * i + 1] = same.bits;
}
"#;

fn kernel(text: &str, n: usize) -> Kernel<'_> {
    let (grid, target) = ([u32::try_from(n.div_ceil(256)).unwrap(), 1, 1], TargetKind::Plain);
    Kernel { name: "halves", text, entry: "convert", grid, block: [256, 1, 1], shared_bytes: 0, target }
}

/// 65536 floats: random bits, and for each number of the format those around the middle between it and the next.
fn floats(format: Short) -> Vec<f32> {
    let mut random = Random(7);
    (0..=u16::MAX)
        .map(|bits| match random.next() % 4 {
            0 => f32::from_bits(random.next() as u32),
            kind => {
                let (a, b) = (format.value(bits), format.value(bits.wrapping_add(1)));
                let middle = ((a + b) / 2.0) as f32;
                if kind == 1 {
                    middle
                } else {
                    f32::from_bits(middle.to_bits().wrapping_add_signed(if kind == 2 { 1 } else { -1 }))
                }
            }
        })
        .collect()
}

fn same(got: u16, truth: u16, format: Short) -> bool {
    got == truth || (format.value(got).is_nan() && format.value(truth).is_nan())
}

#[test]
fn every_pattern_and_floats_of_all_sizes() {
    for format in [F16, BF16] {
        let text = CONVERT.replace("TYPE", format.name);
        let bits: Vec<u16> = (0..=u16::MAX).collect();
        let (x, n) = (floats(format), bits.len());
        let args =
            [read(&bits), written::<f32>(n), read(&x), written::<u16>(n), written::<u32>(2 * n), value(n as i32)];
        let truth = format.all(&x);
        everywhere(&kernel(&text, n), &args, |outputs, place| {
            let (values, shorts, pairs) = (outputs.get::<f32>(0), outputs.get::<u16>(1), outputs.get::<u32>(2));
            for i in 0..n {
                let exact = format.value(bits[i]);
                let good = (values[i].is_nan() && exact.is_nan()) || values[i].to_bits() == (exact as f32).to_bits();
                assert!(good, "{place}: {:#x} is {exact}, got {}", bits[i], values[i]);
                assert!(
                    same(shorts[i], truth[i], format),
                    "{place}: {} is {:#x}, got {:#x}",
                    x[i],
                    truth[i],
                    shorts[i]
                );
                let (low, high) = (pairs[2 * i] as u16, (pairs[2 * i] >> 16) as u16);
                assert!(same(low, truth[i], format) && same(high, truth[n - 1 - i], format), "{place}: pair {i}");
                assert_eq!(pairs[2 * i + 1], pairs[2 * i].rotate_left(16), "{place}: pair {i}");
            }
        });
    }
}

const ROUND: &str = r#"
#include "tilewright/half.cuh"
struct Params { const float* x; float* y; int n; };
extern "C" __global__ void convert(const __grid_constant__ Params p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.y[i] = (float)tw::tf32(p.x[i]);
}
"#;

#[test]
fn tf32_rounds_ties_away_from_zero() {
    let mut random = Random(3);
    let mut x: Vec<f32> = (0..20_000).map(|_| f32::from_bits(random.next() as u32)).collect();
    x.extend((0..1000).map(|_| f32::from_bits(random.next() as u32 & !0x1fff | 0x1000)));
    x.extend([0.0, -0.0, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-45, -1e-40, f32::MIN_POSITIVE]);
    everywhere(
        &kernel(ROUND, x.len()),
        &[read(&x), written::<f32>(x.len()), value(x.len() as i32)],
        |outputs, place| {
            for (x, y) in x.iter().zip(outputs.get::<f32>(0)) {
                let truth = tf32(*x);
                let good = (truth.is_nan() && y.is_nan()) || truth.to_bits() == y.to_bits();
                assert!(good, "{place}: {x} ({:#x}) is {truth}, got {y}", x.to_bits());
            }
        },
    );
}
