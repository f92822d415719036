//! 61 to 64, 67 and 68: what declarations may say.

use super::declared::*;
use super::number::numbers;
use super::row::Form::{Cannot, Runs};
use super::row::Shows::{Refusal, Values};
use super::row::{Row, along, at, place, read, ui};
use tilewright_dims::{Layout as _, TensorType, Vectors};

const PADDING: &str =
    "padding is written as a stride (`I: 4 => 40`); who chooses it is the kernel's author, or a later search";

pub(super) fn rows() -> Vec<Row> {
    let mut rows = folds();
    rows.extend(others());
    rows
}

fn folds() -> Vec<Row> {
    vec![
        Row {
            case: 61,
            law: "Folds of one dimension follow one another: each ends where the next coarser one begins.",
            deviation: Some("A size may be left to be inferred there (-1); here every size is written, and checked."),
            shows: Values {
                expected: vec![128, 128, 8, 4, 1],
                typed: Runs(|| {
                    let strides = [K(8), K(4), K(1)].map(Halved::offset);
                    numbers![Halved::LEN, Halved::extent::<K>(), strides[0], strides[1], strides[2]]
                }),
                run_time: Runs(|| {
                    let halved = layout("Halved");
                    let strides = [8, 4, 1].map(|k| at(&halved, &[("K", k)]));
                    let extent = halved.extent("K").unwrap_or(0);
                    vec![halved.len(), extent, strides[0], strides[1], strides[2]]
                }),
                cuda: Runs(
                    "out(Halved::len, Halved::extent<K>());
                     out(Halved::offset(K(8)), Halved::offset(K(4)), Halved::offset(K(1)));",
                ),
            },
        },
        Row {
            case: 61,
            law: "A finer fold that ends before the coarser one begins is refused.",
            deviation: None,
            shows: Refusal {
                typed: Runs(ui!("folds_that_do_not_fit", "where `K%8` ends, `K/8` has to begin")),
                run_time: Runs((
                    || read("K/8: 4, I: 4, K%4"),
                    "make the finer axis 8 steps long, or the coarser fold 4",
                )),
                cuda: Runs((
                    "/*@tilewright tensor!(Bad: i32, [K/8: 4, I: 4, K%4]); @tilewright*/",
                    "make the finer axis 8 steps long, or the coarser fold 4",
                )),
            },
        },
        Row {
            case: 61,
            law: "A size is a positive number.",
            deviation: None,
            shows: Refusal {
                typed: Runs(ui!("an_axis_of_size_zero", "a size is 0 or negative")),
                run_time: Runs((|| read("K/8: -1"), "expected a size, found `-`")),
                cuda: Runs(("/*@tilewright tensor!(Bad: i32, [K/8: 0]); @tilewright*/", "size is 0, at least 1")),
            },
        },
        Row {
            case: 62,
            law: "A size is folded down, or up by adding before; the folds of a dimension multiply to its extent.",
            deviation: Some(
                "Sizes have an arithmetic of their own there, which refuses what does not divide; here axes do.",
            ),
            shows: Values {
                expected: vec![2, 3, 64, 8192, 36, 72],
                typed: Runs(|| {
                    let (down, up) = (I(17).fold::<8>(), (I(17) + I(7)).fold::<8>());
                    let (blocks, rows) = (Blocked::extent::<I>(), Padding::extent::<K>());
                    numbers![down, up, Blocked::LEN, blocks, Padding::LEN, rows]
                }),
                run_time: Runs(|| {
                    let (blocked, padding) = (layout("Blocked"), layout("Padding"));
                    let (down, up) = (place("I/8: 4", &[("I", 17)]), place("I/8: 4", &[("I", 17), ("I", 7)]));
                    let (blocks, rows) = (blocked.extent("I").unwrap_or(0), padding.extent("K").unwrap_or(0));
                    vec![down, up, blocked.len(), blocks, padding.len(), rows]
                }),
                cuda: Runs(
                    "out(I(17).fold<8>(), I8(I(17) + I(7)));
                     out(Blocked::len, Blocked::extent<I>(), Padding::len, Padding::extent<K>());",
                ),
            },
        },
        Row {
            case: 62,
            law: "Units that do not divide the finer axis are refused.",
            deviation: None,
            shows: Refusal {
                typed: Runs(ui!("folds_that_do_not_fit", "fold times size is the next fold")),
                run_time: Runs((|| read("I/17: 8, I%128"), "`I/17` counts I in units of 17, but `I%128` ends at 128")),
                cuda: Runs((
                    "/*@tilewright tensor!(Bad: i32, [I/17: 8, I%128]); @tilewright*/",
                    "`I/17` counts I in units of 17, but `I%128` ends at 128",
                )),
            },
        },
        Row {
            case: 63,
            law: "No two axes of a tensor are the same fold of the same dimension.",
            deviation: None,
            shows: Refusal {
                typed: Runs(ui!("the_same_fold_twice", "two axes are the same fold of the same dimension")),
                run_time: Runs((|| read("K/8: 4, I: 4, K/8: 2"), "two axes are `K/8`")),
                cuda: Runs(("/*@tilewright tensor!(Bad: i32, [I: 4, K: 8, I: 4]); @tilewright*/", "two axes are `I`")),
            },
        },
        Row {
            case: 64,
            law: "A tensor seen in vectors has the same memory: the contiguous axis is shorter, the strides are \
                  smaller.",
            deviation: None,
            shows: Values {
                expected: vec![528, 33, 1, 0, 33_776, 33_776],
                typed: Runs(|| {
                    type Fours = Vectors<<Staged as TensorType>::Layout, 4>;
                    let data: Vec<i32> = (0..Staged::STORAGE as i32).collect();
                    let fours = Staged::view(&data).unwrap().vectors::<4>();
                    assert_eq!(*fours.at(J4(1) + I(2)), [140, 141, 142, 143]);
                    let [warp, block] = [fours.at(WARP(1)).offset(), fours.at(J4(1)).offset()];
                    let [row, inside] = [fours.at(I(1)).offset(), fours.at(J(3)).offset()];
                    let bytes = Fours::STORAGE as usize * size_of::<[i32; 4]>();
                    numbers![warp, block, row, inside, bytes, Staged::BYTES]
                }),
                run_time: Runs(|| {
                    let staged = layout("Staged");
                    let fours = staged.vectors(4).unwrap();
                    let places = [("WARP", 1), ("J", 4), ("I", 1), ("J", 3)].map(|part| at(&fours, &[part]));
                    places.into_iter().chain([16 * fours.storage(), 4 * staged.storage()]).collect()
                }),
                cuda: Runs(
                    "const auto fours = Staged{x}.as<int4>();
                     out(fours.at(WARP(1)).offset(), fours.at(J4(1)).offset());
                     out(fours.at(I(1)).offset(), fours.at(J(3)).offset());
                     out(fours.bytes, Staged::bytes);",
                ),
            },
        },
    ]
}

fn others() -> Vec<Row> {
    vec![
        Row {
            case: 67,
            law: "A quotient is rounded up by adding before it is folded.",
            deviation: None,
            shows: Values {
                expected: vec![4],
                typed: Runs(|| numbers![(I(10) + I(2)).fold::<3>()]),
                run_time: Runs(|| vec![place("I/3: 9", &[("I", 10), ("I", 2)])]),
                cuda: Runs("out((I(10) + I(2)).fold<3>());"),
            },
        },
        Row {
            case: 67,
            law: "The next size that has no factor in common with the banks.",
            deviation: None,
            shows: Values {
                expected: Vec::new(),
                typed: Cannot(PADDING),
                run_time: Cannot(PADDING),
                cuda: Cannot(PADDING),
            },
        },
        Row {
            case: 68,
            law: "Any identifier is the name of a dimension, digits or not; capitals matter.",
            deviation: Some("Names are upper-cased there, `X2` is read as a fold of `X`, and `C2D` is no name."),
            shows: Values {
                expected: vec![60, 57, 4],
                typed: Runs(|| numbers![Named::LEN, Named::offset(X2(2) + C2D(3) + Conv1(2)), Named::extent::<C2D>()]),
                run_time: Runs(|| {
                    let named = layout("Named");
                    let place = at(&named, &[("X2", 2), ("C2D", 3), ("Conv1", 2)]);
                    vec![named.len(), place, named.extent("C2D").unwrap_or(0)]
                }),
                cuda: Runs("out(Named::len, Named::offset(X2(2) + C2D(3) + Conv1(2)), Named::extent<C2D>());"),
            },
        },
        Row {
            case: 68,
            law: "A derived dimension's axis stays where it is declared; a stride stands beside its axis.",
            deviation: Some(
                "A swizzle is moved to the innermost place there, and a stride for a dimension that the tensor \
                 lacks is ignored; \
                 here such a stride cannot be written.",
            ),
            shows: Values {
                expected: vec![96, 3, 1, 192],
                typed: Runs(|| {
                    let parts = [I16(1) + K(0), I(0) + K8(1), I(0) + K16(1)].map(Middle::offset);
                    numbers![parts[0], parts[1], parts[2], Middle::LEN]
                }),
                run_time: Runs(|| {
                    let middle = layout("Middle");
                    let parts = [("I", 16), ("K", 8), ("K", 16)].map(|part| at(&middle, &[part]));
                    parts.into_iter().chain([middle.len()]).collect()
                }),
                cuda: Runs("out(Middle::offset(I16(1)), Middle::offset(K8(1)), Middle::offset(K16(1)), Middle::len);"),
            },
        },
        Row {
            case: 68,
            law: "The points of a padded tensor are its coordinates, each once.",
            deviation: Some(
                "A range over a padded tensor takes its strides for sizes there: of 256 points 128 are distinct, \
                 and half of the rows are never visited.",
            ),
            shows: Values {
                expected: (0..256).flat_map(|n| [n / 32, n % 32, n / 32 * 64 + n % 32]).collect(),
                typed: Runs(|| {
                    let points = Gapped::coords();
                    points.flat_map(|at| numbers![at.get::<I>(), at.get::<J>(), Gapped::offset(at)]).collect()
                }),
                run_time: Runs(|| {
                    let gapped = layout("Gapped");
                    let values =
                        gapped.points().flat_map(|point| [along(&point, "I"), along(&point, "J"), at(&gapped, &point)]);
                    values.collect()
                }),
                cuda: Runs("for (auto at : Gapped::points()) out(at.get<I>(), at.get<J>(), Gapped::offset(at));"),
            },
        },
    ]
}
