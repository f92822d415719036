//! Norms of what lies on the GPU, which kernels compute there.

use ndarray::{Array2, Axis};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates, Reason, last_decision, last_outcome};
use tilewright_hybrid::linear::{DeviceMat, DeviceRef, Gpu, Norm, Scalar};
use tilewright_hybrid::stream::Budgets;
use tilewright_hybrid::{Columns, Complex32, Complex64, Device, Rows, Side};

const KINDS: [Norm; 4] = [Norm::One, Norm::Infinity, Norm::Frobenius, Norm::Max];

/// A GPU that runs kernels.
fn gpu(test: &str) -> Option<Gpu> {
    crate::gpu(test).filter(|gpu| crate::runs_kernels(&gpu.stream().device(), test))
}

fn values<T: Scalar>(rows: usize, columns: usize, seed: usize) -> Array2<T> {
    let part = |at: usize, by: usize| ((at * by + seed) % 1009) as f64 / 504.0 - 1.0;
    Array2::from_shape_fn((rows, columns), |(i, j)| {
        let at = i * 31 + j * 17 + i * j % 7;
        T::nearest(Complex64::new(part(at, 613), part(at, 389)))
    })
}

/// The largest; NaN where one is.
fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |most: f64, value| if most.is_nan() || value <= most { most } else { value })
}

fn expected<T: Scalar>(kind: Norm, a: &Array2<T>) -> f64 {
    let sizes = a.mapv(|x| x.modulus());
    match kind {
        Norm::One => largest(sizes.sum_axis(Axis(0))),
        Norm::Infinity => largest(sizes.sum_axis(Axis(1))),
        Norm::Frobenius => sizes.iter().map(|x| x * x).sum::<f64>().sqrt(),
        _ => largest(sizes),
    }
}

fn near(got: f64, expected: f64, place: &str) {
    let is_same = got.is_nan() && expected.is_nan() || got == expected;
    assert!(is_same || (got - expected).abs() <= 1e-12 * expected.abs(), "{got} where {expected} is: {place}");
}

fn each_kind<T: Scalar>(device: &Device, there: DeviceRef<'_, T>, here: &Array2<T>) {
    for kind in KINDS {
        let place = format!("{} {kind:?} of {:?}", T::NAME, here.dim());
        near(device.norm(kind, there.into()).unwrap(), expected(kind, here), &place);
        let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
        assert_eq!((decision.operation, decision.element, decision.side), ("norm", T::NAME, Side::Gpu));
        // What blocks come to, and nothing of the matrix.
        assert!(outcome.side == Side::Gpu && outcome.traffic.to_host <= 2 * 8 * 1024, "{outcome:?}");
    }
}

fn check<T: Scalar>(gpu: &Gpu) {
    let device = Device::with(gpu).rated(Rates::h200()).choosing(Choice::Gpu);
    let sizes = [
        (1, 1),
        (1, 5001),
        (5001, 1),
        (33, 65),
        (301, 2103),
        (100_003, 3),
        (3, 100_003),
        (1 << 20, 1),
        (2, 31),
        (0, 4),
        (4, 0),
    ];
    for (seed, (rows, columns)) in sizes.into_iter().enumerate() {
        let a = values::<T>(rows, columns, seed);
        let there = DeviceMat::upload(gpu, (&a).into()).unwrap();
        each_kind(&device, there.view(), &a);
        each_kind(&device, there.view().t(), &a.t().to_owned());
        let scale = T::nearest(Complex64::new(-0.75, 2.5));
        each_kind(&device, there.view().h().scaled(scale), &a.t().mapv(|x| x.conjugate().times(scale)));
        if rows > 2 && columns > 2 {
            let part = there.view().part(Rows(1)..Rows(rows - 1), Columns(1)..Columns(columns)).unwrap();
            let here = a.slice(ndarray::s![1..rows - 1, 1..]).to_owned();
            each_kind(&device, part, &here);
            each_kind(&device, part.t(), &here.t().to_owned());
        }
    }
    // What is not finite, wherever it stands, and beside one another.
    for (rows, columns) in [(257, 301), (7, 9000), (9000, 7)] {
        for (at, special) in
            [([0, 0], f64::NAN), ([rows - 1, columns - 1], f64::INFINITY), ([rows / 2, columns / 2], f64::NEG_INFINITY)]
        {
            let mut a = values::<T>(rows, columns, 5);
            a[at] = T::from_f64(special);
            each_kind(&device, DeviceMat::upload(gpu, (&a).into()).unwrap().view(), &a);
            a[[rows - 1, 0]] = T::from_f64(f64::NAN);
            each_kind(&device, DeviceMat::upload(gpu, (&a).into()).unwrap().view(), &a);
        }
    }
}

#[test]
fn norms_of_what_lies_on_the_gpu_are_those_of_their_definition() {
    let test = "device::norms::norms_of_what_lies_on_the_gpu_are_those_of_their_definition";
    let Some(gpu) = gpu(test) else { return };
    check::<f32>(&gpu);
    check::<f64>(&gpu);
    check::<Complex32>(&gpu);
    check::<Complex64>(&gpu);
}

#[test]
fn squares_neither_overflow_nor_vanish() {
    let Some(gpu) = gpu("device::norms::squares_neither_overflow_nor_vanish") else { return };
    let device = Device::with(&gpu).rated(Rates::h200()).choosing(Choice::Gpu);
    for size in [1e300, 1.7e308, 1e-300, 5e-324] {
        let one = DeviceMat::upload(&gpu, (&Array2::from_elem((1, 1), size)).into()).unwrap();
        let four = DeviceMat::upload(&gpu, (&Array2::from_elem((2, 2), size / 4.0)).into()).unwrap();
        near(device.norm(Norm::Frobenius, (&one).into()).unwrap(), size, "one");
        near(device.norm(Norm::Frobenius, (&four).into()).unwrap(), 2.0 * (size / 4.0), "four");
    }
    let complex = Array2::from_elem((1, 1), Complex64::new(3e307, 4e307));
    let there = DeviceMat::upload(&gpu, (&complex).into()).unwrap();
    near(device.norm(Norm::One, (&there).into()).unwrap(), 5e307, "complex");
    let small = Array2::from_elem((3, 5), Complex32::new(3e-45, 0.0));
    let there = DeviceMat::upload(&gpu, (&small).into()).unwrap();
    near(device.norm(Norm::Frobenius, (&there).into()).unwrap(), expected(Norm::Frobenius, &small), "subnormal");
}

/// What is large stays where it is, what is small comes to the CPU sooner, and what has no room on the GPU does too.
#[test]
fn d3_norms_are_computed_where_that_is_faster() {
    let Some(gpu) = gpu("device::norms::d3_norms_are_computed_where_that_is_faster") else { return };
    let device = Device::with(&gpu).rated(Rates::h200());
    for ((rows, columns), side) in [((700, 900), Side::Gpu), ((5, 9), Side::Cpu)] {
        let a = values::<f64>(rows, columns, 1);
        let there = DeviceMat::upload(&gpu, (&a).into()).unwrap();
        for kind in KINDS {
            near(device.norm(kind, (&there).into()).unwrap(), expected(kind, &a), "where it is faster");
            let decision = last_decision().unwrap();
            assert_eq!((decision.side, decision.reason), (side, Reason::Cost), "{decision}");
        }
        let budgets =
            Budgets { device: Budget::new(Memory::Device, 100), pinned: Budget::new(Memory::Pinned, 1 << 20) };
        near(
            device.clone().within(budgets).norm(Norm::One, (&there).into()).unwrap(),
            expected(Norm::One, &a),
            "without room",
        );
        assert_eq!(last_outcome().unwrap().side, Side::Cpu);
    }
}

/// The norm that conditions want is found beside the factors: neither comes to the host.
#[test]
fn conditions_of_what_lies_on_the_gpu_are_found_there() {
    let Some(gpu) = gpu("device::norms::conditions_of_what_lies_on_the_gpu_are_found_there") else { return };
    let mut a = values::<f64>(601, 601, 3);
    a.diag_mut().iter_mut().for_each(|x| *x += 40.0);
    let there = DeviceMat::upload(&gpu, (&a).into()).unwrap();
    let device = Device::with(&gpu).rated(Rates::h200()).choosing(Choice::Gpu);
    let expected = Device::cpu().reciprocal_condition((&a).into()).unwrap();
    for operand in [there.view(), there.view().scaled(-2.0)] {
        let factors = device.lu(operand.into()).unwrap();
        let traffic = last_outcome().unwrap().traffic;
        assert!(traffic.to_host < 8 * 601 * 601 / 4, "{traffic:?}");
        let got = factors.reciprocal_condition().unwrap();
        assert!((got / expected - 1.0).abs() < 1e-9, "{got} {expected}");
    }
}
