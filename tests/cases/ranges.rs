//! 16 to 18: ranges.

use super::declared::*;
use super::number::{Number, numbers};
use super::row::Form::{Cannot, Runs};
use super::row::Row;
use super::row::Shows::Values;
use super::row::{at, parsed, place};

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row {
            case: 16,
            law: "A range of folds yields folds; its end may be a coordinate, folded downwards.",
            deviation: None,
            shows: Values {
                expected: vec![0, 1, 2, 3, 4, 5, 6, 7, 0, 1],
                typed: Runs(|| {
                    let items: Vec<I16> = I16(0).until(I16(8)).chain(I16(0).until(I(33).fold())).collect();
                    items.into_iter().map(Number::number).collect()
                }),
                run_time: Runs(|| {
                    let ends = [8, place("I/16: 9", &[("I", 33)])];
                    let axes = ends.map(|end| parsed(&format!("I/16: {end}")));
                    axes.iter().flat_map(|axis| axis.points().map(|point| at(axis, &point))).collect()
                }),
                cuda: Runs(
                    "for (I16 i : tw::range(I16(8))) out(i);
                     for (I16 i : tw::range(I16(I(33)))) out(i);",
                ),
            },
        },
        Row {
            case: 17,
            law: "Ranges begin anywhere, have steps, and run backwards.",
            deviation: None,
            shows: Values {
                expected: vec![0, 2, 4, 6, 8, 1, 3, 5, 7, 7, 6, 5, 4, 3, 2, 1, 0],
                typed: Runs(|| {
                    let (all, odd) = (I(0).until(I(9)).step_by(2), I(1).until(I(8)).step_by(2));
                    all.chain(odd).chain(I(0).until(I(8)).rev()).map(Number::number).collect()
                }),
                run_time: Runs(|| {
                    let (nine, eight) = (parsed("I: 9"), parsed("I: 8"));
                    let backwards = (0..8).rev().map(|step| eight.coords(step));
                    nine.partition(0, 2).chain(eight.partition(1, 2)).chain(backwards).map(|point| point[0].1).collect()
                }),
                cuda: Runs(
                    "for (I i : tw::range(I(9)).by<2>()) out(i);
                     for (I i : tw::range(I(1), I(8)).by<2>()) out(i);
                     for (I i : tw::reverse_range(I(8))) out(i);",
                ),
            },
        },
        Row {
            case: 18,
            law: "A range whose end does not lie beyond its start is empty.",
            deviation: Some(
                "A range from `a` to a smaller `b` never ends there, for its loop asks only whether it met `b`.",
            ),
            shows: Values {
                expected: vec![0, 0, 0, 0],
                typed: Runs(|| {
                    let over = (I(2) + J(3)).until(I(2) + J(9)).len();
                    numbers![I(0).until(I(0)).len(), I(5).until(I(2)).count(), K8(5).until(K8(2)).count(), over]
                }),
                run_time: Cannot(
                    "a layout has at least one step along each axis, so that no range of its points is empty",
                ),
                cuda: Runs(
                    "int items[4] = {};
                     for (I i : tw::range(I(0))) items[0] += 1 + i.value;
                     for (I i : tw::range(I(5), I(2))) items[1] += 1 + i.value;
                     for (K8 k : tw::range(K8(5), K8(2))) items[2] += 1 + k.value;
                     for (I i : tw::reverse_range(I(0))) items[3] += 1 + i.value;
                     out(items[0], items[1], items[2], items[3]);",
                ),
            },
        },
    ]
}
