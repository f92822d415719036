tilewright_dims::dims! { K }
tilewright_dims::folds! { K8 = K / 8 }

fn row(k: K) -> i32 {
    k.0
}

fn main() {
    row(K8(1).unfold());
    row(K8(1));
}
