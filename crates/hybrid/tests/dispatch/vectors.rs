//! Where batches of products of matrices with vectors run.

use super::GIB;
use tilewright_hybrid::dispatch::{
    At, Bound, Choice, Decision, Job, MatvecExtents, ProductExtents, Rates, Reason, Tiles, Unit,
};
use tilewright_hybrid::{Class, Side};

fn batch(extents: MatvecExtents, at: [At; 3]) -> Job {
    Job::matvec(("f64", 8, Unit::F64), extents, at, false).unwrap()
}

fn decided(job: &Job) -> Decision {
    Decision::of(job, Choice::Auto, &Rates::h200(), 8 * GIB).unwrap()
}

/// 64 GB of matrices go through 8 GiB, if they must: bound by the link, which is slower than the memory that they lie in.
#[test]
fn d4_a_batch_larger_than_the_gpu_stays_on_the_cpu_and_says_what_binds_the_gpu() {
    let extents = MatvecExtents { count: 2000, rows: 2000, columns: 2000 };
    for at in [At::Pageable, At::Pinned] {
        let job = batch(extents, [at; 3]);
        let decision = decided(&job);
        assert_eq!((decision.side, decision.reason), (Side::Cpu, Reason::Cost), "{decision}");
        let gpu = decision.gpu.unwrap();
        assert!(matches!(gpu.tiles, Some(Tiles::Matvec(_))) && gpu.device_bytes <= 8 * GIB, "{gpu:?}");
        assert_eq!(gpu.cost.bound(), Bound::Bring);
        // Each byte crosses the link once.
        let bytes = 8.0 * 2000f64.powi(2) * 2001.0;
        assert!((gpu.cost.wall / (bytes / 55e9) - 1.0).abs() < 0.01, "{gpu:?}");
        let forced = Decision::of(&job, Choice::Gpu, &Rates::h200(), 8 * GIB).unwrap();
        assert_eq!((forced.side, forced.reason), (Side::Gpu, Reason::Asked));
        let text = forced.to_string();
        assert!(text.contains("bound=bring") && text.ends_with("streamed in 1000 panels of 2 matrices"), "{text}");
    }
}

/// One matrix costs the CPU what the same product does; where it does not fit, its rows go to the GPU in panels.
#[test]
fn d4_one_matrix_is_the_same_as_a_product_with_one_column() {
    let extents = MatvecExtents { count: 1, rows: 100_000, columns: 70_000 };
    let one = decided(&batch(extents, [At::Pageable; 3]));
    let product = ProductExtents { rows: 100_000, columns: 1, depth: 70_000 };
    let product = decided(&Job::matmul(("f64", 8, Unit::F64), product, [At::Pageable; 3], false).unwrap());
    assert_eq!((one.cpu, one.bytes), (product.cpu, product.bytes));
    let Some(Tiles::Matvec(plan)) = one.gpu.unwrap().tiles else { panic!("{one}") };
    assert!(plan.matrices == 1 && plan.rows * 70_000 * 8 <= 64 << 20, "{plan:?}");
    // A row is eight times what there is: parts of rows.
    let job = batch(MatvecExtents { count: 1, rows: 10, columns: 1 << 20 }, [At::Pageable; 3]);
    let narrow = Decision::of(&job, Choice::Gpu, &Rates::h200(), 1 << 20).unwrap();
    assert!(matches!(narrow.gpu.unwrap().tiles, Some(Tiles::Product(_))), "{narrow}");
}

#[test]
fn d9_batches_that_no_address_counts_are_refused() {
    for extents in [[usize::MAX, 2, 1], [1 << 30, 1 << 20, 1 << 20], [2, 1, usize::MAX]] {
        let [count, rows, columns] = extents;
        let job = Job::matvec(("f64", 8, Unit::F64), MatvecExtents { count, rows, columns }, [At::Pageable; 3], true);
        assert_eq!(job.unwrap_err().class(), Class::User, "{extents:?}");
    }
}
