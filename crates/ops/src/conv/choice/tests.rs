//! The choice among all combinations, and how it is remembered.

use super::super::candidates::{COLUMNS, IMAGES, RANKED};
use super::super::ends::Reading;
use super::super::estimate::estimate;
use super::super::multiprocessor::GpuScale;
use super::super::params::Conv2d;
use super::super::problem::Precision;
use super::*;

const SM: Multiprocessor = Multiprocessor { shared_bytes: 232_448, bulk_copies: true };
const COMPUTED: Ends = Ends { reading: Reading::Computed, written: Precision::F16, loads: false, behind: false };

/// Every combination, each with a plan of its own.
fn plainly(problem: &Problem, pass: Pass, ends: Ends) -> Vec<RowPlan> {
    let (rows, columns) = (Meeting::of(problem, 0, pass), Meeting::of(problem, 1, pass));
    let heights = ROWS.into_iter().filter(|r| *r < rows.phase_len()).chain([rows.phase_len()]);
    // Stacked rows follow from the others: they are asked for by how many times blocks fill the GPU.
    let heights = heights.map(|rows| [rows, 0]).chain(WAVES.map(|waves| [rows.phase_len(), waves]));
    let mut sides = IMAGES.map(|images| [images, columns.written]).to_vec();
    sides.extend(COLUMNS.into_iter().filter(|side| *side < columns.written).map(|side| [1, side]));
    let mut all = STRIPS.map(|strips| vec![strips]).to_vec();
    let mut each = |choices: Vec<Vec<usize>>| {
        let with = |it: &Vec<usize>| choices.iter().map(|more| [&it[..], more].concat()).collect::<Vec<_>>();
        all = all.iter().flat_map(with).collect();
    };
    each(sides.iter().map(|it| it.to_vec()).collect());
    for choices in [&TILES[..], &[1, 2, 4], &ITEMS] {
        each(choices.iter().map(|it| vec![*it]).collect());
    }
    each(RINGS.map(|it| it.to_vec()).to_vec());
    each(heights.map(|it| it.to_vec()).collect());
    each(vec![vec![0], vec![1]]);
    let plan = |it: &Vec<usize>| {
        let [strips, images, columns, tiles, warp_strips, items, step, slots, rows, waves, whole] = it[..] else {
            return None;
        };
        if !little_waste(problem.channels(), strips * STRIP) || !little_waste(images * columns, tiles * TILE) {
            return None;
        }
        let whole_rows = whole == 1;
        let config = RowConfig { strips, warp_strips, images, items, columns, rows, tiles, step, slots, whole_rows };
        let plan = RowPlan::between(*problem, pass, config, SM, ends).ok()?;
        match waves {
            0 => Some(plan),
            _ if items > 1 => None,
            _ => {
                let rows = plan.stacked_rows(132 * plan.resident() * waves)?;
                RowPlan::between(*problem, pass, RowConfig { rows, ..config }, SM, ends).ok()
            }
        }
    };
    all.iter().filter_map(plan).collect()
}

#[test]
fn candidates_and_the_choice_are_those_of_a_plain_enumeration() {
    let (device, gpu) = (DeviceFacts::h200(), GpuScale::from(&DeviceFacts::h200()));
    let params = [Conv2d::new().padding(1), Conv2d::new().padding(1).stride(2), Conv2d::new().dilation(2)];
    let ends = [Ends::stored(Precision::F16), Ends::stored(Precision::F32), COMPUTED];
    for (params, ends) in params.into_iter().zip(ends) {
        let problem = Problem::of_forward([5, 21, 20, 48], [48, 3, 3, 8], Precision::F16, &params).unwrap();
        for pass in [Pass::Forward, Pass::GradInput] {
            let plain = plainly(&problem, pass, ends);
            let mut found = Vec::new();
            each_plan(&problem, pass, (SM, 132), ends, |plan| found.push((plan.config, plan.blocks)));
            assert!(found.len() > 100, "{}", found.len());
            assert!(found == plain.iter().map(|plan| (plan.config, plan.blocks)).collect::<Vec<_>>(), "{problem:?}");
            let fastest = plain.iter().min_by(|a, b| estimate(a, gpu).total_cmp(&estimate(b, gpu))).unwrap();
            let models = Models::default();
            assert_eq!(chosen(&models, &problem, pass, ends, SM, &device), fastest.config);
            let [one, two, three] = super::to_time(3, &models, &problem, pass, ends, SM, &device)[..] else {
                panic!("three of {}", plain.len());
            };
            assert!(one == fastest.config && one != two && two != three && one != three);
        }
    }
}

#[test]
fn what_is_kept_is_the_fastest_of_all() {
    let padded = |padding: usize| Conv2d::new().padding(padding);
    let cases = [
        ([128, 56, 56, 128], [128, 3, 3, 8], Precision::F16, padded(1)),
        ([64, 28, 28, 240], [240, 5, 5, 8], Precision::Bf16, padded(2)),
        ([3, 49, 33, 40], [40, 3, 7, 4], Precision::F16, Conv2d::new().padding([1, 3]).stride(2)),
        ([32, 19, 21, 96], [96, 5, 3, 16], Precision::F32, Conv2d::new().padding([2, 1]).dilation(2)),
        ([16, 15, 15, 72], [72, 7, 7, 1], Precision::F16, padded(3)),
        ([1, 1, 1, 8], [8, 1, 1, 8], Precision::F16, padded(0)),
        // No copy engine takes these channels.
        ([7, 20, 19, 12], [12, 3, 3, 4], Precision::F16, padded(1)),
    ];
    let gpu = GpuScale::from(&DeviceFacts::h100());
    for (x, w, precision, params) in cases {
        let problem = Problem::of_forward(x, w, precision, &params).unwrap();
        let stored = Ends::stored;
        for (pass, ends) in [
            (Pass::Forward, stored(Precision::F32)),
            (Pass::Forward, stored(precision)),
            (Pass::GradInput, stored(precision)),
            (Pass::Forward, COMPUTED),
        ] {
            let mut all = Vec::new();
            each_plan(&problem, pass, (SM, 132), ends, |plan| all.push((estimate(plan, gpu), plan.config)));
            // Sorting keeps the order of equals.
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            all.truncate(RANKED);
            let kept = estimated(&problem, pass, ends, SM, gpu);
            let checked = |it: &RowPlan| RowPlan::between(problem, pass, it.config, SM, ends).map(|of| of.blocks);
            assert!(kept.iter().all(|it| checked(it).as_ref() == Ok(&it.blocks)), "{problem:?} {pass:?}");
            let kept: Vec<_> = kept.iter().map(|it| (estimate(it, gpu), it.config)).collect();
            assert!(kept == all, "{problem:?} {pass:?}: {} of {}", kept.len(), all.len());
        }
    }
}
