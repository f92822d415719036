//! `[3]` names no dimension.

tilewright_dims::dims! { I }
tilewright_dims::tensor!(A: f32, [I: 4]);

fn main() {
    let data = [0.0; 4];
    let a = A::view(&data).unwrap();
    let _ = a[3];
}
