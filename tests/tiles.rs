//! The typed loader of tiles, between tensors of different layouts.

use crate::copies::words;
use crate::runner::{Kernel, everywhere, read, reported, value, written};
use tilewright_driver::TargetKind;

/// Tiles of 16 rows and 24 columns of a padded matrix, kept in shared memory by groups of 8 columns; two stages.
const TILES: &str = r#"
#include "tilewright/tile.cuh"
struct Y : tw::Dim<Y> { using Dim::Dim; };
struct X : tw::Dim<X> { using Dim::Dim; };
using Matrix = tw::Layout<tw::Axis<Y, 1, 37, 64, false>, tw::Axis<X, 1, 53, 1, false>>;
using Tile = tw::Layout<tw::Axis<X, 8, 3, 128, false>, tw::Axis<Y, 1, 16, 8, false>, tw::Axis<X, 1, 8, 1, true>>;
using Stage = tw::Tensor<unsigned short, Tile, struct Tile_>;
struct Params { const unsigned short* x; unsigned short* y; int first; };
extern "C" __global__ void k(const __grid_constant__ Params p) {
  const tw::Tensor<const unsigned short, Matrix> matrix{p.x};
  const int i = threadIdx.x, n = blockDim.x;
  const Stage stages[2] = {Stage::over(tw::shared_memory()), Stage::over(tw::shared_memory() + Stage::bytes)};
  const auto origin = [&](int tile) { return Y(16 * (int)blockIdx.x) + X(24 * tile + p.first); };
  tw::load_tile<X, Y>(matrix, stages[0], origin(0), i, n);
  tw::arch::copy_async_commit();
  for (int tile = 0; tile < 3; ++tile) {
    if (tile < 2) tw::load_tile<X, Y>(matrix, stages[(tile + 1) % 2], origin(tile + 1), i, n);
    tw::arch::copy_async_commit();
    tw::arch::copy_async_wait<1>();
    __syncthreads();
    for (int e = i; e < 384; e += n) {
      const auto at = Y(e / 24) + X(e % 24);
      p.y[(blockIdx.x * 3 + tile) * 384 + e] = *stages[tile % 2].at(at);
    }
    __syncthreads();
  }
}
"#;

#[test]
fn tiles_of_a_padded_matrix() {
    let halves: Vec<u16> = words(37 * 32, 2).iter().flat_map(|w| [*w as u16, (*w >> 16) as u16]).collect();
    let (rows, columns, row_elements, blocks) = (37i32, 53i32, 64i32, 3usize);
    let kernel = |name: &'static str, text: &str| {
        let text = text.to_owned();
        move |run: &dyn Fn(&Kernel<'_>)| {
            let (grid, block, target) = ([blocks as u32, 1, 1], [43, 1, 1], TargetKind::Plain);
            run(&Kernel { name, text: &text, entry: "k", grid, block, shared_bytes: 1536, target });
        }
    };
    for first in [0i32, -8, 16] {
        let args = [read(&halves), written::<u16>(blocks * 3 * 384), value(first)];
        kernel("tiles", TILES)(&|kernel| {
            everywhere(kernel, &args, |outputs, place| {
                for (at, got) in outputs.get::<u16>(0).into_iter().enumerate() {
                    let (tile, element) = (at / 384, at % 384);
                    let y = (tile / 3 * 16 + element / 24) as i32;
                    let x = (tile % 3 * 24 + element % 24) as i32 + first;
                    let inside = y < rows && x >= 0 && x < columns;
                    let expected = if inside { halves[(y * row_elements + x) as usize] } else { 0 };
                    assert_eq!(got, expected, "{place}: row {y}, column {x}");
                }
            });
        });
    }
    let args = [read(&halves), written::<u16>(blocks * 3 * 384), value(0i32)];
    let wrong = |name, from: &str, to: &str, parts: &[&str]| {
        let mutant = TILES.replacen(from, to, 1);
        assert_ne!(mutant, TILES);
        kernel(name, &mutant)(&|kernel| reported(kernel, &args, parts));
    };
    wrong(
        "tiles_early",
        "copy_async_wait<1>",
        "copy_async_wait<2>",
        &["it reads Tile at Y(", "began at 0_tiles_early.cu:14 is in flight"],
    );
    wrong(
        "tiles_loose",
        "    __syncthreads();\n  }\n}",
        "  }\n}",
        &["it reads Tile at Y(", "began at 0_tiles_loose.cu:17 is in flight"],
    );
    wrong(
        "tiles_crooked",
        "24 * tile + p.first",
        "24 * tile + p.first + 1",
        &["multiples of 16", "0_tiles_crooked.cu:14"],
    );
}
