use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X }

fn main() {
    let _ = trace(|a: In<f32, (X,)>, b: In<f32, (X,)>| (a & b).store::<(X,)>());
}
