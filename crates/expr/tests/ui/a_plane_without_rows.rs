use tilewright_dims::dims;
use tilewright_expr::colour::nv12;
use tilewright_expr::{In, trace};

dims! { X, H, W, U }

fn main() {
    trace(|luma: In<u8, (X,)>, chroma: In<u8, (H, W, U)>| nv12::<(X,), (H, W, U)>(luma, chroma).luma().store::<(X,)>());
}
