use tilewright_dims::dims;
use tilewright_expr::colour::Space;
use tilewright_expr::{In, trace};

dims! { X, C }

fn main() {
    trace(|x: In<i32, (X, C)>| x.convert::<C>(Space::Rgb, Space::Hsv).store::<(X, C)>());
}
