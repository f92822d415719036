tilewright_dims::dims! { I, K }
tilewright_dims::tensor!(A: f32, [I: 4, K: 8]);

fn main() {
    let data = [0.0; 32];
    let _ = A::view(&data).unwrap().at(3);
}
