use tilewright_dims::dims;
use tilewright_expr::*;

dims! { Y, X, N }

fn main() {
    let _ = trace(|a: In<u8, (Y, X)>, b: In<u8, (N,)>| {
        let _ = a.crop::<Y, X, _>(7);
        b.store::<(N,)>()
    });
}
