//! What the host model's shadow of shared memory reports, and what it leaves alone. The kernels tell it of their accesses by
//! hand, as typed views do.

use crate::runner::{Kernel, everywhere, reported, written};
use tilewright_driver::TargetKind;

/// `get` and `set` are watched; the tensor's name and a coordinate go into messages.
const WATCHED: &str = r#"
#include "tilewright/prelude.cuh"
#include "tilewright/arch/barrier.cuh"
#ifdef TILEWRIGHT_HOST
inline void describe(const void* at, char* text, unsigned long n) { __builtin_snprintf(text, n, "I %d", *(const int*)at); }
#define TELL(WHAT, BASE, I) tw::host::WHAT(BASE, (BASE) + (I), sizeof *(BASE), {place, "line", describe, &(I)})
#else
#define TELL(WHAT, BASE, I)
#endif
template <class T> TW_DEVICE T get(const T* line, int i, tw::Place place = tw::Place::here()) {
  TELL(shared_read, line, i);
  return line[i];
}
template <class T> TW_DEVICE void set(T* line, int i, T value, tw::Place place = tw::Place::here()) {
  TELL(shared_write, line, i);
  line[i] = value;
}
struct Params { int* y; };
"#;

/// A kernel `k` with this body; `i` is the thread, `n` the number of threads.
fn text(body: &str) -> String {
    format!(
        "{WATCHED}extern \"C\" __global__ void k(const __grid_constant__ Params p) {{\n  \
         const int i = threadIdx.x, n = blockDim.x;\n{body}\n}}\n"
    )
}

fn kernel<'a>(name: &'a str, text: &'a str, threads: u32) -> Kernel<'a> {
    let (grid, block, target) = ([2, 1, 1], [threads, 1, 1], TargetKind::Plain);
    Kernel { name, text, entry: "k", grid, block, shared_bytes: 1024, target }
}

/// Demands that the body runs, and that thread `i` of each block writes `truth(i)`.
fn right(name: &str, threads: u32, body: &str, truth: impl Fn(i32) -> i32) {
    let expected: Vec<i32> = (0..threads as i32).map(truth).collect();
    everywhere(&kernel(name, &text(body), threads), &[written::<i32>(threads as usize)], |outputs, place| {
        assert_eq!(outputs.get::<i32>(0), expected, "{place}");
    });
}

fn wrong(name: &str, threads: u32, body: &str, parts: &[&str]) {
    reported(&kernel(name, &text(body), threads), &[written::<i32>(threads as usize)], parts);
}

const SHIFTED: &str = "  int* line = (int*)tw::shared_memory();
  set(line, i, 3 * i);
  __syncthreads();
  p.y[i] = get(line, i > 0 ? i - 1 : 0);";

#[test]
fn a_barrier_orders_a_block() {
    right("shadow_shifted", 97, SHIFTED, |i| 3 * (i - 1).max(0));
    wrong(
        "shadow_no_barrier",
        97,
        &SHIFTED.replace("  __syncthreads();\n", ""),
        &[
            "thread (1, 0, 0), 0_shadow_no_barrier.cu:23: it reads line at I 0, bytes 0 to 3 of shared memory: thread (0, 0, 0)",
            "wrote them at 0_shadow_no_barrier.cu:22, and nothing orders the two: write __syncthreads() or __syncwarp()",
        ],
    );
}

#[test]
fn a_second_round_needs_a_second_barrier() {
    let body = "  int* line = (int*)tw::shared_memory();
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    set(line, i, i + round);
    __syncthreads();
    sum += get(line, (i + 1) % n);
    __syncthreads();
  }
  p.y[i] = sum;";
    right("shadow_rounds", 70, body, |i| 3 * ((i + 1) % 70) + 3);
    let mutant = body.replace("% n);\n    __syncthreads();", "% n);");
    let parts = ["it writes line at I ", "read them at 0_shadow_rounds_mutant.cu:26", "nothing orders the two"];
    wrong("shadow_rounds_mutant", 70, &mutant, &parts);
}

#[test]
fn a_warp_needs_only_its_own_barrier() {
    let body = "  short* line = (short*)tw::shared_memory();
  set(line, i, (short)(i * i));
  __syncwarp();
  p.y[i] = get(line, i & 31 ? i - 1 : i);";
    let before = |i| if i % 32 == 0 { i } else { i - 1 };
    right("shadow_warp", 96, body, |i| before(i) * before(i));
    let mutant = body.replace("  __syncwarp();\n", "");
    wrong(
        "shadow_warp_mutant",
        96,
        &mutant,
        &["nothing orders the two: write __syncthreads() or __syncwarp() between them"],
    );
    // Another warp's values are not ordered by it.
    wrong("shadow_two_warps", 96, &body.replace("i & 31", "i"), &["write __syncthreads() between them"]);
}

#[test]
fn lanes_hand_on_what_they_learn_after_all_have_met() {
    // All lanes meet; lane 3 writes and meets lane 2, which meets lane 0, which therefore knows. Nobody else does, until all meet again.
    let body = "  int* line = (int*)tw::shared_memory();
  set(line, i, i);
  __syncwarp();
  if (i == 3) set(line, 3, 5);
  __syncwarp(i == 2 || i == 3 ? 0xcu : ~0xcu);
  __syncwarp(i == 0 || i == 2 ? 0x5u : i == 3 ? 0x8u : ~0xdu);
  const int early = i == 0 ? get(line, 3) : 0;
  __syncwarp();
  __syncwarp();
  p.y[i] = early + get(line, 3);";
    right("shadow_lanes", 32, body, |i| if i == 0 { 10 } else { 5 });
    let broken = [("i == 3 ? 0xcu", "i == 3 ? 1u << i"), ("i == 0 ? get", "i == 1 ? get")];
    for (number, (from, to)) in broken.into_iter().enumerate() {
        let name = format!("shadow_lanes_{number}");
        wrong(&name, 32, &body.replace(from, to), &["it reads line at I 3", "nothing orders the two"]);
    }
}

#[test]
fn what_one_warp_learns_another_may_hand_on() {
    // Warp 0 writes; warp 1 meets it at barrier 1; warp 2 meets warp 1 at barrier 2, and so knows of warp 0.
    let body = "  int* line = (int*)tw::shared_memory();
  if (i < 32) set(line, i, 7 * i);
  if (i < 64) tw::arch::named_barrier_sync(1, 64);
  if (i >= 32) tw::arch::named_barrier_sync(2, 64);
  p.y[i] = get(line, 31 - i % 32);";
    right("shadow_chain", 96, body, |i| 7 * (31 - i % 32));
    let mutant = body.replace(
        "if (i >= 32) tw::arch::named_barrier_sync(2, 64)",
        "if (i >= 64) tw::arch::named_barrier_sync(2, 32)",
    );
    wrong("shadow_broken_chain", 96, &mutant, &["it reads line", "wrote them at", "nothing orders the two"]);
}

#[test]
fn a_fence_and_an_atomic_order_the_last_to_arrive() {
    let body = "  int* line = (int*)tw::shared_memory();
  unsigned* count = (unsigned*)(tw::shared_memory() + 512);
  if (i == 0) *count = 0;
  __syncthreads();
  set(line, i, 2 * i);
  __threadfence_block();
  if (atomicAdd(count, 1u) == n - 1) {
    for (int j = 0; j < n; ++j) p.y[j] = get(line, j) + 1;
  }";
    right("shadow_last", 77, body, |i| 2 * i + 1);
    wrong(
        "shadow_last_mutant",
        77,
        &body.replace("  __threadfence_block();\n", ""),
        &["it reads line", "nothing orders the two"],
    );
}

#[test]
fn bytes_side_by_side_are_not_one() {
    // Each thread has a byte of its own; neighbours share words, and no barrier stands between.
    let body = "  signed char* line = (signed char*)tw::shared_memory();
  set(line, i, (signed char)-i);
  p.y[i] = get(line, i);";
    right("shadow_bytes", 61, body, |i| -i);
    let mutant = body.replace("get(line, i)", "get(line, i & ~1)");
    wrong("shadow_bytes_mutant", 60, &mutant, &["it reads line", "wrote them at", "nothing orders the two"]);
}

#[test]
fn what_nobody_wrote_is_not_read() {
    let mutant = SHIFTED.replace("i > 0 ? i - 1 : 0", "i + 1");
    wrong(
        "shadow_off_by_one",
        97,
        &mutant,
        &["it reads line at I 97, bytes 388 to 391 of shared memory: nothing in this block"],
    );
    let mutant = SHIFTED.replace("set(line, i, 3 * i)", "if (i != 50) set(line, i, 3 * i)");
    wrong("shadow_hole", 97, &mutant, &["it reads line at I 50", "nothing in this block has written them yet"]);
}

#[test]
fn the_end_of_shared_memory_is_the_end() {
    let mutant = SHIFTED.replace("set(line, i, 3 * i)", "set(line, i + 200, 3 * i)");
    let parts = ["it writes line at I 2", "of shared memory: shared memory has 1024 bytes", "thread ("];
    wrong("shadow_past_the_end", 97, &mutant, &parts);
    let mutant = SHIFTED.replace("i > 0 ? i - 1 : 0", "i - 1");
    wrong(
        "shadow_before_the_start",
        97,
        &mutant,
        &["it reads line at I -1, bytes -4 to -1", "shared memory has 1024 bytes"],
    );
}

#[test]
fn blocks_know_nothing_of_each_other() {
    // The second block on the same thread finds what the first left, as on a GPU; it is poison here.
    let body = "  int* line = (int*)tw::shared_memory();
  if (blockIdx.x == 0) set(line, i, 1);
  p.y[i] = get(line, i);";
    wrong("shadow_last_block", 33, body, &["block (1, 0, 0)", "nothing in this block has written them yet"]);
}

#[test]
fn other_memory_is_not_watched() {
    let body = "  set(p.y, i, 1);\n  __syncthreads();\n  set(p.y, i, get(p.y, i) + 4);";
    let threads = 64;
    let body = body.replace("__syncthreads", "__syncwarp");
    everywhere(
        &Kernel { grid: [1, 1, 1], ..kernel("shadow_elsewhere", &text(&body), threads) },
        &[written::<i32>(64)],
        |o, place| {
            assert_eq!(o.get::<i32>(0), [5; 64], "{place}");
        },
    );
}
