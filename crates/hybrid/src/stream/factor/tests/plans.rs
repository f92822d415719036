//! How panels are cut, and in which order things happen to them.

use super::super::plan::{PanelPlan, Pass};
use super::super::schedule::Task;
use crate::dispatch::{Rates, Unit};
use crate::store::{Element, Extents, Source, Tile};
use crate::stream::matmul::Factor;
use crate::{Class, Error};
use proptest::prelude::*;
use tilewright_driver::blas::Layout;

const GIB: u64 = 1 << 30;

/// With the bound of a left-looking factorisation: all of the factors are read about once for each panel, `n^3 s / 3 b` bytes, but those of the
/// panel before.
#[test]
fn traffic_is_that_of_the_model() {
    let plan = PanelPlan::lu(49_152, 8, 8 * GIB).unwrap();
    let panel = plan.panel as f64;
    let model = 49_152_f64.powi(2) * 8.0 + 49_152_f64.powi(3) * 8.0 / (3.0 * panel);
    let bytes = plan.bytes_to_gpu() as f64;
    assert!((0.6..1.4).contains(&(bytes / model)), "{plan:?}: {bytes} bytes, by the model {model}");
    assert_eq!(plan.bytes_to_host(), 49_152 * 49_152 * 8);
    // Wide enough to compute while it copies: b >= s P / (2 BW).
    assert!(plan.panel >= 4364, "{plan:?}");
    let time = plan.time(&Rates::h200().gpu.unwrap(), Unit::F64, plan.flops());
    assert!(time.compute > time.to_gpu && time.wall < 1.3 * time.compute, "{time:?}");
}

#[test]
fn slices_are_as_wide_as_what_panels_leave() {
    let of = |gib: u64| {
        let plan = PanelPlan::lu(49_152, 8, gib * GIB).unwrap();
        assert!(plan.device_bytes() <= u128::from(gib * GIB), "{plan:?}");
        (plan.panels(), plan.slice, plan.stages)
    };
    // Two wide ones, where three would be narrower; three, where there is room for all.
    assert_eq!([of(8), of(32)], [(5, 960, 2), (1, 1024, 3)]);
    assert_eq!(PanelPlan::lu(600, 8, GIB).unwrap().slice, 576);
}

/// What is stored in grains, as far as plans see.
#[derive(Debug)]
struct Grained(Extents);

impl Source for Grained {
    fn extents(&self) -> Extents {
        Extents::new(49_152, 49_152)
    }

    fn element(&self) -> Element {
        Element::F64
    }

    fn grain(&self) -> Extents {
        self.0
    }

    fn read_tile(&self, _: &Tile, _: &mut [u8]) -> Result<(), Error> {
        unreachable!("nobody reads it")
    }
}

#[test]
fn strips_of_panels_are_as_wide_as_what_is_best_read_together() {
    let plan = PanelPlan::lu(49_152, 8, 8 * GIB).unwrap();
    assert_eq!((plan.panel, plan.slice, plan.strip()), (9831, 960, 960));
    for (grain, plain, transposed) in [
        ([1, 1], 960, 960),
        // Rows, of which 32 KiB are read at once.
        ([1, 49_152], 4800, 960),
        ([49_152, 1], 960, 4800),
        // Chunks.
        ([1000, 500], 2880, 4800),
        ([4096, 4096], 9831, 9831),
    ] {
        let source = Grained(Extents::new(grain[0], grain[1]));
        let of = |factor| plan.read_from(&factor).strip();
        assert_eq!([of(Factor::plain(&source)), of(Factor::transposed(&source))], [plain, transposed], "{grain:?}");
    }
}

#[test]
fn too_little_memory_is_refused_with_the_least_that_does() {
    for (pass, plan) in [
        ("lu", (|budget| PanelPlan::lu(1000, 8, budget)) as fn(u64) -> _),
        ("cholesky", |budget| PanelPlan::cholesky(1000, 8, budget)),
        ("solution", |budget| PanelPlan::lu(1000, 8, GIB).unwrap().solution(7, budget)),
    ] {
        let error = plan(1000).unwrap_err();
        assert_eq!(error.class(), Class::Resource);
        let Error::Budget { requested, .. } = error else { panic!("{error}") };
        assert_eq!(plan(requested).unwrap().panel, 1, "{pass}");
        assert!(plan(requested - 1).is_err(), "{pass}");
    }
}

#[test]
fn few_columns_are_carried_through_l_and_many_are_not() {
    let of = |columns| PanelPlan::lu_solution([49_152, columns], 8, 8 * GIB, &|_| 0).unwrap();
    let alone = PanelPlan::lu(49_152, 8, 8 * GIB).unwrap();
    for columns in [1, 100, 500] {
        let [factors, solution] = of(columns);
        assert_eq!((factors.columns, solution.pass), (49_152 + columns, Pass::LuBackward));
        assert!(factors.carries() && factors.device_bytes() <= u128::from(8 * GIB));
        // L is not read once more: that is half of the factors.
        let again = alone.solution(columns, 8 * GIB).unwrap();
        let less = again.bytes_to_gpu() - solution.bytes_to_gpu();
        let half = 49_152 * 49_152 * 8 / 2;
        assert!(less > half && less < half / 10 * 11, "{less}");
    }
    for columns in [0, 2000, 49_152] {
        let [factors, solution] = of(columns);
        assert!(factors == alone && solution == alone.solution(columns, 8 * GIB).unwrap() && !factors.carries());
    }
}

/// Each panel whole, before anything happens to it; each slice once; each exchange before its block's slices; never a third panel; nothing comes
/// into the place of what is still to be met.
fn check(plan: &PanelPlan) {
    let mut loaded = vec![0; plan.panels()];
    let is_whole =
        |loaded: &[usize], panel: usize| loaded[panel] == plan.rows_of(panel).len() * plan.columns_of(panel).len();
    let end = |layout: Layout| layout.offset + (layout.columns - 1) * layout.leading + layout.rows;
    let (mut finished, mut exchanged, mut met) = (0, vec![0; plan.panels()], vec![0; plan.panels()]);
    for task in plan.tasks() {
        match task {
            Task::Load { panel, rows, columns } => {
                assert!(panel < finished + plan.panels_held() && rows.len() * columns.len() <= plan.slice_elements());
                let (before, top, left) = (loaded[panel], plan.rows_of(panel).start, plan.columns_of(panel).start);
                let whole_strips = (columns.start - left) * plan.rows_of(panel).len();
                assert_eq!(before, whole_strips + (rows.start - top) * columns.len());
                loaded[panel] += rows.len() * columns.len();
                if plan.factors() && panel >= 2 {
                    let unread = met[finished]..plan.columns_of(panel - 2).end;
                    let place = plan.standing(panel).part(&rows, &columns);
                    let is_met =
                        |column: usize| plan.standing(panel - 2).part(&plan.rows_of(panel - 2), &(column..column + 1));
                    assert!(unread.is_empty() || end(place) <= is_met(unread.start).offset, "{plan:?}");
                }
            }
            Task::Exchange { panel, block } => {
                assert_eq!((panel, block), (finished, exchanged[panel]));
                exchanged[panel] += 1;
            }
            Task::Eliminate { panel, columns, .. } => {
                assert!(panel == finished && is_whole(&loaded, panel));
                if let Pass::Lu = plan.pass {
                    assert!(columns.end <= exchanged[panel] * plan.panel && columns.start == met[panel]);
                }
                met[panel] += columns.len();
            }
            Task::Finish { panel } => {
                assert!(panel == finished && is_whole(&loaded, panel));
                let times = match plan.pass {
                    Pass::Lu | Pass::Cholesky => plan.columns_of(panel).start,
                    Pass::LuBackward => plan.size,
                    Pass::LuSolution { .. } | Pass::CholeskySolution => 2 * plan.size,
                };
                assert_eq!(met[panel], times);
                finished += 1;
            }
        }
    }
    assert_eq!(finished, plan.panels());
}

proptest! {
    #[test]
    fn plans_fit_and_cover(size in 1usize..300, columns in 1usize..300, times in 0.02f64..3.0, pass in 0..6,
        together in 1usize..60) {
        let budget = (times * (size * size * 8) as f64) as u64;
        let plan = match pass {
            0 => PanelPlan::lu(size, 8, budget),
            4 => PanelPlan::lu_solution([size, columns.min(9)], 8, budget, &|_| 0).map(|[factors, _]| factors),
            5 => PanelPlan::lu_solution([size, columns.min(9)], 8, budget, &|_| 0).map(|[_, solution]| solution),
            1 => PanelPlan::cholesky(size, 8, budget),
            2 => PanelPlan::lu(size, 8, u64::MAX).unwrap().solution(columns, budget),
            _ => PanelPlan::cholesky(size, 8, u64::MAX).unwrap().solution(columns, budget),
        };
        let Ok(plan) = plan else { return Ok(()) };
        let plan = PanelPlan { together, ..plan };
        prop_assert!(plan.device_bytes() <= u128::from(budget));
        prop_assert!(plan.panel <= plan.columns && plan.slice <= size);
        prop_assert!(plan.bytes_to_gpu() >= plan.bytes_to_host());
        check(&plan);
    }
}
