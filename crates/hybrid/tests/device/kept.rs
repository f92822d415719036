//! What is asked of factors that are kept: it is decided, budgeted and recorded as other operations are.

use ndarray::Array2;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::{Reason, last_decision, last_outcome};
use tilewright_hybrid::faults::{Breaker, Condition, Settings};
use tilewright_hybrid::linear::{DeviceMat, Scalar};
use tilewright_hybrid::store::{MemorySink, MemorySource};
use tilewright_hybrid::{Complex32, Complex64, Device, Error, Operand, Rows, Side};

use super::on_the_gpu::{ROOM, budgets, eager};
use super::verbs::regular;
use super::{matrix, near};

/// Numbers whose imaginary parts real types do not have.
fn of_type<T: Scalar>(real: &Array2<f64>) -> Array2<T> {
    Array2::from_shape_fn(real.dim(), |(i, j)| {
        T::nearest(Complex64::new(real[[i, j]], real[[j % real.nrows(), i % real.ncols()]]))
    })
}

fn wide<T: Scalar>(values: &Array2<T>) -> Array2<Complex64> {
    values.mapv(Scalar::wide)
}

fn adjoint(values: &Array2<Complex64>) -> Array2<Complex64> {
    values.t().mapv(|x| x.conj())
}

/// What is asked of factors of either side, by operands wherever they lie.
fn asked<T: Scalar>(device: &Device, side: Side) {
    let (a, tall, right) =
        (of_type::<T>(&regular(13, 1)), of_type::<T>(&matrix(21, 8, 3)), of_type::<T>(&matrix(21, 2, 6)));
    let (b, wide_a) = (of_type::<T>(&matrix(13, 4, 4)), wide(&a));
    let definite = wide_a.dot(&adjoint(&wide_a)).mapv(T::nearest);
    let close = |got: &Array2<Complex64>, expected: &Array2<T>| {
        let (scale, expected) = (wide(&a).iter().fold(1.0, |most: f64, x| most.max(x.norm())), wide(expected));
        assert_eq!(got.dim(), expected.dim(), "{}", T::NAME);
        let off = (got - &expected).iter().fold(0.0, |most: f64, x| most.max(x.norm()));
        assert!(off < 1e3 * T::EPSILON * scale, "{}: off by {off:e}", T::NAME);
    };
    let was_kept = |operation: &str| {
        let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
        assert_eq!((decision.operation, decision.side, decision.reason), (operation, side, Reason::Kept), "{decision}");
        assert_eq!((outcome.side, outcome.why.is_none(), outcome.tiles.is_none()), (side, true, true), "{outcome:?}");
    };
    let lu = device.lu((&a).into()).unwrap();
    let cholesky = device.cholesky((&definite).into()).unwrap();
    let qr = device.qr((&tall).into()).unwrap();
    assert_eq!([lu.side(), cholesky.side(), qr.side()], [side; 3]);
    let (stored, mut sink) = (MemorySource::new(b.view()), Array2::from_elem((13, 4), T::from_f64(f64::NAN)));
    for b in [Operand::from(&b), (&stored).into()] {
        close(&wide_a.dot(&wide(&lu.solve(b).unwrap())), &of_type::<T>(&matrix(13, 4, 4)));
        was_kept("solve");
        close(
            &wide(&definite).dot(&wide(&cholesky.solve(b).unwrap())).mapv(|x| x / 1e3),
            &of_type::<T>(&matrix(13, 4, 4)).mapv(|x| T::nearest(x.wide() / 1e3)),
        );
        was_kept("solve");
        close(&adjoint(&wide_a).dot(&wide(&lu.solve_adjoint(b).unwrap())), &of_type::<T>(&matrix(13, 4, 4)));
        lu.solve_into(b, MemorySink::new(sink.view_mut()).into()).unwrap();
        close(&wide_a.dot(&wide(&sink)), &of_type::<T>(&matrix(13, 4, 4)));
        was_kept("solve");
    }
    let one = Array2::from_shape_fn((13, 13), |(i, j)| if i == j { T::ONE } else { T::ZERO });
    close(&wide_a.dot(&wide(&lu.inverse().unwrap())), &one);
    was_kept("inverse");
    let mut inverse = Array2::from_elem((13, 13), T::from_f64(f64::NAN));
    cholesky.solve_into(Operand::identity(Rows(13)), (&mut inverse).into()).unwrap();
    was_kept("inverse");
    assert_eq!(inverse, cholesky.inverse().unwrap());
    close(&wide(&definite).dot(&wide(&inverse)), &one);
    assert!((0.01..1.0).contains(&lu.reciprocal_condition().unwrap()));
    was_kept("reciprocal_condition");
    let q = wide(&qr.q().unwrap());
    was_kept("q");
    close(&q.dot(&wide(&qr.r().unwrap())), &tall);
    let x = wide(&qr.least_squares((&right).into()).unwrap());
    was_kept("least_squares");
    // What is left is orthogonal to all columns.
    close(&adjoint(&q).dot(&(wide(&tall).dot(&x) - wide(&right))), &Array2::from_elem((8, 2), T::ZERO));
}

fn of_every_type(device: &Device, side: Side) {
    asked::<f32>(device, side);
    asked::<f64>(device, side);
    asked::<Complex32>(device, side);
    asked::<Complex64>(device, side);
}

#[test]
fn factors_in_host_memory_are_asked_there() {
    of_every_type(&Device::cpu(), Side::Cpu);
    let lu = Device::cpu().lu((&regular(5, 1)).into()).unwrap();
    let error = lu.solve((&matrix(4, 2, 1)).into()).unwrap_err();
    assert!(matches!(error, Error::Shape { operation: "solve", what: "rows of b", expected: 5, got: 4 }), "{error}");
    let mut x = Array2::from_elem((5, 3), 7.0);
    let error = lu.solve_into((&matrix(5, 2, 1)).into(), (&mut x).into()).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "columns of x", expected: 2, got: 3, .. }), "{error}");
    let error = lu.solve_into(Operand::diagonal(&[1.0; 5]), (&mut regular(5, 2)).into()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let singular = Device::cpu().lu((&Array2::<f64>::ones((5, 5))).into()).unwrap();
    assert!(matches!(singular.solve((&matrix(5, 2, 1)).into()), Err(Error::Singular { pivot: 1, size: 5 })));
    assert!(matches!(singular.solve_into((&matrix(5, 3, 1)).into(), (&mut x).into()), Err(Error::Singular { .. })));
    assert!(x.iter().all(|x| *x == 7.0), "what was there is left");
}

#[test]
fn factors_on_a_gpu_are_asked_there() {
    let Some(gpu) = crate::gpu("device::kept::factors_on_a_gpu_are_asked_there") else { return };
    let (room, breaker) = (Budget::new(Memory::Device, ROOM), Breaker::new(0, Settings::default()));
    let device = eager(&gpu, budgets(room.clone()), &breaker);
    of_every_type(&device, Side::Gpu);
    assert_eq!(room.used(), 0);
    assert_eq!((breaker.health().failures, breaker.health().fallbacks), (0, 0));
    // What lies there stays there.
    let (a, b) = (regular(20, 1), matrix(20, 3, 2));
    let (lu, there) = (device.lu((&a).into()).unwrap(), DeviceMat::upload(&gpu, (&b).into()).unwrap());
    let kept = room.used();
    let mut x = DeviceMat::upload(&gpu, (&b).into()).unwrap();
    lu.solve_into((&there).into(), (&mut x).into()).unwrap();
    let (decision, traffic) = (last_decision().unwrap(), last_outcome().unwrap().traffic);
    assert_eq!((decision.gpu.unwrap().device_bytes, traffic.to_gpu, traffic.to_host), (8 * 60, 0, 0));
    assert_eq!((room.used(), room.peak() >= kept + 8 * 60), (kept, true));
    near(&a.dot(&x.download().unwrap()).mapv(Complex64::from), &b.mapv(Complex64::from));
    lu.solve_into(Operand::identity(Rows(20)), (&mut DeviceMat::upload(&gpu, (&a).into()).unwrap()).into()).unwrap();
    assert_eq!(last_decision().unwrap().operation, "inverse");
}

#[test]
fn factors_come_to_the_host_where_the_gpu_has_no_room_for_what_is_asked() {
    let Some(gpu) = crate::gpu("device::kept::factors_come_to_the_host_where_the_gpu_has_no_room_for_what_is_asked")
    else {
        return;
    };
    let (a, tall) = (of_type::<Complex64>(&regular(13, 1)), of_type::<Complex64>(&matrix(21, 8, 3)));
    let (b, right) = (of_type::<Complex64>(&matrix(13, 4, 4)), of_type::<Complex64>(&matrix(21, 2, 6)));
    let definite = a.dot(&adjoint(&a));
    let (room, host) = (Budget::new(Memory::Device, ROOM), Budget::new(Memory::Host, 1 << 20));
    let breaker = Breaker::new(0, Settings::default());
    let device = eager(&gpu, budgets(room.clone()), &breaker).falling_back_within(host.clone());
    let lu = device.lu((&a).into()).unwrap();
    let (cholesky, qr) = (device.cholesky((&definite).into()).unwrap(), device.qr((&tall).into()).unwrap());
    let asked: [&dyn Fn() -> Result<Array2<Complex64>, Error>; 5] = [
        &|| lu.solve((&b).into()),
        &|| cholesky.solve((&b).into()),
        &|| cholesky.inverse(),
        &|| qr.least_squares((&right).into()),
        &|| qr.q(),
    ];
    let on = |side: Side, reason: Reason| {
        asked.map(|asked| {
            let result = asked().unwrap();
            let (decision, outcome) = (last_decision().unwrap(), last_outcome().unwrap());
            assert_eq!((decision.reason, outcome.side), (reason, side), "{decision}");
            result
        })
    };
    let there = on(Side::Gpu, Reason::Kept);
    let others = room.try_acquire(room.available()).unwrap();
    let here = on(Side::Cpu, Reason::TooLarge);
    there.iter().zip(&here).for_each(|(there, here)| near(there, here));
    near(&a.dot(&here[0]), &b);
    // They are still there, and what came was counted.
    assert_eq!((lu.side(), host.used(), host.peak() >= 16 * 21 * 8), (Side::Gpu, 0, true));
    let all = host.try_acquire(host.available() - (16 * 13 * 13 - 1)).unwrap();
    let error = lu.solve((&b).into()).unwrap_err();
    assert!(matches!(error, Error::Budget { what: "host memory", .. }), "{error}");
    drop((all, others));
    on(Side::Gpu, Reason::Kept);
    assert_eq!((breaker.health().failures, breaker.health().condition), (0, Condition::Closed));
}
