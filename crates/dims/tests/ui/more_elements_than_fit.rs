tilewright_dims::dims! { I, K }
tilewright_dims::tensor!(A: f32, [I: 65536, K: 32768]);

fn main() {}
