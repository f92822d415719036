tilewright_dims::dims! { I, K }
tilewright_dims::tensor!(A: f32, [I: 0, K: 8]);

fn main() {}
