use tilewright_dims::dims;
use tilewright_expr::*;

dims! { Y, X }

fn main() {
    let _ = trace(|a: In<u8, (Y, X)>| a.histogram::<Y, X>(4).store::<(X,)>());
}
