tilewright_dims::dims! { I, K }
tilewright_dims::tensor!(A: f32, [K/8: 4, I: 4, K%4]);

fn main() {}
