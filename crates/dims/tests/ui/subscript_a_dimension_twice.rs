//! What carries from the first subscript into the second would be lost.

tilewright_dims::dims! { I, K }
tilewright_dims::tensor!(A: f32, [K/8: 4, I: 2, K%8]);

fn main() {
    let data = [0.0; 64];
    let a = A::view(&data).unwrap();
    let _ = a[K(7)][K(5)];
}
