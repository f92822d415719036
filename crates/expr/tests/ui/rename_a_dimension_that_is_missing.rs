use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X, C, K }

fn main() {
    let _ = trace(|a: In<u8, (X,)>| a.rename::<C, K>().store::<(X,)>());
}
