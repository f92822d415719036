//! What lies on the GPU, and is computed with there; and what is widened on its way through it.

use crate::ledger::{Entry, Ledger, Stubs};
use ndarray::{Array2, s};
use tilewright_driver::Device as Driver;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Choice, last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Settings};
use tilewright_hybrid::linear::{DeviceMat, Gpu, Precision};
use tilewright_hybrid::store::MemorySource;
use tilewright_hybrid::{Class, Columns, Complex32, Complex64, Device, Error, Operand, Rows, Side, Target};

use super::on_the_gpu::{ROOM, budgets, eager, forced, shrinking};
use super::verbs::{definite, each_of, matrices, near, norms, regular};
use super::{matrix, small};

/// What lies on the GPU is computed with there, or comes to the host where the CPU is asked for, within its budget.
#[test]
fn d1_d4_every_verb_of_what_lies_on_the_gpu() {
    let Some(gpu) = crate::gpu("device::resident::d1_d4_every_verb_of_what_lies_on_the_gpu") else { return };
    let matrices = matrices();
    let there = matrices.each_ref().map(|values| DeviceMat::upload(&gpu, values.into()).unwrap());
    let device = forced(&gpu);
    each_of(&device, Side::Gpu, there.each_ref().map(Operand::from));
    let host = Budget::new(Memory::Host, 1 << 20);
    let cpu = device.clone().choosing(Choice::Cpu).falling_back_within(host.clone());
    each_of(&cpu, Side::Cpu, there.each_ref().map(Operand::from));
    // A matrix that is read transposed, as it is stored and turned, and its singular value decomposition.
    assert_eq!((host.used(), host.peak()), (0, 8 * (2 * 21 * 8 + 21 * 8 + 8 * 8 + 8)));
    norms(&cpu, &matrices[2], (&there[2]).into());
    // Nothing of it was changed.
    for (values, there) in matrices.iter().zip(&there) {
        assert_eq!(there.download().unwrap(), values);
    }
    let short = cpu.falling_back_within(Budget::new(Memory::Host, 8 * 13 * 13 - 1));
    let error = short.inverse((&there[0]).into()).unwrap_err();
    assert!(matches!(error, Error::Budget { requested: 1352, available: 1351, .. }), "{error}");
    // Some here and some there; the decision counts what moves.
    let (a, b) = (Operand::from(&there[0]), Operand::from(&matrices[3]));
    near(&matrices[0].dot(&device.solve(a, b).unwrap()), &matrices[3]);
    let mixed = last_decision().unwrap().gpu.unwrap().cost.bring;
    near(&matrices[0].dot(&device.solve((&matrices[0]).into(), b).unwrap()), &matrices[3]);
    let here = last_decision().unwrap();
    assert!(mixed > 0.0 && mixed < here.gpu.unwrap().cost.bring, "{here}");
    device.solve(a, (&there[3]).into()).unwrap();
    let decision = last_decision().unwrap();
    assert!(decision.gpu.unwrap().cost.bring == 0.0 && decision.cpu.bring > here.cpu.bring, "{decision}");
    assert_eq!((device.health().unwrap().failures, device.health().unwrap().fallbacks), (0, 0));
}

/// Rows of a transposed matrix are there twice while they are turned, before columns of the other factor come.
#[test]
fn d2_parts_that_are_turned_on_the_host_are_counted_twice() {
    let test = "device::resident::d2_parts_that_are_turned_on_the_host_are_counted_twice";
    let Some(gpu) = crate::gpu(test) else { return };
    let (a, b) = (matrix(9, 6, 1), matrix(6, 5, 2));
    let there = DeviceMat::upload(&gpu, (&a.t()).into()).unwrap();
    let of_b = MemorySource::new(b.view());
    let multiply = |bytes: u64| {
        let (host, mut c) = (Budget::new(Memory::Host, bytes), Array2::zeros((9, 5)));
        let device = Device::cpu().falling_back_within(host.clone());
        device.matmul(Precision::Auto, 1.0, there.view().t().into(), (&of_b).into(), 0.0, (&mut c).into())?;
        assert_eq!((c, host.used()), (a.dot(&b), 0));
        Ok::<_, Error>(host.peak())
    };
    let result = 8 * 9 * 5;
    assert_eq!(multiply(1 << 20).unwrap(), result + 8 * 2 * 9 * 6);
    assert_eq!(multiply(result + 8 * 2 * 6).unwrap(), result + 8 * 2 * 6, "a row at a time");
    let error = multiply(result + 8 * 2 * 6 - 1).unwrap_err();
    assert!(matches!(error, Error::Budget { requested: 96, available: 95, .. }), "{error}");
}

/// Conjugates that are not transposed, which no routine reads as they are, and complex scales, which stay as they are: whole and a part.
#[test]
fn conjugated_and_scaled_views_on_the_gpu() {
    let Some(gpu) = crate::gpu("device::resident::conjugated_and_scaled_views_on_the_gpu") else { return };
    let device = forced(&gpu);
    let complex =
        |re: &Array2<f64>, im: &Array2<f64>| Array2::from_shape_fn(re.dim(), |at| Complex64::new(re[at], im[at]));
    let (a, b) = (complex(&regular(15, 1), &matrix(15, 15, 2)), complex(&matrix(15, 4, 3), &matrix(15, 4, 4)));
    let [there_a, there_b] = [&a, &b].map(|values| DeviceMat::upload(&gpu, values.into()).unwrap());
    let scale = Complex64::new(0.5, 2.0);
    let far = |one: &Array2<Complex64>, other: &Array2<Complex64>| {
        (one - other).iter().fold(0.0, |most: f64, x| most.max(x.norm())) / 200.0
    };
    for side in [15, 12] {
        let corner = |columns: usize| (Rows(0)..Rows(side), Columns(0)..Columns(columns));
        let [(rows, columns), (rows_of_b, columns_of_b)] = [corner(side), corner(4)];
        let view = there_a.view().part(rows, columns).unwrap();
        let right = there_b.view().part(rows_of_b, columns_of_b).unwrap().scaled(scale).conj();
        let conjugates = [view.scaled(scale).conj(), view.conj().scaled(scale)];
        for (view, by) in conjugates.into_iter().zip([scale.conj(), scale]) {
            let values = a.slice(s![..side, ..side]).mapv(|x| by * x.conj());
            let expected = b.slice(s![..side, ..]).mapv(|x| (scale * x).conj());
            assert!(far(&view.download().unwrap(), &values) < 1e-12, "{side} {by}");
            let x = device.solve(view.into(), right.into()).unwrap();
            assert!(far(&values.dot(&x), &expected) < 1e-12, "{side} {by}");
            let svd = device.svd(view.into()).unwrap();
            let scaled = Array2::from_shape_fn(svd.u.dim(), |(i, j)| svd.u[[i, j]] * svd.values[j]);
            assert!(far(&scaled.dot(&svd.vh), &values) < 1e-12, "{side} {by}");
        }
    }
}

/// What is not finite is found there, named as on the CPU, or comes out; lines that are the same are found too.
#[test]
fn g12_f2_odd_matrices_that_lie_on_the_gpu() {
    let Some(gpu) = crate::gpu("device::resident::g12_f2_odd_matrices_that_lie_on_the_gpu") else { return };
    let (device, mut a) = (forced(&gpu), regular(20, 1));
    a[[12, 5]] = f64::NAN;
    let there = DeviceMat::upload(&gpu, (&a).into()).unwrap();
    let operand = Operand::from(&there);
    for error in [device.svd(operand).err(), device.eigenvalues_hermitian(operand).err()] {
        assert!(matches!(error, Some(Error::NotFinite { row: 12, column: 5, .. })), "{error:?}");
    }
    let x = device.solve(operand, (&matrix(20, 1, 2)).into()).unwrap();
    assert!(x.iter().all(|x| x.is_nan()) && device.determinant(operand).unwrap().is_nan());
    assert!(device.reciprocal_condition(operand).unwrap().is_nan());
    // By none of the exchanges that cuSOLVER chose among them.
    assert!(device.inverse(operand).unwrap().iter().all(|x| x.is_nan()));
    assert_eq!(device.lu(operand).unwrap().permutation(), Vec::from_iter(0..20));
    // Above the diagonal of a Hermitian matrix nobody looks.
    let (mut lower, plain) = (definite(20, 3), definite(20, 3));
    lower[[2, 9]] = f64::NAN;
    let there = DeviceMat::upload(&gpu, (&lower).into()).unwrap();
    let values =
        |a: Operand<'_, f64>| Array2::from_shape_vec((20, 1), device.eigenvalues_hermitian(a).unwrap()).unwrap();
    near(&values((&there).into()), &values((&plain).into()));
    near(
        &device.cholesky((&there).into()).unwrap().l().unwrap(),
        &device.cholesky((&plain).into()).unwrap().l().unwrap(),
    );
    let mut twice = regular(32, 3);
    let row = twice.row(7).to_owned();
    twice.row_mut(30).assign(&row);
    let there = DeviceMat::upload(&gpu, (&twice).into()).unwrap();
    let errors = [Operand::from(&twice), (&there).into()].map(|a| device.inverse(a).unwrap_err().to_string());
    assert!(errors[0] == errors[1] && errors[0].contains("singular"), "{errors:?}");
}

/// Solutions, inverses and factors go anywhere, and into the GPU without a way back.
#[test]
fn d4_results_stay_on_the_gpu() {
    let Some(gpu) = crate::gpu("device::resident::d4_results_stay_on_the_gpu") else { return };
    let (a, b, s) = (regular(13, 1), matrix(13, 4, 4), definite(13, 2));
    let upload = |values: &Array2<f64>| DeviceMat::upload(&gpu, values.into()).unwrap();
    let [there_a, there_b, there_s] = [&a, &b, &s].map(upload);
    for (choice, side) in [(Choice::Gpu, Side::Gpu), (Choice::Cpu, Side::Cpu)] {
        let device = forced(&gpu).choosing(choice);
        let made = |shape: (usize, usize), make: &dyn Fn(Target<'_, f64>)| {
            let mut to = upload(&Array2::from_elem(shape, f64::NAN));
            make((&mut to).into());
            assert_eq!(last_outcome().unwrap().side, side);
            to.download().unwrap()
        };
        let x = made((13, 4), &|x| device.solve_into((&there_a).into(), (&there_b).into(), x).unwrap());
        near(&a.dot(&x), &b);
        let gpu_cost = last_decision().unwrap().gpu.unwrap().cost;
        assert_eq!((gpu_cost.bring, gpu_cost.back), (0.0, 0.0), "nothing moves");
        let inverse = made((13, 13), &|x| device.solve_into((&a).into(), Operand::identity(Rows(13)), x).unwrap());
        near(&a.dot(&inverse), &Array2::eye(13));
        let packed = made((13, 13), &|to| _ = device.lu_into((&there_a).into(), to).unwrap());
        let mut here = Array2::from_elem((13, 13), f64::NAN);
        device.lu_into((&there_a).into(), (&mut here).into()).unwrap();
        near(&packed, &here);
        let l = made((13, 13), &|to| device.cholesky_into((&there_s).into(), to).unwrap());
        near(&l.dot(&l.t()), &s);
        assert!(l.indexed_iter().all(|((i, j), x)| i >= j || *x == 0.0));
    }
}

/// The same by what a stub counts, without host memory for any of it; and a budget for what passes through the host on the CPU, exactly.
#[test]
fn d4_results_stay_on_the_gpu_by_count() {
    Stubs::check("device::resident::d4_results_stay_on_the_gpu_by_count", "results stay");
}

pub(crate) fn child_results_stay() {
    let (ledger, gpu) = (Ledger::here(), Gpu::new(&Driver::new(0).unwrap().stream().unwrap()));
    let (size, bytes) = (60, 8 * 60 * 60);
    let (a, s) = (regular(size, 1), definite(size, 2));
    let [there_a, there_s] = [&a, &s].map(|values| DeviceMat::upload(&gpu, values.into()).unwrap());
    let mut to = DeviceMat::upload(&gpu, (&Array2::from_elem((size, size), f64::NAN)).into()).unwrap();
    let device = forced(&gpu).falling_back_within(Budget::new(Memory::Host, 0));
    type Make<'a> = &'a dyn Fn(&Device, Target<'_, f64>) -> Result<(), Error>;
    let lu: Make<'_> = &|device, to| device.lu_into((&there_a).into(), to).map(drop);
    let cholesky: Make<'_> = &|device, to| device.cholesky_into((&there_s).into(), to);
    let inverse: Make<'_> = &|device, to| device.solve_into((&there_a).into(), Operand::identity(Rows(size)), to);
    for make in [lu, cholesky, inverse] {
        let before = ledger.get(Entry::Copied);
        make(&device, (&mut to).into()).unwrap();
        let copied = ledger.get(Entry::Copied) - before;
        assert!(copied < bytes / 4, "diagonals and exchanges alone: {copied}");
        let cost = last_decision().unwrap().gpu.unwrap().cost;
        assert_eq!((cost.bring, cost.back), (0.0, 0.0));
        let got = to.download().unwrap();
        // On the CPU after the GPU had no room.
        let host = |bytes: i64| Budget::new(Memory::Host, bytes as u64);
        let breaker = Breaker::new(0, Settings::default());
        let short = || eager(&gpu, budgets(shrinking(1, 0)), &breaker);
        // The matrix, which comes there, and the result.
        let enough = host(2 * bytes);
        make(&short().falling_back_within(enough.clone()), (&mut to).into()).unwrap();
        assert_eq!(last_outcome().unwrap().side, Side::Cpu);
        assert_eq!((enough.used(), enough.peak() as i64), (0, 2 * bytes));
        near(&to.download().unwrap(), &got);
        let error = make(&short().falling_back_within(host(2 * bytes - 1)), (&mut to).into()).unwrap_err();
        assert_eq!(error.class(), Class::Resource, "{error}");
    }
    // Its norm, which kernels of a stub do not find, passes through the host, and is granted.
    let host = Budget::new(Memory::Host, bytes as u64);
    let short = device.choosing(Choice::Gpu).falling_back_within(Budget::new(Memory::Host, bytes as u64 - 1));
    let error = short.lu((&there_a).into()).err();
    assert!(matches!(error, Some(Error::Budget { requested, .. }) if requested == bytes as u64), "{error:?}");
    let device = short.falling_back_within(host.clone());
    let lu = || drop(device.lu((&there_a).into()).unwrap());
    let condition = || assert!(device.reciprocal_condition((&there_a).into()).unwrap() > 0.0);
    for measure in [&lu as &dyn Fn(), &condition] {
        let before = ledger.get(Entry::Copied);
        measure();
        assert!(ledger.get(Entry::Copied) - before >= bytes);
        assert_eq!(last_decision().unwrap().gpu.unwrap().cost.bring, 0.0, "it is found there");
        assert_eq!((host.used(), host.peak()), (0, bytes as u64));
    }
}

/// Halves are multiplied where they lie, parts and transposed ones too, or come to the CPU.
#[test]
fn halves_lie_anywhere() {
    let Some(gpu) = crate::gpu("device::resident::halves_lie_anywhere") else { return };
    let halves = |a: &Array2<f64>| a.mapv(half::f16::from_f64);
    let (a, b, c) = (matrix(9, 6, 1), matrix(6, 5, 2), matrix(9, 5, 3));
    let upload = |a: &Array2<f64>| DeviceMat::upload(&gpu, (&halves(a)).into()).unwrap();
    let mut framed = Array2::from_elem((8, 12), 77.0);
    framed.slice_mut(s![1..7, 2..11]).assign(&a.t());
    let (there_a, there_b) = (upload(&framed), upload(&b));
    let there_a = there_a.view().part(Rows(1)..Rows(7), Columns(2)..Columns(11)).unwrap().t();
    for (choice, side) in [(Choice::Gpu, Side::Gpu), (Choice::Cpu, Side::Cpu)] {
        let device = small(&gpu, ROOM).choosing(choice);
        for (alpha, beta) in [(3.0, 0.0), (3.0, -2.0), (0.0, -2.0), (0.0, 0.0)] {
            let start = if beta == 0.0 { Array2::from_elem((9, 5), f64::NAN) } else { c.clone() };
            let expected = halves(&(a.dot(&b) * f64::from(alpha) + &c * f64::from(beta)));
            let here = halves(&b);
            for right in [Operand::from(&there_b), (&here).into()] {
                let mut there = upload(&start);
                device.matmul(Precision::Auto, alpha, there_a.into(), right, beta, (&mut there).into()).unwrap();
                let outcome = last_outcome().unwrap();
                assert!(outcome.side == side && outcome.why.is_none(), "{outcome:?}");
                assert_eq!(there.download().unwrap(), expected, "{alpha} {beta}");
            }
        }
        let mut to = upload(&c);
        let wide = device.matmul(Precision::F64, 1.0, there_a.into(), (&there_b).into(), 0.0, (&mut to).into());
        assert_eq!(wide.is_ok(), choice == Choice::Cpu, "{wide:?}");
    }
}

/// Sums of halves are rounded once, however many panels they are made of, and f32 is added in f64 where that is asked for: in tiles too.
#[test]
fn what_is_widened_is_streamed() {
    let Some(gpu) = crate::gpu("device::resident::what_is_widened_is_streamed") else { return };
    let device = small(&gpu, 48 << 10).choosing(Choice::Gpu);
    let is_streamed = || {
        let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
        assert!(decision.gpu.as_ref().unwrap().tiles.is_some() && outcome.side == Side::Gpu, "{decision}");
    };
    // Sums that pass through what a half does not hold: 4096 and ones, which f16 would lose one by one.
    let (rows, depth, columns) = (40, 3000, 30);
    let a = Array2::from_shape_fn((rows, depth), |(_, k)| if k == 0 { 4096.0 } else { f64::from(k as u8 % 2) });
    let b = Array2::from_elem((depth, columns), 1.0);
    let product = a.dot(&b);
    fn check<T: tilewright_hybrid::Multiplicand<Factor = f32>>(
        device: &Device,
        a: &Array2<f64>,
        b: &Array2<f64>,
    ) -> Array2<f64>
    where
        f64: From<T>,
    {
        let of = |values: &Array2<f64>| values.mapv(|x| T::rounded(x as f32));
        device.product((&of(a)).into(), (&of(b)).into()).unwrap().mapv(f64::from)
    }
    let got = check::<half::f16>(&device, &a, &b);
    is_streamed();
    assert_eq!(got, product.mapv(|x| half::f16::from_f64(x).to_f64()));
    let got = check::<half::bf16>(&device, &a, &b);
    is_streamed();
    assert_eq!(got, product.mapv(|x| half::bf16::from_f64(x).to_f64()));
    let mut large = Array2::from_elem((rows, depth), 0.25f32);
    large.column_mut(0).fill(1e9);
    large.column_mut(depth - 1).fill(-1e9);
    let ones = Array2::from_elem((depth, columns), 1.0f32);
    let mut c = Array2::from_elem((rows, columns), 8.0f32);
    device.matmul(Precision::F64, 2.0, (&large).into(), (&ones).into(), 0.5, (&mut c).into()).unwrap();
    is_streamed();
    assert!(c.iter().all(|x| *x == 2.0 * 0.25 * (depth - 2) as f32 + 4.0), "{}", c[[0, 0]]);
    // A vector, and complex numbers.
    let (z, x) = (large.mapv(|x| Complex32::new(0.0, x)), Array2::from_elem((depth, 1), Complex32::new(1.0, 0.0)));
    let mut y = Array2::from_elem((rows, 1), Complex32::new(f32::NAN, 0.0));
    device.matvec(Precision::F64, 1.0.into(), (&z).into(), (&x).into(), 0.0.into(), (&mut y).into()).unwrap();
    is_streamed();
    assert!(y.iter().all(|y| *y == Complex32::new(0.0, 0.25 * (depth - 2) as f32)), "{}", y[[0, 0]]);
}
