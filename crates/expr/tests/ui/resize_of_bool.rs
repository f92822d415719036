use tilewright_dims::dims;
use tilewright_expr::*;

dims! { Y, X }

fn main() {
    fn f(a: In<bool, (Y, X)>) {
        let _ = a.resize::<Y, X>(4, 4);
    }
    let _ = f;
}
