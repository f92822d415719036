use tilewright_dims::{Coords, dims};

dims! { N, Y, X }

fn main() {
    let at = Coords::<(N, ())>::default();
    let _ = N(3) == at;
}
