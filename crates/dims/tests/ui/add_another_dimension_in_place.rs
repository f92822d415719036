use tilewright_dims::dims;

dims! { N, Y, X }

fn main() {
    let mut n = N(3);
    n += Y(4);
}
