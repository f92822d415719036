use tilewright_dims::dims;

dims! { N, Y, X }

fn main() {
    let _ = N(3) == 3;
}
