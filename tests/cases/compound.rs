//! 52 to 57: compound indices, and shares of workers.

use super::declared::*;
use super::number::{Number, numbers};
use super::row::Form::{Cannot, Runs};
use super::row::Shows::{Refusal, Values};
use super::row::{PAIRS, Row, along, at, ui};

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row {
            case: 52,
            law: "A number is taken apart into coordinates, the last axis fastest.",
            deviation: None,
            shows: Values {
                expected: (0..256).flat_map(|o| [o / 8, o % 8]).chain([256, 2, 1, 0, 43]).collect(),
                typed: Runs(|| {
                    let pairs = (0..256).map(Pair::coords_of);
                    let mut values: Vec<i64> = pairs.flat_map(|at| numbers![at.get::<I>(), at.get::<J>()]).collect();
                    let four = Four::coords_of(532_523);
                    let (i, j, k, n) = (four.get::<I>(), four.get::<J>(), four.get::<K>(), four.get::<N>());
                    values.extend(numbers![Pair::LEN, i, j, k, n]);
                    values
                }),
                run_time: Runs(|| {
                    let (pair, four) = (layout("Pair"), layout("Four"));
                    let pairs = (0..256).map(|number| pair.coords(number));
                    let mut values: Vec<i64> = pairs.flat_map(|at| [along(&at, "I"), along(&at, "J")]).collect();
                    values.push(pair.len());
                    values.extend(four.coords(532_523).iter().map(|(_, value)| value));
                    values
                }),
                cuda: Runs(
                    "for (int n = 0; n < 256; ++n) out(Pair::coords_of(n).get<I>(), Pair::coords_of(n).get<J>());
                     const auto four = Four::coords_of(532523);
                     out(Pair::len, four.get<I>(), four.get<J>(), four.get<K>(), four.get<N>());",
                ),
            },
        },
        Row {
            case: 53,
            law: "Numbers beyond the last element begin again, and those below zero count from the end.",
            deviation: Some(
                "Numbers below zero are read as large ones there, which end elsewhere unless the size is a power \
                 of two. \
                 Here -1 is the last element, as `K(-1)` is the last of the block below.",
            ),
            shows: Values {
                expected: vec![0, 5, 0, 2, 4, 6],
                typed: Runs(|| {
                    let (even, odd, last) = (Taken::coords_of(37), Odd::coords_of(37), Odd::coords_of(-1));
                    let [even, odd, last] =
                        [(even.get(), even.get()), (odd.get(), odd.get()), (last.get(), last.get())];
                    let values: [(I, J); 3] = [even, odd, last];
                    values.into_iter().flat_map(|(i, j)| numbers![i, j]).collect()
                }),
                run_time: Runs(|| {
                    let (even, odd) = (layout("Taken"), layout("Odd"));
                    let points = [even.coords(37), odd.coords(37), odd.coords(-1)];
                    points.iter().flat_map(|point| [along(point, "I"), along(point, "J")]).collect()
                }),
                cuda: Runs(
                    "const auto even = Taken::coords_of(37);
                     const auto odd = Odd::coords_of(37), last = Odd::coords_of(-1);
                     out(even.get<I>(), even.get<J>(), odd.get<I>(), odd.get<J>(), last.get<I>(), last.get<J>());",
                ),
            },
        },
        Row {
            case: 54,
            law: "The coordinates that a number becomes may be cast, all folds of the dimension at once.",
            deviation: None,
            shows: Values {
                expected: (0..16).flat_map(|n| [32 * (n / 8) + 16 * (n % 2), n / 2 % 4 * 8]).collect(),
                typed: Runs(|| {
                    let cast = (0..16).map(|n| Waves::coords_of(n).cast::<I, K>());
                    cast.flat_map(|at| numbers![at.get::<K>(), at.get::<J>()]).collect()
                }),
                run_time: Cannot(PAIRS),
                cuda: Runs(
                    "for (int n = 0; n < 16; ++n) {
                       const auto cast = tw::cast<I, K>(Waves::coords_of(n));
                       out(cast.get<K>(), cast.get<J>());
                     }",
                ),
            },
        },
        Row {
            case: 54,
            law: "A dimension that the number does not become cannot be cast.",
            deviation: Some("Such a cast gives the same type there (see 29)."),
            shows: Refusal {
                typed: Runs(ui!("cast_a_dimension_that_is_not_there", "there is no dimension `K` here")),
                run_time: Cannot(PAIRS),
                cuda: Runs((
                    "tw::cast<K, M>(Waves::coords_of(3));",
                    "there is no such dimension among these coordinates",
                )),
            },
        },
        Row {
            case: 55,
            law: "A compound index takes its number from whatever parts add up to it, and ignores other dimensions.",
            deviation: None,
            shows: Values {
                expected: vec![21, 2, 5],
                typed: Runs(|| {
                    let place = Taken::offset(OFFSET(5) + OFFSET8(2) + K(100));
                    let at = Taken::coords_of(place);
                    numbers![place, at.get::<I>(), at.get::<J>()]
                }),
                run_time: Runs(|| {
                    let taken = layout("Taken");
                    let place = at(&taken, &[("OFFSET", 5), ("OFFSET", 16), ("K", 100)]);
                    let point = taken.coords(place);
                    vec![place, along(&point, "I"), along(&point, "J")]
                }),
                cuda: Runs(
                    "const int place = Taken::offset(OFFSET(5) + OFFSET8(2) + K(100));
                     const auto at = Taken::coords_of(place);
                     out(place, at.get<I>(), at.get<J>());",
                ),
            },
        },
        Row {
            case: 56,
            law: "A worker's share is every so many elements; some have one more, and some may have none.",
            deviation: None,
            shows: Values {
                expected: (0..32)
                    .flat_map(|lane| (lane..40).step_by(32).chain([-1]))
                    .chain((0..32).map(|lane| i64::from(lane < 16)))
                    .collect(),
                typed: Runs(|| {
                    let share = |lane| Forty::partition(lane, 32).map(|at| at.get::<N>().number()).chain([-1]);
                    let counts = (0..32).map(|lane| Sixteen::partition(lane, 32).count().number());
                    (0..32).flat_map(share).chain(counts).collect()
                }),
                run_time: Runs(|| {
                    let (forty, sixteen) = (layout("Forty"), layout("Sixteen"));
                    let share = |lane| forty.partition(lane, 32).map(|at| along(&at, "N")).chain([-1]);
                    let counts = (0..32).map(|lane| sixteen.partition(lane, 32).count().number());
                    (0..32).flat_map(share).chain(counts).collect()
                }),
                cuda: Runs(
                    "for (int lane = 0; lane < 32; ++lane) {
                       for (auto at : Forty::partition(lane, 32)) out(at.get<N>());
                       out(-1);
                     }
                     for (int lane = 0; lane < 32; ++lane) {
                       int count = 0;
                       for (auto at : Sixteen::partition(lane, 32)) count += 1 + 0 * at.get<N>();
                       out(count);
                     }",
                ),
            },
        },
        Row {
            case: 56,
            law: "Together the shares have each element once, whatever the folds.",
            deviation: None,
            shows: Values {
                expected: [7, 32, 100].iter().flat_map(|_| [80, 80 * 79 / 2, (0..80).map(|o| o * o).sum()]).collect(),
                typed: Runs(|| {
                    let places = |workers| {
                        let shares = (0..workers).flat_map(move |worker| Shares::partition(worker, workers));
                        shares.map(|at| i64::from(Shares::offset(at))).collect::<Vec<_>>()
                    };
                    [7, 32, 100].map(places).iter().flat_map(|places| sums(places)).collect()
                }),
                run_time: Runs(|| {
                    let shares = layout("Shares");
                    let places = |workers| {
                        let shared = (0..workers).flat_map(|worker| shares.partition(worker, workers));
                        shared.map(|point| at(&shares, &point)).collect::<Vec<_>>()
                    };
                    [7, 32, 100].map(places).iter().flat_map(|places| sums(places)).collect()
                }),
                cuda: Runs(
                    "const int all[] = {7, 32, 100};
                     for (int workers : all) {
                       int count = 0, sum = 0, squares = 0;
                       for (int worker = 0; worker < workers; ++worker) {
                         for (auto at : Shares::partition(worker, workers)) {
                           const int place = Shares::offset(at);
                           ++count, sum += place, squares += place * place;
                         }
                       }
                       out(count, sum, squares);
                     }",
                ),
            },
        },
        Row {
            case: 57,
            law: "A block's number becomes waves of blocks: local rows within a column, columns within a wave.",
            deviation: None,
            shows: Values {
                expected: vec![256, 1280, 384, 1, 1, 3],
                typed: Runs(|| {
                    let at = Grid::coords_of(45);
                    let (i, j): (I, J) = (at.get(), at.get());
                    numbers![Grid::LEN, i, j, i.fold::<1024>(), i.fold::<256>() % 4, j.fold::<128>()]
                }),
                run_time: Runs(|| {
                    let grid = layout("Grid");
                    let point = grid.coords(45);
                    let (i, j) = (along(&point, "I"), along(&point, "J"));
                    let parts = ["I/1024: 8", "I/256%4", "J/128: 8"].map(|axis| super::row::place(axis, &point));
                    vec![grid.len(), i, j, parts[0], parts[1], parts[2]]
                }),
                cuda: Runs(
                    "const auto at = Grid::coords_of(45);
                     const I i(at.get<I>());
                     const J j(at.get<J>());
                     out(Grid::len, i, j, i.fold<1024>(), i.fold<256>() % 4, j.fold<128>());",
                ),
            },
        },
    ]
}

/// How many, their sum and the sum of their squares: together they tell whether each of 0..80 is there once.
fn sums(places: &[i64]) -> [i64; 3] {
    [places.len() as i64, places.iter().sum(), places.iter().map(|place| place * place).sum()]
}
