//! 19 to 30: sums over several dimensions.

use super::declared::*;
use super::number::numbers;
use super::row::Form::{Cannot, Runs};
use super::row::Shows::{Refusal, Values};
use super::row::{PAIRS, Row, place, ui};
use tilewright_dims::{Coords, Dims, Set, Term};

/// How many dimensions coordinates have.
fn dims<T: Term>(_: T) -> usize {
    T::Parts::LEN
}

/// The coordinates along three dimensions.
fn three(coords: &[(&str, i64)], dims: [&str; 3]) -> Vec<i64> {
    dims.map(|dim| place(&format!("{dim}: 100"), coords)).to_vec()
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row {
            case: 19,
            law: "Different dimensions add up to coordinates, in any order; a difference negates what only the \
                  right side has.",
            deviation: None,
            shows: Values {
                expected: vec![3, 4, 5, 345, 345, 345, 1, -2],
                typed: Runs(|| {
                    let (at, other) = (I(3) + J(4) + K(5), K(5) + (J(4) + I(3)));
                    assert!(at == other);
                    let (i, j, k) = (at.get::<I>(), at.get::<J>(), at.get::<K>());
                    let [a, b, c] = [Cube::offset(at), Cube::offset(other), Cube::offset(J(4) + K(5) + I(3))];
                    let difference = I(1) - J(2);
                    numbers![i, j, k, a, b, c, difference.get::<I>(), difference.get::<J>()]
                }),
                run_time: Runs(|| {
                    let [i, j, k] = [("I", 3), ("J", 4), ("K", 5)];
                    let cube = |coords: &[(&str, i64)]| place("I: 10, J: 10, K: 10", coords);
                    let mut values = three(&[i, j, k], ["I", "J", "K"]);
                    values.extend([cube(&[i, j, k]), cube(&[k, j, i]), cube(&[j, k, i])]);
                    let difference = [("I", 1), ("J", -2)];
                    values.extend(["I", "J"].map(|dim| place(&format!("{dim}: 9"), &difference)));
                    values
                }),
                cuda: Runs(
                    "const auto at = I(3) + J(4) + K(5), other = at;
                     const auto turned = K(5) + (J(4) + I(3));
                     const auto difference = I(1) - J(2);
                     static_assert(decltype(dims(at))::value == 3, \"three dimensions\");
                     out(at.get<I>(), at.get<J>(), other.get<K>());
                     out(Cube::offset(at), Cube::offset(turned), Cube::offset(J(4) + K(5) + I(3)));
                     out(difference.get<I>(), difference.get<J>());",
                ),
            },
        },
        Row {
            case: 20,
            law: "Coordinates have one entry for each dimension, whatever folds were added.",
            deviation: Some(
                "Coordinates keep the order of their parts there; here their order has no meaning and cannot be seen.",
            ),
            shows: Values {
                expected: vec![26, 9],
                typed: Runs(|| {
                    let sum = I(2) + I8(3) + J(1) + J4(2);
                    assert_eq!(dims(sum), 2);
                    numbers![sum.get::<I>(), sum.get::<J>()]
                }),
                run_time: Runs(|| {
                    let sum = [("I", 2), ("I", 24), ("J", 1), ("J", 8)];
                    vec![place("I: 99", &sum), place("J: 99", &sum)]
                }),
                cuda: Runs(
                    "const auto sum = I(2) + I8(3) + J(1) + J4(2);
                     static_assert(decltype(dims(sum))::value == 2, \"two dimensions\");
                     out(sum.get<I>(), sum.get<J>());",
                ),
            },
        },
        Row {
            case: 21,
            law: "Coordinates count each dimension in units of one; `fold` gives other units.",
            deviation: Some("An entry keeps its fold there, `I8(2)`; here it is `I(16)`, as sums are."),
            shows: Values {
                expected: vec![16, 12, 4],
                typed: Runs(|| {
                    let (at, sum): (_, I) = (I8(2) + J4(3), I8(1) + I4(2));
                    numbers![at.get::<I>(), at.get::<J>(), sum.fold::<4>()]
                }),
                run_time: Runs(|| {
                    let at = [("I", 16), ("J", 12)];
                    vec![place("I: 99", &at), place("J: 99", &at), place("I/4: 9", &[("I", 8), ("I", 8)])]
                }),
                cuda: Runs(
                    "const auto at = I8(2) + J4(3);
                     const I sum = I8(1) + I4(2);
                     out(at.get<I>(), at.get<J>(), sum.fold<4>());",
                ),
            },
        },
        Row {
            case: 22,
            law: "Coordinates add up dimension by dimension.",
            deviation: None,
            shows: Values {
                expected: vec![1, 22, 30, 10, 7],
                typed: Runs(|| {
                    let (three, two) = ((I(1) + J(2)) + (J(20) + K(30)), (I(2) + J4(1)) + (I8(1) + J(3)));
                    let (i, j) = (two.get::<I>(), two.get::<J>());
                    numbers![three.get::<I>(), three.get::<J>(), three.get::<K>(), i, j]
                }),
                run_time: Runs(|| {
                    let mut sums = three(&[("I", 1), ("J", 2), ("J", 20), ("K", 30)], ["I", "J", "K"]);
                    let two = [("I", 2), ("J", 4), ("I", 8), ("J", 3)];
                    sums.extend([place("I: 99", &two), place("J: 99", &two)]);
                    sums
                }),
                cuda: Runs(
                    "const auto three = (I(1) + J(2)) + (J(20) + K(30));
                     const auto two = (I(2) + J4(1)) + (I8(1) + J(3));
                     out(three.get<I>(), three.get<J>(), three.get<K>(), two.get<I>(), two.get<J>());",
                ),
            },
        },
        Row {
            case: 23,
            law: "What is subtracted along a dimension that is not there becomes negative.",
            deviation: None,
            shows: Values {
                expected: vec![10, 5, -3],
                typed: Runs(|| {
                    let at = I(10) + J(5) - K(3);
                    numbers![at.get::<I>(), at.get::<J>(), at.get::<K>()]
                }),
                run_time: Runs(|| three(&[("I", 10), ("J", 5), ("K", -3)], ["I", "J", "K"])),
                cuda: Runs(
                    "const auto at = I(10) + J(5) - K(3); out(tw::along<I>(at).value, tw::along<J>(at).value, at.get<K>());",
                ),
            },
        },
        Row {
            case: 24,
            law: "A comparison of coordinates holds if it does along every dimension that both sides have.",
            deviation: None,
            shows: Values {
                expected: vec![0, 1],
                typed: Runs(|| {
                    let right = J(20) + K(30);
                    numbers![(I(1) + J(200)).all_lt(right), (I(1) + J(2)).all_lt(right)]
                }),
                run_time: Cannot(PAIRS),
                cuda: Runs(
                    "const auto right = J(20) + K(30);
                     out(tw::all_lt(I(1) + J(200), right), tw::all_lt(I(1) + J(2), right));",
                ),
            },
        },
        Row {
            case: 25,
            law: "Comparisons of coordinates are no order: of two points neither need be smaller, nor larger or \
                  the same.",
            deviation: None,
            shows: Values {
                expected: vec![0, 0, 0, 0],
                typed: Runs(|| {
                    let (a, b) = (I(1) + J(9), I(5) + J(5));
                    assert!(a != b);
                    numbers![a.all_lt(b), a.all_gt(b), a.all_ge(b), a.all_eq(b)]
                }),
                run_time: Cannot(PAIRS),
                cuda: Runs(
                    "const auto a = I(1) + J(9), b = I(5) + J(5);
                     out(tw::all_lt(a, b), tw::all_gt(a, b), tw::all_ge(a, b), tw::all_eq(a, b));",
                ),
            },
        },
        Row {
            case: 26,
            law: "Coordinates that share no dimension do not compare.",
            deviation: None,
            shows: Refusal {
                typed: Runs(ui!("compare_over_no_shared_dimension", "all_lt(K(4) + M(5))")),
                run_time: Cannot(PAIRS),
                cuda: Runs(("out(tw::all_lt(I(1) + J(1), K(3) + M(4)));", "the two sides share no dimension")),
            },
        },
        Row {
            case: 26,
            law: "Coordinates do not compare with a single dimension that they lack.",
            deviation: None,
            shows: Refusal {
                typed: Runs(ui!("compare_over_no_shared_dimension", "all_lt(K(4));")),
                run_time: Cannot(PAIRS),
                cuda: Runs(("out(tw::all_lt(I(1) + J(1), K(3)));", "the two sides share no dimension")),
            },
        },
        Row {
            case: 27,
            law: "A dimension and its fold add up to what they stand for.",
            deviation: None,
            shows: Values {
                expected: vec![9],
                typed: Runs(|| {
                    let sum: I = I(1) + I8(1);
                    assert!(sum + J(0) == I(9) + J(0));
                    numbers![sum]
                }),
                run_time: Runs(|| vec![place("I: 99", &[("I", 1), ("I", 8)])]),
                cuda: Runs("const I sum = I(1) + I8(1); out(sum);"),
            },
        },
        Row {
            case: 28,
            law: "`without` takes a dimension out, with all that was added along it, down to no coordinates at all.",
            deviation: None,
            shows: Values {
                expected: vec![4, 0, 1, 0],
                typed: Runs(|| {
                    let rest = (I(1) + I4(1) + I8(1) + J(4)).without::<I>();
                    let none = rest.without::<J>();
                    numbers![rest.get::<J>(), rest.get::<I>(), dims(rest), dims(none)]
                }),
                run_time: Cannot(PAIRS),
                cuda: Runs(
                    "const auto rest = tw::without<I>(I(1) + I4(1) + I8(1) + J(4));
                     const auto none = tw::without<J>(rest);
                     out(rest.get<J>(), rest.get<I>(), dims(rest).value, dims(none).value);",
                ),
            },
        },
        Row {
            case: 28,
            law: "A dimension that is not there cannot be taken out.",
            deviation: None,
            shows: Refusal {
                typed: Runs(ui!("drop_a_dimension_that_is_not_there", "there is no dimension `K` here")),
                run_time: Cannot(PAIRS),
                cuda: Runs(("tw::without<K>(I(1) + J(1));", "there is no such dimension among these coordinates")),
            },
        },
        Row {
            case: 29,
            law: "A cast moves what is along one dimension to another, and adds to what is there; a fold keeps \
                  its units.",
            deviation: None,
            shows: Values {
                expected: vec![9, 4, 13, 24],
                typed: Runs(|| {
                    let moved = (I(1) + I8(1) + J(4)).cast::<I, K>();
                    let folded: J8 = I8(3).cast();
                    numbers![moved.get::<K>(), moved.get::<J>(), moved.cast::<K, J>().get::<J>(), folded.unfold()]
                }),
                run_time: Cannot(PAIRS),
                cuda: Runs(
                    "const auto moved = tw::cast<I, K>(I(1) + I8(1) + J(4));
                     const J8 folded = I8(3).cast<J>();
                     out(moved.get<K>(), moved.get<J>(), tw::cast<K, J>(moved).get<J>(), folded.unfold());",
                ),
            },
        },
        Row {
            case: 29,
            law: "A dimension that is not there cannot be cast.",
            deviation: Some("Such a cast changes nothing there; here it is a mistake, as taking the dimension out is."),
            shows: Refusal {
                typed: Runs(ui!("cast_a_dimension_that_is_not_there", "there is no dimension `K` here")),
                run_time: Cannot(PAIRS),
                cuda: Runs(("tw::cast<K, M>(I(1) + J(1));", "there is no such dimension among these coordinates")),
            },
        },
        Row {
            case: 30,
            law: "Whether no coordinate is negative: true of none, false if a fold is.",
            deviation: None,
            shows: Values {
                expected: vec![1, 1, 0, 0],
                typed: Runs(|| {
                    let none = Coords::<<() as Dims>::Set>::default();
                    let signs = [(I(0) + J(4)), (I(3) + J8(-1)), (I(-1) + J(4))].map(Coords::all_non_negative);
                    numbers![none.all_non_negative(), signs[0], signs[1], signs[2]]
                }),
                run_time: Cannot(PAIRS),
                cuda: Runs(
                    "out(tw::all_non_negative(tw::Coords<>{}), tw::all_non_negative(I(0) + J(4)));
                     out(tw::all_non_negative(I(3) + J8(-1)), tw::all_non_negative(I(-1) + J(4)));",
                ),
            },
        },
    ]
}
