//! Tensors of more than 2^31 elements: on the host by views that repeat a few, on a GPU in full.

use crate::support::{assert_same, gpu, skip};
use tilewright_dims::dims;
use tilewright_expr::In;
use tilewright_ops::{Tensor, fuse};

dims! { Z, Y, X }

#[test]
fn views_of_many_points() {
    let row = Tensor::<i8, (X,)>::from_vec([5], vec![1, 2, 3, 4, 5]).unwrap();
    let many = row.broadcast::<(Z, Y, X), 3>([1 << 20, 1 << 20, 5]).unwrap();
    assert_eq!(many.len(), 5 << 40);
    // Parts of it have the coordinates that they are taken from.
    let part = many.narrow::<Z>((1 << 20) - 2, 2).unwrap().narrow::<Y>(77, 3).unwrap().reverse::<X>();
    let f = fuse(|a: In<i8, (Z, Y, X)>| (a + 1i8).store::<(Y, Z, X)>());
    assert_same("a part", &f.call(&part).unwrap().to_vec().unwrap(), &[6, 5, 4, 3, 2].repeat(6));
}

#[test]
fn more_than_2_to_the_31_points_on_the_host() {
    let n = (1usize << 31) / 32768 + 3;
    let row = Tensor::<u8, (X,)>::from_vec([32768], (0..32768).map(|i| (i % 251) as u8).collect()).unwrap();
    let many = row.broadcast::<(Y, X), 2>([n, 32768]).unwrap();
    assert!(many.len() > 1 << 31);
    let top = fuse(|a: In<u8, (Y, X)>| a.maximum::<(Y, X)>().store::<()>());
    assert_eq!(top.call(&many).unwrap().to_vec().unwrap(), [250]);
}

#[test]
fn more_than_2_to_the_31_points_on_a_gpu() {
    let test = "large::more_than_2_to_the_31_points_on_a_gpu";
    let Some((device, _lock)) = gpu(test) else { return };
    let rows = ((1usize << 31) + 77) / 101 + 1;
    let Ok(zeros) = Tensor::<i8, (Y, X)>::zeros([rows, 101], &device) else { return skip(test, "too little memory") };
    let copy = fuse(|x: In<i8, (Y, X)>| x.store::<(Y, X)>());
    let check = |what: &str, t: &Tensor<i8, (Y, X)>, expected: &dyn Fn(i8) -> i8| {
        let row: Vec<i8> = (0..101).map(expected).collect();
        // The rows around element 2^31 are the last ones.
        for at in [0, rows / 2, rows - 3] {
            let part = copy.call(&t.narrow::<Y>(at, 3).unwrap()).unwrap();
            assert_same(what, &part.to_vec().unwrap(), &row.repeat(3));
        }
    };
    // All memory is one line, which the kernel goes along in 64 bits.
    let period = Tensor::<i8, (X,)>::from_vec([101], (0..101).collect()).unwrap().to(&device).unwrap();
    let numbered = fuse(|x: In<i8, (Y, X)>, p: In<i8, (X,)>| (x + p).store::<(Y, X)>()).call(&zeros, &period).unwrap();
    check("rows", &numbered, &|x| x);
    drop(zeros);
    let add = fuse(|a: In<i8, (Y, X)>, b: In<i8, (Y, X)>| (a + b).store::<(Y, X)>());
    let mut sum = add.call(&numbered, &numbered).unwrap();
    check("one line", &sum, &|x| x.wrapping_add(x));
    add.call_into(&mut sum, &numbered, &numbered.reverse::<Y>().reverse::<X>()).unwrap();
    check("one line backwards", &sum, &|x| x.wrapping_add(100 - x));
    add.call_into(&mut sum, &numbered, &period.broadcast::<(Y, X), 2>([rows, 101]).unwrap()).unwrap();
    check("a row again and again", &sum, &|x| x.wrapping_add(x));
    // Every second element of it, from the second on.
    let half = numbered.narrow::<X>(1, 100).unwrap().step_by::<X>(2).unwrap();
    let half = add.call(&half, &half).unwrap();
    let part = copy.call(&half.narrow::<Y>(rows - 1, 1).unwrap()).unwrap();
    assert_same("steps", &part.to_vec().unwrap(), &(0..50).map(|x: i8| (4 * x).wrapping_add(2)).collect::<Vec<_>>());
}
