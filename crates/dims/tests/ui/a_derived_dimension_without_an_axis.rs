//! Thirty-two cells are derived, and the layout has sixteen.

tilewright_dims::dims! { I, K, CELL }
tilewright_dims::tensor!(A: f32, [CELL: 16] via checkerboard(8: I%16, K%2 -> CELL));

fn main() {
    let _ = A::offset(I(3));
}
