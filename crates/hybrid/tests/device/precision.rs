//! What the rate of a device in f64 decides: where operations of f64 run, how systems are solved, and what to prefer; never the arithmetic.

use super::verbs::{near, regular};
use ndarray::Array2;
use tilewright_hybrid::dispatch::{At, Choice, Decision, Job, ProductExtents, Rates, Unit, last_decision};
use tilewright_hybrid::linear::{Place, Precision, solve};
use tilewright_hybrid::{Device, Side};

/// An H200, or the same with f64 at this part of the rate of f32.
fn rates(f64_of_f32: f64) -> Rates {
    let mut rates = Rates::h200();
    if let Some(gpu) = &mut rates.gpu {
        gpu.processor.flops.f64 = f64_of_f32 * gpu.processor.flops.f32;
    }
    rates
}

#[test]
fn auto_goes_where_the_rate_in_f64_says() {
    let side = |(element, bytes, unit), rates: &Rates| {
        let extents = ProductExtents { rows: 4096, columns: 4096, depth: 4096 };
        let job = Job::matmul((element, bytes, unit), extents, [At::Pinned; 3], false).unwrap();
        Decision::of(&job, Choice::Auto, rates, 1 << 36).unwrap().side
    };
    let (double, single) = (("f64", 8, Unit::F64), ("f32", 4, Unit::F32));
    // 1:1 as data centres have, 1:64 as other cards do, which 16 cores beat.
    assert_eq!((side(double, &rates(1.0)), side(double, &rates(1.0 / 64.0))), (Side::Gpu, Side::Cpu));
    assert_eq!((side(single, &rates(1.0)), side(single, &rates(1.0 / 64.0))), (Side::Gpu, Side::Gpu));
}

#[test]
fn what_is_preferred_follows_the_measured_rate() {
    assert_eq!(Rates::h200().preferred_precision(), Precision::F64);
    for (part, preferred) in [(1.0, Precision::F64), (0.49, Precision::F64), (1.0 / 32.0, Precision::F32)] {
        assert_eq!(rates(part).preferred_precision(), preferred, "{part}");
    }
    assert_eq!(Rates::of_cores(2).preferred_precision(), Precision::F64);
}

#[test]
fn a_system_is_solved_by_factors_in_f32_where_f64_is_slow() {
    let (a, b) = (regular(40, 1), super::matrix(40, 3, 2));
    let device = |slow: f64| {
        let mut rates = Rates::of_cores(2);
        rates.cpu.flops.f32 = 120e6;
        rates.cpu.flops.f64 = 120e6 / slow;
        Device::cpu().rated(rates)
    };
    let expected = solve(&Place::Cpu, (&a).into(), (&b).into()).unwrap();
    for (slow, operation) in [(1.0, "solve"), (64.0, "solve_refined")] {
        near(&device(slow).solve_auto((&a).into(), (&b).into()).unwrap(), &expected);
        assert_eq!(last_decision().unwrap().operation, operation, "{slow}");
    }
    // What f32 cannot hold on to is solved in f64 after all.
    let hilbert = Array2::from_shape_fn((9, 9), |(i, j)| 1.0 / (i + j + 1) as f64);
    let right = hilbert.dot(&Array2::<f64>::ones((9, 1)));
    let x = device(64.0).solve_auto((&hilbert).into(), (&right).into()).unwrap();
    assert_eq!(last_decision().unwrap().operation, "solve");
    assert!((&hilbert.dot(&x) - &right).iter().all(|off| off.abs() < 1e-14));
}
