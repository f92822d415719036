use tilewright_dims::dims;

dims! { N, Y, X }

fn main() {
    let _ = (N(3) + Y(4)).get::<i32>();
}
