//! The cells are derived, so that nobody else names one.

tilewright_dims::dims! { I, K, CELL }
tilewright_dims::tensor!(A: f32, [CELL: 32] via checkerboard(8: I%16, K%2 -> CELL));

fn main() {
    let _ = A::offset(I(3) + CELL(2));
    let _ = A::offset(CELL(2));
}
