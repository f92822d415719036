use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X }

fn main() {
    let _ = trace(|a: In<f32, (X,)>| a.select(a, 0.0).store::<(X,)>());
}
