//! Copies that a thread begins and waits for later (cp.async), and what is reported when it does not.

use crate::runner::{Kernel, everywhere, read, reported, value, written};
use tilewright_driver::TargetKind;

/// Accessors that tell the host model of what they do, as typed views do.
pub(crate) const WATCHED: &str = r#"
#include "tilewright/prelude.cuh"
#include "tilewright/arch/barrier.cuh"
#include "tilewright/arch/tensor_map.cuh"
template <class T> TW_DEVICE T get(const T* line, int i, tw::Place place = tw::Place::here()) {
#ifdef TILEWRIGHT_HOST
  tw::host::shared_read(line, line + i, sizeof(T), {place});
#endif
  return line[i];
}
template <class T> TW_DEVICE void set(T* line, int i, T value, tw::Place place = tw::Place::here()) {
#ifdef TILEWRIGHT_HOST
  tw::host::shared_write(line, line + i, sizeof(T), {place});
#endif
  line[i] = value;
}
"#;

/// Pseudo-random words.
pub(crate) fn words(count: usize, seed: u32) -> Vec<u32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let step = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state ^ state >> 15
    };
    (0..count).map(step).collect()
}

/// Runs of `BYTES`, of which `valid` bytes are read and the rest is zero; each thread reads its neighbour's.
const RUNS: &str = r#"
struct Params { const unsigned char* x; unsigned char* y; int valid; };
extern "C" __global__ void k(const __grid_constant__ Params p) {
  unsigned char* line = tw::shared_memory();
  const int i = threadIdx.x, next = (i + 1) % blockDim.x, first = blockIdx.x * blockDim.x;
  tw::arch::copy_async<BYTES>(line + i * BYTES, p.x + (first + i) * BYTES, p.valid);
  tw::arch::copy_async_commit();
  tw::arch::copy_async_wait<0>();
  __syncthreads();
  for (int b = 0; b < BYTES; ++b) p.y[(first + i) * BYTES + b] = get(line, next * BYTES + b);
}
"#;

/// A line that goes through a ring of three stages, four steps ahead of nobody: each thread copies and reads its own words.
const RING: &str = r#"
struct Params { const unsigned* x; unsigned* y; int steps; };
extern "C" __global__ void k(const __grid_constant__ Params p) {
  unsigned* ring = (unsigned*)tw::shared_memory();
  const int i = threadIdx.x, n = blockDim.x;
  for (int step = 0; step < 2; ++step) {
    if (step < p.steps) tw::arch::copy_async<4>(ring + step * n + i, p.x + step * n + i);
    tw::arch::copy_async_commit();
  }
  for (int step = 0; step < p.steps; ++step) {
    tw::arch::copy_async_wait<1>();
    __syncthreads();
    const int ahead = step + 2;
    if (ahead < p.steps) tw::arch::copy_async<4>(ring + ahead % 3 * n + i, p.x + ahead * n + i);
    tw::arch::copy_async_commit();
    p.y[step * n + i] = get(ring, step % 3 * n + n - 1 - i);
  }
  tw::arch::copy_async_wait_all();
}
"#;

fn kernel<'a>(name: &'a str, text: &'a str, grid: u32, threads: u32) -> Kernel<'a> {
    let (grid, block, target) = ([grid, 1, 1], [threads, 1, 1], TargetKind::Plain);
    Kernel { name, text, entry: "k", grid, block, shared_bytes: 4096, target }
}

#[test]
fn runs_of_bytes_arrive_and_zeros_follow() {
    let (grid, threads) = (3u32, 77u32);
    let count = (grid * threads) as usize;
    for bytes in [4usize, 8, 16] {
        let x: Vec<u8> = words(count * bytes / 4, bytes as u32).iter().flat_map(|word| word.to_ne_bytes()).collect();
        let text = format!("{WATCHED}{}", RUNS.replace("BYTES", &bytes.to_string()));
        for valid in [0, 1, bytes / 2 + 1, bytes] {
            let name = format!("copies_{bytes}_{valid}");
            let args = [read(&x), written::<u8>(count * bytes), value(valid as i32)];
            everywhere(&kernel(&name, &text, grid, threads), &args, |outputs, place| {
                for (at, got) in outputs.get::<u8>(0).into_iter().enumerate() {
                    let (thread, byte) = (at / bytes, at % bytes);
                    let block = thread / threads as usize * threads as usize;
                    let source = block + (thread - block + 1) % threads as usize;
                    let expected = if byte < valid { x[source * bytes + byte] } else { 0 };
                    assert_eq!(got, expected, "{place}: byte {byte} of thread {thread}");
                }
            });
        }
    }
}

#[test]
fn mutants_of_the_runs_are_reported() {
    let text = format!("{WATCHED}{}", RUNS.replace("BYTES", "8"));
    let x = words(2 * 64 * 3, 5);
    let wrong = |name: &str, from: &str, to: &str, parts: &[&str]| {
        let mutant = text.replacen(from, to, 1);
        assert_ne!(mutant, text);
        let args = [read(&x), written::<u8>(3 * 64 * 8), value(8i32)];
        reported(&kernel(name, &mutant, 3, 64), &args, parts);
    };
    let in_flight =
        ["it reads bytes", "the asynchronous copy that thread (", "began at 0_copies_no", "is in flight to them"];
    wrong("copies_no_wait", "tw::arch::copy_async_wait<0>();", "", &in_flight);
    wrong("copies_not_all", "copy_async_wait<0>", "copy_async_wait<1>", &["is in flight to them: wait for it first"]);
    wrong("copies_no_commit", "tw::arch::copy_async_commit();", "", &in_flight);
    wrong("copies_no_barrier", "__syncthreads();", "", &["it reads bytes", "thread ("]);
    wrong(
        "copies_odd",
        "p.x + (first",
        "p.x + 4 + (first",
        &["go from and to multiples of 8".replace("go", "goes").as_str()],
    );
    let write = "tw::arch::copy_async_commit();\n  if (i == 3) set(line, 24, (unsigned char)1);";
    wrong(
        "copies_overwritten",
        "tw::arch::copy_async_commit();",
        write,
        &["it writes bytes 24 to 24", "is in flight to them"],
    );
}

#[test]
fn a_ring_of_stages_keeps_ahead() {
    let text = format!("{WATCHED}{RING}");
    let (threads, steps) = (45usize, 7usize);
    let x = words(threads * steps, 11);
    let args = [read(&x), written::<u32>(threads * steps), value(steps as i32)];
    everywhere(&kernel("copies_ring", &text, 1, threads as u32), &args, |outputs, place| {
        for (at, got) in outputs.get::<u32>(0).into_iter().enumerate() {
            assert_eq!(got, x[at / threads * threads + threads - 1 - at % threads], "{place}: word {at}");
        }
    });
    // A stage too few: the copy comes into the stage that is being read.
    let mutant = text.replace("% 3 * n", "% 2 * n");
    reported(&kernel("copies_short_ring", &mutant, 1, threads as u32), &args, &["bytes", "copies_short_ring.cu"]);
    let mutant = text.replace("copy_async_wait<1>", "copy_async_wait<2>");
    reported(
        &kernel("copies_late_ring", &mutant, 1, threads as u32),
        &args,
        &["is in flight to them: wait for it first"],
    );
    let mutant = text.replace("    __syncthreads();\n", "");
    reported(
        &kernel("copies_loose_ring", &mutant, 1, threads as u32),
        &args,
        &["copies_loose_ring.cu", "it reads bytes"],
    );
}
