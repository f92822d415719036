//! Products and factors too large for a reference of all elements: of random rows and columns, in f64.

use ndarray::{Array2, Axis, s};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates, Reason, Verb, last_outcome};
use tilewright_hybrid::linear::{DeviceMat, Place, Precision, Qr};
use tilewright_hybrid::stream::Budgets;
use tilewright_hybrid::{Device, Error, Multiplicand, Operand};

/// Rows and columns of a result that are checked, the first and the last among them.
const CHECKED: usize = 24;

/// Numbers in -1..1 of a linear generator.
fn numbers(rows: usize, columns: usize, mut seed: u64) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    })
}

fn lines(extent: usize, seed: u64) -> Vec<usize> {
    let random = numbers(1, CHECKED - 2, seed);
    let within = |x: &f64| ((x + 1.0) / 2.0 * extent as f64) as usize % extent;
    [0, extent - 1].into_iter().chain(random.iter().map(within)).collect()
}

/// Whole rows and whole columns of `c`, each element within k epsilon |a| |b|.
fn check<T: Multiplicand>([a, b, c]: [&Array2<T>; 3], back: fn(T) -> f64, epsilon: f64, about: &str) {
    let wide = |part: ndarray::ArrayView2<'_, T>| part.mapv(back);
    let (k, mut worst) = (a.ncols() as f64, 0.0f64);
    let mut compare = |left: Array2<f64>, right: Array2<f64>, got: Array2<f64>| {
        let (exact, bound) = (left.dot(&right), left.mapv(f64::abs).dot(&right.mapv(f64::abs)));
        for ((exact, bound), got) in exact.iter().zip(&bound).zip(&got) {
            let off = (got - exact).abs() / (k * epsilon * bound);
            worst = if off.is_nan() { f64::INFINITY } else { worst.max(off) };
        }
    };
    let whole_b = wide(b.view());
    let rows = lines(a.nrows(), 7);
    compare(wide(a.select(ndarray::Axis(0), &rows).view()), whole_b, wide(c.select(ndarray::Axis(0), &rows).view()));
    let columns = lines(b.ncols(), 8);
    let [of_b, of_c] = [b, c].map(|matrix| wide(matrix.select(ndarray::Axis(1), &columns).view()));
    compare(wide(a.view()), of_b, of_c);
    assert!(worst <= 1.0, "{about}: off by {worst} bounds");
}

fn of_type<T: Multiplicand>(
    gpu: &tilewright_hybrid::linear::Gpu,
    number: fn(f64) -> T,
    back: fn(T) -> f64,
    epsilon: f64,
) {
    let [m, k, n] = [4099, 8191, 2053];
    let (a, b) = (numbers(m, k, 1).mapv(number), numbers(k, n, 2).mapv(number));
    let (one, zero) = (T::ONE.widened(), T::ZERO.widened());
    // All at once, in tiles through an eighth of the memory, and where it lies.
    let all = ((m * k + k * n + m * n) * size_of::<T>()) as u64;
    for (room, is_streamed) in [(2 * all, false), (all / 8, true)] {
        let budgets =
            Budgets { device: Budget::new(Memory::Device, room), pinned: Budget::new(Memory::Pinned, 64 << 20) };
        let device = Device::with(gpu).rated(Rates::h200()).within(budgets.clone()).choosing(Choice::Gpu);
        let mut c = Array2::from_elem((m, n), number(f64::NAN));
        device.matmul(Precision::Auto, one, Operand::from(&a), (&b).into(), zero, (&mut c).into()).unwrap();
        assert_eq!(last_outcome().unwrap().tiles.is_some(), is_streamed);
        assert!(budgets.device.peak() <= room && budgets.pinned.peak() <= 64 << 20, "{budgets:?}");
        check([&a, &b, &c], back, epsilon, &format!("{} in {room} bytes", T::NAME));
    }
    let (turned, there) = (a.t(), DeviceMat::upload(gpu, (&b).into()).unwrap());
    let there_a = DeviceMat::upload(gpu, (&turned).into()).unwrap();
    let mut c = DeviceMat::upload(gpu, (&Array2::from_elem((m, n), number(f64::NAN))).into()).unwrap();
    let device = Device::with(gpu).rated(Rates::h200()).choosing(Choice::Gpu);
    device.matmul(Precision::Auto, one, there_a.view().t().into(), (&there).into(), zero, (&mut c).into()).unwrap();
    let c = T::download(c.view()).unwrap();
    check([&a, &b, &c.slice(s![.., ..]).to_owned()], back, epsilon, &format!("{} on the GPU", T::NAME));
}

/// No extent is a multiple of anything that tiles or kernels are.
#[test]
fn g2_prime_extents_on_the_gpu() {
    let test = "device::large::g2_prime_extents_on_the_gpu";
    let Some(gpu) = crate::gpu(test).filter(|gpu| crate::runs_kernels(&gpu.stream().device(), test)) else { return };
    of_type::<f64>(&gpu, |x| x, |x| x, f64::EPSILON);
    of_type::<f32>(&gpu, |x| x as f32, f64::from, f64::from(f32::EPSILON));
}

/// Columns that are parts of the same random numbers, each from another one on.
fn shifted(rows: usize, columns: usize) -> Array2<f32> {
    let numbers = numbers(1, (1 << 20) + 7, 3).mapv(|x| x as f32).into_raw_vec_and_offset().0;
    let mut values = Vec::with_capacity(rows * columns);
    for column in 0..columns {
        let mut at = column * 16_381 % numbers.len();
        while values.len() < (column + 1) * rows {
            let count = (numbers.len() - at).min((column + 1) * rows - values.len());
            values.extend_from_slice(&numbers[at..at + count]);
            at = 0;
        }
    }
    Array2::from_shape_vec((columns, rows), values).unwrap().reversed_axes()
}

fn largest(off: &Array2<f64>) -> f64 {
    off.iter().fold(0.0, |most, x| if x.is_nan() { f64::INFINITY } else { x.abs().max(most) })
}

/// Rows and columns so that there are more elements than 32 bits count.
const TALL: [usize; 2] = [36_000_001, 60];
const SQUARE: usize = 46_400;

/// Has tests run that take minutes, on a GPU.
const LARGE: &str = "TILEWRIGHT_LARGE";

/// A device that takes the GPU for what has 8.6 GB; nothing where nobody asks for that, or there is no room for it.
fn roomy(test: &str) -> Option<Device> {
    let gpu = crate::gpu(test).filter(|gpu| crate::runs_kernels(&gpu.stream().device(), test))?;
    if std::env::var_os(LARGE).is_none() {
        crate::skip(test, "minutes, and TILEWRIGHT_LARGE in the environment");
        return None;
    }
    let [on_gpu, here] = [Budget::device(gpu.stream().device()), Budget::host()].map(|budget| budget.available());
    if on_gpu.min(here) < 60 << 30 {
        crate::skip(test, "60 GiB on the GPU and in host memory");
        return None;
    }
    Some(Device::with(&gpu).rated(Rates::h200()).choosing(Choice::Gpu))
}

/// cuSOLVER counts their elements in 32 bits, and reads and writes elsewhere beyond that: the CPU makes them.
#[test]
fn qr_of_more_than_two_to_the_31_elements_is_the_cpus() {
    let Some(gpu) = crate::gpu("device::large::qr_of_more_than_two_to_the_31_elements_is_the_cpus") else { return };
    let one = Array2::<f32>::ones((1, 1));
    for (rows, columns, is_refused) in
        [(TALL[0], TALL[1], true), (1 << 25, 2, true), (46_341, 46_341, true), ((1 << 25) - 1, 64, false)]
    {
        let a = one.broadcast((rows, columns)).unwrap();
        let device = Device::with(&gpu).rated(Rates::h200());
        let plan = |verb| device.plan_verb::<f32>(verb, (&a).into(), None).unwrap();
        for verb in [Verb::Qr, Verb::LeastSquares] {
            let is_unsupported = matches!(plan(verb).reason, Reason::Unsupported(_));
            assert_eq!(is_unsupported, is_refused, "{verb:?} {rows} x {columns}");
        }
        assert!(!matches!(plan(Verb::Svd).reason, Reason::Unsupported(_)));
        if is_refused {
            let place = Place::Gpu(gpu.clone());
            for error in [
                Qr::factor(&place, (&a).into()).err(),
                device.clone().choosing(Choice::Gpu).qr::<f32>((&a).into()).err(),
            ] {
                assert!(matches!(error, Some(Error::Unsupported { place: "GPU", .. })), "{error:?}");
            }
        }
    }
}

#[test]
fn singular_values_of_more_than_two_to_the_31_elements() {
    let Some(device) = roomy("device::large::singular_values_of_more_than_two_to_the_31_elements") else { return };
    let a = shifted(TALL[0], TALL[1]);
    let squares = device.product((&a.t()).into(), (&a).into()).unwrap().mapv(f64::from);
    let expected = Device::cpu().eigenvalues_hermitian((&squares).into()).unwrap();
    let svd = device.svd((&a).into()).unwrap();
    for (value, square) in svd.values.iter().zip(expected.iter().rev()) {
        assert!((f64::from(*value) / square.sqrt() - 1.0).abs() < 1e-3, "{value} {square}");
    }
    let picked = lines(TALL[0], 9);
    let [u, of_a] = [&svd.u, &a].map(|whole| whole.select(Axis(0), &picked).mapv(f64::from));
    let v = svd.vh.mapv(f64::from);
    let values = Array2::from_diag(&svd.values.iter().map(|value| f64::from(*value)).collect::<ndarray::Array1<_>>());
    let off = largest(&(u.dot(&values).dot(&v) - of_a));
    assert!(off < 1e-2, "off by {off}");
}

/// A multiple of the identity, and of the matrix of ones.
#[test]
fn eigenvalues_of_more_than_two_to_the_31_elements() {
    let Some(device) = roomy("device::large::eigenvalues_of_more_than_two_to_the_31_elements") else { return };
    let mut a = Array2::from_elem((SQUARE, SQUARE), 0.001f32);
    a.diag_mut().mapv_inplace(|x| x + 2.0);
    let values = device.eigenvalues_hermitian((&a).into()).unwrap();
    let most = 2.0 + 0.001 * SQUARE as f32;
    assert!((values[SQUARE - 1] / most - 1.0).abs() < 1e-3, "{}", values[SQUARE - 1]);
    assert!(values[..SQUARE - 1].iter().all(|value| (value - 2.0).abs() < 1e-2));
}

#[test]
fn solutions_of_more_than_two_to_the_31_elements() {
    let Some(device) = roomy("device::large::solutions_of_more_than_two_to_the_31_elements") else { return };
    let mut a = shifted(SQUARE, SQUARE);
    a.diag_mut().mapv_inplace(|x| x + 4000.0);
    let x = numbers(SQUARE, 2, 5).mapv(|x| x as f32);
    let b = device.product((&a).into(), (&x).into()).unwrap();
    let solved = device.solve((&a).into(), (&b).into()).unwrap();
    let off = largest(&(solved - &x).mapv(f64::from));
    assert!(off < 1e-3, "off by {off}");
    // Its lower triangle is that of a definite matrix.
    let cholesky = device.cholesky((&a).into()).unwrap();
    let (l, picked) = (cholesky.l().unwrap(), lines(SQUARE, 9));
    let rows = l.select(Axis(0), &picked).mapv(f64::from);
    let products = rows.dot(&rows.t());
    for (i, row) in picked.iter().enumerate() {
        for (j, column) in picked.iter().enumerate().filter(|(_, column)| *column <= row) {
            let off = products[[i, j]] - f64::from(a[[*row, *column]]);
            assert!(off.abs() < 1e-2, "{row} {column}: off by {off}");
        }
    }
}
