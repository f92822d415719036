tilewright_dims::dims! { I, J, K, M }

fn main() {
    let _ = (I(1) + J(2)).all_lt(J(3) + K(4));
    let _ = (I(1) + J(2)).all_lt(K(4));
    let _ = (I(1) + J(2)).all_lt(K(4) + M(5));
}
