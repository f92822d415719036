use tilewright_dims::dims;
use tilewright_expr::*;

dims! { Y, X, K }

fn main() {
    let _ = trace(|a: In<u8, (Y, X)>, v: In<i32, (K,)>| {
        let _ = a.remap::<Y, X, _, _>(v, 0.5, Filter::Linear, Border::Wrap);
        a.store::<(Y, X)>()
    });
}
