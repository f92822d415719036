//! Streamed products by plans of the caller's. Without a GPU these run on stubs.

use ndarray::Array2;
use tilewright_hybrid::Error;
use tilewright_hybrid::budget::{Budget, Memory};
use tilewright_hybrid::dispatch::ProductExtents;
use tilewright_hybrid::linear::Precision;
use tilewright_hybrid::store::{MemorySink, MemorySource, Sink};
use tilewright_hybrid::stream::{Budgets, Control, Factor, MatmulPlan, Product, matmul, matmul_by};

#[test]
fn g7_any_plan_gives_the_product_and_a_plan_of_another_none() {
    let Some(gpu) = crate::gpu("linear::by_plan::g7_any_plan_gives_the_product_and_a_plan_of_another_none") else {
        return;
    };
    let budgets =
        Budgets { device: Budget::new(Memory::Device, 1 << 20), pinned: Budget::new(Memory::Pinned, 64 << 10) };
    let matrix = |rows, columns, seed: usize| {
        Array2::from_shape_fn((rows, columns), |(i, j)| ((i * 7 + j * 3 + seed) % 11) as f64 - 5.0)
    };
    let (a, b) = (matrix(70, 90, 1), matrix(90, 50, 2));
    let (left, right) = (MemorySource::new(a.view()), MemorySource::new(b.view()));
    let product = Product { a: Factor::plain(&left), b: Factor::plain(&right), c: None, alpha: 1.0, beta: 0.0 };
    let by = |plan: &MatmulPlan| -> Result<Array2<f64>, Error> {
        let mut c = Array2::from_elem((70, 50), f64::NAN);
        let sink = MemorySink::new(c.view_mut());
        matmul_by(plan, &gpu, &budgets, Precision::Auto, &product, &sink, Control::default())?;
        Box::new(sink).commit()?;
        Ok(c)
    };
    let extents = ProductExtents { rows: 70, columns: 50, depth: 90 };
    let whole = MatmulPlan::new(extents, 8, 1 << 20, 3).unwrap();
    for (tile, panel) in [(whole.tile, whole.panel), ([16, 30], 7), ([70, 1], 90)] {
        for stages in [1, 2, 3, 5] {
            let plan = MatmulPlan { tile, panel, stages, ..whole };
            assert_eq!(by(&plan).unwrap(), a.dot(&b), "{plan:?}");
        }
    }
    let wrong = [
        MatmulPlan { extents: ProductExtents { depth: 91, ..extents }, ..whole },
        MatmulPlan { element_bytes: 4, ..whole },
        MatmulPlan { tile: [0, 8], ..whole },
        MatmulPlan { panel: 0, ..whole },
        MatmulPlan { stages: 0, ..whole },
    ];
    for plan in wrong {
        let error = by(&plan).unwrap_err();
        assert!(matches!(error, Error::Shape { .. }), "{error}");
    }
    let error = by(&MatmulPlan { stages: 1 << 20, ..whole }).unwrap_err();
    assert!(matches!(error, Error::Budget { .. }), "{error}");
}

/// As 26 GB of operands in 4 GiB of a GPU's memory and 2 GiB of page-locked memory, a four-thousandth of it.
#[test]
fn g1_a_product_of_six_times_its_memory() {
    let Some(gpu) = crate::gpu("linear::by_plan::g1_a_product_of_six_times_its_memory") else { return };
    const SIZE: usize = 500;
    let budgets =
        Budgets { device: Budget::new(Memory::Device, 1 << 20), pinned: Budget::new(Memory::Pinned, 512 << 10) };
    let matrix = |seed: usize| {
        // Whole numbers: sums are exact in any order.
        Array2::from_shape_fn((SIZE, SIZE), |(i, j)| ((i * 7919 + j * 104_729 + seed) % 2003) as f64 - 1001.0)
    };
    let (a, b) = (matrix(1), matrix(2));
    let (left, right) = (MemorySource::new(a.view()), MemorySource::new(b.view()));
    let product = Product { a: Factor::plain(&left), b: Factor::plain(&right), c: None, alpha: 1.0, beta: 0.0 };
    let mut c = Array2::from_elem((SIZE, SIZE), f64::NAN);
    let sink = MemorySink::new(c.view_mut());
    let traffic = matmul(&gpu, &budgets, Precision::Auto, &product, &sink, Control::default()).unwrap();
    Box::new(sink).commit().unwrap();
    assert_eq!(c, a.dot(&b));
    assert!(traffic.to_gpu > 2 * 8 * (SIZE * SIZE) as u64, "{traffic:?}: in one piece");
    for budget in [&budgets.device, &budgets.pinned] {
        assert!(budget.used() == 0 && (1..=budget.limit()).contains(&budget.peak()), "{budget:?}");
    }
}
