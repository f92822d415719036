//! Eager expressions.

use tilewright_dims::dims;
use tilewright_ops::{Error, Evaluate, Tensor};

dims! { Y, X }

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
