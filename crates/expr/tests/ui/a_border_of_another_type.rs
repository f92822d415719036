use tilewright_dims::dims;
use tilewright_expr::*;

dims! { X }

fn main() {
    let _ = trace(|a: In<u8, (X,)>| a.pad::<X>(1, 1, Border::Constant(0.5)).store::<(X,)>());
}
