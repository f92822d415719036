tilewright_dims::dims! { I, K }
tilewright_dims::folds! { K8 = K / 8 }

fn main() {
    let _ = K8(1) < K(9);
    let _ = K8(1) == I(8);
}
