use tilewright_dims::{Dim, Term, dims};

dims! { N }

#[derive(Clone, Copy)]
struct Twin;

impl Term for Twin {
    type Parts = (Twin, ());
    fn parts(self) -> Self::Parts {
        (self, ())
    }
}

impl Dim for Twin {
    const NAME: &'static str = "Twin";
    const ID: u64 = N::ID;
    type Id = <N as Dim>::Id;
    fn new(_: i32) -> Self {
        Twin
    }
    fn get(self) -> i32 {
        0
    }
}

fn main() {
    let _ = N(3) + Twin;
}
