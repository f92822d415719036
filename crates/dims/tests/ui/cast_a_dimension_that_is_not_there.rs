//! There is no `K` to rename.

tilewright_dims::dims! { I, J, K }

fn main() {
    let _ = (I(1) + J(2)).cast::<K, I>();
}
