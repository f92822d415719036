use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X }

fn main() {
    let _ = trace(|a: In<u8, (X,)>| a.lt(1.5).store::<(X,)>());
}
