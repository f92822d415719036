//! The functions as users call them: layouts, results that are there, names of dimensions, records.

use super::{C, H, K, N, R, S, W};
use crate::support::{Random, assert_same};
use tilewright_dims::dims;
use tilewright_expr::f16;
use tilewright_ops::conv::{
    Conv2d, conv2d, conv2d_grad_bias, conv2d_grad_bias_into, conv2d_grad_input, conv2d_grad_input_into,
    conv2d_grad_input_workspace, conv2d_grad_weight, conv2d_grad_weight_into, conv2d_grad_weight_workspace,
    conv2d_into, conv2d_workspace,
};
use tilewright_ops::{Tensor, record};

type Pixels = Tensor<f32, (N, H, W, C)>;
type Weights = Tensor<f32, (K, R, S, C)>;
type Results = Tensor<f32, (N, H, W, K)>;

fn values(r: &mut Random, n: usize) -> Vec<f32> {
    r.vec(n, |r| (r.unit() * 2.0 - 1.0) as f32)
}

/// Input, weights, and the gradient of a result of `rows` x `columns`.
fn operands([rows, columns]: [usize; 2]) -> (Pixels, Weights, Results) {
    let mut r = Random(81);
    let x = Tensor::from_vec([2, 5, 7, 16], values(&mut r, 2 * 5 * 7 * 16)).unwrap();
    let w = Tensor::from_vec([16, 3, 2, 8], values(&mut r, 16 * 6 * 8)).unwrap();
    let dy = Tensor::from_vec([2, rows, columns, 16], values(&mut r, 2 * rows * columns * 16)).unwrap();
    (x, w, dy)
}

/// The same tensor with gaps, as a view that runs the other way in memory.
fn with_gaps(t: &Pixels) -> Pixels {
    let [n, h, w, c] = t.extents()[..] else { panic!("four dimensions") };
    let mut wide = Pixels::from_vec([n, h, 2 * w, c + 3], vec![f32::NAN; n * h * 2 * w * (c + 3)]).unwrap();
    wide = wide.step_by::<W>(2).unwrap().narrow::<C>(3, c).unwrap().reverse::<H>();
    wide.write(&t.to_vec().unwrap()).unwrap();
    wide
}

#[test]
fn layouts_do_not_matter() {
    let (params, (x, w, dy)) = (Conv2d::new().padding(1).stride([1, 2]), operands([5, 4]));
    let y = conv2d(&x, &w, &params).unwrap();
    let planes = Tensor::<f32, (N, C, H, W)>::from_array(&x.permute::<(N, C, H, W)>().to_array().unwrap()).unwrap();
    let turned = Tensor::<f32, (S, C, R, K)>::from_array(&w.permute::<(S, C, R, K)>().to_array().unwrap()).unwrap();
    let (x_of_planes, w_turned): (Pixels, Weights) = (planes.permute(), turned.permute());
    let from_planes = conv2d(&x_of_planes, &w_turned, &params).unwrap();
    assert_same("planes", &from_planes.to_vec().unwrap(), &y.to_vec().unwrap());
    let from_gaps = conv2d(&with_gaps(&x), &w, &params).unwrap();
    assert_same("gaps", &from_gaps.to_vec().unwrap(), &y.to_vec().unwrap());

    let dx = conv2d_grad_input(&dy, &w, [5, 7], &params).unwrap();
    let mut into = with_gaps(&x);
    conv2d_grad_input_into(&mut into, &dy, &w, &params).unwrap();
    assert_same("into gaps", &into.to_vec().unwrap(), &dx.to_vec().unwrap());

    let dw: Weights = conv2d_grad_weight(&x, &dy, [3, 2, 8], &params).unwrap();
    let turned = Tensor::<f32, (C, S, R, K)>::from_vec([8, 2, 3, 16], vec![f32::NAN; 16 * 6 * 8]).unwrap();
    let mut into = turned.permute::<(K, R, S, C)>();
    drop(turned);
    conv2d_grad_weight_into(&mut into, &with_gaps(&x), &dy, &params).unwrap();
    assert_same("weights", &into.to_vec().unwrap(), &dw.to_vec().unwrap());

    let db = conv2d_grad_bias(&dy, &params).unwrap();
    let mut into = Tensor::<f32, (K,)>::from_vec([16], vec![f32::NAN; 16]).unwrap();
    conv2d_grad_bias_into(&mut into, &dy, &params).unwrap();
    assert_same("bias", &into.to_vec().unwrap(), &db.to_vec().unwrap());
}

/// One picture for a whole batch, the same weights for all filters: views that repeat elements.
#[test]
fn repeated_elements() {
    let ((x, w, _), params) = (operands([1, 1]), Conv2d::new().padding(1));
    let one = x.narrow::<N>(1, 1).unwrap();
    let many = one.broadcast::<(N, H, W, C), 4>([3, 5, 7, 16]).unwrap();
    let y = conv2d(&many, &w, &params).unwrap();
    let expected = conv2d(&one, &w, &params).unwrap().to_vec().unwrap();
    assert_same("a batch", &y.to_vec().unwrap(), &expected.repeat(3));
}

#[test]
fn names_are_the_users() {
    dims! { Clip, Time, Place, Feature, Filter, Before, Beside }
    let x = Tensor::<f16, (Clip, Time, Place, Feature)>::from_vec([1, 4, 4, 4], vec![f16::ONE; 64]).unwrap();
    let w = Tensor::<f16, (Filter, Before, Beside, Feature)>::from_vec([4, 2, 2, 4], vec![f16::ONE; 64]).unwrap();
    let y: Tensor<f16, (Clip, Time, Place, Filter)> = conv2d(&x, &w, &Conv2d::new()).unwrap();
    assert_eq!((y.extents(), y.to_vec().unwrap()[0].to_f32()), (vec![1, 3, 3, 4], 16.0));
    let narrow = x.narrow::<Feature>(0, 3).unwrap();
    let error = conv2d(&narrow, &w, &Conv2d::new()).unwrap_err().to_string();
    assert!(error.contains("3 long along `Feature`") && error.contains("4 long along `Filter`"), "{error}");
}

#[test]
fn no_images() {
    let ((x, w, dy), params) = (operands([5, 6]), Conv2d::new().padding([1, 0]));
    let none = x.narrow::<N>(0, 0).unwrap();
    assert_eq!(conv2d(&none, &w, &params).unwrap().extents(), [0, 5, 6, 16]);
    let no_dy = dy.narrow::<N>(0, 0).unwrap();
    assert_eq!(conv2d_grad_input(&no_dy, &w, [5, 7], &params).unwrap().extents(), [0, 5, 7, 16]);
    let dw: Weights = conv2d_grad_weight(&none, &no_dy, [3, 2, 8], &params).unwrap();
    assert_same("weights", &dw.to_vec().unwrap(), &[0.0; 16 * 6 * 8]);
    assert_same("bias", &conv2d_grad_bias(&no_dy, &params).unwrap().to_vec().unwrap(), &[0.0; 16]);
}

#[test]
fn what_runs_is_recorded() {
    let ((x, w, dy), params) = (operands([5, 6]), Conv2d::new().padding([1, 0]));
    let names = |work: &dyn Fn()| record(work).into_iter().map(|l| l.name).collect::<Vec<_>>();
    assert_eq!(names(&|| drop(conv2d(&x, &w, &params))), ["conv2d"]);
    assert_eq!(names(&|| drop(conv2d_grad_input(&dy, &w, [5, 7], &params))), ["conv2d_grad_input"]);
    let grad_weight = || drop(conv2d_grad_weight::<_, _, _, _, _, _, R, S, _>(&x, &dy, [3, 2, 8], &params));
    assert_eq!(names(&grad_weight), ["conv2d_grad_weight"]);
    // A copy before what is not dense, and one more behind into what is not.
    let mut y = conv2d(&x, &w, &params).unwrap();
    assert_eq!(names(&|| drop(conv2d(&with_gaps(&x), &w, &params))).len(), 2);
    y = y.reverse::<W>();
    let launches = record(|| conv2d_into(&mut y, &x, &w, &params).unwrap());
    assert_eq!(launches.len(), 2);
}

#[test]
fn workspaces() {
    let ((x, w, dy), params) = (operands([5, 6]), Conv2d::new().padding([1, 0]));
    assert_eq!(conv2d_workspace(&x, &w, &params).unwrap(), 0);
    assert_eq!(conv2d_workspace(&with_gaps(&x), &w, &params).unwrap(), 4 * x.len());
    assert_eq!(conv2d_grad_input_workspace(&dy.reverse::<H>(), &w, [5, 7], &params).unwrap(), 4 * dy.len());
    // Ten rows, each with sums of its own.
    assert_eq!(conv2d_grad_weight_workspace(&x, &dy, [3, 2, 8], &params).unwrap(), 10 * 4 * w.len());
}
