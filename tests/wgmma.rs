//! Products of a warpgroup: typed operands, every kind of descriptor, and each step that can be forgotten.

use crate::numbers::{BF16, F16, Random, Short, block};
use crate::runner::{Kernel, everywhere, read, reported, written};
use tilewright_driver::TargetKind;

const TYPED: &str = r#"
#include "tilewright/wgmma.cuh"
struct I : tw::Dim<I> { using Dim::Dim; };
struct J : tw::Dim<J> { using Dim::Dim; };
struct K : tw::Dim<K> { using Dim::Dim; };
using A = tw::WgmmaOperand<tw::TYPE, I, K, 64, tw::arch::Swizzle::SWIZZLE>;
using B = tw::WgmmaOperand<tw::TYPE, J, K, WIDTH, tw::arch::Swizzle::SWIZZLE>;
using D = tw::Layout<tw::Axis<I, 1, 64, WIDTH, false>, tw::Axis<J, 1, WIDTH, 1, false>>;
struct Params { const tw::TYPE* a; const tw::TYPE* b; float* d; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  const A a{(tw::TYPE*)tw::shared_memory()};
  const B b{(tw::TYPE*)(tw::shared_memory() + A::bytes)};
  const tw::Tensor<const tw::TYPE, tw::Layout<tw::Axis<I, 1, 64, A::depth, false>, tw::Axis<K, 1, A::depth, 1, false>>> x{p.a};
  const tw::Tensor<const tw::TYPE, tw::Layout<tw::Axis<J, 1, WIDTH, A::depth, false>, tw::Axis<K, 1, A::depth, 1, false>>> y{p.b};
  const tw::Tensor<float, D> d{p.d};
  for (K k(0); k < K(A::depth); ++k.value) {
    for (I i((int)threadIdx.x); i < I(64); i.value += 128) a.store(i + k, x.at(i + k).load());
    for (J j((int)threadIdx.x); j < J(WIDTH); j.value += 128) b.store(j + k, y.at(j + k).load());
  }
  tw::arch::fence_proxy_async();
  __syncthreads();
  tw::WgmmaAccumulator<I, J, WIDTH> sum;
  tw::arch::wgmma_fence();
  for (K k(0); k < K(A::depth); k.value += 16) sum.multiply(a, I(0), b, J(0), k, k > K(0));
  tw::arch::wgmma_commit();
  sum.wait<0>();
  sum.scatter(d.at(I(0)));
}
"#;

fn typed(format: Short, swizzle: &str, width: usize) -> String {
    TYPED.replace("TYPE", format.name).replace("SWIZZLE", swizzle).replace("WIDTH", &width.to_string())
}

fn kernel(text: &str) -> Kernel<'_> {
    Kernel { target: TargetKind::ArchSpecific, ..block("wgmma", text, 128, 64 << 10) }
}

/// `a` is 64 x depth, `b` is columns x depth; sums, and sums of sizes.
fn products(format: Short, a: &[u16], b: &[u16], depth: usize) -> Vec<(f64, f64)> {
    let row = |x: &[u16], i: usize| x[i * depth..][..depth].iter().map(|v| format.value(*v)).collect::<Vec<f64>>();
    let (rows, columns) = (a.len() / depth, b.len() / depth);
    let at = |i: usize| {
        let (x, y) = (row(a, i / columns), row(b, i % columns));
        let terms = || x.iter().zip(&y).map(|(x, y)| x * y);
        (terms().sum(), terms().map(f64::abs).sum())
    };
    (0..rows * columns).map(at).collect()
}

/// Small integers are exact (`unit` 0); of floats, each sum may lose one unit in the last place of the largest on the way.
fn check(d: &[f32], truth: &[(f64, f64)], depth: usize, unit: f64, place: &str) {
    for (i, (d, (sum, size))) in d.iter().zip(truth).enumerate() {
        let off = (f64::from(*d) - sum).abs();
        assert!(off <= (depth + 1) as f64 * unit * size, "{place}, element {i}: {d} is off by {off} from {sum}");
    }
}

#[test]
fn typed_operands_of_every_width() {
    let swizzles = [("Bytes128", 64), ("Bytes64", 32), ("Bytes32", 16)];
    for (n, width) in [8, 16, 32, 64, 128, 256].into_iter().enumerate() {
        let format = if n % 2 == 0 { F16 } else { BF16 };
        let (swizzle, depth) = swizzles[n % 3];
        let text = typed(format, swizzle, width);
        for (draw, unit) in [(Random::small as fn(&mut Random) -> f32, 0.0), (Random::unit, 2f64.powi(-23))] {
            let mut random = Random(width as u64);
            let (a, b) = (format.all(&random.many(64 * depth, draw)), format.all(&random.many(width * depth, draw)));
            let truth = products(format, &a, &b, depth);
            everywhere(&kernel(&text), &[read(&a), read(&b), written::<f32>(64 * width)], |outputs, place| {
                check(&outputs.get(0), &truth, depth, unit, &format!("{place}, {width} columns, {swizzle}"));
            });
        }
    }
}

/// Operands copied to shared memory as they are; what they mean, descriptors say. One product goes to `first`; two, in a group of
/// their own that is waited for later, are added to the sevens in `both`.
const RAW: &str = r#"
#include "tilewright/arch/wgmma.cuh"
struct Params { const unsigned* a; const unsigned* b; float* d; int* poisoned; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  unsigned* a = (unsigned*)tw::shared_memory();
  unsigned* b = a + A_WORDS;
  for (int i = threadIdx.x; i < A_WORDS; i += 128) a[i] = p.a[i];
  for (int i = threadIdx.x; i < B_WORDS; i += 128) b[i] = p.b[i];
  tw::arch::fence_proxy_async();
  __syncthreads();
  float first[32], both[32];
  for (int i = 0; i < 32; ++i) first[i] = both[i] = 7.0f;
  unsigned registers[4];
  for (int i = 0; i < 4; ++i) registers[i] = p.a[threadIdx.x * 4 + i];
  const unsigned long long right = tw::arch::wgmma_descriptor(b, tw::arch::Swizzle::B_SWIZZLE, B_LEADING, B_STRIDE);
  const unsigned long long left = tw::arch::wgmma_descriptor(a, tw::arch::Swizzle::A_SWIZZLE, A_LEADING, A_STRIDE);
  tw::arch::wgmma_fence();
  PRODUCT(first, false);
  tw::arch::wgmma_commit();
  PRODUCT(both, true);
  PRODUCT(both, true);
  tw::arch::wgmma_commit();
#ifdef TILEWRIGHT_HOST
  p.poisoned[threadIdx.x] = first[5] != first[5] && both[5] != both[5];
#else
  p.poisoned[threadIdx.x] = 1;
#endif
  tw::arch::wgmma_wait<1>();
  tw::arch::hold(first);
  tw::arch::wgmma_wait<0>();
  tw::arch::hold(both);
  for (int i = 0; i < 32; ++i) {
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
    p.d[(row * 64 + column) * 2] = first[i];
    p.d[(row * 64 + column) * 2 + 1] = both[i];
  }
}
"#;

/// An operand of 64 x 16 elements in shared memory, as the canonical layouts of the PTX documentation have it.
#[derive(Clone, Copy, Debug)]
struct Stored {
    swizzle: &'static str,
    /// Bytes of a row.
    width: usize,
    transposed: bool,
    leading: usize,
    stride: usize,
}

const STORED: [Stored; 8] = [
    Stored { swizzle: "None", width: 16, transposed: false, leading: 1024, stride: 128 },
    Stored { swizzle: "Bytes32", width: 32, transposed: false, leading: 16, stride: 256 },
    Stored { swizzle: "Bytes64", width: 64, transposed: false, leading: 16, stride: 512 },
    Stored { swizzle: "Bytes128", width: 128, transposed: false, leading: 16, stride: 1024 },
    Stored { swizzle: "None", width: 16, transposed: true, leading: 128, stride: 256 },
    Stored { swizzle: "Bytes32", width: 32, transposed: true, leading: 512, stride: 256 },
    Stored { swizzle: "Bytes64", width: 64, transposed: true, leading: 1024, stride: 512 },
    Stored { swizzle: "Bytes128", width: 128, transposed: true, leading: 2048, stride: 1024 },
];

impl Stored {
    const BYTES: usize = 8192;

    /// The byte at which element (row, k) stands.
    fn byte(self, row: usize, k: usize) -> usize {
        let at = match (self.transposed, self.swizzle) {
            (false, "None") => row % 8 * 16 + row / 8 * self.stride + k / 8 * self.leading + k % 8 * 2,
            (false, _) => row % 8 * self.width + row / 8 * self.stride + k * 2,
            (true, "None") => k % 8 * 16 + k / 8 * self.leading + row / 8 * self.stride + row % 8 * 2,
            (true, _) => {
                let wide = self.width / 2;
                k % 8 * self.width + k / 8 * self.stride + row / wide * self.leading + row % wide * 2
            }
        };
        // Within 8 rows of `width` bytes, 16-byte pieces are exchanged by the number of the 128-byte line.
        at ^ ((at / 128) % (self.width / 16) * 16)
    }

    fn memory(self, elements: &[u16]) -> Vec<u16> {
        let mut memory = vec![0xffff; Self::BYTES / 2];
        for (i, element) in elements.iter().enumerate() {
            memory[self.byte(i / 16, i % 16) / 2] = *element;
        }
        memory
    }

    fn in_text(self, text: &str, operand: char) -> String {
        text.replace(&format!("{operand}_SWIZZLE"), self.swizzle)
            .replace(&format!("{operand}_LEADING"), &self.leading.to_string())
            .replace(&format!("{operand}_STRIDE"), &self.stride.to_string())
            .replace(&format!("{operand}_WORDS"), &(Self::BYTES / 4).to_string())
    }
}

fn raw(a: Stored, b: Stored, call: &str) -> String {
    let product = format!("#define PRODUCT(d, accumulate) tw::arch::Wgmma<tw::f16, 64>::{call}\n");
    product + &b.in_text(&a.in_text(RAW, 'A'), 'B')
}

fn twice(outputs: &crate::runner::Outputs, truth: &[(f64, f64)], place: &str) {
    let d = outputs.get::<f32>(0);
    let (first, both): (Vec<f32>, Vec<f32>) = d.chunks(2).map(|d| (d[0], (d[1] - 7.0) / 2.0)).unzip();
    check(&first, truth, 16, 0.0, place);
    check(&both, truth, 16, 0.0, place);
    assert_eq!(outputs.get::<i32>(1), [1; 128], "{place}");
}

fn integers(seed: u64) -> Vec<u16> {
    F16.all(&Random(seed).many(64 * 16, Random::small))
}

#[test]
fn every_kind_of_descriptor() {
    let (x, y) = (integers(1), integers(2));
    let truth = products(F16, &x, &y, 16);
    for (i, a) in STORED.into_iter().enumerate() {
        let b = STORED[(i * 3 + 2) % STORED.len()];
        let call = format!("run<{}, {}>(d, left, right, accumulate, tw::Place::here())", a.transposed, b.transposed);
        let text = raw(a, b, &call);
        let args = [read(&a.memory(&x)), read(&b.memory(&y)), written::<f32>(64 * 64 * 2), written::<i32>(128)];
        everywhere(&kernel(&text), &args, |outputs, place| twice(outputs, &truth, &format!("{place}, {a:?} {b:?}")));
    }
}

#[test]
fn operand_a_in_registers() {
    let (x, y) = (integers(3), integers(4));
    let truth = products(F16, &x, &y, 16);
    let mut registers = vec![0u16; Stored::BYTES / 2];
    for (thread, i) in (0..128).flat_map(|thread| (0..8).map(move |i| (thread, i))) {
        let row = thread / 32 * 16 + thread % 32 / 4 + if i / 2 % 2 == 1 { 8 } else { 0 };
        let k = thread % 4 * 2 + i % 2 + if i >= 4 { 8 } else { 0 };
        registers[thread * 8 + i] = x[row * 16 + k];
    }
    for b in STORED {
        let call = format!("run_registers<{}>(d, registers, right, accumulate, tw::Place::here())", b.transposed);
        let args = [read(&registers), read(&b.memory(&y)), written::<f32>(64 * 64 * 2), written::<i32>(128)];
        everywhere(&kernel(&raw(b, b, &call)), &args, |outputs, place| {
            twice(outputs, &truth, &format!("{place}, {b:?}"))
        });
    }
}

/// A warpgroup that gives registers up and two that take them.
const REGISTERS: &str = r#"
#include "tilewright/arch/wgmma.cuh"
struct Params { int* y; };
extern "C" __global__ void __launch_bounds__(384, 1) run(const __grid_constant__ Params p) {
  if (threadIdx.x < 128) {
    tw::arch::fewer_registers<40>();
  } else {
    tw::arch::more_registers<232>();
  }
  p.y[threadIdx.x] = threadIdx.x;
}
"#;

#[test]
fn registers_change_hands() {
    let kernel = Kernel { block: [384, 1, 1], ..kernel(REGISTERS) };
    everywhere(&kernel, &[written::<i32>(384)], |outputs, place| {
        assert!(outputs.get::<i32>(0).into_iter().eq(0..384), "{place}");
    });
}

#[test]
fn what_is_forgotten_is_reported() {
    let good = typed(F16, "Bytes128", 64);
    let args = [read(&[0x3c00u16; 4096]), read(&[0x3c00u16; 4096]), written::<f32>(4096)];
    let cases = [
        ("tw::arch::wgmma_fence();", "", "no wgmma_fence since"),
        ("tw::arch::fence_proxy_async();", "", "without a proxy fence"),
        ("__syncthreads();", "", "nothing orders the two"),
        ("tw::arch::wgmma_commit();", "", "a thread ends with a wgmma in no committed group"),
        ("sum.wait<0>();", "", "a thread ends before it waited for its wgmma"),
        ("sum.wait<0>();", "sum.wait<1>();", "a thread ends before it waited for its wgmma"),
        (
            "sum.wait<0>();",
            "if (threadIdx.x == 0) a.store(I(63) + K(63), tw::f16(2.0f)); sum.wait<0>();",
            "was overwritten before the product was waited",
        ),
        (
            "sum.wait<0>();",
            "if (threadIdx.x == 0) b.store(J(0) + K(0), tw::f16(2.0f)); sum.wait<0>();",
            "was overwritten before the product was waited",
        ),
        (
            "tw::arch::wgmma_fence();",
            "if (threadIdx.x == 77) return; tw::arch::wgmma_fence();",
            "wgmma_fence needs all 32 lanes",
        ),
        (
            "tw::arch::wgmma_fence();",
            "if (threadIdx.x > 95) return; tw::arch::wgmma_fence();",
            "wgmma needs all 128 threads",
        ),
        (
            "tw::arch::wgmma_commit();",
            "if (threadIdx.x == 3) return; tw::arch::wgmma_commit();",
            "a thread ends with a wgmma in",
        ),
        ("multiply(a, I(0), b, J(0)", "multiply(a, I(0), b, J(8 * (threadIdx.x > 63))", "different descriptors"),
        ("b, J(0), k,", "b, J(4), k,", "not at a multiple of 8 rows"),
        ("(tw::shared_memory() + A::bytes)", "(tw::shared_memory() + A::bytes + 512)", "not at a multiple of 8 rows"),
        ("b, J(0), k, k", "b, J(448), k, k", "an operand's row at byte 65536 of 65536"),
    ];
    for (from, to, message) in cases {
        let text = good.replace(from, to);
        assert_ne!(text, good, "{from}");
        reported(&kernel(&text), &args, &[message]);
    }
    let few = Kernel { block: [96, 1, 1], ..kernel(&good) };
    reported(&few, &args, &["wgmma needs all 128 threads of the warpgroup; 32 take no part"]);
    let elsewhere =
        good.replace("tw::arch::wgmma_fence();", "if (threadIdx.x > 95) __syncthreads(); tw::arch::wgmma_fence();");
    reported(&kernel(&elsewhere), &args, &["deadlock", "wgmma"]);
}
