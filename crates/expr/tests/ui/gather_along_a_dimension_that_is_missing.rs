use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X, C }

fn main() {
    let _ = trace(|a: In<u8, (X,)>| a.at::<C, _>(0).store::<(X,)>());
}
