//! Barriers that count arrivals and bytes, and barriers of some warps.

use crate::copies::{WATCHED, words};
use crate::runner::{Arg, Kernel, everywhere, read, reported, value, written};
use tilewright_driver::TargetKind;

/// Warp 0 fills a ring of two stages, the other warps read it: `full` counts the warp that fills, `empty` those that read.
const RELAY: &str = r#"
struct Params { const unsigned* x; unsigned* y; int steps; };
extern "C" __global__ void k(const __grid_constant__ Params p) {
  tw::arch::Mbarrier* full = (tw::arch::Mbarrier*)tw::shared_memory();
  tw::arch::Mbarrier* empty = full + 2;
  unsigned* ring = (unsigned*)(tw::shared_memory() + 64);
  const int i = threadIdx.x, readers = blockDim.x - 32;
  if (i == 0) {
    for (int stage = 0; stage < 2; ++stage) {
      tw::arch::mbarrier_init(full + stage, 32);
      tw::arch::mbarrier_init(empty + stage, readers);
    }
    tw::arch::fence_barrier_init();
  }
  __syncthreads();
  for (int step = 0; step < p.steps; ++step) {
    const int stage = step % 2, parity = step / 2 % 2;
    if (i < 32) {
      tw::arch::mbarrier_wait(empty + stage, parity ^ 1);
      for (int j = i; j < readers; j += 32) set(ring, stage * readers + j, p.x[step * readers + j]);
      tw::arch::mbarrier_arrive(full + stage);
    } else {
      const int reader = i - 32;
      WAIT(full + stage, parity);
      p.y[step * readers + reader] = get(ring, stage * readers + (reader + 9) % readers);
      tw::arch::mbarrier_arrive(empty + stage);
    }
  }
}
"#;

/// Copies of a thread that report to an mbarrier; no thread waits for its own.
const NOINC: &str = r#"
struct Params { const uint4* x; uint4* y; };
extern "C" __global__ void k(const __grid_constant__ Params p) {
  tw::arch::Mbarrier* done = (tw::arch::Mbarrier*)tw::shared_memory();
  uint4* line = (uint4*)(tw::shared_memory() + 16);
  const int i = threadIdx.x, n = blockDim.x;
  if (i == n / 2) {
    tw::arch::mbarrier_init(done, n);
    tw::arch::fence_barrier_init();
  }
  __syncthreads();
  tw::arch::copy_async<16>(line + i, p.x + i);
  tw::arch::copy_async_arrive(done);
  tw::arch::mbarrier_wait(done, 0);
  p.y[i] = get(line, n - 1 - i);
}
"#;

/// Lines brought in one piece, doubled in place, and sent back in one piece.
const BULK: &str = r#"
struct Params { const unsigned* x; unsigned* y; int count; };
extern "C" __global__ void k(const __grid_constant__ Params p) {
  tw::arch::Mbarrier* done = (tw::arch::Mbarrier*)tw::shared_memory();
  unsigned* line = (unsigned*)(tw::shared_memory() + 128);
  const int i = threadIdx.x, n = p.count, first = blockIdx.x * n;
  if (i == 0) {
    tw::arch::mbarrier_init(done, 1);
    tw::arch::fence_barrier_init();
  }
  __syncthreads();
  if (i == 0) {
    tw::arch::mbarrier_arrive_expect_tx(done, 2 * n);
    tw::arch::mbarrier_expect_tx(done, 2 * n);
    tw::arch::bulk_load(line, p.x + first, n * 4, done);
  }
  tw::arch::mbarrier_wait(done, 0);
  for (int j = i; j < n; j += blockDim.x) set(line, j, 2 * get(line, j));
  tw::arch::fence_proxy_async();
  __syncthreads();
  if (i == 0) {
    tw::arch::bulk_store(p.y + first, line, n * 4);
    tw::arch::bulk_commit();
    tw::arch::bulk_wait_read<0>();
  }
  __syncthreads();
  set(line, i, 0u);
}
"#;

/// One thread brings lines into a ring of three; of each warp that reads, one lane waits and one lane arrives for all.
const ELECTED: &str = r#"
struct Params { const unsigned* x; unsigned* y; int steps; };
extern "C" __global__ void k(const __grid_constant__ Params p) {
  tw::arch::Mbarrier* full = (tw::arch::Mbarrier*)tw::shared_memory();
  tw::arch::Mbarrier* empty = full + 3;
  unsigned* ring = (unsigned*)(tw::shared_memory() + 128);
  const int i = threadIdx.x, readers = blockDim.x - 32, lane = i % 32;
  if (i == 32) {
    for (int stage = 0; stage < 3; ++stage) {
      tw::arch::mbarrier_init(full + stage, 1);
      tw::arch::mbarrier_init(empty + stage, readers / 32);
    }
    tw::arch::fence_barrier_init();
  }
  __syncthreads();
  for (int step = 0; step < p.steps; ++step) {
    const int stage = step % 3, parity = step / 3 % 2;
    if (i == 0) {
      tw::arch::mbarrier_wait(empty + stage, parity ^ 1);
      tw::arch::mbarrier_arrive_expect_tx(full + stage, readers * 4);
      tw::arch::bulk_load(ring + stage * readers, p.x + step * readers, readers * 4, full + stage);
    }
    if (i < 32) continue;
    if (lane == 5) tw::arch::mbarrier_wait(full + stage, parity);
    __syncwarp();
    p.y[step * readers + i - 32] = get(ring, stage * readers + (i + 40) % readers);
    __syncwarp();
    if (lane == 9) tw::arch::mbarrier_arrive(empty + stage);
  }
}
"#;

/// Two pairs of warps, each with a barrier of its own; then one warp that only arrives.
const NAMED: &str = r#"
struct Params { unsigned* y; };
extern "C" __global__ void k(const __grid_constant__ Params p) {
  unsigned* line = (unsigned*)tw::shared_memory();
  const int i = threadIdx.x, pair = i / 64;
  set(line, i, (unsigned)(i * i));
  tw::arch::named_barrier_sync(1 + pair, 64);
  const unsigned mine = get(line, i ^ 32);
  if (i < 32) {
    set(line + 128, i, mine + 1);
    tw::arch::named_barrier_arrive(3, 64);
  } else if (i >= 96) {
    tw::arch::named_barrier_sync(3, 64);
    p.y[i] = get(line + 128, i - 96);
    return;
  }
  p.y[i] = mine;
}
"#;

fn kernel<'a>(name: &'a str, text: &'a str, grid: u32, threads: u32) -> Kernel<'a> {
    let (grid, block, target) = ([grid, 1, 1], [threads, 1, 1], TargetKind::Plain);
    Kernel { name, text, entry: "k", grid, block, shared_bytes: 8192, target }
}

/// Demands that the text with `from` replaced is reported.
fn mutant(name: &str, body: &str, launch: (u32, u32), args: &[Arg], (from, to): (&str, &str), parts: &[&str]) {
    let changed = body.replacen(from, to, 1);
    assert_ne!(changed, body, "{name}");
    reported(&kernel(name, &format!("{WATCHED}{changed}"), launch.0, launch.1), args, parts);
}

#[test]
fn warps_hand_over_stages() {
    let (readers, steps) = (67usize, 9usize);
    let x = words(readers * steps, 3);
    let args = [read(&x), written::<u32>(readers * steps), value(steps as i32)];
    let waits = [
        ("wait", "tw::arch::mbarrier_wait(full + stage, parity)"),
        ("try", "while (!tw::arch::mbarrier_try_wait(full + stage, parity)) {}"),
        ("test", "while (!tw::arch::mbarrier_test(full + stage, parity)) __nanosleep(40)"),
    ];
    for (name, wait) in waits {
        let body = RELAY.replace("WAIT(full + stage, parity)", wait);
        let name = format!("relay_{name}");
        everywhere(&kernel(&name, &format!("{WATCHED}{body}"), 1, 32 + readers as u32), &args, |outputs, place| {
            for (at, got) in outputs.get::<u32>(0).into_iter().enumerate() {
                assert_eq!(got, x[at / readers * readers + (at % readers + 9) % readers], "{place}: word {at}");
            }
        });
        let short = ("mbarrier_init(full + stage, 32)", "mbarrier_init(full + stage, 33)");
        let parts = ["deadlock", "of parity 0 of the mbarrier at byte 0 (0_", "1 of 33 arrivals are missing"];
        mutant(&format!("{name}_short"), &body, (1, 99), &args, short, &parts);
    }
    let body = RELAY.replace("WAIT", "tw::arch::mbarrier_wait");
    let wrong = |name: &str, change: (&str, &str), parts: &[&str]| mutant(name, &body, (1, 99), &args, change, parts);
    wrong(
        "relay_early",
        ("tw::arch::mbarrier_wait(empty + stage, parity ^ 1);", ""),
        &["bytes", "wrote them at 0_relay_early.cu", "nothing orders the two"],
    );
    wrong(
        "relay_parity",
        ("(full + stage, parity)", "(full + stage, parity ^ 1)"),
        &["it reads bytes", "has written them yet"],
    );
    wrong("relay_many", ("mbarrier_init(full + stage, 32)", "mbarrier_init(full + stage, 31)"), &["0_relay_many.cu"]);
    wrong(
        "relay_unordered",
        ("  __syncthreads();\n", ""),
        &["0_relay_unordered.cu", "mbarrier", "write __syncthreads() between them"],
    );
    wrong(
        "relay_unmade",
        ("tw::arch::mbarrier_init(empty + stage, readers);", ""),
        &["no mbarrier has been initialised at byte"],
    );
    wrong(
        "relay_overwritten",
        ("shared_memory() + 64", "shared_memory() + 16"),
        &["has been written over: keep its 8 bytes apart"],
    );
}

#[test]
fn copies_of_threads_arrive_at_an_mbarrier() {
    let n = 53usize;
    let x = words(4 * n, 8);
    let args = [read(&x), written::<u32>(4 * n)];
    everywhere(&kernel("noinc", &format!("{WATCHED}{NOINC}"), 1, n as u32), &args, |outputs, place| {
        let y = outputs.get::<u32>(0);
        let reversed: Vec<u32> = x.chunks(4).rev().flatten().copied().collect();
        assert_eq!(y, reversed, "{place}");
    });
    let wrong = |name: &str, change, parts: &[&str]| mutant(name, NOINC, (1, n as u32), &args, change, parts);
    wrong(
        "noinc_early",
        ("tw::arch::mbarrier_wait(done, 0)", "__syncthreads()"),
        &["it reads bytes", "in flight to them"],
    );
    wrong(
        "noinc_short",
        ("mbarrier_init(done, n)", "mbarrier_init(done, n + 1)"),
        &["deadlock", "1 of 54 arrivals are missing"],
    );
    wrong(
        "noinc_plain",
        ("copy_async_arrive(done)", "mbarrier_arrive(done)"),
        &["it reads bytes", "in flight to them"],
    );
}

#[test]
fn a_lane_speaks_for_its_warp() {
    let (readers, steps) = (96usize, 10usize);
    let x = words(readers * steps, 17);
    let args = [read(&x), written::<u32>(readers * steps), value(steps as i32)];
    everywhere(&kernel("elected", &format!("{WATCHED}{ELECTED}"), 1, 128), &args, |outputs, place| {
        for (at, got) in outputs.get::<u32>(0).into_iter().enumerate() {
            assert_eq!(got, x[at / readers * readers + (at % readers + 72) % readers], "{place}: word {at}");
        }
    });
    let wrong = |name: &str, change, parts: &[&str]| mutant(name, ELECTED, (1, 128), &args, change, parts);
    let late = ("__syncwarp();\n    if (lane == 9)", "if (lane == 9)");
    wrong("elected_late", late, &["it writes bytes", "read them at 0_elected_late.cu", "nothing orders the two"]);
    let early = ("parity);\n    __syncwarp();", "parity);");
    wrong("elected_early", early, &["it reads bytes", "0_elected_early.cu"]);
    let count = ("init(empty + stage, readers / 32)", "init(empty + stage, readers / 32 + 1)");
    wrong("elected_count", count, &["deadlock", "1 of 4 arrivals are missing"]);
}

#[test]
fn lines_travel_in_one_piece() {
    let (grid, n) = (3usize, 212usize);
    let x = words(grid * n, 21);
    let args = [read(&x), written::<u32>(grid * n), value(n as i32)];
    everywhere(&kernel("bulk", &format!("{WATCHED}{BULK}"), grid as u32, 70), &args, |outputs, place| {
        let twice: Vec<u32> = x.iter().map(|v| v.wrapping_mul(2)).collect();
        assert_eq!(outputs.get::<u32>(0), twice, "{place}");
    });
    let wrong = |name: &str, change, parts: &[&str]| mutant(name, BULK, (3, 70), &args, change, parts);
    wrong("bulk_no_wait", ("  tw::arch::mbarrier_wait(done, 0);\n", ""), &["it reads bytes", "in flight to them"]);
    wrong(
        "bulk_expects_more",
        ("expect_tx(done, 2 * n)", "expect_tx(done, 2 * n + 16)"),
        &["deadlock", "0 of 1 arrivals are missing, 16 bytes more are expected than came"],
    );
    wrong(
        "bulk_expects_less",
        ("expect_tx(done, 2 * n)", "expect_tx(done, 2 * n - 16)"),
        &["deadlock", "16 bytes more came than were expected"],
    );
    wrong(
        "bulk_no_fence",
        ("  tw::arch::fence_proxy_async();\n", ""),
        &["wrote them at 0_bulk_no_fence.cu:", "without a proxy fence: write tw::arch::fence_proxy_async()"],
    );
    wrong(
        "bulk_no_init_fence",
        ("    tw::arch::fence_barrier_init();\n", ""),
        &["write tw::arch::fence_barrier_init()"],
    );
    wrong(
        "bulk_no_barrier",
        ("fence_proxy_async();\n  __syncthreads();", "fence_proxy_async();"),
        &["it lets an asynchronous operation read bytes", "0_bulk_no_barrier.cu"],
    );
    wrong(
        "bulk_no_read_wait",
        ("    tw::arch::bulk_wait_read<0>();\n", ""),
        &["it writes bytes", "in flight from them"],
    );
    wrong("bulk_unaligned", ("shared_memory() + 128", "shared_memory() + 136"), &["multiples of 16"]);
    let never = ("    tw::arch::bulk_wait_read<0>();\n  }\n  __syncthreads();\n  set(line, i, 0u);\n", "  }\n");
    wrong("bulk_left_behind", never, &["in flight when the block ends", "bulk_wait_read<0>()"]);
}

#[test]
fn warps_meet_at_named_barriers() {
    let args = [written::<u32>(128)];
    everywhere(&kernel("named", &format!("{WATCHED}{NAMED}"), 1, 128), &args, |outputs, place| {
        for (i, got) in (0u32..).zip(outputs.get::<u32>(0)) {
            let square = |i: u32| i * i;
            assert_eq!(got, if i < 96 { square(i ^ 32) } else { square((i - 96) ^ 32) + 1 }, "{place}: thread {i}");
        }
    });
    let wrong = |name: &str, change, parts: &[&str]| mutant(name, NAMED, (1, 128), &args, change, parts);
    let stuck = [
        "deadlock",
        "waits in named_barrier_sync at 0_named_short.cu:",
        "for barrier 1: 64 of 96 threads have arrived",
    ];
    wrong("named_short", ("sync(1 + pair, 64)", "sync(1 + pair, 96)"), &stuck);
    wrong("named_odd", ("sync(1 + pair, 64)", "sync(1 + pair, 63)"), &["counts whole warps", "got 63"]);
    wrong("named_zero", ("sync(1 + pair, 64)", "sync(pair, 64)"), &["a named barrier is one of 1 to 15", "got 0"]);
    wrong("named_two_counts", ("arrive(3, 64)", "arrive(3, 128)"), &["barrier 3 counts", "128", "64"]);
    wrong("named_loose", ("    tw::arch::named_barrier_sync(3, 64);\n", ""), &["it reads bytes", "0_named_loose.cu"]);
}
