tilewright_dims::dims! { I, J, K }
tilewright_dims::tensor!(A: f32, [I: 4, K: 8]);

fn main() {
    let _ = A::extent::<J>();
}
