//! Operations of verbs, against loops that count those of textbook algorithms.

use tilewright_hybrid::dispatch::{Choice, Decision, Job, Rates, Verb};
use tilewright_hybrid::{Class, Columns, Complex64, Error, Rows, Shape, Side};

fn job(verb: Verb, rows: usize, columns: usize, right: usize) -> Job {
    Job::verb::<f64>(verb, Shape::new(Rows(rows), Columns(columns)), Columns(right)).unwrap()
}

/// Divisions, and a multiplication and a subtraction for each element of what is left, column by column.
fn elimination(rows: usize, columns: usize) -> f64 {
    let step = |k: usize| (rows - k - 1) as f64 * (1.0 + 2.0 * (columns - k - 1) as f64);
    (0..rows.min(columns)).map(step).sum()
}

/// Each column is divided by a root, and its products are subtracted from the columns right of it, down from the diagonal.
fn cholesky(size: usize) -> f64 {
    let column = |k: usize| (size - k) as f64 + (k + 1..size).map(|j| 2.0 * (size - j) as f64).sum::<f64>();
    (0..size).map(column).sum()
}

/// Each reflection is a dot product and an update with every column right of it.
fn reflections(rows: usize, columns: usize) -> f64 {
    (0..rows.min(columns)).map(|k| 4.0 * (rows - k) as f64 * (columns - k) as f64).sum()
}

fn close(got: f64, counted: f64) -> bool {
    (got / counted - 1.0).abs() < 0.03
}

#[test]
fn factorisations_have_the_operations_of_their_loops() {
    for (rows, columns) in [(300, 300), (400, 250), (250, 400)] {
        assert!(close(job(Verb::Lu, rows, columns, 0).flops, elimination(rows, columns)), "{rows} x {columns}");
        assert!(close(job(Verb::Qr, rows, columns, 0).flops, reflections(rows, columns)), "{rows} x {columns}");
    }
    assert!(close(job(Verb::Cholesky, 300, 300, 0).flops, cholesky(300)));
    // Two triangles for each right-hand side; the inverse has as many as columns.
    let solved = |right| elimination(300, 300) + 2.0 * 300.0 * 300.0 * right;
    assert!(close(job(Verb::Solve, 300, 300, 7).flops, solved(7.0)));
    assert!(close(job(Verb::Inverse, 300, 300, 0).flops, solved(300.0)));
}

#[test]
fn what_memory_binds_is_counted_apart() {
    // For each column of a symmetric matrix a product of the rest with a vector, of which half the elements are read.
    let symmetric: f64 = (0..300).map(|k| (300.0 - k as f64).powi(2) / 2.0 * 8.0).sum();
    let values = job(Verb::EigenvaluesHermitian, 300, 300, 0);
    assert!(close(values.swept, symmetric), "{} {symmetric}", values.swept);
    // Of a general one two: from the left and from the right.
    let general: f64 = (0..250).map(|k| 2.0 * (400.0 - k as f64) * (250.0 - k as f64) * 8.0).sum();
    let singular = job(Verb::SingularValues, 400, 250, 0);
    assert!(close(singular.swept, general), "{} {general}", singular.swept);
    assert_eq!(job(Verb::SingularValues, 250, 400, 0).swept, singular.swept, "by the adjoint");
    assert!(job(Verb::Svd, 400, 250, 0).flops > 3.0 * singular.flops);
    assert!(job(Verb::Eigen, 300, 300, 0).flops > job(Verb::Eigenvalues, 300, 300, 0).flops);
}

#[test]
fn complex_numbers_are_four_times_the_work_and_twice_the_bytes() {
    let shape = Shape::new(Rows(100), Columns(100));
    let complex = Job::verb::<Complex64>(Verb::Solve, shape, Columns(3)).unwrap();
    let real = job(Verb::Solve, 100, 100, 3);
    assert_eq!((complex.flops, complex.bytes()), (4.0 * real.flops, 2 * real.bytes()));
    assert_eq!(complex.device_bytes, 2 * real.device_bytes);
}

#[test]
fn small_systems_stay_and_large_ones_go() {
    let side =
        |size, verb| Decision::of(&job(verb, size, size, 1), Choice::Auto, &Rates::h200(), 100 << 30).unwrap().side;
    for verb in [Verb::Solve, Verb::Inverse, Verb::Cholesky, Verb::EigenHermitian, Verb::Svd] {
        assert_eq!((side(64, verb), side(16_384, verb)), (Side::Cpu, Side::Gpu), "{verb:?}");
    }
    // A column at a time, a GPU does nothing quickly: what it would take is no less than its launches.
    let narrow = Decision::of(&job(Verb::Lu, 4000, 4000, 0), Choice::Gpu, &Rates::h200(), 1 << 30).unwrap();
    assert!(narrow.cost().compute > 4000.0 * 2e-6, "{narrow}");
}

#[test]
fn f7_what_does_not_fit_as_a_whole_is_streamed_or_stays_on_the_cpu() {
    let (solve, factor) = (job(Verb::Solve, 20_000, 20_000, 1), job(Verb::Qr, 20_000, 20_000, 0));
    let bytes = 20_000u64 * 20_000 * 8;
    for step in 0..12 {
        let budget = (bytes as f64 * (0.3 + 2.7 * f64::from(step) / 11.0)) as u64;
        let decided = |job, choice| Decision::of(job, choice, &Rates::h200(), budget);
        let decision = decided(&solve, Choice::Auto).unwrap();
        let fits = solve.device_bytes <= budget;
        assert_eq!((decision.side, decision.gpu.unwrap().tiles.is_none()), (Side::Gpu, fits), "{budget}: {decision}");
        assert!(fits == (budget > bytes) && decision.gpu.unwrap().device_bytes <= budget);
        // Reflections are not made in panels.
        let (decision, forced) = (decided(&factor, Choice::Auto).unwrap(), decided(&factor, Choice::Gpu));
        assert_eq!(decision.side, if fits { Side::Gpu } else { Side::Cpu }, "{budget}: {decision}");
        assert_eq!(forced.is_ok(), fits);
        if let Err(error) = forced {
            assert_eq!(error.class(), Class::Resource, "{error}");
        }
    }
}

#[test]
fn d9_sizes_of_verbs_never_wrap() {
    let of = |rows, columns| Job::verb::<f64>(Verb::Svd, Shape::new(Rows(rows), Columns(columns)), Columns(1));
    assert_eq!(of(46_341, 46_341).unwrap().read[0].unwrap().bytes, 46_341 * 46_341 * 8);
    assert!(matches!(of(1 << 31, 1 << 31).unwrap_err(), Error::TooLarge { rows, .. } if rows == 1 << 31));
    assert!(of(usize::MAX, 2).is_err());
    assert_eq!(of(0, 5).unwrap().flops, 0.0);
}
