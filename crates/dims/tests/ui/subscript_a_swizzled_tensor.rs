//! The cell depends on both coordinates, so that one of them gives no place.

tilewright_dims::dims! { I, K, CELL }
tilewright_dims::tensor!(A: f32, [CELL: 32] via checkerboard(8: I%16, K%2 -> CELL));

fn main() {
    let data = [0.0; 32];
    let a = A::view(&data).unwrap();
    let _ = a[I(3)];
}
