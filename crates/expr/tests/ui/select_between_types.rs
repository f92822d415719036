use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X }

fn main() {
    let _ = trace(|c: In<bool, (X,)>, a: In<f32, (X,)>| c.select(a, 0u8).store::<(X,)>());
}
