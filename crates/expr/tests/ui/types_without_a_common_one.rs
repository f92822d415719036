use tilewright_dims::dims;
use tilewright_expr::{In, trace};

dims! { X }

fn main() {
    trace(|a: In<u16, (X,)>, b: In<i32, (X,)>| {
        let (a, b) = a.promote(b);
        (a + b).store::<(X,)>()
    });
}
