//! The verbs of linear algebra without a place, on the CPU: the same results, and a decision for each.

use ndarray::{Array2, array};
use tilewright_hybrid::dispatch::{Choice, Job, Rates, Reason, Verb, last_decision};
use tilewright_hybrid::linear::{self, Norm, Overflow, Place, Precision, Refinement};
use tilewright_hybrid::{Class, Columns, Device, Error, MatRef, Rows, Shape, Side};

use super::matrix;

/// Regular: its diagonal is heavier than its rows.
pub(super) fn regular(size: usize, seed: usize) -> Array2<f64> {
    let mut a = matrix(size, size, seed);
    a.diag_mut().mapv_inplace(|x| x + 8.0 * size as f64);
    a
}

/// Symmetric positive definite.
pub(super) fn definite(size: usize, seed: usize) -> Array2<f64> {
    let a = regular(size, seed);
    a.dot(&a.t())
}

pub(super) fn near(one: &Array2<f64>, other: &Array2<f64>) {
    let scale = one.iter().chain(other).fold(1e-300, |most: f64, x| most.max(x.abs()));
    let off = (one - other).iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    assert!(off <= 1e-11 * scale, "{off} of {scale}");
}

/// Every verb on a device beside the same at a place; each leaves its decision.
pub(super) fn each(device: &Device, side: Side) {
    let (size, place) = (13, &Place::Cpu);
    let (a, s, tall, b) = (regular(size, 1), definite(size, 2), matrix(21, 8, 3), matrix(size, 4, 4));
    let [a, s, tall, b] = [&a, &s, &tall, &b].map(MatRef::from);
    let left = |operation: &str, element: &str| {
        let decision = last_decision().expect("one is left");
        assert_eq!((decision.operation, decision.element, decision.side), (operation, element, side), "{decision}");
    };
    near(&device.solve(a, b).unwrap(), &linear::solve(place, a, b).unwrap());
    left("solve", "f64");
    near(&device.solve(a.t(), b.scaled(2.0)).unwrap(), &linear::solve(place, a.t(), b.scaled(2.0)).unwrap());
    let options = Refinement::default();
    near(&device.solve_refined(a, b, options).unwrap().solution, &linear::solve(place, a, b).unwrap());
    left("solve_refined", "f64");
    near(&device.inverse(a).unwrap(), &linear::inverse(place, a).unwrap());
    left("inverse", "f64");
    let determinant = linear::determinant(place, a).unwrap();
    assert!((device.determinant(a).unwrap() / determinant - 1.0).abs() < 1e-11);
    left("determinant", "f64");
    assert!((device.log_determinant(a).unwrap().log_abs - determinant.abs().ln()).abs() < 1e-10);
    let condition = linear::reciprocal_condition(place, a).unwrap();
    assert!((device.reciprocal_condition(a).unwrap() / condition - 1.0).abs() < 1e-9);
    left("reciprocal_condition", "f64");
    let factors = device.lu(a).unwrap();
    left("lu", "f64");
    assert_eq!(factors.side(), side);
    near(&factors.solve(b).unwrap(), &linear::solve(place, a, b).unwrap());
    near(&device.cholesky(s).unwrap().solve(b).unwrap(), &linear::solve(place, s, b).unwrap());
    left("cholesky", "f64");
    let qr = device.qr(tall).unwrap();
    left("qr", "f64");
    near(&qr.q().unwrap().dot(&qr.r().unwrap()), &matrix(21, 8, 3));
    let right = matrix(21, 2, 6);
    let right = MatRef::from(&right);
    near(&device.least_squares(tall, right).unwrap(), &linear::least_squares(place, tall, right).unwrap());
    left("least_squares", "f64");
    let column = |values: Vec<f64>| Array2::from_shape_vec((values.len(), 1), values).unwrap();
    let eigen = device.eigen_hermitian(s).unwrap();
    left("eigen_hermitian", "f64");
    near(&column(eigen.values.clone()), &column(linear::eigenvalues_hermitian(place, s).unwrap()));
    near(&column(device.eigenvalues_hermitian(s).unwrap()), &column(eigen.values));
    left("eigenvalues_hermitian", "f64");
    let singular = linear::singular_values(place, tall).unwrap();
    near(&column(device.svd(tall).unwrap().values), &column(singular.clone()));
    left("svd", "f64");
    near(&column(device.singular_values(tall).unwrap()), &column(singular.clone()));
    left("singular_values", "f64");
    assert!((device.norm(Norm::Spectral, tall).unwrap() / singular[0] - 1.0).abs() < 1e-11);
    left("norm", "f64");
}

/// Those that cuSOLVER has only of late.
pub(super) fn general_eigenvalues(device: &Device) {
    let turning = array![[0.0_f64, -2.0], [2.0, 0.0]];
    let turning = MatRef::from(&turning);
    let values = device.eigenvalues(turning).unwrap();
    assert!(values.iter().all(|value| value.re.abs() < 1e-12 && (value.im.abs() - 2.0).abs() < 1e-12), "{values:?}");
    assert_eq!(last_decision().unwrap().operation, "eigenvalues");
    let eigen = device.eigen(turning).unwrap();
    assert_eq!((eigen.values.len(), eigen.vectors.dim()), (2, (2, 2)));
    assert_eq!(last_decision().unwrap().operation, "eigen");
}

#[test]
fn d1_each_verb_leaves_its_decision() {
    let device = Device::cpu().choosing(Choice::Auto).rated(Rates::of_cores(2));
    each(&device, Side::Cpu);
    general_eigenvalues(&device);
    assert_eq!(last_decision().unwrap().reason, Reason::NoGpu);
    let a = matrix(6, 9, 1);
    for (kind, expected) in [
        (Norm::Max, a.iter().fold(0.0, |most: f64, x| most.max(x.abs()))),
        (Norm::Frobenius, a.iter().map(|x| x * x).sum::<f64>().sqrt()),
    ] {
        assert!((device.norm(kind, (&a).into()).unwrap() - expected).abs() < 1e-12);
        assert_eq!(last_decision().unwrap().operation, "norm");
    }
}

#[test]
fn b1_wrong_calls_are_the_same_errors_as_at_a_place() {
    let device = Device::cpu();
    let (wide, square, right) = (matrix(3, 5, 1), regular(5, 2), matrix(4, 1, 3));
    let zeros = Array2::<f64>::zeros((4, 4));
    let (wide, square, zeros) = (MatRef::from(&wide), MatRef::from(&square), MatRef::from(&zeros));
    assert!(matches!(device.solve(wide, (&right).into()), Err(Error::NotSquare { rows: 3, columns: 5, .. })));
    assert!(matches!(device.solve(square, (&right).into()), Err(Error::Shape { expected: 5, got: 4, .. })));
    assert!(matches!(device.inverse(zeros), Err(Error::Singular { pivot: 0, size: 4 })));
    assert!(matches!(device.cholesky(zeros).err(), Some(Error::NotPositiveDefinite { order: 1, size: 4 })));
    let nan = array![[f64::NAN]];
    assert!(matches!(device.svd((&nan).into()), Err(Error::NotFinite { row: 0, column: 0, .. })));
    // Without elements there is nothing to do, and a result.
    let none = Array2::<f64>::zeros((0, 0));
    assert_eq!(device.determinant((&none).into()).unwrap(), 1.0);
    assert_eq!(device.inverse((&none).into()).unwrap().dim(), (0, 0));
}

#[test]
fn products_of_vectors_batches_halves_and_integers() {
    let device = Device::cpu().choosing(Choice::Auto);
    let (a, x, mut y) = (matrix(7, 5, 1), matrix(5, 1, 2), Array2::from_elem((7, 1), f64::NAN));
    device.matvec(Precision::Auto, 2.0, (&a).into(), (&x).into(), 0.0, (&mut y).into()).unwrap();
    assert_eq!(y, a.dot(&x) * 2.0);
    assert_eq!(last_decision().unwrap().operation, "matvec");
    let mut c = matrix(7, 5, 3);
    let expected = &c + y.dot(&x.t()) * -1.0;
    device.outer(-1.0, (&y).into(), (&x).into(), (&mut c).into()).unwrap();
    assert_eq!((c, last_decision().unwrap().operation), (expected, "outer"));
    let error = device.matvec(Precision::Auto, 1.0, (&a).into(), (&a).into(), 0.0, (&mut y).into()).unwrap_err();
    assert!(matches!(error, Error::Shape { operation: "matvec", expected: 1, got: 5, .. }), "{error}");

    let (left, right) = ([matrix(3, 4, 1), matrix(3, 4, 2)], [matrix(4, 2, 3), matrix(4, 2, 4)]);
    let mut results = [Array2::from_elem((3, 2), f64::NAN), Array2::from_elem((3, 2), f64::NAN)];
    let (refs, rights) = (left.each_ref().map(MatRef::from), right.each_ref().map(MatRef::from));
    let mut targets = results.each_mut().map(Into::into);
    device.matmul_batched(Precision::Auto, 1.0, &refs, &rights, 0.0, &mut targets).unwrap();
    assert!((0..2).all(|i| results[i] == left[i].dot(&right[i])));
    let decision = last_decision().unwrap();
    assert_eq!((decision.operation, decision.bytes), ("matmul_batched", 2 * 8 * (12 + 8 + 6)));
    device.matmul_batched::<f64>(Precision::Auto, 1.0, &[], &[], 0.0, &mut []).unwrap();

    let halves = |seed| matrix(4, 4, seed).mapv(half::f16::from_f64);
    let product = device.product((&halves(1)).into(), (&halves(2)).into()).unwrap();
    assert_eq!(product, matrix(4, 4, 1).dot(&matrix(4, 4, 2)).mapv(half::f16::from_f64));
    assert_eq!(last_decision().unwrap().element, "f16");

    let whole = |seed| matrix(4, 4, seed).mapv(|x| x as i8);
    let (a, b, mut c) = (whole(1), whole(2), Array2::from_elem((4, 4), i32::MIN));
    device.matmul_integer(Overflow::Error, (&a).into(), (&b).into(), (&mut c).into()).unwrap();
    assert_eq!(c, matrix(4, 4, 1).dot(&matrix(4, 4, 2)).mapv(|x| x as i32));
    assert_eq!(last_decision().unwrap().bytes, 16 + 16 + 64);
}

#[test]
fn d8_what_only_the_cpu_does_says_so() {
    let shape = Shape::new(Rows(4096), Columns(4096));
    let device = Device::cpu().choosing(Choice::Auto).rated(Rates::h200());
    let wide = device.plan_matmul::<half::f16>(Precision::F64, [shape; 2], false).unwrap();
    assert_eq!(wide.reason, Reason::Unsupported("cuBLAS adds products of halves in f32"));
    let error =
        device.clone().choosing(Choice::Gpu).plan_matmul::<half::f16>(Precision::F64, [shape; 2], false).unwrap_err();
    assert!(matches!(error, Error::Unsupported { element: "f16", place: "GPU", .. }), "{error}");
    let less = device.plan_matmul::<f64>(Precision::F32, [shape; 2], false).unwrap_err();
    assert_eq!(less.class(), Class::User, "no less precision than the type has, on no processor");
}

#[test]
fn m16_a_plan_of_a_verb_computes_nothing_and_leaves_no_record() {
    let device = Device::cpu().rated(Rates::of_cores(4)).choosing(Choice::Auto);
    let job = Job::verb::<f64>(Verb::Svd, Shape::new(Rows(1 << 20), Columns(1 << 19)), Columns(0)).unwrap();
    let plan = device.plan(&job).unwrap();
    assert_eq!((plan.side, plan.operation), (Side::Cpu, "svd"));
    assert!(plan.cost().wall > 1e6, "years: {plan}");
    assert_eq!(last_decision(), None);
}
