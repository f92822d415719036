use tilewright_dims::dims;
use tilewright_expr::*;

dims! { Y, X }

fn main() {
    let _ = trace(|a: In<bool, (Y, X)>| {
        let _ = a.deinterlace::<Y>(Deinterlace::Blend);
        a.store::<(Y, X)>()
    });
}
