//! The verbs of linear algebra without a place, on the CPU: the same results, and a decision for each.

use ndarray::{Array2, Axis, array};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Job, Rates, Reason, Verb, last_decision, last_outcome};
use tilewright_hybrid::linear::{self, Norm, Overflow, Place, Precision, Refinement};
use tilewright_hybrid::store::{Element, NpySink, NpySource, Order, Sink};
use tilewright_hybrid::{Class, Columns, Device, Error, MatRef, Operand, Rows, Shape, Side};

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

/// What verbs are tried with: regular, definite, tall, and right-hand sides of the first and of the third.
pub(super) fn matrices() -> [Array2<f64>; 5] {
    [regular(13, 1), definite(13, 2), matrix(21, 8, 3), matrix(13, 4, 4), matrix(21, 2, 6)]
}

/// Every verb on a device beside the same at a place; each leaves its decision.
pub(super) fn each(device: &Device, side: Side) {
    let matrices = matrices();
    each_of(device, side, matrices.each_ref().map(Operand::from));
    let (a, b) = (MatRef::from(&matrices[0]), MatRef::from(&matrices[3]));
    let x = device.solve(a.t().into(), b.scaled(2.0).into()).unwrap();
    near(&x, &linear::solve(&Place::Cpu, a.t(), b.scaled(2.0)).unwrap());
}

/// Plans of operands wherever they lie are what is decided when they are computed with.
fn planned([a, s, tall, b, right]: [Operand<'_, f64>; 5], device: &Device) {
    let as_run = |verb: Verb, a: Operand<'_, f64>, right: Option<Operand<'_, f64>>, run: &dyn Fn()| {
        let plan = device.plan_verb(verb, a, right).unwrap();
        run();
        assert_eq!(last_decision().unwrap(), plan, "{plan}");
    };
    as_run(Verb::Solve, a, Some(b), &|| drop(device.solve(a, b).unwrap()));
    as_run(Verb::SolveRefined, a, Some(b), &|| drop(device.solve_refined(a, b, Refinement::default()).unwrap()));
    as_run(Verb::Inverse, a, None, &|| drop(device.inverse(a).unwrap()));
    as_run(Verb::Lu, tall, None, &|| drop(device.lu(tall).unwrap()));
    as_run(Verb::Cholesky, s, None, &|| drop(device.cholesky(s).unwrap()));
    as_run(Verb::Qr, tall, None, &|| drop(device.qr(tall).unwrap()));
    as_run(Verb::LeastSquares, tall, Some(right), &|| drop(device.least_squares(tall, right).unwrap()));
    as_run(Verb::EigenHermitian, s, None, &|| drop(device.eigen_hermitian(s).unwrap()));
    as_run(Verb::Svd, tall.t(), None, &|| drop(device.svd(tall.t()).unwrap()));
    let plan = device.plan_norm(Norm::Spectral, tall).unwrap();
    device.norm(Norm::Spectral, tall).unwrap();
    assert_eq!((plan.operation, last_decision().unwrap()), ("norm", plan));
    assert!(matches!(
        device.plan_verb(Verb::Qr, Operand::<f64>::diagonal(&[1.0]), None),
        Err(Error::Unsupported { .. })
    ));
}

/// The same of [`matrices`], wherever they lie.
pub(super) fn each_of(device: &Device, side: Side, operands: [Operand<'_, f64>; 5]) {
    let (matrices, place) = (matrices(), &Place::Cpu);
    let [here_a, here_s, here_tall, here_b, here_right] = matrices.each_ref().map(MatRef::from);
    let [a, s, tall, b, right] = operands;
    let left = |operation: &str, element: &str| {
        let decision = last_decision().expect("one is left");
        assert_eq!((decision.operation, decision.element, decision.side), (operation, element, side), "{decision}");
        let outcome = last_outcome().expect("it is over");
        assert!(outcome.side == side && outcome.why.is_none(), "{operation}: {outcome:?}");
    };
    planned(operands, device);
    let solution = linear::solve(place, here_a, here_b).unwrap();
    near(&device.solve(a, b).unwrap(), &solution);
    left("solve", "f64");
    near(&device.solve(a.t(), b).unwrap(), &linear::solve(place, here_a.t(), here_b).unwrap());
    near(&device.solve_refined(a, b, Refinement::default()).unwrap().solution, &solution);
    left("solve_refined", "f64");
    near(&device.solve_auto(a, b).unwrap(), &solution);
    near(&device.inverse(a).unwrap(), &linear::inverse(place, here_a).unwrap());
    left("inverse", "f64");
    let determinant = linear::determinant(place, here_a).unwrap();
    assert!((device.determinant(a).unwrap() / determinant - 1.0).abs() < 1e-11);
    left("determinant", "f64");
    assert!((device.log_determinant(a).unwrap().log_abs - determinant.abs().ln()).abs() < 1e-10);
    let condition = linear::reciprocal_condition(place, here_a).unwrap();
    assert!((device.reciprocal_condition(a).unwrap() / condition - 1.0).abs() < 1e-9);
    left("reciprocal_condition", "f64");
    let factors = device.lu(a).unwrap();
    left("lu", "f64");
    assert_eq!(factors.side(), side);
    near(&factors.solve(b).unwrap(), &solution);
    left("solve", "f64");
    assert!((factors.reciprocal_condition().unwrap() / condition - 1.0).abs() < 1e-9);
    left("reciprocal_condition", "f64");
    let factor = device.cholesky(s).unwrap();
    left("cholesky", "f64");
    near(&factor.solve(b).unwrap(), &linear::solve(place, here_s, here_b).unwrap());
    left("solve", "f64");
    let qr = device.qr(tall).unwrap();
    left("qr", "f64");
    assert_eq!(qr.side(), side);
    near(&qr.q().unwrap().dot(&qr.r().unwrap()), &matrices[2]);
    near(&device.least_squares(tall, right).unwrap(), &linear::least_squares(place, here_tall, here_right).unwrap());
    left("least_squares", "f64");
    let column = |values: Vec<f64>| Array2::from_shape_vec((values.len(), 1), values).unwrap();
    let eigen = device.eigen_hermitian(s).unwrap();
    left("eigen_hermitian", "f64");
    near(&column(eigen.values.clone()), &column(linear::eigenvalues_hermitian(place, here_s).unwrap()));
    near(&matrices[1].dot(&eigen.vectors), &(&eigen.vectors * &column(eigen.values.clone()).t()));
    near(&column(device.eigenvalues_hermitian(s).unwrap()), &column(eigen.values));
    left("eigenvalues_hermitian", "f64");
    let singular = linear::singular_values(place, here_tall).unwrap();
    for turned in [tall, tall.t()] {
        let svd = device.svd(turned).unwrap();
        left("svd", "f64");
        let product = (&svd.u * &column(svd.values.clone()).t()).dot(&svd.vh);
        near(&product, &if turned.shape() == tall.shape() { matrices[2].clone() } else { matrices[2].t().to_owned() });
        near(&column(svd.values), &column(singular.clone()));
        near(&column(device.singular_values(turned).unwrap()), &column(singular.clone()));
        left("singular_values", "f64");
    }
    assert!((device.norm(Norm::Spectral, tall).unwrap() / singular[0] - 1.0).abs() < 1e-11);
    left("norm", "f64");
}

/// Those that cuSOLVER has only of late, of a matrix with the eigenvalues 2i and -2i.
pub(super) fn general_eigenvalues(device: &Device, turning: Operand<'_, f64>) {
    let values = device.eigenvalues(turning).unwrap();
    assert!(values.iter().all(|value| value.re.abs() < 1e-12 && (value.im.abs() - 2.0).abs() < 1e-12), "{values:?}");
    assert_eq!(last_decision().unwrap().operation, "eigenvalues");
    let eigen = device.eigen(turning).unwrap();
    assert_eq!((eigen.values.len(), eigen.vectors.dim()), (2, (2, 2)));
    assert_eq!(last_decision().unwrap().operation, "eigen");
}

pub(super) fn turning() -> Array2<f64> {
    array![[0.0, -2.0], [2.0, 0.0]]
}

/// Norms of elements, which the CPU sums wherever they lie.
pub(super) fn norms(device: &Device, a: &Array2<f64>, operand: Operand<'_, f64>) {
    let lines = |axis| a.map_axis(Axis(axis), |line| line.iter().map(|x| x.abs()).sum::<f64>());
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    for (kind, expected) in [
        (Norm::Max, largest(&mut a.iter().map(|x| x.abs()))),
        (Norm::Frobenius, a.iter().map(|x| x * x).sum::<f64>().sqrt()),
        (Norm::One, largest(&mut lines(0).into_iter())),
        (Norm::Infinity, largest(&mut lines(1).into_iter())),
    ] {
        assert!((device.norm(kind, operand).unwrap() - expected).abs() < 1e-12, "{kind:?}");
        let decision = last_decision().unwrap();
        assert_eq!((decision.operation, decision.side), ("norm", Side::Cpu));
    }
}

#[test]
fn d1_each_verb_leaves_its_decision() {
    let device = Device::cpu().choosing(Choice::Auto).rated(Rates::of_cores(2));
    each(&device, Side::Cpu);
    general_eigenvalues(&device, (&turning()).into());
    assert_eq!(last_decision().unwrap().reason, Reason::NoGpu);
    let a = matrix(6, 9, 1);
    norms(&device, &a, (&a).into());
}

/// From files in order C, read whole within the host's budget.
#[test]
fn d1_each_verb_takes_what_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let stored = |name: &str, values: &Array2<f64>| {
        let path = folder.path().join(name);
        let values = values.as_standard_layout();
        let sink = NpySink::create(&path, values.shape(), Element::F64, Order::C).unwrap();
        sink.write_tile(&sink.extents().whole(), bytemuck::cast_slice(values.as_slice().unwrap())).unwrap();
        Box::new(sink).commit().unwrap();
        NpySource::open(&path).unwrap()
    };
    let mut number = 0;
    let sources = matrices().map(|values| {
        number += 1;
        stored(&format!("{number}.npy"), &values)
    });
    let host = Budget::new(Memory::Host, 1 << 20);
    let device = Device::cpu().choosing(Choice::Auto).rated(Rates::of_cores(2)).falling_back_within(host.clone());
    each_of(&device, Side::Cpu, sources.each_ref().map(Operand::from));
    assert_eq!((last_decision().unwrap().disk, host.used()), (Some(Rates::DISK), 0));
    // Of a singular value decomposition the matrix, its copy, and what is made.
    assert_eq!(host.peak(), 8 * (2 * 21 * 8 + 21 * 8 + 8 * 8 + 8));
    general_eigenvalues(&device, (&stored("turning.npy", &turning())).into());
    norms(&device, &matrices()[2], (&sources[2]).into());
    // Where it does not fit the error has the numbers.
    let short = device.falling_back_within(Budget::new(Memory::Host, 8 * 21 * 8 - 1));
    let error = short.svd::<f64>((&sources[2]).into()).unwrap_err();
    let taken = 8 * (21 * 8 + 21 * 8 + 8 * 8 + 8);
    assert!(
        matches!(error, Error::Budget { requested, available: 1343, limit: 1343, .. } if requested == taken),
        "{error}"
    );
    assert!(error.to_string().contains("raise the budget"), "{error}");
    let error = short.qr::<f32>((&sources[2]).into()).unwrap_err();
    assert!(matches!(error, Error::ElementType { operation: "qr", expected: "f64", got: "f32" }), "{error}");
    let error = short.svd(Operand::diagonal(&[1.0])).unwrap_err();
    assert!(matches!(error, Error::Unsupported { operation: "svd", .. }), "{error}");
}

#[test]
fn b1_wrong_calls_are_the_same_errors_as_at_a_place() {
    let device = Device::cpu();
    let (wide, square, right) = (matrix(3, 5, 1), regular(5, 2), matrix(4, 1, 3));
    let zeros = Array2::<f64>::zeros((4, 4));
    let (wide, square, zeros) = (Operand::from(&wide), Operand::from(&square), Operand::from(&zeros));
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
    device.matmul_batched(Precision::Auto, 1.0, &refs, &rights, 0.0, &mut results).unwrap();
    assert!((0..2).all(|i| results[i] == left[i].dot(&right[i])));
    let decision = last_decision().unwrap();
    assert_eq!((decision.operation, decision.bytes), ("matmul_batched", 2 * 8 * (12 + 8 + 6)));

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
