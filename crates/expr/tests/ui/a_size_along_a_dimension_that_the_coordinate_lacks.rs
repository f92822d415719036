use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X, K }

fn main() {
    let _ = trace(|a: In<u8, (X,)>, i: In<i32, (K,)>| a.at_sized::<X, _>(i, 4).store::<(K,)>());
}
