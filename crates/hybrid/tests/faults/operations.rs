//! What is done to a GPU whose calls fail, or whose memory is counted: operations of the face, and streams. Each checks its own result.

use ndarray::{Array1, Array2};
use tilewright_dims::dims;
use tilewright_driver::Device as Driver;
use tilewright_expr::In;
use tilewright_hybrid::bits::BitMatrix;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::Rates;
use tilewright_hybrid::faults::{Breaker, Policy, Settings};
use tilewright_hybrid::linear::{self, Gpu, Place, Precision};
use tilewright_hybrid::store::{Extents, MemorySink, MemorySource, Sink};
use tilewright_hybrid::stream::bits::{Becomes, BitProduct, Bits, product};
use tilewright_hybrid::stream::{Array, Budgets, Control, Evaluation, evaluate};
use tilewright_hybrid::{Complex64, Device, Error};
use tilewright_ops::fuse;

dims! { Y, X }

/// An operation of the face, on matrices of about so many rows.
pub(super) type OnTheFace = fn(&Device, usize) -> Result<(), Error>;
/// One that has no CPU to go to.
pub(super) type OnAStream = fn(&Gpu, &Budgets, usize) -> Result<(), Error>;

/// Room for anything.
pub(super) const ROOM: u64 = 1 << 30;

/// Operations of the face, and the room in which they go through the GPU in parts, if they do, in eighths of a matrix.
pub(super) const FACE: [(&str, OnTheFace, Option<u64>); 10] = [
    ("matmul", multiply, Some(14)),
    ("solve", solve, Some(9)),
    ("cholesky", cholesky, Some(7)),
    ("inverse", inverse, Some(9)),
    ("determinant", determinant, Some(8)),
    ("condition", condition, Some(8)),
    ("qr", qr, None),
    ("svd", svd, None),
    ("symmetric eigen", symmetric_eigen, None),
    ("eigen", eigen, None),
];
/// Streams. On a stub their kernels compute nothing, so nobody looks at results.
pub(super) const STREAMS: [(&str, OnAStream); 2] = [("an expression", expression), ("a product of bits", bits)];

/// A GPU with a stream and handles of its own.
pub(super) fn gpu() -> Gpu {
    Gpu::new(&Driver::new(0).unwrap().stream().unwrap())
}

/// So much memory of the GPU, and little that is pinned.
pub(super) fn budgets(room: u64) -> Budgets {
    Budgets { device: Budget::new(Memory::Device, room), pinned: Budget::new(Memory::Pinned, 8 << 10) }
}

/// So many eighths of a matrix, in bytes.
pub(super) fn eighths(count: u64, side: usize) -> u64 {
    (side * side) as u64 * count
}

/// A device on which the GPU is always faster, with a breaker of its own, and its budgets: of the GPU, of pinned memory, of the host.
pub(super) fn eager(gpu: &Gpu, room: u64, policy: Policy) -> (Device, Breaker, [Budget; 3]) {
    let mut rates = Rates::h200();
    rates.cpu.call = 3600.0;
    let (breaker, budgets) = (Breaker::new(0, Settings { policy, ..Settings::default() }), budgets(room));
    let host = Budget::new(Memory::Host, ROOM);
    let all = [budgets.device.clone(), budgets.pinned.clone(), host.clone()];
    let device = Device::with(gpu).rated(rates).within(budgets).guarded(breaker.clone()).falling_back_within(host);
    (device, breaker, all)
}

pub(super) fn matrix(rows: usize, columns: usize, seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| ((i * 7 + j * 3 + seed) % 11) as f64 - 5.0)
}

pub(super) fn near(one: &Array2<f64>, other: &Array2<f64>) {
    let scale = other.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
    assert_eq!(one.dim(), other.dim());
    assert!((one - other).iter().all(|off| off.abs() < 1e-10 * scale));
}

/// What is there is a part of the result, and stays where there is none.
pub(super) fn multiply(device: &Device, side: usize) -> Result<(), Error> {
    let (a, b, before) = (matrix(side, side, 1), matrix(side, side / 2, 2), matrix(side, side / 2, 3));
    let mut c = before.clone();
    let done = device.matmul(Precision::Auto, 2.0, (&a).into(), (&b).into(), -1.0, (&mut c).into());
    assert!(c == if done.is_ok() { a.dot(&b) * 2.0 - &before } else { before }, "{done:?}");
    done
}

pub(super) fn regular(side: usize) -> Array2<f64> {
    let mut a = matrix(side, side, 4);
    a.diag_mut().mapv_inplace(|x| x + 8.0 * side as f64);
    a
}

fn solve(device: &Device, side: usize) -> Result<(), Error> {
    let (a, x) = (regular(side), matrix(side, 3, 5));
    near(&device.solve((&a).into(), (&a.dot(&x)).into())?, &x);
    Ok(())
}

/// What is asked of factors is asked where they are: there is nowhere else to go.
fn cholesky(device: &Device, side: usize) -> Result<(), Error> {
    let a = regular(side);
    let definite = a.dot(&a.t());
    let l = device.cholesky((&definite).into())?.l()?;
    near(&l.dot(&l.t()), &definite);
    Ok(())
}

fn inverse(device: &Device, side: usize) -> Result<(), Error> {
    let a = regular(side);
    near(&a.dot(&device.inverse((&a).into())?), &Array2::eye(side));
    Ok(())
}

fn determinant(device: &Device, side: usize) -> Result<(), Error> {
    let a = regular(side);
    let expected = linear::log_determinant(&Place::Cpu, (&a).into()).unwrap();
    let got = device.log_determinant((&a).into())?;
    assert!(got.sign == expected.sign && (got.log_abs - expected.log_abs).abs() < 1e-10, "{got:?}");
    Ok(())
}

fn condition(device: &Device, side: usize) -> Result<(), Error> {
    let a = regular(side);
    let expected = linear::reciprocal_condition(&Place::Cpu, (&a).into()).unwrap();
    assert!((device.reciprocal_condition((&a).into())? / expected - 1.0).abs() < 1e-9);
    Ok(())
}

/// As of Cholesky's factor.
fn qr(device: &Device, side: usize) -> Result<(), Error> {
    let a = matrix(side, side / 2, 6);
    let factors = device.qr((&a).into())?;
    near(&factors.q()?.dot(&factors.r()?), &a);
    Ok(())
}

fn column(values: Vec<f64>) -> Array2<f64> {
    Array2::from_shape_vec((1, values.len()), values).unwrap()
}

fn svd(device: &Device, side: usize) -> Result<(), Error> {
    let a = matrix(side / 2, side, 6);
    let svd = device.svd((&a).into())?;
    near(&(&svd.u * &column(svd.values)).dot(&svd.vh), &a);
    Ok(())
}

fn symmetric_eigen(device: &Device, side: usize) -> Result<(), Error> {
    let a = regular(side);
    let definite = a.dot(&a.t());
    let eigen = device.eigen_hermitian((&definite).into())?;
    near(&definite.dot(&eigen.vectors), &(&eigen.vectors * &column(eigen.values)));
    Ok(())
}

/// Of a matrix that is not symmetric: some of its values are conjugates.
fn eigen(device: &Device, side: usize) -> Result<(), Error> {
    let a = matrix(side, side, 7);
    let eigen = device.eigen((&a).into())?;
    assert!(eigen.values.iter().any(|value| value.im > 0.1));
    let (a, values) = (a.mapv(Complex64::from), Array2::from_diag(&Array1::from(eigen.values)));
    let off = a.dot(&eigen.vectors) - eigen.vectors.dot(&values);
    assert!(off.iter().all(|off| off.norm() < 1e-10 * side as f64), "{off}");
    Ok(())
}

fn expression(_: &Gpu, budgets: &Budgets, side: usize) -> Result<(), Error> {
    let (rows, columns) = (side * 5 / 2, side / 2);
    let values = vec![0.75f32; rows * columns];
    let mut results = Array2::from_elem((rows, columns), f32::NAN);
    let source = MemorySource::from_slice(&values, Extents::new(rows, columns))?;
    let sink = MemorySink::new(results.view_mut());
    let four = fuse(|x: In<f32, (Y, X)>| ((x * 0.5 + 1.0).abs().sqrt() - 0.25).store::<(Y, X)>());
    let x = Array::<f32, (Y, X)>::new(&source, [rows, columns])?;
    let evaluation = Evaluation::new(&four, (&x,), &[&sink])?;
    evaluate(&tilewright_ops::Device::gpu(0)?, budgets, &evaluation, Control::default())?;
    drop(evaluation);
    Box::new(sink).commit()
}

fn bits(gpu: &Gpu, budgets: &Budgets, side: usize) -> Result<(), Error> {
    let (rows, depth) = (2 * side, 5 * side);
    let a = BitMatrix::zeros(rows, depth)?;
    let source = a.source();
    let of = BitProduct::of_rows(Bits::new(&source, depth)?, Bits::new(&source, depth)?)?;
    product(gpu, budgets, &of, Becomes::Parities, Control::default()).map(drop)
}
