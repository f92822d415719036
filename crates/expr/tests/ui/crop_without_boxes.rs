use tilewright_dims::dims;
use tilewright_expr::*;

dims! { Y, X, N }

fn main() {
    let _ = trace(|a: In<u8, (Y, X)>, b: In<i32, (N,)>| {
        let _ = a.crop::<Y, X, _>(b);
        b.store::<(N,)>()
    });
}
