use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X, C }

fn main() {
    let _ = trace(|a: In<u8, (X,)>| a.cumsum::<C>().store::<(X,)>());
}
