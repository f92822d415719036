//! `J` is no dimension of the tensor. In a sum it would be ignored; alone it is a mistake.

tilewright_dims::dims! { I, J, K }
tilewright_dims::tensor!(A: f32, [I: 4, K: 8]);

fn main() {
    let _ = A::offset(I(1) + J(2));
    let _ = A::offset(J(2));
}
