use tilewright_dims::dims;
use tilewright_expr::{In, trace};

dims! { X, Bin }

fn main() {
    let _ = trace(|a: In<u8, (X,)>, w: In<f32, (X,)>| a.weighted_histogram::<X, Bin, _, _>(4, w).store::<(Bin,)>());
}
