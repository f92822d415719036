use tilewright_dims::dims;
use tilewright_expr::{In, Initial, meet, trace};

dims! { X, Y, Cell }

fn main() {
    let _ = trace(|a: In<i32, (X,)>| {
        a.scatter::<Y, Cell, _, _>(a, 9, meet::Max, Initial::Filled(0)).store::<(X, Cell)>()
    });
}
