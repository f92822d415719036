use tilewright_dims::dims;
use tilewright_expr::{In, Initial, meet, trace};

dims! { X, Cell }

fn main() {
    let _ = trace(|a: In<f32, (X,)>, at: In<i32, (X,)>| {
        a.scatter::<X, Cell, _, _>(at, 9, meet::Sum, Initial::Filled(0.0)).store::<(Cell,)>()
    });
}
