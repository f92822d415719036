use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X, K }

fn main() {
    let _ = trace(|a: In<u8, (X,)>, i: In<f32, (K,)>| a.at::<X, _>(i).store::<(K,)>());
}
