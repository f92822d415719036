//! Eager expressions.

use crate::support::{Random, assert_same};
use tilewright_dims::dims;
use tilewright_expr::{In, Rect};
use tilewright_ops::{Error, Evaluate, Tensor, fuse};

dims! { N, Y, X, C }

fn tensor() -> Tensor<f32, (Y, X)> {
    Tensor::from_vec([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap()
}

#[test]
fn the_same_expression_again() {
    let (x, y) = (tensor(), Tensor::<f32, (X,)>::from_vec([3], vec![10.0, 20.0, 30.0]).unwrap());
    for _ in 0..3 {
        let z = (x.expr() * 2.0 + &y).store::<(Y, X)>().eval().unwrap();
        assert_eq!(z.to_vec().unwrap(), [12.0, 24.0, 36.0, 18.0, 30.0, 42.0]);
    }
}

#[test]
fn several_results_at_once() {
    let x = tensor();
    let e = x.expr();
    let (a, b) = ((e + 1.0).store::<(Y, X)>(), e.to::<i32>().store::<(X, Y)>()).eval().unwrap();
    assert_eq!(a.to_vec().unwrap(), [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    assert_eq!(b.to_vec().unwrap(), [1, 4, 2, 5, 3, 6]);
}

#[test]
fn an_expression_ends_with_the_evaluation() {
    let x = tensor();
    let old = x.expr() + 1.0;
    old.store::<(Y, X)>().eval().unwrap();
    let error = (x.expr() + old).store::<(Y, X)>().eval().unwrap_err();
    assert!(matches!(error, Error::Expr(tilewright_expr::Error::Stale)), "{error}");
    let error = old.store::<(Y, X)>().eval().unwrap_err();
    assert!(matches!(error, Error::Expr(tilewright_expr::Error::Stale)), "{error}");
    (x.expr() + 1.0).store::<(Y, X)>().eval().unwrap();
}

/// Expressions of every kind that leave something beside nodes, in random turns: each gives what the fused closure gives, whatever
/// came before it on the thread.
#[test]
fn expressions_in_any_order() {
    let mut random = Random(11);
    let x = Tensor::<f32, (Y, X)>::from_vec([9, 12], random.vec(108, |r| r.unit() as f32)).unwrap();
    let row = Tensor::<f32, (X,)>::from_vec([12], random.vec(12, |r| r.unit() as f32)).unwrap();
    let small = Tensor::<f32, (Y, X)>::from_vec([3, 5], random.vec(15, |r| r.unit() as f32)).unwrap();
    let bytes = Tensor::<u8, (Y, X)>::from_vec([9, 12], random.vec(108, |r| r.below(9) as u8)).unwrap();
    let boxes: Vec<Rect> = (0..4).map(|i| Rect::new(i, i % 3, 5, 4)).collect();
    let boxes = Tensor::<Rect, (N,)>::from_vec([4], boxes).unwrap();
    type Way<'a> = (Box<dyn Fn() -> Vec<f32> + 'a>, Vec<f32>);
    let mut ways: Vec<Way<'_>> = Vec::new();
    macro_rules! way {
        (|$($arg:ident: $T:ty = $tensor:ident),*| $result:expr) => {
            let expected = fuse(|$($arg: $T),*| $result).call($(&$tensor),*).unwrap().to_vec().unwrap();
            let eager = || {
                $(let $arg = $tensor.expr();)*
                $result.eval().unwrap().to_vec().unwrap()
            };
            ways.push((Box::new(eager), expected));
        };
    }
    type Plane = In<f32, (Y, X)>;
    way!(|a: Plane = x| (a * 2.5).store::<(Y, X)>());
    way!(|a: Plane = x| (a * 2.5).store::<(X, Y)>());
    way!(|a: Plane = small| (a * 2.5).store::<(Y, X)>());
    way!(|a: Plane = x, b: In<f32, (X,)> = row| (a * 2.5 + b).store::<(Y, X)>());
    way!(|a: Plane = x, b: Plane = x| (a * 2.5 + b).store::<(Y, X)>());
    way!(|a: Plane = x, b: In<f32, (X,)> = row| (a * 2.5 - b).store::<(Y, X)>());
    way!(|a: Plane = x, b: In<f32, (X,)> = row| ((a * 2.5 + b).exp() / (a + 1.0)).store::<(Y, X)>());
    way!(|a: Plane = x| (a * 2.5).slice::<Y>(2, 5).store::<(Y, X)>());
    way!(|a: Plane = x| (a * 2.5).slice::<Y>(1, 5).store::<(Y, X)>());
    way!(|a: Plane = x| a.softmax::<X>().store::<(Y, X)>());
    way!(|a: Plane = x| (a * a).sum::<(Y, X)>().store::<()>());
    way!(|a: Plane = x| a.resize::<Y, X>(7, 8).store::<(Y, X)>());
    way!(|a: Plane = x| a.reverse::<X>().store::<(Y, X)>());
    way!(|a: Plane = x, b: In<Rect, (N,)> = boxes| a.crop::<Y, X, _>(b).resize::<Y, X>(3, 3).store::<(N, Y, X)>());
    way!(|a: In<u8, (Y, X)> = bytes| a.to::<f32>().store::<(Y, X)>());
    way!(|a: In<u8, (Y, X)> = bytes| a.histogram::<(Y, X), C>(9).to::<f32>().store::<(C,)>());
    for _ in 0..2000 {
        let number = random.below(ways.len() as u64) as usize;
        let (eager, expected) = &ways[number];
        assert_same(&format!("expression {number}"), &eager(), expected);
        if random.below(20) == 0 {
            // Neither an expression that is given up nor one that fails leaves anything behind.
            let old = x.expr() * 2.5;
            old.store::<(Y, X)>().eval().unwrap();
            assert!((x.expr() * 2.5 + old).store::<(Y, X)>().eval().is_err());
        }
    }
}

/// More expressions than a thread keeps.
#[test]
fn many_expressions() {
    let x = tensor();
    for round in 0..3 {
        for number in 0..300 {
            let z = (x.expr() * number as f32).store::<(Y, X)>().eval().unwrap();
            let expected: Vec<f32> = (1..7).map(|i| i as f32 * number as f32).collect();
            assert_same(&format!("round {round}, {number}"), &z.to_vec().unwrap(), &expected);
        }
    }
}
