use tilewright_dims::{Coords, dims};

dims! { N, Y, X }

fn main() {
    let mut at = Coords::<(N, ())>::default();
    at += X(5);
}
