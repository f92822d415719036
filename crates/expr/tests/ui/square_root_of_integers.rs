use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X }

fn main() {
    let _ = trace(|a: In<i32, (X,)>| a.sqrt().store::<(X,)>());
}
