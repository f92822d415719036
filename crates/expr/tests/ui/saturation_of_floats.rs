use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X }

fn main() {
    let _ = trace(|a: In<f16, (X,)>, b: In<f16, (X,)>| a.saturating_add(b).store::<(X,)>());
}
