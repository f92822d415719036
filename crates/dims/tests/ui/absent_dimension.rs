use tilewright_dims::{Dims, Present, Without, dims};

dims! { N, Y, X }

fn sum<D, L: Dims>()
where
    L::Set: Without<D, Was: Present<D>>,
{
}

fn main() {
    sum::<X, (N, X)>();
    sum::<Y, (N, X)>();
}
