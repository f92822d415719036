use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X, Bin }

fn main() {
    let _ = trace(|a: In<f32, (X,)>| a.histogram::<X, Bin>(4).store::<(Bin,)>());
}
