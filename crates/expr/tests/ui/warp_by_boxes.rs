use tilewright_dims::dims;
use tilewright_expr::*;

dims! { Y, X }

fn main() {
    let _ = trace(|a: In<u8, (Y, X)>, b: In<Rect, ()>| {
        let _ = a.warp_affine::<Y, X, _>(b, 2, 2, Filter::Linear, Border::Wrap);
        a.store::<(Y, X)>()
    });
}
