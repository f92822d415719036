//! A step keeps the cursor's type.

tilewright_dims::dims! { I, K }
tilewright_dims::tensor!(A: f32, [I: 4, K: 8]);

fn main() {
    let data = [0.0; 32];
    let mut cursor = A::view(&data).unwrap().at(I(1));
    cursor.step(I(1));
    cursor.step(K(1));
}
