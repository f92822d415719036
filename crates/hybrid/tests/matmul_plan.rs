//! How products are cut into tiles.

use proptest::prelude::*;
use tilewright_hybrid::dispatch::{ProductExtents, Rates, Unit};
use tilewright_hybrid::stream::{MatmulPlan, STAGES};
use tilewright_hybrid::{Class, Error};

const GIB: u64 = 1 << 30;

fn cube(n: usize) -> ProductExtents {
    ProductExtents { rows: n, columns: n, depth: n }
}

/// The table of targets: side, bytes of an element, GiB, tiles a side.
#[test]
fn tiles_are_as_large_as_memory_allows() {
    let table = [
        (32_768, 8, 8, 2),
        (32_768, 4, 8, 2),
        (49_152, 8, 8, 3),
        (65_536, 8, 8, 4),
        (65_536, 4, 8, 3),
        (131_072, 8, 8, 7),
    ];
    for (side, bytes, gib, tiles) in table {
        let plan = MatmulPlan::new(cube(side), bytes, gib * GIB, STAGES).unwrap();
        let [down, across, _] = plan.counts();
        assert!(down <= tiles && across <= tiles, "{side} of {bytes} bytes: {plan:?}");
        assert!(plan.device_bytes() <= u128::from(gib * GIB), "{plan:?}");
    }
}

/// Expected times of the same table, in seconds: within 3 % of the model that set the targets, which knows no calls and no both ways.
#[test]
fn times_are_those_of_the_model() {
    let gpu = Rates::h200().gpu.unwrap();
    for (side, bytes, unit, wall) in
        [(32_768, 8, Unit::F64, 1.22), (49_152, 8, Unit::F64, 4.03), (65_536, 4, Unit::F32, 11.3)]
    {
        let plan = MatmulPlan::new(cube(side), bytes, 8 * GIB, STAGES).unwrap();
        let time = plan.time(&gpu, unit, 2.0 * (side as f64).powi(3), false);
        assert!((time.wall / wall - 1.0).abs() < 0.03, "{side}: {time:?}, {wall} s");
        let serial = MatmulPlan { stages: 1, ..plan }.time(&gpu, unit, 2.0 * (side as f64).powi(3), false);
        assert!(serial.wall > 1.15 * time.wall, "without overlap: {serial:?}, with it {time:?}");
    }
}

/// G6: what the targets of overlap ask of a machine is what plans promise it, with rates of an H200.
#[test]
fn g6_plans_overlap_copies_with_products() {
    let gpu = Rates::h200().gpu.unwrap();
    for (side, bytes, unit) in [(65_536, 4, Unit::F32), (49_152, 8, Unit::F64)] {
        let plan = MatmulPlan::new(cube(side), bytes, 8 * GIB, STAGES).unwrap();
        let time = plan.time(&gpu, unit, 2.0 * (side as f64).powi(3), false);
        let parts = [time.compute, time.to_gpu, time.to_host];
        let (sum, most) = (parts.iter().sum::<f64>(), parts.into_iter().fold(0.0, f64::max));
        let overlap = (sum - time.wall) / (sum - most);
        assert!(overlap >= 0.94 && time.wall <= 1.10 * most, "{side}: {overlap}, {time:?}");
    }
}

/// G9: a tile of `t` rows and columns is multiplied at the rate of the products, or at that of the link times `t` operations for each element.
#[test]
fn g9_rates_by_tile_are_a_roofline() {
    let gpu = Rates::h200().gpu.unwrap();
    let (side, flops) = (65_536, 2.0 * 65_536f64.powi(3));
    for (tile, binds) in [(1024, false), (2048, false), (4096, false), (8192, false), (16_384, true)] {
        let plan = MatmulPlan { tile: [tile; 2], ..MatmulPlan::new(cube(side), 8, 8 * GIB, STAGES).unwrap() };
        let time = plan.time(&gpu, Unit::F64, flops, false);
        let roof = (tile as f64 * gpu.link.to_gpu / 8.0).min(gpu.processor.flops.f64);
        let rate = flops / time.wall;
        assert!((rate / roof - 1.0).abs() <= 0.15, "{tile}: {:.1} of {:.1} TF", rate * 1e-12, roof * 1e-12);
        assert_eq!(time.compute > time.to_gpu, binds, "{tile}: {time:?}");
    }
}

/// Tiles of whole rows copy more than square ones, a third at most where there is room for some thousand rows.
#[test]
fn tiles_of_whole_rows_fit_too() {
    // The last tile is a short one where the others may be higher for it.
    for (side, bytes, most, is_short) in [(32_768, 8, 1.26, true), (49_152, 8, 1.17, true), (65_536, 4, 1.01, false)] {
        let [square, rows] =
            [MatmulPlan::new, MatmulPlan::by_rows].map(|plan| plan(cube(side), bytes, 8 * GIB, STAGES).unwrap());
        assert_eq!(rows.tile[1], side);
        assert!(rows.tile[0] >= 8192 && rows.device_bytes() <= u128::from(8 * GIB), "{rows:?}");
        let more = rows.bytes_to_gpu(false) as f64 / square.bytes_to_gpu(false) as f64;
        assert!((1.0..most).contains(&more), "{side}: {more}, {rows:?}");
        let last = side - (rows.counts()[0] - 1) * rows.tile[0];
        assert_eq!(last <= rows.tile[0] / 2, is_short, "the last tile has {last} rows: {rows:?}");
    }
    let error = MatmulPlan::by_rows(cube(4096), 8, 1 << 20, STAGES).unwrap_err();
    let Error::Budget { requested, .. } = error else { panic!("{error}") };
    assert!(MatmulPlan::by_rows(cube(4096), 8, requested, STAGES).is_ok());
}

#[test]
fn too_little_memory_is_refused_with_the_least_that_does() {
    let error = MatmulPlan::new(cube(4096), 8, 1000, STAGES).unwrap_err();
    assert_eq!(error.class(), Class::Resource);
    let Error::Budget { requested, .. } = error else { panic!("{error}") };
    assert!(MatmulPlan::new(cube(4096), 8, requested, STAGES).is_ok());
    assert!(MatmulPlan::new(cube(4096), 8, requested - 1, STAGES).is_err());
}

#[test]
fn nothing_is_one_tile_of_nothing() {
    for extents in
        [cube(0), ProductExtents { rows: 0, columns: 5, depth: 5 }, ProductExtents { rows: 5, columns: 5, depth: 0 }]
    {
        let plan = MatmulPlan::new(extents, 8, 1 << 20, STAGES).unwrap();
        let counts = plan.counts();
        assert!(counts.contains(&0), "{plan:?}");
    }
}

proptest! {
    #[test]
    fn plans_fit_and_cover(
        rows in 1usize..70_000, columns in 1usize..70_000, depth in 1usize..70_000,
        bytes in prop::sample::select(vec![2usize, 4, 8, 16]), budget in 1u64 << 20..1 << 34, stages in 1usize..=3,
    ) {
        let extents = ProductExtents { rows, columns, depth };
        let Ok(plan) = MatmulPlan::new(extents, bytes, budget, stages) else { return Ok(()) };
        prop_assert!(plan.device_bytes() <= u128::from(budget));
        prop_assert!(plan.tile[0] <= rows && plan.tile[1] <= columns && plan.panel <= depth);
        let [down, across, panels] = plan.counts();
        prop_assert!(down * plan.tile[0] >= rows && across * plan.tile[1] >= columns && panels * plan.panel >= depth);
        // Each factor at least once, and all of it as often as there are tiles beside it.
        let least = (rows as u128 * depth as u128 + depth as u128 * columns as u128) * bytes as u128;
        prop_assert!(plan.bytes_to_gpu(false) >= least);
        prop_assert_eq!(plan.bytes_to_gpu(true) - plan.bytes_to_gpu(false), plan.bytes_to_host());
        // Twice the memory is never worse.
        let more = MatmulPlan::new(extents, bytes, 2 * budget, stages).unwrap();
        prop_assert!(more.bytes_to_gpu(false) <= plan.bytes_to_gpu(false));
    }
}
