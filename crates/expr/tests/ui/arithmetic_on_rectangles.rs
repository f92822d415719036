use tilewright_dims::dims;
use tilewright_expr::*;

dims! { N }

fn main() {
    let _ = trace(|a: In<Rect, (N,)>| (a * a).store::<(N,)>());
}
