use tilewright_dims::{Dims, dims};

dims! { N, Y, X }

fn layout<L: Dims>() {}

fn main() {
    layout::<(N, i32)>();
}
