//! Broadcasting by position, against ndarray's.

use crate::support::{Random, assert_same, gpu};
use ndarray::{ArrayD, IxDyn};
use tilewright_dims::dims;
use tilewright_ops::{Device, Evaluate, Tensor, broadcast_shapes};

dims! { N, Y, X, I, J, K }

fn shape(r: &mut Random, rank: usize) -> Vec<usize> {
    (0..rank).map(|_| [1, 1, 1, 2, 3, 0][r.below(6) as usize]).collect()
}

#[test]
fn shapes_are_those_of_ndarray() {
    let mut r = Random(41);
    let mut refused = 0;
    for _ in 0..2000 {
        let (a, b) = (r.below(5) as usize, r.below(5) as usize);
        let (a, b) = (shape(&mut r, a), shape(&mut r, b));
        let array = |s: &[usize]| ArrayD::<f32>::zeros(IxDyn(s));
        // ndarray's own rule for two operands is private to its operators, which panic where shapes do not fit.
        let expected = std::panic::catch_unwind(|| (array(&a) + array(&b)).shape().to_vec()).ok();
        let got = broadcast_shapes(&[&a, &b]);
        refused += usize::from(got.is_err());
        assert_eq!(got.ok(), expected, "{a:?} {b:?}");
        let third = shape(&mut r, 2);
        let all = broadcast_shapes(&[&a, &b, &third]).ok();
        let twice = broadcast_shapes(&[&a, &b]).ok().and_then(|ab| broadcast_shapes(&[&third, &ab]).ok());
        assert_eq!(all, twice);
    }
    assert!((200..1800).contains(&refused), "{refused}");
    assert_eq!(broadcast_shapes(&[]).unwrap(), Vec::<usize>::new());
    let text = broadcast_shapes(&[&[4, 5], &[7], &[3, 5]]).unwrap_err().to_string();
    assert!(text.contains("axis 1 from the end is 5 long in shape 0 and 7 long in shape 1"), "{text}");
}

fn sums(device: &Device) {
    let mut r = Random(42);
    let mut compared = 0;
    while compared < 60 {
        let (a, b) = (shape(&mut r, 3), shape(&mut r, 2));
        let Ok(full) = broadcast_shapes(&[&a, &b]) else { continue };
        let full: [usize; 3] = full.try_into().expect("three axes");
        let [x, y] = [&a, &b].map(|s| ArrayD::from_shape_fn(IxDyn(s), |_| r.unit() as f32));
        let (s, t) = (
            Tensor::<f32, (I, J, K)>::from_array(&x).unwrap().to(device).unwrap(),
            Tensor::<f32, (K, I)>::from_array(&y).unwrap().to(device).unwrap(),
        );
        let (s, t) = (s.align::<(N, Y, X), 3>(full).unwrap(), t.align::<(N, Y, X), 3>(full).unwrap());
        let sum = (s.expr() + &t).store::<(N, Y, X)>().eval().unwrap();
        let expected: Vec<f32> = (&x + &y).iter().copied().collect();
        assert_same("a sum", &sum.to_vec().unwrap(), &expected);
        assert_same("a view", &s.to_vec().unwrap(), &x.broadcast(full).unwrap().iter().copied().collect::<Vec<_>>());
        compared += 1;
    }
}

#[test]
fn sums_are_those_of_ndarray() {
    sums(&Device::Cpu);
}

#[test]
fn sums_on_a_gpu() {
    let Some((device, _lock)) = gpu("broadcasting::sums_on_a_gpu") else { return };
    sums(&device);
}

#[test]
fn what_does_not_fit() {
    let a = Tensor::<f32, (I, J)>::from_vec([2, 3], vec![0.0; 6]).unwrap();
    let text = a.align::<(N, Y, X), 3>([4, 2, 5]).unwrap_err().to_string();
    assert!(text.contains("axis 1 of [2, 3] meets dimension `X` of [4, 2, 5]: it has to be 5 long, or 1"), "{text}");
    let text = a.align::<(X,), 1>([3]).unwrap_err().to_string();
    assert!(text.contains("[2, 3] has 2 axes and cannot be aligned with [3], 1 dimensions; name 2 at least"), "{text}");
    let text = a.align::<(N, Y, X), 2>([2, 3]).unwrap_err().to_string();
    assert!(text.contains("needs 3 extents, got 2"), "{text}");
}
