//! The checkerboard reads sixteen of `I`, and the axis counts eight.

tilewright_dims::dims! { I, K, CELL }
tilewright_dims::tensor!(A: f32, [I/8: 2, CELL: 32] via checkerboard(8: I%16, K%2 -> CELL));

fn main() {
    let _ = A::offset(I(3));
}
