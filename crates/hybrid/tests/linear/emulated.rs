//! G15: f64 that is emulated where it is asked for, and how far it may be off.

use super::numbers::{Random, random};
use super::places::GPU_ALONE;
use super::reference::{exact, product, wide};
use half::f16;
use ndarray::{Array2, Axis, s};
use tilewright_driver::blas::Compute;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Multiply, Place, Precision, Scalar, matmul, matmul_batched};
use tilewright_hybrid::store::{MemorySink, MemorySource, Sink};
use tilewright_hybrid::stream::{self, Budgets, Control, Factor, Product, Verify};
use tilewright_hybrid::{Complex32, Complex64, Element, Error, MatMut, MatRef};

/// A GPU whose cuBLAS emulates.
fn gpu(test: &str) -> Option<Gpu> {
    let gpu = crate::gpu(test)?;
    match gpu.blas().unwrap().check(Compute::Emulated { mantissa_bits: 55 }) {
        Ok(()) => Some(gpu),
        Err(error) => {
            eprintln!("{error}");
            crate::skip(test, "no cuBLAS 13.1");
            None
        }
    }
}

fn emulated(mantissa_bits: u32) -> Precision {
    Precision::F64Emulated { mantissa_bits }
}

/// Numbers of which neighbours differ by up to so many powers of two: rows, and elements of a row.
fn graded<T: Scalar>(seed: u64, rows: usize, columns: usize, [down, across]: [i32; 2]) -> Array2<T> {
    let mut random = Random::new(seed);
    let power = |i: usize, most: i32| (i as i32 * 29).rem_euclid(most + 1) - most / 2;
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        random.number::<T>().times(T::from_f64(2f64.powi(power(i, down) + power(j, across))))
    })
}

fn largest<T: Scalar>(a: &Array2<T>, axis: Axis) -> Vec<f64> {
    a.axis_iter(axis).map(|line| line.iter().map(|x| x.modulus()).fold(0.0, f64::max)).collect()
}

/// The largest error of every few elements of `alpha a b + beta before`, in parts of what may be, and in parts of largest elements alone.
fn worst<T: Scalar>(
    precision: Precision,
    (alpha, a, b): (f64, &Array2<T>, &Array2<T>),
    (beta, before): (f64, &Array2<T>),
    c: &Array2<T>,
) -> [f64; 2] {
    let depth = a.ncols();
    let bound = precision.error_bound::<T>(depth).unwrap() * alpha.abs();
    let (rows, columns) = (largest(a, Axis(0)), largest(b, Axis(1)));
    let (a, b, before) = (wide(a), wide(b), wide(before));
    let sums = exact::product(&a, &b);
    let mut worst = [0.0f64; 2];
    for ((i, j), got) in c.indexed_iter().filter(|((i, j), _)| (i * 7 + j * 5) % 11 == 0) {
        let added = before[[i, j]] * beta;
        let off = (got.wide() - (sums[[i, j]] * alpha + added)).norm();
        assert!(off.is_finite());
        let scale = rows[i] * columns[j];
        worst[0] = worst[0].max(off / (bound * scale + 2.0 * f64::EPSILON * added.norm()));
        worst[1] = worst[1].max(off / (depth as f64 * scale));
    }
    worst
}

fn cases<T: Scalar>() -> Vec<(&'static str, Array2<T>, Array2<T>)> {
    let [m, k, n] = [24, 90, 17];
    vec![
        ("random", random(1, m, k), random(2, k, n)),
        ("rows and columns of all sizes", graded(3, m, k, [60, 0]), graded(4, k, n, [0, 60])),
        ("graded along the depth", graded(5, m, k, [0, 40]), graded(6, k, n, [40, 0])),
        ("large meets small", graded(7, m, k, [0, 40]), graded::<T>(8, k, n, [40, 0]).slice(s![..;-1, ..]).to_owned()),
        ("one product", random(9, m, 1), random(10, 1, n)),
        ("a vector", random(11, m, k), random(12, k, 1)),
    ]
}

fn within_the_bound<T: Scalar + Multiply<Factor = T>>(gpu: &Gpu) {
    let (alpha, place) = (-1.5, Place::Gpu(gpu.clone()));
    let mut by_bits = Vec::new();
    for bits in [15, 31, 50, 55, 71] {
        let mut largest = 0.0f64;
        for (name, a, b) in cases::<T>() {
            for beta in [0.0, 0.25] {
                let before = match beta {
                    0.0 => Array2::from_elem((a.nrows(), b.ncols()), T::from_f64(f64::NAN)),
                    _ => random::<T>(13, a.nrows(), b.ncols()),
                };
                let (mut c, factors) = (before.clone(), (T::from_f64(alpha), (&a).into(), (&b).into()));
                let to: MatMut<'_, T> = (&mut c).into();
                matmul(&place, emulated(bits), factors.0, factors.1, factors.2, T::from_f64(beta), to).unwrap();
                let added = if beta == 0.0 { Array2::from_elem(c.dim(), T::ZERO) } else { before };
                let [of_bound, of_largest] = worst(emulated(bits), (alpha, &a, &b), (beta, &added), &c);
                assert!(of_bound <= 1.0, "{} {name}, {bits} bits: {of_bound} of the bound", T::NAME);
                // Beside what is added a small product is what rounding leaves of it.
                largest = if beta == 0.0 { largest.max(of_largest) } else { largest };
            }
        }
        by_bits.push(largest);
    }
    // Elsewhere cuBLAS may compute in f64.
    if std::env::var_os(GPU_ALONE).is_some() {
        assert!(by_bits[0] > 1e-8 && by_bits[1] > 1e-13 && by_bits[3] < 1e-14, "{by_bits:?}");
    }
}

#[test]
fn g15_emulated_products_are_within_the_bound() {
    let Some(gpu) = gpu("linear::emulated::g15_emulated_products_are_within_the_bound") else { return };
    within_the_bound::<f64>(&gpu);
    within_the_bound::<Complex64>(&gpu);
}

#[test]
fn g15_other_products_of_the_same_handle_are_not_emulated() {
    let Some(gpu) = gpu("linear::emulated::g15_other_products_of_the_same_handle_are_not_emulated") else { return };
    let (a, b) = (random::<f64>(1, 60, 70), random::<f64>(2, 70, 50));
    let exact = product(&a, &b);
    for precision in [emulated(7), Precision::Auto, emulated(55), Precision::F64] {
        let mut c = Array2::from_elem((60, 50), f64::NAN);
        matmul(&Place::Gpu(gpu.clone()), precision, 1.0, (&a).into(), (&b).into(), 0.0, (&mut c).into()).unwrap();
        let off = (&c - &exact).iter().fold(0.0f64, |most, off| most.max(off.abs()));
        assert!(off < 1e-13 || precision == emulated(7), "{precision:?}: {off}");
    }
}

#[test]
fn g12_g15_nan_and_infinity_go_through_emulated_products() {
    let Some(gpu) = gpu("linear::emulated::g12_g15_nan_and_infinity_go_through_emulated_products") else { return };
    let (mut a, mut b) = (random::<f64>(1, 40, 50), random::<f64>(2, 50, 30));
    (a[[3, 7]], a[[11, 20]], a[[11, 21]], a[[25, 0]]) = (f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY);
    (b[[20, 9]], b[[0, 9]], b[[33, 12]]) = (0.0, 0.0, f64::NEG_INFINITY);
    let place = Place::Gpu(gpu);
    let of = |precision| {
        let mut c = Array2::from_elem((40, 30), 0.0);
        matmul(&place, precision, 1.0, (&a).into(), (&b).into(), 0.0, (&mut c).into()).unwrap();
        c
    };
    let plain = of(Precision::Auto);
    assert!(plain.iter().any(|x| x.is_infinite()) && plain.iter().any(|x| x.is_nan()));
    for bits in [31, 55] {
        for ((at, got), expected) in of(emulated(bits)).indexed_iter().zip(&plain) {
            let is_right =
                if expected.is_finite() { (got - expected).abs() < 1e-5 } else { got == expected || got.is_nan() };
            assert!(is_right, "{at:?}: {got} for {expected}");
            assert_eq!(got.is_nan(), expected.is_nan(), "{at:?}");
        }
    }
}

#[test]
fn g15_batches_and_matrices_on_the_gpu() {
    let Some(gpu) = gpu("linear::emulated::g15_batches_and_matrices_on_the_gpu") else { return };
    let a: Vec<_> = (0..3).map(|i| random::<f64>(i, 20, 90)).collect();
    let b: Vec<_> = (0..3).map(|i| random::<f64>(10 + i, 90, 17)).collect();
    let mut c = vec![Array2::from_elem((20, 17), f64::NAN); 3];
    {
        let (of_a, of_b): (Vec<_>, Vec<_>) =
            (a.iter().map(MatRef::from).collect(), b.iter().map(MatRef::from).collect());
        let mut of_c: Vec<_> = c.iter_mut().map(MatMut::from).collect();
        matmul_batched(&Place::Gpu(gpu.clone()), emulated(31), 1.0, &of_a, &of_b, 0.0, &mut of_c).unwrap();
    }
    let nothing = Array2::zeros((20, 17));
    let within = |c: &Array2<f64>, i: usize| worst(emulated(31), (1.0, &a[i], &b[i]), (0.0, &nothing), c)[0] <= 1.0;
    assert!((0..3).all(|i| within(&c[i], i)));
    let [there, beside] = [&a[1], &b[1]].map(|it| DeviceMat::upload(&gpu, it.into()).unwrap());
    let mut result = DeviceMat::uninitialised(&gpu, MatRef::from(&c[1]).shape()).unwrap();
    gpu.matmul(emulated(31), 1.0, there.view(), beside.view(), 0.0, &mut result).unwrap();
    assert!(within(&result.download().unwrap(), 1));
}

fn budgets(device: u64) -> Budgets {
    Budgets { device: Budget::new(Memory::Device, device), pinned: Budget::new(Memory::Pinned, 1 << 20) }
}

type Stream<T> =
    fn(&Gpu, &Budgets, Precision, &Product<'_, T>, &dyn Sink, Control<'_>) -> Result<stream::Traffic, Error>;

fn streamed(
    gpu: &Gpu,
    multiply: Stream<f64>,
    [a, b]: [&Array2<f64>; 2],
    control: Control<'_>,
) -> Result<Array2<f64>, Error> {
    let mut c = Array2::from_elem((a.nrows(), b.ncols()), f64::NAN);
    let (of_a, of_b, sink) = (MemorySource::new(a.view()), MemorySource::new(b.view()), MemorySink::new(c.view_mut()));
    let product = Product { a: Factor::plain(&of_a), b: Factor::plain(&of_b), c: None, alpha: 1.0, beta: 0.0 };
    let budgets = budgets(120 << 10);
    multiply(gpu, &budgets, emulated(31), &product, &sink, control)?;
    // Tiles take a third of it, the integers are the library's own.
    assert!((60 << 10..=120 << 10).contains(&budgets.device.peak()) && budgets.device.used() == 0, "{budgets:?}");
    Box::new(sink).commit()?;
    Ok(c)
}

#[test]
fn g15_streams_emulate() {
    let Some(gpu) = gpu("linear::emulated::g15_streams_emulate") else { return };
    let (a, b) = (random::<f64>(1, 150, 170), graded::<f64>(2, 170, 90, [30, 0]));
    let c = streamed(&gpu, stream::matmul, [&a, &b], Control::default()).unwrap();
    assert!(worst(emulated(31), (1.0, &a, &b), (0.0, &Array2::zeros(c.dim())), &c)[0] <= 1.0);
    // A vector for each of six matrices.
    let (a, x) = (random::<f64>(3, 6 * 25, 80), random::<f64>(4, 6 * 80, 1));
    let y = streamed(&gpu, stream::matvec, [&a, &x], Control::default()).unwrap();
    for i in 0..6 {
        let part = |of: &Array2<f64>, rows: usize| of.slice(s![i * rows..(i + 1) * rows, ..]).to_owned();
        let (a, x, y) = (part(&a, 25), part(&x, 80), part(&y, 25));
        assert!(worst(emulated(31), (1.0, &a, &x), (0.0, &Array2::zeros((25, 1))), &y)[0] <= 1.0, "{i}");
    }
    let control = Control { verify: Some(Verify::default()), ..Control::default() };
    let error = streamed(&gpu, stream::matmul, [&a, &x.slice(s![..80, ..]).to_owned()], control).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}

#[test]
fn g15_what_is_not_emulated_says_so() {
    fn refused<T: Multiply>(bits: u32, place: &'static str, word: &str) {
        let (a, mut c) = (Array2::from_elem((2, 2), T::ZERO), Array2::from_elem((2, 2), T::ZERO));
        let factors = (T::Factor::ONE, T::Factor::ZERO);
        let asked =
            matmul(&Place::Cpu, emulated(bits), factors.0, (&a).into(), (&a).into(), factors.1, (&mut c).into());
        match asked.unwrap_err() {
            Error::Unsupported { place: named, why, .. } => {
                assert!(named == place && why.contains(word), "{named} {why}")
            }
            other => panic!("{other}"),
        }
    }
    refused::<f64>(55, "CPU", "GPU");
    refused::<Complex64>(7, "CPU", "GPU");
    refused::<f32>(55, "CPU and GPU", "convert");
    refused::<Complex32>(55, "CPU and GPU", "convert");
    refused::<f16>(55, "CPU and GPU", "convert");
    refused::<f64>(6, "CPU and GPU", "not 6");
    refused::<f64>(80, "CPU and GPU", "not 80");
    let a = random::<f64>(1, 3, 3);
    let mut c = [a.clone()];
    let mut of_c: Vec<_> = c.iter_mut().map(MatMut::from).collect();
    let asked = matmul_batched(&Place::Cpu, emulated(55), 1.0, &[(&a).into()], &[(&a).into()], 0.0, &mut of_c);
    assert!(matches!(asked, Err(Error::Unsupported { place: "CPU", .. })), "{asked:?}");
    assert_eq!(c, [a]);
}

#[test]
fn g15_the_bound_falls_with_bits_and_grows_with_the_depth() {
    let bound = |bits, depth| emulated(bits).error_bound::<f64>(depth).unwrap();
    for bits in 7..=71 {
        assert!(bound(bits + 8, 100) < bound(bits, 100), "{bits}");
        assert!(bound(bits, 101) > bound(bits, 100) && bound(bits, 0) == 0.0, "{bits}");
        assert!(emulated(bits).error_bound::<Complex64>(100).unwrap() > bound(bits, 100));
        // Never better than f64 itself is known to be.
        assert!(bound(bits, 100) > 100.0 * 100.0 * f64::EPSILON / 2.0);
    }
    // One slice: of two factors, each of which loses 1/128 of a power of two that is twice as large, and of nothing else.
    assert!((4.0 * 2.0 / 128.0..4.0 * 2.5 / 128.0).contains(&bound(7, 1)));
    assert_eq!([emulated(6), emulated(80), Precision::F64].map(|it| it.error_bound::<f64>(9)), [None; 3]);
    assert_eq!(emulated(55).error_bound::<f32>(9), None);
}
