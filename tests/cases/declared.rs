//! What the cases are about: dimensions, folds and tensors, declared once for typed Rust, for CUDA C++ and for run time.

use tilewright_dims::{dims, folds, tensor};
use tilewright_headers::layout::Layout;

use super::number::Number;

macro_rules! declared {
    (
        dims! { $($dim:ident),* $(,)? }
        folds! { $($fold:ident = $of:ident / $unit:literal),* $(,)? }
        $(tensor!($name:ident: $($layout:tt)*);)*
    ) => {
        dims! { $(pub(crate) $dim),* }
        folds! { $(pub(crate) $fold = $of / $unit),* }
        $(tensor!(pub(crate) $name: i32, $($layout)*);)*

        $(impl Number for $dim {
            fn number(self) -> i64 {
                i64::from(self.0)
            }
        })*

        /// The same as a block in a CUDA source.
        pub(crate) const BLOCK: &str = concat!(
            "dims! {", $(stringify!($dim), ","),*, "}\n",
            "folds! {", $(stringify!($fold = $of / $unit), ","),*, "}\n",
            $("tensor!(", stringify!($name), ": i32, ", stringify!($($layout)*), ");\n"),*
        );

        /// A declared tensor's layout, read from its text.
        pub(crate) fn layout(name: &str) -> Layout {
            let text = match name {
                $(stringify!($name) => stringify!($($layout)*),)*
                other => panic!("no tensor `{other}` is declared"),
            };
            text.parse().unwrap_or_else(|e| panic!("{name}: {e}"))
        }
    };
}

declared! {
    dims! { I, J, K, M, N, H, W, C, CELL, LANE, REG, WARP, OFFSET, X2, C2D, Conv1 }
    folds! {
        I4 = I / 4, I8 = I / 8, I16 = I / 16,
        J4 = J / 4, J8 = J / 8,
        K4 = K / 4, K8 = K / 8, K16 = K / 16,
        C8 = C / 8, C32 = C8 / 4, M16 = M / 16, OFFSET8 = OFFSET / 8,
    }

    // Tensors and cursors.
    tensor!(Plain: [I: 10, J: 10]);
    tensor!(Cube: [I: 10, J: 10, K: 10]);
    tensor!(Folded: [K/8: 4, I: 4, K%8]);
    tensor!(Blocks: [K/8: 4]);
    tensor!(Ring: [I/16%4]);
    tensor!(Square: [I: 16, K: 16]);
    tensor!(Fine: [J: 4, I: 32]);
    tensor!(Image: [N: 7, H: 16 => 1496, W: 33 => 44, C: 42]);
    tensor!(Spread: [I: 4, J: 8 => 6, K: 4]);
    tensor!(Eights: [K/8: 8, K%8]);
    tensor!(Coarse: [M/16: 4]);
    tensor!(Rows: [I: 16, J: 32]);
    tensor!(Strided: [I: 16 => 40, J: 32]);
    tensor!(Waves: [I/32: 2, J/8: 4, I/16%2]);
    tensor!(Warps: [I/16: 4, K/16: 2, I%16, K/8%2]);
    tensor!(Rounds: [I/16: 4 => 64, I%16 => 4, K/8: 4]);

    // Derived dimensions.
    tensor!(Cells: [CELL: 32] via checkerboard(8: I%16, K%2 -> CELL));
    tensor!(Board: [CELL: 256] via checkerboard(8: I%128, K%2 -> CELL));
    tensor!(Swizzled: [K/16: 4, I/16: 8, CELL: 32] via checkerboard(8: I%16, K/8%2 -> CELL));
    tensor!(Reduced: [CELL: 32, I/16: 4, K/16: 8] via checkerboard(8: I%16, K/8%2 -> CELL));
    tensor!(Middle: [I/16: 2, CELL: 32, K/16: 3] via checkerboard(8: I%16, K/8%2 -> CELL));
    tensor!(Threads: [I/16: 4, LANE: 32]);
    tensor!(Loaded: [K/16: 4, I/16: 8, CELL: 32]
        via index(LANE -> [K/8: 2, I: 16])
        via checkerboard(8: I%16, K/8%2 -> CELL));

    // Compound indices.
    tensor!(Pair: [I: 32, J: 8]);
    tensor!(Four: [I: 4, J: 32, K: 64, N: 128]);
    tensor!(Odd: [I: 5, J: 7]);
    tensor!(Taken: [I: 4, J: 8] via index(OFFSET -> [I: 4, J: 8]));
    tensor!(Forty: [N: 40]);
    tensor!(Sixteen: [N: 16]);
    tensor!(Shares: [N: 5, K/8: 2, K%8]);
    tensor!(Grid: [I/1024: 8, J/128: 8, I/256%4]);
    tensor!(Strip: [I: 8, J: 2]);
    tensor!(Short: [I: 4, J: 2]);
    tensor!(Uneven: [I: 5, J: 2]);
    tensor!(Column: [I: 8, J: 1]);

    // Fragments of tensor cores: 32 lanes and four registers, and what lanes address to load them.
    tensor!(FragmentA: [I: 16, K: 16] via index(LANE -> [I: 8, K/2: 4]) via index(REG -> [K/8: 2, I/8: 2]));
    tensor!(FragmentB: [K: 16, J: 16] via index(LANE -> [J: 8, K/2: 4]) via index(REG -> [J/8: 2, K/8: 2]));
    tensor!(FragmentC: [I: 16, J: 16] via index(LANE -> [I: 8, J/2: 4]) via index(REG -> [J/8: 2, I/8: 2]));
    tensor!(LoadA: [I: 16, K/8: 2] via index(LANE -> [K/8: 2, I: 16]));
    tensor!(LoadA8: [I: 16, K/8: 1] via index(LANE -> [I: 16]));
    tensor!(LoadB: [J: 16, K/8: 2] via index(LANE -> [J/8: 2, K/8: 2, J%8]));
    tensor!(LoadB16: [J: 8, K/8: 2] via index(LANE -> [K/8: 2, J: 8]));
    tensor!(LoadB8: [J: 8, K/8: 1] via index(LANE -> [J: 8]));
    tensor!(Tiles: [K/16: 2, I/16: 4]);

    // Declarations.
    tensor!(Halved: [K/8: 16, K/4%2, K%4]);
    tensor!(Blocked: [I/512: 16, I/128%4]);
    tensor!(Padding: [K/8: 9, K/2%4]);
    tensor!(Staged: [WARP: 4, J/4: 16 => 132, I: 32, J%4]);
    tensor!(Steps: [K/16: 2, I/16: 2, J/8: 2]);
    tensor!(Named: [X2: 3, C2D/2: 2, C2D%2, Conv1: 5]);
    tensor!(Gapped: [I: 8 => 64, J: 32]);
}
