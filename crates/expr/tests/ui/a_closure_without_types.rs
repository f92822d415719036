use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X }

fn main() {
    let _ = trace(|a| a.store::<(X,)>());
}
