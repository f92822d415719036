//! ldmatrix and stmatrix against loops over rows: each lane gives a row of its own choice.

use crate::numbers::{Random, block};
use crate::runner::{Arg, Kernel, everywhere, read, reported, written};

const LOAD: &str = r#"
#include "tilewright/arch/matrix.cuh"
struct Params { const unsigned* rows; const unsigned* data; unsigned* out; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  const int lane = threadIdx.x;
  unsigned* shared = (unsigned*)tw::shared_memory();
  for (int i = lane; i < 256; i += 32) shared[i] = p.data[i];
  __syncwarp();
  unsigned registers[4] = {~0u, ~0u, ~0u, ~0u};
  const unsigned row = p.rows[lane];
  tw::arch::ldmatrix<COUNT, TRANS>(registers, tw::shared_memory() + row * 16);
  for (int i = 0; i < 4; ++i) p.out[lane * 4 + i] = registers[i];
}
"#;

const STORE: &str = r#"
#include "tilewright/arch/matrix.cuh"
struct Params { const unsigned* rows; const unsigned* data; unsigned* out; };
extern "C" __global__ void run(const __grid_constant__ Params p) {
  const int lane = threadIdx.x;
  unsigned* shared = (unsigned*)tw::shared_memory();
  for (int i = lane; i < 256; i += 32) shared[i] = ~0u;
  __syncwarp();
  unsigned registers[4];
  for (int i = 0; i < 4; ++i) registers[i] = p.data[lane * 4 + i];
  const unsigned row = p.rows[lane];
  tw::arch::stmatrix<COUNT, TRANS>(tw::shared_memory() + row * 16, registers);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) p.out[i] = shared[i];
}
"#;

fn kernel(text: &str) -> Kernel<'_> {
    block("matrix", text, 32, 1024)
}

/// 32 different rows of 64.
fn rows(random: &mut Random) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..64).collect();
    for i in (1..64).rev() {
        rows.swap(i, (random.next() % (i as u64 + 1)) as usize);
    }
    rows[..32].to_vec()
}

fn every(text: &str, mut check: impl FnMut(&str, usize, bool)) {
    for (count, trans) in [1, 2, 4].into_iter().flat_map(|count| [(count, false), (count, true)]) {
        check(&text.replace("COUNT", &count.to_string()).replace("TRANS", &trans.to_string()), count, trans);
    }
}

/// Where element `part` of a lane's register stands in its matrix.
fn element(lane: usize, part: usize, trans: bool) -> (usize, usize) {
    let (row, column) = (lane / 4, lane % 4 * 2 + part);
    if trans { (column, row) } else { (row, column) }
}

fn data(random: &mut Random, count: usize) -> Vec<u16> {
    (0..count).map(|_| random.next() as u16).collect()
}

#[test]
fn loads_any_rows() {
    every(LOAD, |text, count, trans| {
        let mut random = Random(count as u64);
        let (rows, data) = (rows(&mut random), data(&mut random, 512));
        everywhere(&kernel(text), &[read(&rows), read(&data), written::<u32>(128)], |outputs, place| {
            let out = outputs.get::<u16>(0);
            for (lane, matrix, part) in (0..32).flat_map(|l| (0..4).flat_map(move |m| [(l, m, 0), (l, m, 1)])) {
                let (row, column) = element(lane, part, trans);
                let truth = if matrix < count { data[rows[8 * matrix + row] as usize * 8 + column] } else { 0xffff };
                assert_eq!(out[lane * 8 + matrix * 2 + part], truth, "{place}, x{count}, {trans}, lane {lane}");
            }
        });
    });
}

#[test]
fn stores_any_rows() {
    every(STORE, |text, count, trans| {
        let mut random = Random(count as u64);
        let (rows, data) = (rows(&mut random), data(&mut random, 256));
        let mut truth = vec![0xffffu16; 512];
        for (lane, matrix, part) in (0..32).flat_map(|l| (0..count).flat_map(move |m| [(l, m, 0), (l, m, 1)])) {
            let (row, column) = element(lane, part, trans);
            truth[rows[8 * matrix + row] as usize * 8 + column] = data[lane * 8 + matrix * 2 + part];
        }
        everywhere(&kernel(text), &[read(&rows), read(&data), written::<u32>(256)], |outputs, place| {
            assert!(outputs.get::<u16>(0) == truth, "{place}, x{count}, {trans}");
        });
    });
}

fn args() -> [Arg; 3] {
    let rows: Vec<u32> = (0..32).collect();
    [read(&rows), read(&[0u16; 512]), written::<u32>(256)]
}

#[test]
fn misuse_is_reported() {
    for (name, text) in [("ldmatrix", LOAD), ("stmatrix", STORE)] {
        let good = text.replace("COUNT", "2").replace("TRANS", "true");
        let call = format!("tw::arch::{name}");
        let missing = good.replace(&call, &format!("if (lane == 31) return; {call}"));
        reported(&kernel(&missing), &args(), &[name, "needs all 32 lanes", "mask 0x80000000"]);
        let unaligned = good.replace("row * 16", "row * 16 + 2 * (lane == 9)");
        reported(&kernel(&unaligned), &args(), &[name, "2 bytes past a multiple of 16", "thread (9, 0, 0)"]);
        let outside = good.replace("p.rows[lane]", "p.rows[lane] + 57 * (lane == 7)");
        reported(&kernel(&outside), &args(), &[name, "at byte 1024 of 1024 bytes"]);
        let unread = good.replace("p.rows[lane]", "p.rows[lane] + 57 * (lane == 17)");
        everywhere(&kernel(&unread), &args(), |_, _| {});
    }
}
