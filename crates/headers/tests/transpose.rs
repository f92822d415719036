//! A tiled transpose through shared memory, right; and with a barrier missing, which some schedule must show.

use tilewright_headers::host_model::{HostModel, Launch, Schedule};

use crate::fixture::{compile, random, run};

/// Each block turns 4 tiles of 16 x 16, one after the other through the same buffer, so it needs both barriers.
const TRANSPOSE: &str = r#"
#include "tilewright/prelude.cuh"
struct Params { const float* x; float* y; int rows; int columns; };
extern "C" __global__ void transpose(const __grid_constant__ Params p) {
  float* tile = (float*)tw::host::shared_memory();
  for (int step = 0; step < 4; ++step) {
    const int row = blockIdx.y * 16, column = (blockIdx.x * 4 + step) * 16;
    const bool inside = row + threadIdx.y < p.rows && column + threadIdx.x < p.columns;
    if (inside) tile[threadIdx.y * 17 + threadIdx.x] = p.x[(row + threadIdx.y) * p.columns + column + threadIdx.x];
    __syncthreads();  // written
    const bool turned = row + threadIdx.x < p.rows && column + threadIdx.y < p.columns;
    if (turned) p.y[(column + threadIdx.y) * p.rows + row + threadIdx.x] = tile[threadIdx.x * 17 + threadIdx.y];
    __syncthreads();  // read
  }
}
"#;

const ROWS: usize = 37;
const COLUMNS: usize = 101;

#[derive(Clone, Copy)]
#[repr(C)]
struct Params {
    x: *const f32,
    y: *mut f32,
    rows: i32,
    columns: i32,
}

fn is_right(model: &HostModel, schedule: Schedule) -> bool {
    let (x, mut y) = (random(ROWS * COLUMNS, 7), vec![-1.0; ROWS * COLUMNS]);
    let params = Params { x: x.as_ptr(), y: y.as_mut_ptr(), rows: ROWS as i32, columns: COLUMNS as i32 };
    let grid = [COLUMNS.div_ceil(64) as u32, ROWS.div_ceil(16) as u32, 1];
    run(model, "transpose", Launch { grid, block: [16, 16, 1], shared_bytes: 16 * 17 * 4, schedule }, params).unwrap();
    (0..ROWS * COLUMNS).all(|i| y[i % COLUMNS * ROWS + i / COLUMNS] == x[i])
}

#[test]
fn a_transpose_is_right_under_every_schedule() {
    let Some(model) = compile("transpose", &[TRANSPOSE]) else { return };
    for schedule in Schedule::ALL.into_iter().chain((2..20).map(Schedule::Shuffled)) {
        assert!(is_right(&model, schedule), "{schedule:?}");
    }
}

#[test]
fn a_missing_barrier_is_seen() {
    for comment in ["// written", "// read"] {
        let mutant = TRANSPOSE.replace(&format!("__syncthreads();  {comment}"), "");
        assert_ne!(mutant, TRANSPOSE);
        let Some(model) = compile("transpose_mutant", &[&mutant]) else { return };
        let right = Schedule::ALL.map(|schedule| is_right(&model, schedule));
        assert!(right.contains(&false), "without the barrier `{comment}` every schedule gave the right result");
    }
}

#[test]
fn shared_memory_starts_poisoned_in_every_block() {
    let text = r#"
#include "tilewright/prelude.cuh"
struct Params { unsigned* y; };
extern "C" __global__ void first_words(const __grid_constant__ Params p) {
  unsigned* words = (unsigned*)tw::host::shared_memory();
  p.y[blockIdx.x * blockDim.x + threadIdx.x] = words[threadIdx.x];
  words[threadIdx.x] = 7;
}"#;
    let Some(model) = compile("poison", &[text]) else { return };
    let mut y = vec![0u32; 200 * 32];
    let launch = crate::fixture::launch(200, 32, 128, Schedule::Forward);
    run(&model, "first_words", launch, y.as_mut_ptr()).unwrap();
    assert!(y.iter().all(|&word| word == u32::MAX));
}
