//! Operations of the face whose operands are not f64 in host memory, whose results go elsewhere, or that are more than one call. Each checks its own
//! result, but for what kernels of ours compute, which do nothing on a stub.

use half::f16;
use ndarray::{Array1, Array2, Axis, concatenate};
use tilewright_dims::dims;
use tilewright_expr::In;
use tilewright_hybrid::bits::BitMatrix;
use tilewright_hybrid::linear::{DeviceMat, Gpu, Norm, Overflow, Precision, Refinement};
use tilewright_hybrid::store::{Extents, MemorySink, MemorySource, PinnedSink, PinnedSource, Sink};
use tilewright_hybrid::stream::{Array, Control, EigenSearch, Evaluation};
use tilewright_hybrid::{Complex64, Device, Error};
use tilewright_ops::fuse;

use super::operations::{matrix, near, regular};

dims! { Y, X }

/// An operation on matrices of about so many rows.
pub(super) type Elsewhere = fn(&Gpu, &Device, usize) -> Result<(), Error>;

/// Whether it takes memory of the GPU or page-locked memory itself, outside of the face: what fails there has no CPU to go to, and what lies
/// there goes with a GPU that is lost.
pub(super) const OUTSIDE: bool = true;

pub(super) const ELSEWHERE: [(&str, Elsewhere, bool); 19] = [
    ("f32", singles, false),
    ("f16", halves, false),
    ("complex", complex, false),
    ("i8", integers, false),
    ("matvec", matvec, false),
    ("a batch of matvecs", matvecs, false),
    ("a batch", batch, false),
    ("least squares", least_squares, false),
    ("solve refined", solve_refined, false),
    ("spectral norm", spectral_norm, false),
    ("largest eigenvalues", largest_eigenvalues, false),
    ("stored", stored, false),
    ("solve of what is stored", solve_stored, false),
    ("page-locked", pinned, OUTSIDE),
    ("resident product", resident_product, OUTSIDE),
    ("resident eigen", resident_eigen, OUTSIDE),
    ("kept factors", kept, OUTSIDE),
    ("an expression", expression, false),
    ("bits", bits, false),
];

fn singles(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let (a, b) = (matrix(side, side, 1), matrix(side, side / 2, 2));
    let [single_a, single_b] = [&a, &b].map(|it| it.mapv(|x| x as f32));
    let c = device.product((&single_a).into(), (&single_b).into())?;
    assert_eq!(c.mapv(f64::from), a.dot(&b));
    Ok(())
}

fn halves(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let [a, b] = [1, 2].map(|seed| matrix(side, side, seed).mapv(|x| x.clamp(-1.0, 1.0)));
    let [half_a, half_b] = [&a, &b].map(|it| it.mapv(f16::from_f64));
    let c = device.product((&half_a).into(), (&half_b).into())?;
    assert_eq!(c.mapv(f64::from), a.dot(&b));
    Ok(())
}

fn complex(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let a = regular(side).mapv(|x| Complex64::new(x, 1.0));
    let x = matrix(side, 3, 5).mapv(|x| Complex64::new(1.0, x));
    let solved = device.solve((&a).into(), (&a.dot(&x)).into())?;
    near(&solved.mapv(|x| x.im), &x.mapv(|x| x.im));
    Ok(())
}

fn integers(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let (a, b) = (matrix(side, side + 3, 1), matrix(side + 3, side, 2));
    let [small_a, small_b] = [&a, &b].map(|it| it.mapv(|x| x as i8));
    let mut c = Array2::from_elem((side, side), 77);
    device.matmul_integer(Overflow::Error, (&small_a).into(), (&small_b).into(), (&mut c).into())?;
    assert_eq!(c.mapv(f64::from), a.dot(&b));
    Ok(())
}

fn matvec(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let (a, x, before) = (matrix(side, 2 * side, 1), matrix(2 * side, 1, 2), matrix(side, 1, 3));
    let mut y = before.clone();
    let done = device.matvec(Precision::Auto, 2.0, (&a).into(), (&x).into(), -1.0, (&mut y).into());
    assert!(y == if done.is_ok() { a.dot(&x) * 2.0 - &before } else { before }, "{done:?}");
    done
}

fn matvecs(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let matrices = [1, 2, 3].map(|seed| matrix(side, side, seed));
    let vectors = [4, 5, 6].map(|seed| matrix(side, 1, seed));
    let below =
        |all: &[Array2<f64>]| concatenate(Axis(0), &all.iter().map(|it| it.view()).collect::<Vec<_>>()).unwrap();
    let (a, x, mut y) = (below(&matrices), below(&vectors), Array2::from_elem((3 * side, 1), f64::NAN));
    device.matvec_batched(Precision::Auto, 1.0, (&a).into(), (&x).into(), 0.0, (&mut y).into())?;
    let expected: Vec<_> = matrices.iter().zip(&vectors).map(|(a, x)| a.dot(x)).collect();
    assert_eq!(y, below(&expected));
    Ok(())
}

fn batch(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let (a, b) = ([1, 2, 3].map(|seed| matrix(side, side, seed)), [4, 5, 6].map(|seed| matrix(side, 5, seed)));
    let mut c = [(); 3].map(|()| Array2::from_elem((side, 5), f64::NAN));
    device.matmul_batched(Precision::Auto, 1.0, &a, &b, 0.0, &mut c)?;
    (0..3).for_each(|i| assert_eq!(c[i], a[i].dot(&b[i])));
    Ok(())
}

fn least_squares(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let (a, b) = (regular(side + 5).slice_move(ndarray::s![.., ..side]), matrix(side + 5, 2, 6));
    let x = device.least_squares((&a).into(), (&b).into())?;
    near(&a.t().dot(&a.dot(&x)), &a.t().dot(&b));
    Ok(())
}

fn solve_refined(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let (a, x) = (regular(side), matrix(side, 3, 5));
    near(&device.solve_refined((&a).into(), (&a.dot(&x)).into(), Refinement::default())?.solution, &x);
    Ok(())
}

fn spectral_norm(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let a = Array2::from_diag(&Array1::from_iter((0..side).map(|i| 1.0 + i as f64)));
    assert!((device.norm(Norm::Spectral, (&a).into())? / side as f64 - 1.0).abs() < 1e-12);
    Ok(())
}

fn largest_eigenvalues(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let a = Array2::from_diag(&Array1::from_iter((1..=side).map(|i| if i == side { 100.0 } else { 1.0 / i as f64 })));
    let found = device.largest_eigenvalues::<f64>((&a).into(), 1, EigenSearch::default())?;
    assert!((found.values[0] - 100.0).abs() < 1e-9, "{:?}", found.values);
    Ok(())
}

fn stored(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let (a, b) = (matrix(side, side, 1), matrix(side, side / 2, 2));
    let mut c = Array2::from_elem((side, side / 2), f64::NAN);
    let (from, sink) = (MemorySource::new(a.view()), MemorySink::new(c.view_mut()));
    device.matmul(Precision::Auto, 1.0, (&from).into(), (&b).into(), 0.0, sink.into())?;
    assert_eq!(c, a.dot(&b));
    Ok(())
}

fn solve_stored(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let (a, x) = (regular(side), matrix(side, 3, 5));
    let (b, mut got) = (a.dot(&x), Array2::from_elem((side, 3), f64::NAN));
    let (from, right) = (MemorySource::new(a.view()), MemorySource::new(b.view()));
    device.solve_into::<f64>((&from).into(), (&right).into(), MemorySink::new(got.view_mut()).into())?;
    near(&got, &x);
    Ok(())
}

fn pinned(gpu: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let a = matrix(side, side, 1);
    let mut locked = gpu.stream().device().pinned::<f64>(side * side)?;
    locked.iter_mut().zip(&a).for_each(|(to, from)| *to = *from);
    let mut result = gpu.stream().device().pinned::<f64>(side * side)?;
    let extents = Extents::new(side, side);
    {
        let (from, sink) = (PinnedSource::new(&locked, extents)?, PinnedSink::new(&mut result, extents)?);
        device.matmul::<f64>(Precision::Auto, 1.0, (&from).into(), (&from).into(), 0.0, sink.into())?;
    }
    assert!(a.dot(&a).iter().zip(&result[..]).all(|(expected, got)| expected == got));
    Ok(())
}

fn resident_product(gpu: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let (a, b, c) = (matrix(side, side, 1), matrix(side, 3, 2), matrix(side, 3, 3));
    let [there_a, there_b] = [DeviceMat::bring(gpu, (&a).into())?, DeviceMat::bring(gpu, (&b).into())?];
    let mut there_c = DeviceMat::upload(gpu, (&c).into())?;
    device.matmul(Precision::Auto, 2.0, (&there_a).into(), (&there_b).into(), -1.0, (&mut there_c).into())?;
    assert_eq!(there_c.download()?, a.dot(&b) * 2.0 - &c);
    Ok(())
}

fn resident_eigen(gpu: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let a = regular(side);
    let definite = a.dot(&a.t());
    let there = DeviceMat::upload(gpu, (&definite).into())?;
    let eigen = device.eigen_hermitian::<f64>((&there).into())?;
    let values = Array2::from_diag(&Array1::from(eigen.values));
    near(&definite.dot(&eigen.vectors), &eigen.vectors.dot(&values));
    Ok(())
}

fn kept(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let (a, x) = (regular(side), matrix(side, 3, 5));
    let lu = device.lu((&a).into())?;
    near(&lu.solve((&a.dot(&x)).into())?, &x);
    Ok(())
}

fn expression(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let values = matrix(side, side, 1).mapv(|x| x as f32);
    let mut results = Array2::from_elem((side, side), f32::NAN);
    let (source, sink) = (MemorySource::new(values.view()), MemorySink::new(results.view_mut()));
    let fused = fuse(|x: In<f32, (Y, X)>| (x * 0.5 + 1.0).abs().store::<(Y, X)>());
    let x = Array::<f32, (Y, X)>::new(&source, [side, side])?;
    device.evaluate(&Evaluation::new(&fused, (&x,), &[&sink])?, Control::default())?;
    Box::new(sink).commit()
}

fn bits(_: &Gpu, device: &Device, side: usize) -> Result<(), Error> {
    let a = BitMatrix::zeros(2 * side, 2 * side)?;
    assert_eq!(device.bit_counts(&a, &a)?.dim(), (2 * side, 2 * side));
    Ok(())
}
