//! How products of matrices with vectors are cut into panels.

use proptest::prelude::*;
use tilewright_hybrid::dispatch::{MatvecExtents, Rates, Unit};
use tilewright_hybrid::stream::{MatvecPlan, STAGES};
use tilewright_hybrid::{Class, Error};

#[test]
fn panels_are_no_larger_than_a_good_copy_and_as_even_as_may_be() {
    let plan = |[count, rows, columns]: [usize; 3], budget| {
        MatvecPlan::new(MatvecExtents { count, rows, columns }, 8, budget, STAGES).unwrap()
    };
    // 64 MiB are two matrices of 2000 x 2000, and 52 rows of 160,000.
    let many = plan([2001, 2000, 2000], 8 << 30);
    assert_eq!((many.matrices, many.rows, many.panels()), (2, 2000, 1001));
    let wide = plan([3, 1000, 160_000], 8 << 30);
    assert_eq!((wide.matrices, wide.rows, wide.panels()), (1, 50, 60));
    // A row that is longer than that is a panel.
    let row = plan([1, 10, 10 << 20], 8 << 30);
    assert_eq!((row.rows, row.panels()), (1, 10));
    let all = plan([3, 4, 5], 8 << 30);
    assert_eq!((all.matrices, all.rows, all.panels()), (3, 4, 1));
}

#[test]
fn too_little_memory_is_refused_with_the_least_that_does() {
    let extents = MatvecExtents { count: 5, rows: 40, columns: 100 };
    let error = MatvecPlan::new(extents, 8, 1000, STAGES).unwrap_err();
    assert_eq!(error.class(), Class::Resource);
    let Error::Budget { requested, .. } = error else { panic!("{error}") };
    assert!(MatvecPlan::new(extents, 8, requested, STAGES).is_ok());
    assert!(MatvecPlan::new(extents, 8, requested - 1, STAGES).is_err());
}

/// Copies bind it; without stages they do not run beside anything.
#[test]
fn time_is_that_of_the_link() {
    let gpu = Rates::h200().gpu.unwrap();
    let extents = MatvecExtents { count: 100, rows: 4096, columns: 4096 };
    let time = |stages| MatvecPlan::new(extents, 8, 1 << 30, stages).unwrap().time(&gpu, Unit::F64, 0.0, false);
    let (beside, in_turn) = (time(STAGES), time(1));
    assert!(beside.to_gpu > 20.0 * beside.compute && beside.wall < 1.01 * beside.to_gpu, "{beside:?}");
    assert_eq!(in_turn.wall, in_turn.compute + in_turn.to_gpu + in_turn.to_host);
    assert!(in_turn.wall > beside.wall);
}

proptest! {
    #[test]
    fn plans_fit_and_cover(
        count in 1usize..5000, rows in 1usize..5000, columns in 1usize..70_000,
        bytes in prop::sample::select(vec![4usize, 8, 16]), budget in 1u64 << 16..1 << 33, stages in 1usize..=3,
    ) {
        let extents = MatvecExtents { count, rows, columns };
        let Ok(plan) = MatvecPlan::new(extents, bytes, budget, stages) else { return Ok(()) };
        prop_assert!(plan.device_bytes() <= u128::from(budget));
        prop_assert!(plan.matrices <= count && plan.rows <= rows);
        prop_assert!(plan.matrices == 1 || plan.rows == rows);
        prop_assert_eq!(plan.panels(), count.div_ceil(plan.matrices) * rows.div_ceil(plan.rows));
        // Everything once, whatever the panels.
        let all = [count, rows, columns].map(|it| it as u128);
        prop_assert_eq!(plan.bytes_to_gpu(false), all[0] * all[2] * (all[1] + 1) * bytes as u128);
        prop_assert_eq!(plan.bytes_to_gpu(true) - plan.bytes_to_gpu(false), plan.bytes_to_host());
    }
}
