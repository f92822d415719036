//! 1 to 15: dimensions, folds and remainders.

use super::declared::*;
use super::number::numbers;
use super::row::Form::{Cannot, Runs};
use super::row::Shows::{Refusal, Values};
use super::row::{PAIRS, Row, at, place, read, ui, unfolded};
use tilewright_dims::{max, min};

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row {
            case: 1,
            law: "Coordinates along one dimension add and subtract; `% n` gives a remainder in `0..n`.",
            deviation: None,
            shows: Values {
                expected: vec![15, -1, 2],
                typed: Runs(|| {
                    let (sum, difference, rest): (I, I, I) = (I(7) + I(8), I(7) - I(8), I(8) % 3);
                    numbers![sum, difference, rest]
                }),
                run_time: Runs(|| {
                    let sums = [[("I", 7), ("I", 8)], [("I", 7), ("I", -8)]];
                    vec![place("I: 16", &sums[0]), place("I: 16", &sums[1]), place("I%3", &[("I", 8)])]
                }),
                cuda: Runs(
                    "const I sum = I(7) + I(8), difference = I(7) - I(8), rest = I(8) % 3;
                     out(sum, difference, rest);",
                ),
            },
        },
        Row {
            case: 2,
            law: "Different dimensions do not compare.",
            deviation: None,
            shows: Refusal {
                typed: Runs(ui!("order_two_dimensions", "cannot be compared with dimension")),
                run_time: Cannot(PAIRS),
                cuda: Runs(("out(I(1) < J(1));", "different dimensions do not compare")),
            },
        },
        Row {
            case: 2,
            law: "A cast keeps the number and changes the dimension.",
            deviation: None,
            shows: Values {
                expected: vec![8],
                typed: Runs(|| {
                    let cast: J = I(8).cast();
                    numbers![cast]
                }),
                run_time: Cannot(PAIRS),
                cuda: Runs("const J cast = I(8).cast<J>(); out(cast);"),
            },
        },
        Row {
            case: 3,
            law: "A dimension folds into units, and a fold unfolds; units of one change nothing.",
            deviation: None,
            shows: Values {
                expected: vec![4, 32, 256],
                typed: Runs(|| {
                    let (folded, unfolded): (I8, I) = (I(32).fold(), I8(32).unfold());
                    numbers![folded, I(32).fold::<1>(), unfolded]
                }),
                run_time: Runs(|| {
                    vec![place("I/8: 8", &[("I", 32)]), place("I: 64", &[("I", 32)]), unfolded("I/8: 64", 32)]
                }),
                cuda: Runs(
                    "const I8 folded = I(32).fold<8>();
                     const I whole = I8(32).unfold();
                     out(folded, I(32).fold<1>(), whole);",
                ),
            },
        },
        Row {
            case: 4,
            law: "A fold is counted in coarser or finer units, if one divides the other.",
            deviation: None,
            shows: Values {
                expected: vec![16, 32],
                typed: Runs(|| {
                    let (coarser, finer): (I16, I8) = (I8(32).fold(), I16(16).fold());
                    numbers![coarser, finer]
                }),
                run_time: Runs(|| {
                    let (eights, sixteens) = (unfolded("I/8: 64", 32), unfolded("I/16: 32", 16));
                    vec![place("I/16: 32", &[("I", eights)]), place("I/8: 64", &[("I", sixteens)])]
                }),
                cuda: Runs(
                    "const I16 coarser = I8(32).fold<16>();
                     const I8 finer = I16(16).fold<8>();
                     out(coarser, finer);",
                ),
            },
        },
        Row {
            case: 4,
            law: "Units of which neither divides the other do not convert.",
            deviation: None,
            shows: Refusal {
                typed: Runs(ui!("fold_into_units_that_do_not_divide", "one of the two units must divide the other")),
                run_time: Runs((|| read("I/8: 4, I/3%2, I%3"), "`I/8` counts I in units of 8, but `I/3%2` ends at 6")),
                cuda: Runs(("out(I8(8).fold<3>());", "one of the two units must divide the other")),
            },
        },
        Row {
            case: 5,
            law: "Folds of one dimension add and subtract in any order; the sum is a coordinate along the \
                  dimension itself.",
            deviation: Some(
                "The sum is in the finer fold there. Here `I8(8) + I16(4)` is `I(128)`: one type for every sum \
                 along `I`.",
            ),
            shows: Values {
                expected: vec![128, 128, 0],
                typed: Runs(|| {
                    let sums: [I; 3] = [I8(8) + I16(4), I16(4) + I8(8), I16(4) - I8(8)];
                    assert!(sums[0] == I8(16) && sums[2] == I8(0));
                    numbers![sums[0], sums[1], sums[2]]
                }),
                run_time: Runs(|| {
                    let (eights, sixteens) = (unfolded("I/8: 64", 8), unfolded("I/16: 32", 4));
                    let sum = |a, b| place("I: 512", &[("I", a), ("I", b)]);
                    vec![sum(eights, sixteens), sum(sixteens, eights), sum(sixteens, -eights)]
                }),
                cuda: Runs("const I a = I8(8) + I16(4), b = I16(4) + I8(8), c = I16(4) - I8(8); out(a, b, c);"),
            },
        },
        Row {
            case: 6,
            law: "A fold and its dimension add and subtract.",
            deviation: None,
            shows: Values {
                expected: vec![96, 32, -4],
                typed: Runs(|| numbers![I8(8) + I(32), I(96) - I8(8), I8(2) - I(20)]),
                run_time: Runs(|| {
                    let (eight, two) = (unfolded("I/8: 9", 8), unfolded("I/8: 9", 2));
                    let sums = [[("I", eight), ("I", 32)], [("I", 96), ("I", -eight)], [("I", two), ("I", -20)]];
                    sums.map(|sum| place("I: 128", &sum)).to_vec()
                }),
                cuda: Runs("out(I8(8) + I(32), I(96) - I8(8), I8(2) - I(20));"),
            },
        },
        Row {
            case: 7,
            law: "Coordinates along one dimension compare, whatever their units.",
            deviation: None,
            shows: Values {
                expected: vec![1, 1, 1, 1, 0],
                typed: Runs(|| numbers![I8(8) == I16(4), I8(8) < I(65), I8(8) != I(65), I16(2) < I8(8), I8(8) < I(64)]),
                run_time: Cannot(PAIRS),
                cuda: Runs("out(I8(8) == I16(4), I8(8) < I(65), I8(8) != I(65), I16(2) < I8(8), I8(8) < I(64));"),
            },
        },
        Row {
            case: 8,
            law: "Folding rounds down, and from coarser to finer units it is exact.",
            deviation: None,
            shows: Values {
                expected: vec![2, 10],
                typed: Runs(|| numbers![K(23).fold::<8>(), K16(5).fold::<8>()]),
                run_time: Runs(|| {
                    vec![place("K/8: 4", &[("K", 23)]), place("K/8: 16", &[("K", unfolded("K/16: 8", 5))])]
                }),
                cuda: Runs("out(K8(K(23)), K16(5).fold<8>());"),
            },
        },
        Row {
            case: 9,
            law: "Folding rounds down below zero too: -1 lies in the block below.",
            deviation: Some(
                "Division truncates there, so that `K(-1)` and `K(1)` share a block, and a halo is read from the \
                 wrong one.",
            ),
            shows: Values {
                expected: vec![-1, -1, -2, -25],
                typed: Runs(|| {
                    numbers![K(-1).fold::<8>(), K(-8).fold::<8>(), K(-9).fold::<8>(), Folded::offset(K(-1))]
                }),
                run_time: Runs(|| {
                    let mut folded: Vec<i64> = [-1, -8, -9].map(|k| place("K/8: 4", &[("K", k)])).to_vec();
                    folded.push(at(&layout("Folded"), &[("K", -1)]));
                    folded
                }),
                cuda: Runs("out(K(-1).fold<8>(), K(-8).fold<8>(), K8(K(-9)), Folded::offset(K(-1)));"),
            },
        },
        Row {
            case: 10,
            law: "A remainder of a fold is in its units, and unfolds as they do; an axis may count a remainder alone.",
            deviation: Some(
                "Bounded folds are a type of their own there. Here `% n` gives a plain fold: one rule less.",
            ),
            shows: Values {
                expected: vec![2, 2, 48, 1, 4, 64],
                typed: Runs(|| {
                    let rest: I16 = I16(10) % 4;
                    let unfolded: I = (I16(3) % 4).unfold();
                    numbers![rest, I16(50) % 4, unfolded, I(80).fold::<16>() % 4, Ring::LEN, Ring::extent::<I>()]
                }),
                run_time: Runs(|| {
                    let ring = layout("Ring");
                    let rest = |step| at(&ring, &[("I", unfolded("I/16: 64", step))]);
                    let extent = ring.extent("I").unwrap_or(0);
                    vec![rest(10), rest(50), ring.coords(3)[0].1, at(&ring, &[("I", 80)]), ring.len(), extent]
                }),
                cuda: Runs(
                    "const I16 rest = I16(10) % 4;
                     const I unfolded = (I16(3) % 4).unfold();
                     out(rest, I16(50) % 4, unfolded, I16(I(80)) % 4, Ring::len, Ring::extent<I>());",
                ),
            },
        },
        Row {
            case: 11,
            law: "What is added to a remainder, or taken from it, wraps when the remainder is taken again; it is \
                  never negative.",
            deviation: Some(
                "Sums of bounded folds wrap by themselves there, and differences become negative (1 - 2 = -1). \
                 Here nothing wraps unasked, and `% n` is in `0..n`, so 1 - 2 = 3.",
            ),
            shows: Values {
                expected: vec![3, 1, 3],
                typed: Runs(|| {
                    let rest = |sum: I| sum.fold::<16>() % 4;
                    numbers![rest(I16(1) + I16(2)), rest(I16(3) + I16(2)), rest(I16(1) - I16(2))]
                }),
                run_time: Runs(|| {
                    let sums = [[("I", 16), ("I", 32)], [("I", 48), ("I", 32)], [("I", 16), ("I", -32)]];
                    sums.map(|sum| at(&layout("Ring"), &sum)).to_vec()
                }),
                cuda: Runs("out(I16(I16(1) + I16(2)) % 4, I16(I16(3) + I16(2)) % 4, I16(I16(1) - I16(2)) % 4);"),
            },
        },
        Row {
            case: 12,
            law: "A remainder adds to coordinates in other units as any fold does; the sum does not wrap.",
            deviation: None,
            shows: Values {
                expected: vec![40, 8, 48, 0, 0, 64],
                typed: Runs(|| {
                    let (two, three) = (I16(2) % 4, I16(3) % 4);
                    assert!(two == I8(4) && two == I(32));
                    numbers![two + I(8), I(40) - two, two + I8(2), two - I8(4), two - I(32), three + I(16)]
                }),
                run_time: Runs(|| {
                    let (two, three, eights) = (unfolded("I/16%4", 2), unfolded("I/16%4", 3), unfolded("I/8: 8", 1));
                    let sum = |a, b| place("I: 128", &[("I", a), ("I", b)]);
                    vec![
                        sum(two, 8),
                        sum(40, -two),
                        sum(two, 2 * eights),
                        sum(two, -4 * eights),
                        sum(two, -32),
                        sum(three, 16),
                    ]
                }),
                cuda: Runs(
                    "const I16 two = I16(2) % 4, three = I16(3) % 4;
                     out(two + I(8), I(40) - two, two + I8(2), two - I8(4), two - I(32), three + I(16));",
                ),
            },
        },
        Row {
            case: 13,
            law: "The smaller and the larger of two coordinates in whatever units, along the dimension itself.",
            deviation: Some("The result is in the finer fold there, `I8(8)`; here it is `I(64)`, as sums are."),
            shows: Values {
                expected: vec![64, 80, 20, 24],
                typed: Runs(|| {
                    let least: I = min(I8(8), I16(5));
                    numbers![least, max(I8(8), I16(5)), min(K8(3), K(20)), max(K8(3), K(20))]
                }),
                run_time: Cannot(PAIRS),
                cuda: Runs(
                    "const I least = tw::min(I8(8), I16(5));
                     out(least, tw::max(I8(8), I16(5)), tw::min(K8(3), K(20)), tw::max(K8(3), K(20)));",
                ),
            },
        },
        Row {
            case: 14,
            law: "A fold of a fold is a fold of the dimension, by the product.",
            deviation: Some(
                "`C32(7)` unfolds by one step there, to `C8(28)`; here to the dimension, and `.fold()` gives `C8(28)`.",
            ),
            shows: Values {
                expected: vec![28, 224],
                typed: Runs(|| {
                    let (eights, whole): (C8, C) = (C32(7).fold(), C32(7).unfold());
                    numbers![eights, whole]
                }),
                run_time: Runs(|| {
                    let whole = unfolded("C/32: 8", 7);
                    vec![place("C/8: 32", &[("C", whole)]), whole]
                }),
                cuda: Runs("const C8 eights = C32(7).fold<8>(); const C whole = C32(7).unfold(); out(eights, whole);"),
            },
        },
        Row {
            case: 15,
            law: "A remainder keeps the units of what it is taken from.",
            deviation: None,
            shows: Values {
                expected: vec![2, 16],
                typed: Runs(|| numbers![I8(10) % 4, (I8(10) % 4).unfold()]),
                run_time: Runs(|| {
                    let rest = place("I/8%4", &[("I", unfolded("I/8: 16", 10))]);
                    vec![rest, unfolded("I/8%4", rest)]
                }),
                cuda: Runs("out(I8(10) % 4, (I8(10) % 4).unfold());"),
            },
        },
    ]
}
