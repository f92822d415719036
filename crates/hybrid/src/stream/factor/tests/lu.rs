use super::super::super::control::Control;
use super::super::super::late::Device;
use super::super::super::matmul::Factor;
use super::super::super::staging::Staging;
use super::super::lu::StreamedLu;
use super::super::operands;
use super::super::plan::PanelPlan;
use super::cases::{ORDERS, STAGING, identity, norm, product, random, residual, square, watch, whole};
use crate::linear::{Lu, Place};
use crate::store::{Element, Extents, FileScratch, MemoryScratch, MemorySink, MemorySource, Scratch, Sink, Tile};
use crate::{Class, Error};
use ndarray::{Array2, s};

pub(super) fn plan(size: usize, panel: usize, slice: usize, stages: usize) -> PanelPlan {
    let plan = PanelPlan::lu(size, 8, u64::MAX).unwrap();
    PanelPlan { panel: panel.clamp(1, size.max(1)), slice, stages, ..plan }
}

pub(super) fn scratch(size: usize) -> MemoryScratch {
    let scratch = MemoryScratch::new(Extents::new(size, size), Element::F64).unwrap();
    let all = Tile { rows: 0..size, columns: 0..size };
    scratch.write_tile(&all, &f64::NAN.to_ne_bytes().repeat(size * size)).unwrap();
    scratch
}

fn factor<'a>(device: &Device, plan: &PanelPlan, a: &Array2<f64>, scratch: &'a dyn Scratch) -> StreamedLu<'a, f64> {
    let source = MemorySource::new(a.view());
    let factor = Factor::plain(&source);
    let lu = StreamedLu::factor(device, plan, factor, scratch, STAGING, watch(plan, Control::default())).unwrap();
    let counts = device.counts.lock().unwrap();
    assert_eq!(lu.traffic().to_gpu, 8 * counts.brought as u64);
    assert_eq!(lu.traffic().to_host, 8 * counts.taken_back as u64);
    assert_eq!(8 * counts.device + plan.found_bytes(), plan.device_bytes() as usize, "{plan:?}");
    lu
}

fn solution(
    lu: &StreamedLu<'_, f64>,
    device: &Device,
    plan: &PanelPlan,
    b: &Array2<f64>,
) -> Result<Array2<f64>, Error> {
    solution_with(lu, device, plan, Factor::plain(&MemorySource::new(b.view())), STAGING)
}

fn solution_with(
    lu: &StreamedLu<'_, f64>,
    device: &Device,
    plan: &PanelPlan,
    b: Factor<'_>,
    staging: Staging,
) -> Result<Array2<f64>, Error> {
    let mut x = Array2::from_elem((plan.size, plan.columns), f64::NAN);
    let sink = MemorySink::new(x.view_mut());
    let traffic = lu.solved(device, plan, b, &sink, staging, watch(plan, Control::default()))?;
    Box::new(sink).commit()?;
    let counts = device.counts.lock().unwrap();
    assert_eq!(traffic.to_gpu, 8 * counts.brought as u64);
    assert_eq!(traffic.to_host, 8 * counts.taken_back as u64);
    assert_eq!(8 * counts.device + plan.found_bytes(), plan.device_bytes() as usize, "{plan:?}");
    Ok(x)
}

/// `norm(P a - L U) / (norm(a) n epsilon)`, of factors that are what they say.
fn factor_residual(a: &Array2<f64>, lu: &StreamedLu<'_, f64>) -> f64 {
    let (l, u, permutation) = (whole(&lu.l()), whole(&lu.u()), lu.permutation());
    for ((i, j), x) in l.indexed_iter() {
        assert!(x.abs() <= 1.0 + 1e-15 && (i > j || *x == f64::from(u8::from(i == j))), "{i} {j} {x}");
    }
    assert!(u.indexed_iter().all(|((i, j), x)| i <= j || *x == 0.0));
    let mut seen = permutation.clone();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..a.nrows()), "{permutation:?}");
    let permuted = Array2::from_shape_fn(a.dim(), |(i, j)| a[[permutation[i], j]]);
    residual(&permuted, &product(&l, &u), norm(a))
}

pub(super) const CUTS: [(usize, usize, usize); 7] =
    [(7, 3, 3), (5, 5, 2), (64, 4, 3), (1, 1, 1), (20, 6, 3), (9, 2, 1), (13, 13, 3)];

#[test]
fn f1_factors_of_every_matrix_cut_and_order() {
    for (size, (panel, slice, stages)) in [1, 2, 5, 16, 29, 41].into_iter().flat_map(|size| CUTS.map(|cut| (size, cut)))
    {
        for (number, (name, a)) in square(size).into_iter().enumerate() {
            let plan = PanelPlan { together: [1, 4, 100][number % 3], ..plan(size, panel, slice, stages) };
            let order = ORDERS[(number + panel) % 4];
            let scratch = scratch(size);
            let lu = factor(&Device::new(order), &plan, &a, &scratch);
            let off = factor_residual(&a, &lu);
            assert!(off <= 20.0, "{name} {plan:?} {order:?}: {off}");
        }
    }
}

/// Where no two candidates for a pivot are alike, pivots are those of factors in memory: they come from the whole panel.
#[test]
fn f1_pivots_are_those_of_factors_in_memory() {
    for (size, panel) in [(30, 7), (41, 20), (12, 1)] {
        for (name, a) in square(size).into_iter().filter(|(name, _)| ["random", "graded", "rising"].contains(name)) {
            let scratch = scratch(size);
            let lu = factor(&Device::new(ORDERS[1]), &plan(size, panel, 3, 3), &a, &scratch);
            let in_memory = Lu::factor(&Place::Cpu, (&a).into()).unwrap();
            assert_eq!(lu.permutation(), in_memory.permutation(), "{name} {size}");
            let distance = norm(&(whole(&lu.u()) - in_memory.u().unwrap()));
            assert!(distance <= 1e-11 * norm(&a), "{name} {size}: {distance}");
        }
    }
}

/// The backward error of a solution, in units of `n epsilon`.
pub(super) fn solution_residual(a: &Array2<f64>, x: &Array2<f64>, b: &Array2<f64>) -> f64 {
    residual(b, &product(a, x), norm(a) * norm(x) + norm(b))
}

#[test]
fn f1_solutions_and_inverses() {
    for (size, (panel, slice, stages)) in [1, 6, 29, 41].into_iter().flat_map(|size| CUTS.map(|cut| (size, cut))) {
        for (number, (name, a)) in square(size).into_iter().enumerate() {
            let order = ORDERS[(number + slice) % 4];
            let scratch = scratch(size);
            let lu = factor(&Device::new(order), &plan(size, panel, slice, stages), &a, &scratch);
            if lu.singular_pivot().is_some() {
                continue;
            }
            for (columns, own) in [(1, 1), (7, 3), (size, 5)] {
                let cut = lu.plan().solution(columns, u64::MAX).unwrap();
                let cut = PanelPlan { panel: own.min(columns), slice: slice + 1, ..cut };
                let b = if columns == size { identity(size) } else { random(3, size, columns) };
                let x = solution(&lu, &Device::new(order), &cut, &b).unwrap();
                let off = solution_residual(&a, &x, &b);
                assert!(off <= 20.0, "{name} {cut:?} {order:?}: {off}");
            }
        }
    }
}

/// F1: within fifty times of what factors in memory give.
#[test]
fn f1_inverses_are_as_exact_as_those_in_memory() {
    for (name, a) in square(40).into_iter().filter(|(name, _)| *name != "Hilbert") {
        let scratch = scratch(40);
        let lu = factor(&Device::new(ORDERS[2]), &plan(40, 9, 4, 3), &a, &scratch);
        let cut = PanelPlan { panel: 11, slice: 3, ..lu.plan().solution(40, u64::MAX).unwrap() };
        let mut x = Array2::from_elem((40, 40), f64::NAN);
        let sink = MemorySink::new(x.view_mut());
        let ones = super::super::identity::Identity::<f64>::new(40);
        lu.solved(&Device::new(ORDERS[0]), &cut, Factor::plain(&ones), &sink, STAGING, watch(&cut, Control::default()))
            .unwrap();
        Box::new(sink).commit().unwrap();
        let in_memory = crate::linear::inverse(&Place::Cpu, (&a).into()).unwrap();
        let off = |x: &Array2<f64>| norm(&(product(&a, x) - identity(40)));
        assert!(off(&x) <= 50.0 * off(&in_memory).max(f64::EPSILON), "{name}: {} {}", off(&x), off(&in_memory));
    }
}

#[test]
fn f2_singular_matrices_are_the_error_that_they_are_in_memory() {
    for size in [2, 7, 40] {
        let zero_row = |at: usize| {
            let mut a = random(5, size, size);
            a.row_mut(at).fill(0.0);
            a
        };
        let mut twice = random(6, size, size);
        let row = twice.row(size / 3).to_owned();
        twice.row_mut(size - 1).assign(&row);
        let mut column = random(7, size, size);
        let first = column.column(0).to_owned();
        column.column_mut(size / 2).assign(&first);
        let zero = Array2::zeros((size, size));
        for (case, a) in [zero_row(0), zero_row(size / 2), twice, column, zero].into_iter().enumerate() {
            let expected = crate::linear::solve(&Place::Cpu, (&a).into(), (&a).into()).unwrap_err();
            for (panel, slice) in [(size, 2), (3, 2), (5, 5)] {
                let scratch = scratch(size);
                let lu = factor(&Device::new(ORDERS[case % 4]), &plan(size, panel, slice, 3), &a, &scratch);
                let cut = lu.plan().solution(size, u64::MAX).unwrap();
                let error = solution(&lu, &Device::new(ORDERS[0]), &cut, &a).unwrap_err();
                assert_eq!(error.to_string(), expected.to_string(), "{case} {size} {panel}");
                assert_eq!(error.class(), Class::Numeric);
            }
        }
    }
}

/// F2: what is nearly singular has a solution.
#[test]
fn f2_nearly_singular_matrices_are_not_singular() {
    let a = Array2::from_shape_fn((12, 12), |(i, j)| 1.0 / (i + j + 1) as f64);
    let scratch = scratch(12);
    let lu = factor(&Device::new(ORDERS[0]), &plan(12, 5, 2, 3), &a, &scratch);
    assert_eq!(lu.singular_pivot(), None);
    let x = solution(&lu, &Device::new(ORDERS[1]), &lu.plan().solution(12, u64::MAX).unwrap(), &a).unwrap();
    assert!(x.iter().all(|x| x.is_finite()));
}

#[test]
fn f3_views_are_as_copies() {
    let (a, b) = (random(1, 23, 23), random(2, 23, 4));
    let (turned_a, turned_b) = (a.t().to_owned(), b.t().to_owned());
    let (source_a, source_b) = (MemorySource::new(turned_a.view()), MemorySource::new(turned_b.view()));
    for (of_a, of_b) in [
        (Factor::transposed(&source_a), Factor::adjoint(&source_b)),
        (Factor::adjoint(&source_a), Factor::transposed(&source_b)),
    ] {
        let (plan, scratch) = (plan(23, 6, 4, 3), scratch(23));
        let watched = watch(&plan, Control::default());
        let lu = StreamedLu::<f64>::factor(&Device::new(ORDERS[3]), &plan, of_a, &scratch, STAGING, watched).unwrap();
        assert!(factor_residual(&a, &lu) <= 20.0);
        let cut = PanelPlan { panel: 3, ..lu.plan().solution(4, u64::MAX).unwrap() };
        let x = solution_with(&lu, &Device::new(ORDERS[1]), &cut, of_b, STAGING).unwrap();
        assert!(solution_residual(&a, &x, &b) <= 20.0);
    }
    let large = random(4, 60, 70);
    let view = large.slice(s![3..49;2, 14..60;-2]);
    let (plan, scratch) = (plan(23, 6, 4, 3), scratch(23));
    let source = MemorySource::new(view);
    let watched = watch(&plan, Control::default());
    let lu =
        StreamedLu::<f64>::factor(&Device::new(ORDERS[2]), &plan, Factor::plain(&source), &scratch, STAGING, watched);
    assert!(factor_residual(&view.to_owned(), &lu.unwrap()) <= 20.0);
}

#[test]
fn f4_nothing_has_factors_and_what_does_not_fit_has_none() {
    let nothing = Array2::<f64>::zeros((0, 0));
    let scratch_of_nothing = scratch(0);
    let lu = factor(&Device::new(ORDERS[0]), &plan(0, 1, 1, 3), &nothing, &scratch_of_nothing);
    assert_eq!((lu.permutation(), lu.singular_pivot()), (vec![], None));
    let cut = lu.plan().solution(3, u64::MAX).unwrap();
    let x = solution(&lu, &Device::new(ORDERS[0]), &cut, &Array2::zeros((0, 3))).unwrap();
    assert_eq!(x.dim(), (0, 3));
    let one = ndarray::arr2(&[[4.0]]);
    let scratch_of_one = scratch(1);
    let lu = factor(&Device::new(ORDERS[0]), &plan(1, 1, 1, 3), &one, &scratch_of_one);
    for columns in [0, 1, 2] {
        let cut = lu.plan().solution(columns, u64::MAX).unwrap();
        let x = solution(&lu, &Device::new(ORDERS[0]), &cut, &Array2::ones((1, columns))).unwrap();
        assert_eq!(x, Array2::from_elem((1, columns), 0.25));
    }

    let (wide, b) = (random(1, 3, 4), random(1, 4, 1));
    let (of_wide, of_b) = (MemorySource::new(wide.view()), MemorySource::new(b.view()));
    let scratch = scratch(3);
    let error = operands::square::<f64>("lu", &Factor::plain(&of_wide), &scratch).unwrap_err();
    assert!(matches!(error, Error::NotSquare { operation: "lu", rows: 3, columns: 4 }), "{error}");
    let error = operands::square::<f64>("lu", &Factor::plain(&of_b), &scratch).unwrap_err();
    assert!(matches!(error, Error::NotSquare { .. }), "{error}");
    let square = random(1, 4, 4);
    let of_square = MemorySource::new(square.view());
    let error = operands::square::<f64>("lu", &Factor::plain(&of_square), &scratch).unwrap_err();
    assert!(matches!(error, Error::Shape { expected: 4, got: 3, .. }), "{error}");
    let error = operands::square::<f32>("lu", &Factor::plain(&of_wide), &scratch).unwrap_err();
    assert!(matches!(error, Error::NotSquare { .. }), "{error}");
    let mut x = Array2::<f64>::zeros((4, 2));
    let sink = MemorySink::new(x.view_mut());
    let error = operands::solution::<f64>(3, &Factor::plain(&of_b), &sink).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "rows of b", expected: 3, got: 4, .. }), "{error}");
    let error = operands::solution::<f64>(4, &Factor::plain(&of_b), &sink).unwrap_err();
    assert!(matches!(error, Error::Shape { what: "columns of the solution", expected: 1, got: 2, .. }), "{error}");
    let mut x = Array2::<f32>::zeros((4, 1));
    let sink = MemorySink::new(x.view_mut());
    let error = operands::solution::<f64>(4, &Factor::plain(&of_b), &sink).unwrap_err();
    assert!(matches!(error, Error::ElementType { expected: "f32", got: "f64", .. }), "{error}");
}

/// F7: a third of the matrix to three times: it fits always, and is right always.
#[test]
fn f7_every_budget_from_a_third_to_three_times_the_matrix() {
    let (size, mut whole_at) = (40_usize, Vec::new());
    let (a, b) = (random(8, size, size), random(9, size, size));
    for step in 0..12 {
        let budget = (size * size * 8) as f64 * 0.3 * 10_f64.powf(f64::from(step) / 11.0);
        let plan = PanelPlan::lu(size, 8, budget as u64).unwrap();
        let scratch = scratch(size);
        let lu = factor(&Device::new(ORDERS[step as usize % 4]), &plan, &a, &scratch);
        assert!(plan.device_bytes() as f64 <= budget, "{plan:?}");
        assert!(factor_residual(&a, &lu) <= 20.0, "{plan:?}");
        let cut = plan.solution(size, budget as u64).unwrap();
        assert!(cut.device_bytes() as f64 <= budget, "{cut:?}");
        let x = solution(&lu, &Device::new(ORDERS[0]), &cut, &b).unwrap();
        assert!(solution_residual(&a, &x, &b) <= 20.0, "{cut:?}");
        whole_at.push(plan.panels() == 1);
    }
    assert!(!whole_at[0] && whole_at[11] && whole_at.is_sorted(), "{whole_at:?}");
}

#[test]
fn m1_any_staging_gives_the_same() {
    let (a, b) = (random(1, 33, 33), random(2, 33, 5));
    let (plan, source) = (plan(33, 8, 3, 3), MemorySource::new(a.view()));
    let mut results = Vec::new();
    for (slots, slots_back, elements) in [(1, 1, 1), (1, 1, 1000), (2, 3, 17), (5, 1, 100), (3, 2, 33)] {
        let (staging, scratch) = (Staging { slots, slots_back, elements, threads: 1, ..STAGING }, scratch(33));
        let device = Device::new(ORDERS[1]);
        let watched = watch(&plan, Control::default());
        let lu = StreamedLu::<f64>::factor(&device, &plan, Factor::plain(&source), &scratch, staging, watched).unwrap();
        let cut = PanelPlan { panel: 2, slice: 4, ..plan.solution(5, u64::MAX).unwrap() };
        let of_b = MemorySource::new(b.view());
        results.push(solution_with(&lu, &Device::new(ORDERS[2]), &cut, Factor::plain(&of_b), staging).unwrap());
    }
    assert!(solution_residual(&a, &results[0], &b) <= 20.0);
    assert!(results.iter().all(|x| *x == results[0]));
}

/// The factors in a file are those in memory, bit for bit.
#[test]
fn g10_factors_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let a = random(3, 50, 50);
    let file = FileScratch::new(folder.path(), Extents::new(50, 50), Element::F64).unwrap();
    let memory = scratch(50);
    let [in_file, in_memory] = [&file as &dyn Scratch, &memory].map(|scratch| {
        let lu = factor(&Device::new(ORDERS[2]), &plan(50, 12, 5, 3), &a, scratch);
        assert!(factor_residual(&a, &lu) <= 20.0);
        (whole(&lu.l()), whole(&lu.u()))
    });
    assert_eq!(in_file, in_memory);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it has no name");
}

/// Parts of factors are parts of the whole.
#[test]
fn factors_are_sources() {
    use crate::store::{ReadTyped, Source};
    let (a, scratch) = (random(3, 31, 31), scratch(31));
    let lu = factor(&Device::new(ORDERS[2]), &plan(31, 7, 5, 3), &a, &scratch);
    for (part, all) in [(lu.l(), whole(&lu.l())), (lu.u(), whole(&lu.u()))] {
        for tile in part.extents().tiles(Extents::new(9, 4)) {
            let mut values = vec![f64::NAN; tile.rows.len() * tile.columns.len()];
            part.read(&tile, &mut values).unwrap();
            let expected = all.slice(s![tile.rows.clone(), tile.columns.clone()]);
            assert!(values.iter().eq(expected.iter()), "{part:?} {tile:?}");
        }
        assert!(part.read(&Tile { rows: 30..32, columns: 0..1 }, &mut [0.0; 2]).is_err());
    }
}
