//! A factor that is known by its diagonal, where the other one or the result lies on the GPU: it is scaled there.

use half::f16;
use ndarray::{Array1, Array2};
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, Rates, Reason, last_decision, last_outcome};
use tilewright_hybrid::linear::{DeviceMat, DeviceRef, Gpu, Precision};
use tilewright_hybrid::store::MemorySource;
use tilewright_hybrid::{Complex64, Device, Multiplicand, Operand, Rows, Side};

use super::on_the_gpu::{ROOM, budgets, forced};
use super::{matrix, small};

/// How a matrix is looked at.
type View = fn(DeviceRef<'_, Complex64>) -> DeviceRef<'_, Complex64>;

fn complex(rows: usize, columns: usize, seed: usize) -> Array2<Complex64> {
    let (re, im) = (matrix(rows, columns, seed), matrix(rows, columns, seed + 100));
    Array2::from_shape_fn((rows, columns), |at| Complex64::new(re[at], im[at]))
}

fn numbers(count: usize, seed: usize) -> Vec<Complex64> {
    complex(count, 1, seed).into_iter().collect()
}

fn near(got: &Array2<Complex64>, expected: &Array2<Complex64>, about: &str) {
    let off = (got - expected).iter().fold(0.0, |most: f64, x| most.max(x.norm()));
    assert!(off < 1e-12, "{about}: off by {off:e}");
}

/// Of a link whose copies are waited for longer than a kernel.
fn rates() -> Rates {
    let mut rates = Rates::h200();
    rates.gpu.as_mut().unwrap().link.call_to_host = 20e-6;
    rates
}

/// On the GPU because that is the faster one, in no more memory than was said.
fn scaled(
    gpu: &Gpu,
    [alpha, beta]: [Complex64; 2],
    [a, b]: [Operand<'_, Complex64>; 2],
    before: &Array2<Complex64>,
) -> Array2<Complex64> {
    let room = Budget::new(Memory::Device, ROOM);
    let device = Device::with(gpu).rated(rates()).within(budgets(room.clone()));
    let mut c = DeviceMat::upload(gpu, before.into()).unwrap();
    device.matmul(Precision::Auto, alpha, a, b, beta, (&mut c).into()).unwrap();
    let decision = last_decision().unwrap();
    assert_eq!((decision.side, last_outcome().unwrap().side), (Side::Gpu, Side::Gpu), "{decision}");
    assert_eq!(room.peak(), decision.gpu.unwrap().device_bytes);
    c.download().unwrap()
}

#[test]
fn d6_lines_are_scaled_where_they_lie() {
    let Some(gpu) = crate::gpu("device::scaled::d6_lines_are_scaled_where_they_lie") else { return };
    let (stored, scale) = (complex(7, 5, 1), Complex64::new(0.5, -2.0));
    let there = DeviceMat::upload(&gpu, (&stored).into()).unwrap();
    let views: [(&str, View); 5] = [
        ("plain", |it| it),
        ("transposed", |it| it.t()),
        ("adjoint", |it| it.h()),
        ("conjugated", |it| it.conj()),
        ("scaled adjoint", |it| it.scaled(Complex64::new(0.5, -2.0)).h()),
    ];
    let values: [Array2<Complex64>; 5] = [
        stored.clone(),
        stored.t().to_owned(),
        stored.t().mapv(|x| x.conj()),
        stored.mapv(|x| x.conj()),
        stored.t().mapv(|x| (scale * x).conj()),
    ];
    let (one, zero) = (Complex64::new(1.0, 0.0), Complex64::default());
    let factors = [[one, zero], [Complex64::new(2.0, 1.0), Complex64::new(-1.0, 3.0)], [zero, one], [one, one]];
    for ((name, view), values) in views.iter().zip(&values) {
        let (rows, columns) = values.dim();
        let (left, right) = (numbers(rows, 2), numbers(columns, 3));
        let [full_left, full_right] = [&left, &right].map(|it| Array2::from_diag(&Array1::from(it.clone())));
        for [alpha, beta] in factors {
            // With a beta of 0 nothing of what was there is read.
            let before = match beta == zero {
                true => Array2::from_elem((rows, columns), Complex64::new(f64::NAN, 0.0)),
                false => complex(rows, columns, 4),
            };
            let kept = if beta == zero { Array2::zeros((rows, columns)) } else { before.mapv(|x| beta * x) };
            let a = view(there.view());
            let about = |what: &str| format!("{name} {what} {alpha} {beta}");
            let got = scaled(&gpu, [alpha, beta], [Operand::diagonal(&left), a.into()], &before);
            near(&got, &(full_left.dot(values).mapv(|x| alpha * x) + &kept), &about("rows"));
            let got = scaled(&gpu, [alpha, beta], [a.into(), Operand::diagonal(&right)], &before);
            near(&got, &(values.dot(&full_right).mapv(|x| alpha * x) + &kept), &about("columns"));
            let got = scaled(&gpu, [alpha, beta], [Operand::identity(Rows(rows)), a.into()], &before);
            near(&got, &(values.mapv(|x| alpha * x) + &kept), &about("identity"));
        }
    }
    assert_eq!(there.download().unwrap(), stored);
}

/// Nothing but the diagonal moves, and nothing for an identity; what is wanted elsewhere goes there.
#[test]
fn d6_only_what_is_elsewhere_moves() {
    let Some(gpu) = crate::gpu("device::scaled::d6_only_what_is_elsewhere_moves") else { return };
    let (a, diagonal) = (matrix(60, 40, 1), matrix(60, 1, 2).into_raw_vec_and_offset().0);
    let there = DeviceMat::upload(&gpu, (&a).into()).unwrap();
    let mut c = DeviceMat::upload(&gpu, (&Array2::<f64>::zeros((60, 40))).into()).unwrap();
    let device = small(&gpu, ROOM).rated(rates());
    let expected = Array2::from_shape_fn((60, 40), |(i, j)| diagonal[i] * a[[i, j]]);
    for (left, expected, bytes) in
        [(Operand::diagonal(&diagonal), &expected, 8 * 60), (Operand::identity(Rows(60)), &a, 0)]
    {
        device.matmul(Precision::Auto, 1.0, left, (&there).into(), 0.0, (&mut c).into()).unwrap();
        let traffic = last_outcome().unwrap().traffic;
        assert_eq!((traffic.to_gpu, traffic.to_host), (bytes, 0));
        assert_eq!(c.download().unwrap(), expected);
        // Into host memory, and from a store.
        assert_eq!(&forced(&gpu).product(left, (&there).into()).unwrap(), expected);
        let traffic = last_outcome().unwrap().traffic;
        assert_eq!((traffic.to_gpu, traffic.to_host), (bytes, 8 * 60 * 40));
        let source = MemorySource::new(a.view());
        forced(&gpu).matmul(Precision::Auto, 1.0, left, (&source).into(), 0.0, (&mut c).into()).unwrap();
        assert_eq!(c.download().unwrap(), expected);
    }
    // What lies in host memory and stays there is the CPU's.
    device.product(Operand::diagonal(&diagonal), (&a).into()).unwrap();
    let decision = last_decision().unwrap();
    assert_eq!((decision.side, decision.reason), (Side::Cpu, Reason::Unsupported("the CPU scales rows and columns")));
}

/// Special numbers meet what is on the diagonal alone, on the GPU too.
#[test]
fn g12_special_numbers_meet_the_diagonal_alone_on_the_gpu() {
    let Some(gpu) = crate::gpu("device::scaled::g12_special_numbers_meet_the_diagonal_alone_on_the_gpu") else {
        return;
    };
    let a = ndarray::array![[f64::NAN, 1.0], [2.0, f64::INFINITY]];
    let there = DeviceMat::upload(&gpu, (&a).into()).unwrap();
    let c = forced(&gpu).product(Operand::diagonal(&[0.0, 3.0]), (&there).into()).unwrap();
    assert!(c[[0, 0]].is_nan() && c[[0, 1]] == 0.0 && c[[1, 0]] == 6.0 && c[[1, 1]] == f64::INFINITY, "{c}");
}

fn of_type<T: Multiplicand>(gpu: &Gpu, number: fn(f64) -> T, side: Side) {
    let a = matrix(4, 6, 5).mapv(number);
    let there = DeviceMat::upload(gpu, (&a).into()).unwrap();
    let diagonal = [1.0, -2.0, 3.0, 0.5].map(number);
    let device = small(gpu, ROOM).rated(rates()).choosing(Choice::Auto);
    let c = device.product(Operand::diagonal(&diagonal), (&there).into()).unwrap();
    assert_eq!(c, device.product(Operand::diagonal(&diagonal), (&a).into()).unwrap(), "{}", T::NAME);
    let mut stays = DeviceMat::upload(gpu, (&a).into()).unwrap();
    let (one, zero) = (number(1.0).widened(), number(0.0).widened());
    let left = Operand::diagonal(&diagonal);
    device.matmul(Precision::Auto, one, left, (&there).into(), zero, (&mut stays).into()).unwrap();
    assert_eq!(last_outcome().unwrap().side, side, "{}", T::NAME);
    assert_eq!(T::download(stays.view()).unwrap(), c, "{}", T::NAME);
}

/// Halves have no routine there, and are scaled by the CPU.
#[test]
fn d6_diagonals_of_every_type_on_the_gpu() {
    let Some(gpu) = crate::gpu("device::scaled::d6_diagonals_of_every_type_on_the_gpu") else { return };
    of_type::<f32>(&gpu, |x| x as f32, Side::Gpu);
    of_type::<f64>(&gpu, |x| x, Side::Gpu);
    of_type::<tilewright_hybrid::Complex32>(&gpu, |x| tilewright_hybrid::Complex32::new(x as f32, 0.0), Side::Gpu);
    of_type::<Complex64>(&gpu, |x| Complex64::new(x, 0.0), Side::Gpu);
    of_type::<f16>(&gpu, f16::from_f64, Side::Cpu);
    of_type::<half::bf16>(&gpu, half::bf16::from_f64, Side::Cpu);
}
