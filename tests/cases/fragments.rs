//! 58 to 60 and 65 to 66: tiles of tensor cores, as layouts.

use super::declared::*;
use super::number::{Number, numbers};
use super::row::Form::{Cannot, Runs};
use super::row::Shows::{Refusal, Values};
use super::row::{Row, along, at, read, ui};

/// Each lane, and each of its four registers.
fn registers() -> impl Iterator<Item = (i32, i32)> {
    (0..32).flat_map(|lane| (0..4).map(move |register| (lane, register)))
}

/// Where the first of the two neighbours in each register stands in A, B and C, from the definition of mma.m16n8k16.
fn elements() -> Vec<i64> {
    let places = registers().map(|(lane, register)| (i64::from(lane), i64::from(register)));
    let places = places.flat_map(|(lane, register)| {
        let (quad, in_quad, low, high) = (lane / 4, lane % 4, register & 1, register >> 1);
        let a = (quad + 8 * low) * 16 + 2 * (in_quad + 4 * high);
        let b = 2 * (in_quad + 4 * low) * 16 + quad + 8 * high;
        [a, b, a]
    });
    places.collect()
}

/// The row that each lane addresses, from the definition of ldmatrix.
fn loaded_rows() -> Vec<i64> {
    let rows = (0..32).flat_map(|lane| {
        let (row, half) = ((lane & 7) + ((lane & 16) >> 1), (lane >> 3) & 1);
        [(lane & 15) * 2 + (lane >> 4), lane & 15, row * 2 + half, (lane & 7) * 2 + half, lane & 7]
    });
    rows.collect()
}

/// Where a lane and a register lead, in each of three fragments.
fn places<const N: usize>(lane: i32, register: i32, names: [&str; N]) -> Vec<i64> {
    let point = [("LANE", i64::from(lane)), ("REG", i64::from(register))];
    names.map(|name| at(&layout(name), &point)).to_vec()
}

const IN_REGISTERS: &str =
    "a fragment lies in the registers of a warp, which only kernels have; the maps above say where its elements are";

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row {
            case: 58,
            law: "The elements that a lane's registers hold in the operands and the result of a 16 x 8 x 16 product.",
            deviation: None,
            shows: Values {
                expected: elements(),
                typed: Runs(|| {
                    let points = registers().map(|(lane, register)| LANE(lane) + REG(register));
                    points
                        .flat_map(|p| numbers![FragmentA::offset(p), FragmentB::offset(p), FragmentC::offset(p)])
                        .collect()
                }),
                run_time: Runs(|| {
                    let names = ["FragmentA", "FragmentB", "FragmentC"];
                    registers().flat_map(|(lane, register)| places(lane, register, names)).collect()
                }),
                cuda: Runs(
                    "for (int n = 0; n < 128; ++n) {
                       const auto at = LANE(n / 4) + REG(n % 4);
                       out(FragmentA::offset(at), FragmentB::offset(at), FragmentC::offset(at));
                     }",
                ),
            },
        },
        Row {
            case: 58,
            law: "The rows that lanes address to load 8 x 8 matrices: of A 16 x 16 and 16 x 8, of B 16 x 16, 8 x \
                  16 and 8 x 8.",
            deviation: None,
            shows: Values {
                expected: loaded_rows(),
                typed: Runs(|| {
                    let lanes = (0..32).map(LANE);
                    let two = |at| numbers![LoadA::offset(at), LoadA8::offset(at), LoadB::offset(at)];
                    lanes
                        .flat_map(|at| two(at).into_iter().chain(numbers![LoadB16::offset(at), LoadB8::offset(at)]))
                        .collect()
                }),
                run_time: Runs(|| {
                    let names = ["LoadA", "LoadA8", "LoadB", "LoadB16", "LoadB8"];
                    (0..32).flat_map(|lane| places(lane, 0, names)).collect()
                }),
                cuda: Runs(
                    "for (LANE at : tw::range(LANE(32))) {
                       out(LoadA::offset(at), LoadA8::offset(at));
                       out(LoadB::offset(at), LoadB16::offset(at), LoadB8::offset(at));
                     }",
                ),
            },
        },
        Row {
            case: 58,
            law: "Fragments in registers hold those elements, and load those rows.",
            deviation: None,
            shows: Values {
                expected: elements().into_iter().chain(loaded_rows()).collect(),
                typed: Cannot(IN_REGISTERS),
                run_time: Cannot(IN_REGISTERS),
                cuda: Runs(
                    "using A = tw::FragmentA<tw::f16, I, K, 16, 16>;
                     using A8 = tw::FragmentA<tw::f16, I, K, 16, 8>;
                     using B = tw::FragmentB<tw::f16, K, J, 16, 16>;
                     using B16 = tw::FragmentB<tw::f16, K, J, 16, 8>;
                     using B8 = tw::FragmentB<tw::f16, K, J, 8, 8>;
                     for (int n = 0; n < 128; ++n) {
                       const int lane = n / 4, element = n % 4 * 2;
                       out(FragmentA::offset(A::coords(lane, element)), FragmentB::offset(B::coords(lane, element)));
                       out(FragmentC::offset(tw::FragmentC<I, J, 16, 16>::coords(lane, element)));
                     }
                     for (int lane = 0; lane < 32; ++lane) {
                       out(LoadA::offset(A::row_coords(lane)), LoadA8::offset(A8::row_coords(lane)));
                       out(LoadB::offset(B::row_coords(lane)), LoadB16::offset(B16::row_coords(lane)));
                       out(LoadB8::offset(B8::row_coords(lane)));
                     }",
                ),
            },
        },
        Row {
            case: 59,
            law: "A tensor of 16 x 16 tiles is one whose axes count sixteens.",
            deviation: Some("A tensor is divided by a fragment there; here its axes are declared in the tile's units."),
            shows: Values {
                expected: vec![8, 32, 64, 6],
                typed: Runs(|| {
                    numbers![Tiles::LEN, Tiles::extent::<K>(), Tiles::extent::<I>(), Tiles::offset(I(37) + K(20))]
                }),
                run_time: Runs(|| {
                    let tiles = layout("Tiles");
                    let extents = ["K", "I"].map(|dim| tiles.extent(dim).unwrap_or(0));
                    vec![tiles.len(), extents[0], extents[1], at(&tiles, &[("I", 37), ("K", 20)])]
                }),
                cuda: Runs("out(Tiles::len, Tiles::extent<K>(), Tiles::extent<I>(), Tiles::offset(I(37) + K(20)));"),
            },
        },
        Row {
            case: 59,
            law: "Tiles that do not divide the dimension beneath them are refused.",
            deviation: None,
            shows: Refusal {
                typed: Runs(ui!("folds_that_do_not_fit", "the folds of a dimension do not fit")),
                run_time: Runs((
                    || read("K/16: 2, I/16: 4, K%12, I%16"),
                    "`K/16` counts K in units of 16, but `K%12` ends at 12",
                )),
                cuda: Runs((
                    "/*@tilewright tensor!(Bad: i32, [K/16: 2, I/16: 4, K%12, I%16]); @tilewright*/",
                    "`K/16` counts K in units of 16, but `K%12` ends at 12",
                )),
            },
        },
        Row {
            case: 59,
            law: "A fragment loads from a tensor of its own elements.",
            deviation: None,
            shows: Refusal {
                typed: Cannot(IN_REGISTERS),
                run_time: Cannot(IN_REGISTERS),
                cuda: Runs((
                    "tw::FragmentA<tw::f16, I, K, 16, 16> a; a.load(Square{x}.at(I(0) + K(0)));",
                    "load: the tensor's elements are not the fragment's",
                )),
            },
        },
        Row {
            case: 60,
            law: "A left operand has 16 rows.",
            deviation: None,
            shows: Refusal {
                typed: Cannot(IN_REGISTERS),
                run_time: Cannot(IN_REGISTERS),
                cuda: Runs(("out(tw::FragmentA<tw::f16, I, K, 8, 16>::rows);", "operand A has 16 rows")),
            },
        },
        Row {
            case: 60,
            law: "A right operand has 8 or 16 columns.",
            deviation: None,
            shows: Refusal {
                typed: Cannot(IN_REGISTERS),
                run_time: Cannot(IN_REGISTERS),
                cuda: Runs(("out(tw::FragmentB<tw::f16, K, J, 16, 24>::rows);", "operand B has 8 or 16 columns")),
            },
        },
        Row {
            case: 60,
            law: "A row of an operand has 16 or 32 bytes, which leaves out elements that tensor cores lack.",
            deviation: None,
            shows: Refusal {
                typed: Cannot(IN_REGISTERS),
                run_time: Cannot(IN_REGISTERS),
                cuda: Runs(("out(tw::FragmentA<double, I, K, 16, 8>::rows);", "operand A has 16 or 32 bytes a row")),
            },
        },
        Row {
            case: 65,
            law: "The points of a product's steps: each once, those of the dimension that is summed over outermost.",
            deviation: None,
            shows: Values {
                expected: (0..8).flat_map(|n| [n / 4 * 16, n / 2 % 2 * 16, n % 2 * 8]).collect(),
                typed: Runs(|| {
                    let steps = Steps::coords();
                    steps.flat_map(|at| numbers![at.get::<K>(), at.get::<I>(), at.get::<J>()]).collect()
                }),
                run_time: Runs(|| {
                    let steps = layout("Steps");
                    let values = steps.points().flat_map(|at| ["K", "I", "J"].map(|dim| along(&at, dim)));
                    values.collect()
                }),
                cuda: Runs("for (auto at : Steps::points()) out(at.get<K>(), at.get<I>(), at.get<J>());"),
            },
        },
        Row {
            case: 65,
            law: "A product visits its fragments in zigzag, by parity.",
            deviation: None,
            shows: Values { expected: Vec::new(), typed: Cannot(ORDER), run_time: Cannot(ORDER), cuda: Cannot(ORDER) },
        },
        Row {
            case: 66,
            law: "Vectors of a strip are shared by warps as elements are: how many are active, and the most \
                  loads of one.",
            deviation: Some(
                "A loader chooses the number of warps there; here the kernel says among how many it shares.",
            ),
            shows: Values {
                expected: vec![8, 2, 8, 1, 5, 2, 0, 4, 1, 5, 2, 6, 3, 7],
                typed: Runs(|| {
                    let column = (0..4).flat_map(|w| Column::partition(w, 4).map(|at| at.get::<I>().number()));
                    let counts = [
                        [0, 1, 2, 3, 4, 5, 6, 7].map(|w| Strip::partition(w, 8).count()).to_vec(),
                        [0, 1, 2, 3, 4, 5, 6, 7].map(|w| Short::partition(w, 8).count()).to_vec(),
                        [0, 1, 2, 3, 4].map(|w| Uneven::partition(w, 5).count()).to_vec(),
                    ];
                    counts.iter().flat_map(|counts| active(counts)).chain(column).collect()
                }),
                run_time: Runs(|| {
                    let shares = [("Strip", 8), ("Short", 8), ("Uneven", 5)].map(|(name, warps)| {
                        let strip = layout(name);
                        active(&(0..warps).map(|w| strip.partition(w, warps).count()).collect::<Vec<_>>())
                    });
                    let column = layout("Column");
                    let visits = (0..4).flat_map(|w| column.partition(w, 4).map(|at| along(&at, "I")));
                    shares.into_iter().flatten().chain(visits).collect()
                }),
                cuda: Runs(
                    "shares<Strip>(out, 8);
                     shares<Short>(out, 8);
                     shares<Uneven>(out, 5);
                     for (int w = 0; w < 4; ++w) {
                       for (auto at : Column::partition(w, 4)) out(at.get<I>());
                     }",
                ),
            },
        },
    ]
}

/// How many of these are not zero, and the largest.
fn active(counts: &[usize]) -> [i64; 2] {
    let active = counts.iter().filter(|count| **count > 0).count();
    [active, counts.iter().copied().max().unwrap_or(0)].map(Number::number)
}

const ORDER: &str =
    "the order of tensor-core instructions belongs to the kernel, which has the loop; a layout does not multiply";
