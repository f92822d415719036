//! Products and factors too large for a reference of all elements: of random rows and columns, in f64.

use ndarray::{Array2, s};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates, last_outcome};
use tilewright_hybrid::linear::{DeviceMat, Precision};
use tilewright_hybrid::stream::Budgets;
use tilewright_hybrid::{Device, Multiplicand, Operand};

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

/// Some routines of cuSOLVER count elements in 32 bits.
#[test]
fn qr_of_more_than_two_to_the_31_elements() {
    let test = "device::large::qr_of_more_than_two_to_the_31_elements";
    let Some(gpu) = crate::gpu(test).filter(|gpu| crate::runs_kernels(&gpu.stream().device(), test)) else { return };
    let [on_gpu, here] = [Budget::device(gpu.stream().device()), Budget::host()].map(|budget| budget.available());
    if on_gpu.min(here) < 60 << 30 {
        return crate::skip(test, "60 GiB on the GPU and in host memory");
    }
    let (rows, columns) = (36_000_001, 60);
    let a = shifted(rows, columns);
    let x = numbers(columns, 2, 5).mapv(|x| x as f32);
    let device = Device::with(&gpu).rated(Rates::h200()).choosing(Choice::Gpu);
    let b = device.product((&a).into(), (&x).into()).unwrap();
    let qr = device.qr((&a).into()).unwrap();
    let off = (qr.least_squares((&b).into()).unwrap() - &x).iter().fold(0.0, |most: f32, x| most.max(x.abs()));
    assert!(off < 1e-3, "solutions are off by {off}");
    let (q, r) = (qr.q().unwrap(), qr.r().unwrap());
    drop(qr);
    let picked = lines(rows, 9);
    let [of_q, of_a] = [&q, &a].map(|whole| whole.select(ndarray::Axis(0), &picked).mapv(f64::from));
    let off = (of_q.dot(&r.mapv(f64::from)) - of_a).iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    assert!(off < 1e-3, "products of factors are off by {off}");
    let gram = device.product((&q.t()).into(), (&q).into()).unwrap();
    let off = (gram - Array2::<f32>::eye(columns)).iter().fold(0.0, |most: f32, x| most.max(x.abs()));
    assert!(off < 1e-2, "columns are off being orthonormal by {off}");
}
