use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X }

fn main() {
    let _ = trace(|a: In<bool, (X,)>, b: In<bool, (X,)>| (a + b).store::<(X,)>());
}
