//! What calls would run, known without them.

use tilewright_dims::dims;
use tilewright_driver::Source;
use tilewright_expr::In;
use tilewright_ops::{Tensor, fuse};

mod elsewhere {
    tilewright_dims::dims! { Height, Width }
}
dims! { Y, X }

const LARGE: [usize; 2] = [300, 301];

fn large() -> Vec<f32> {
    vec![0.0; LARGE[0] * LARGE[1]]
}

#[test]
fn names_of_dimensions_are_not_in_the_source() {
    use elsewhere::{Height, Width};
    let here = fuse(|x: In<f32, (Y, X)>| (x.exp() * 2.0).store::<(Y, X)>());
    let there = fuse(|x: In<f32, (Height, Width)>| (x.exp() * 2.0).store::<(Height, Width)>());
    let here = here.plan(&Tensor::<f32, (Y, X)>::from_vec(LARGE, large()).unwrap()).unwrap().sources().unwrap();
    let there =
        there.plan(&Tensor::<f32, (Height, Width)>::from_vec([50_000, 7], vec![0.0; 350_000]).unwrap()).unwrap();
    let texts = |sources: &[Source]| sources.iter().map(|s| s.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&here), texts(&there.sources().unwrap()));
    let shown = there.cuda_source().unwrap();
    assert!(shown.starts_with("// tilewright: loops (Width as X") && shown.ends_with(&here[0].text), "{shown}");
}
