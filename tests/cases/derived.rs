//! 45 to 51: derived dimensions.

use super::declared::*;
use super::number::numbers;
use super::row::Form::Runs;
use super::row::Shows::{Refusal, Values};
use super::row::{Row, along, at, ui};

/// The cell of a checkerboard of eight ranks, from its definition.
fn cell(pair: i64, colour: i64) -> i64 {
    (2 * pair + colour) ^ (pair / 4 % 2)
}

/// Coordinates that a test sweeps.
fn points() -> impl Iterator<Item = (i32, i32)> {
    (0..64).step_by(3).flat_map(|i| (0..16).map(move |k| (i, k)))
}

/// Whether eight consecutive pairs of one colour lie in eight banks: one bit for each bank.
fn banks(cell: impl Fn(i32, i32) -> i64) -> Vec<i64> {
    let groups = (0..2).flat_map(|colour| (0..16).map(move |group| (colour, 8 * group)));
    groups
        .map(|(colour, first)| (first..first + 8).fold(0, |banks, pair| banks | 1 << (cell(pair, colour) % 8)))
        .collect()
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row {
            case: 45,
            law: "A checkerboard exchanges the colours of every other row, beside whatever axes the layout has.",
            deviation: None,
            shows: Values {
                expected: [
                    [0, 2, 4, 6, 9, 11, 13, 15, 16, 18, 20, 22, 25, 27, 29, 31],
                    [1, 3, 5, 7, 8, 10, 12, 14, 17, 19, 21, 23, 24, 26, 28, 30],
                ]
                .concat()
                .into_iter()
                .chain([330, 330])
                .collect(),
                typed: Runs(|| {
                    let cells = (0..32).map(|n| Cells::offset(I(n % 16) + K(n / 16)));
                    let swizzled = [Swizzled::offset(I(37) + K8(3)), Swizzled::offset(I(37) + K(24))];
                    cells.chain(swizzled).map(i64::from).collect()
                }),
                run_time: Runs(|| {
                    let (cells, swizzled) = (layout("Cells"), layout("Swizzled"));
                    let cells = (0..32).map(|n| at(&cells, &[("I", n % 16), ("K", n / 16)]));
                    let places = [[("I", 37), ("K", 24)], [("K", 24), ("I", 37)]].map(|point| at(&swizzled, &point));
                    cells.chain(places).collect()
                }),
                cuda: Runs(
                    "for (int n = 0; n < 32; ++n) out(Cells::offset(I(n % 16) + K(n / 16)));
                     out(Swizzled::offset(I(37) + K8(3)), Swizzled::offset(I(37) + K(24)));",
                ),
            },
        },
        Row {
            case: 46,
            law: "An element's number gives the coordinates that lead to it.",
            deviation: None,
            shows: Values {
                expected: (0..256).flat_map(|o| [o / 2, (o % 2) ^ (o / 8 % 2), o]).collect(),
                typed: Runs(|| {
                    let coords = (0..256).map(Board::coords_of);
                    coords.flat_map(|at| numbers![at.get::<I>(), at.get::<K>(), Board::offset(at)]).collect()
                }),
                run_time: Runs(|| {
                    let board = layout("Board");
                    let coords = (0..256).map(|number| board.coords(number));
                    coords.flat_map(|point| [along(&point, "I"), along(&point, "K"), at(&board, &point)]).collect()
                }),
                cuda: Runs(
                    "for (int n = 0; n < 256; ++n) {
                       const auto at = Board::coords_of(n);
                       out(at.get<I>(), at.get<K>(), Board::offset(at));
                     }",
                ),
            },
        },
        Row {
            case: 47,
            law: "Eight consecutive pairs of one colour lie in eight different banks.",
            deviation: None,
            shows: Values {
                expected: vec![255; 32],
                typed: Runs(|| banks(|pair, colour| Board::offset(I(pair) + K(colour)).into())),
                run_time: Runs(|| {
                    let board = layout("Board");
                    banks(|pair, colour| at(&board, &[("I", pair.into()), ("K", colour.into())]))
                }),
                cuda: Runs(
                    "for (int group = 0; group < 32; ++group) {
                       int banks = 0;
                       const auto first = I(group % 16 * 8) + K(group / 16);
                       for (I i : tw::range(I(8))) banks |= 1 << Board::offset(first + i) % 8;
                       out(banks);
                     }",
                ),
            },
        },
        Row {
            case: 48,
            law: "What a derived dimension reads may be folded as one likes, and is zero where it is not named.",
            deviation: Some(
                "A derived dimension of which an input is missing, or coarser than what it reads, is skipped there. \
                 Here a missing coordinate is zero, as everywhere, so that subscripts add up one by one.",
            ),
            shows: Values {
                expected: vec![256 + cell(5, 1), 256 + cell(5, 1), cell(5, 0), 256 + cell(0, 1), 512 + cell(5, 0)],
                typed: Runs(|| {
                    let both = [I(5) + K8(3), I(5) + K(24), I(5) + K16(2)].map(Swizzled::offset);
                    numbers![both[0], both[1], Swizzled::offset(I(5)), Swizzled::offset(K8(3)), both[2]]
                }),
                run_time: Runs(|| {
                    let (s, i) = (layout("Swizzled"), ("I", 5));
                    let both = at(&s, &[i, ("K", 24)]);
                    vec![both, both, at(&s, &[i]), at(&s, &[("K", 24)]), at(&s, &[i, ("K", 32)])]
                }),
                cuda: Runs(
                    "out(Swizzled::offset(I(5) + K8(3)), Swizzled::offset(I(5) + K(24)), Swizzled::offset(I(5)));
                     out(Swizzled::offset(K8(3)), Swizzled::offset(I(5) + K16(2)));",
                ),
            },
        },
        Row {
            case: 49,
            law: "What is read is reduced: the pair by 16, the colour by 2; coarser axes go on where that ends.",
            deviation: Some(
                "The case leaves a gap there, `K/64` beside a swizzle that reads 16 of `K`, so that coordinates \
                 share an \
                 element; here the axis is `K/16`.",
            ),
            shows: Values {
                expected: points()
                    .map(|(i, k)| (i64::from(i), i64::from(k)))
                    .map(|(i, k)| cell(i % 16, k % 2) * 32 + i / 16 * 8 + k / 2)
                    .collect(),
                typed: Runs(|| points().map(|(i, k)| i64::from(Reduced::offset(I(i) + K8(k)))).collect()),
                run_time: Runs(|| {
                    let reduced = layout("Reduced");
                    points().map(|(i, k)| at(&reduced, &[("I", i.into()), ("K", i64::from(k) * 8)])).collect()
                }),
                cuda: Runs(
                    "for (int i = 0; i < 64; i += 3) {
                       for (K8 k : tw::range(K8(16))) out(Reduced::offset(I(i) + k));
                     }",
                ),
            },
        },
        Row {
            case: 50,
            law: "Derived dimensions chain: a lane becomes a row and a column, and these a cell; warps add their rows.",
            deviation: None,
            shows: Values {
                expected: (0..128).map(|n| 3 * 256 + n / 32 * 32 + cell(n % 16, n / 16 % 2)).collect(),
                typed: Runs(|| (0..128).map(|n| Loaded::offset(Threads::coords_of(n) + K(48)).into()).collect()),
                run_time: Runs(|| {
                    let (threads, loaded) = (layout("Threads"), layout("Loaded"));
                    let point = |n| threads.coords(n).into_iter().chain([("K", 48)]).collect::<Vec<_>>();
                    (0..128).map(|n| at(&loaded, &point(n))).collect()
                }),
                cuda: Runs("for (int n = 0; n < 128; ++n) out(Loaded::offset(Threads::coords_of(n) + K(48)));"),
            },
        },
        Row {
            case: 51,
            law: "What a checkerboard gives is hidden: in a sum such a coordinate is ignored, as any that the \
                  tensor lacks.",
            deviation: Some(
                "Such a coordinate is refused there, in a sum too. Here it is along a dimension that the tensor \
                 lacks (37).",
            ),
            shows: Values {
                expected: vec![cell(5, 0), cell(5, 0)],
                typed: Runs(|| numbers![Cells::offset(I(5) + CELL(3)), Cells::offset(I(5))]),
                run_time: Runs(|| {
                    let cells = layout("Cells");
                    vec![at(&cells, &[("I", 5), ("CELL", 3)]), at(&cells, &[("I", 5)])]
                }),
                cuda: Runs("out(Cells::offset(I(5) + CELL(3)), Cells::offset(I(5)));"),
            },
        },
        Row {
            case: 51,
            law: "A subscript by a hidden dimension alone is a mistake.",
            deviation: None,
            shows: Refusal {
                typed: Runs(ui!("subscript_a_hidden_dimension", "has none of the dimensions")),
                run_time: Runs((|| layout("Cells").offset(&[("CELL", 3)]).map(drop), "and none of CELL")),
                cuda: Runs(("out(Cells::offset(CELL(3)));", "none of these dimensions is one of the layout's")),
            },
        },
    ]
}
