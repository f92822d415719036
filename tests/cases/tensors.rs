//! 31 to 44: tensors, cursors, slices.

use super::declared::*;
use super::number::numbers;
use super::row::Form::Runs;
use super::row::Shows::{Refusal, Values};
use super::row::{Row, at, ui};
use tilewright_dims::View;

/// The numbers 0, 1, 2, ..: each element is its place.
fn memory(len: usize) -> Vec<i32> {
    (0..len as i32).collect()
}

/// Every triple below 8.
fn triples() -> impl Iterator<Item = (i32, i32, i32)> {
    (0..512).map(|n| (n / 64, n / 8 % 8, n % 8))
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = cursors();
    rows.extend(sizes());
    rows
}

fn cursors() -> Vec<Row> {
    vec![
        Row {
            case: 31,
            law: "Subscripts in any order, one by one or as a sum, name one element; a cursor steps on from there.",
            deviation: None,
            shows: Values {
                expected: vec![22, 22, 22, 33],
                typed: Runs(|| {
                    let data = memory(100);
                    let a = Plain::view(&data).unwrap();
                    let mut cursor = a.at(I(2)).at(J(2));
                    let first = *cursor;
                    cursor.step(I(1));
                    cursor.step(J(1));
                    numbers![first, *a.at(J(2)).at(I(2)), a[I(2) + J(2)], *cursor]
                }),
                run_time: Runs(|| {
                    let (a, i, j) = (layout("Plain"), ("I", 2), ("J", 2));
                    vec![at(&a, &[i, j]), at(&a, &[j, i]), at(&a, &[i, j]), at(&a, &[i, j, ("I", 1), ("J", 1)])]
                }),
                cuda: Runs(
                    "const Plain a{x};
                     auto cursor = a.at(I(2)).at(J(2));
                     out(*cursor, *a.at(J(2)).at(I(2)), *a[I(2) + J(2)]);
                     cursor.step(I(1));
                     cursor.step(J(1));
                     out(*cursor);",
                ),
            },
        },
        Row {
            case: 32,
            law: "What carries from a fold into the next coarser one is kept, over subscripts and over steps.",
            deviation: None,
            shows: Values {
                expected: vec![53, 53, 53, 44],
                typed: Runs(|| {
                    let data = memory(128);
                    let a = Folded::view(&data).unwrap();
                    let mut cursor = a.at(I(1) + K(0));
                    cursor.step(K(7));
                    cursor.step(K(5));
                    numbers![
                        *a.at(I(2)).at(K(13)),
                        *a.at(K8(1)).at(I(2)).at(K(5)),
                        *a.at(I(2)).at(K(7)).at(K(6)),
                        *cursor
                    ]
                }),
                run_time: Runs(|| {
                    let a = layout("Folded");
                    let folded = [("K", 8), ("I", 2), ("K", 5)];
                    let carried = [[("I", 2), ("K", 7), ("K", 6)], [("I", 1), ("K", 7), ("K", 5)]];
                    vec![at(&a, &[("I", 2), ("K", 13)]), at(&a, &folded), at(&a, &carried[0]), at(&a, &carried[1])]
                }),
                cuda: Runs(
                    "const Folded a{x};
                     auto cursor = a.at(I(1) + K(0));
                     cursor.step(K(7));
                     cursor.step(K(5));
                     out(*a.at(I(2)).at(K(13)), *a.at(K8(1)).at(I(2)).at(K(5)));
                     out(*a.at(I(2)).at(K(7)).at(K(6)), *cursor);",
                ),
            },
        },
        Row {
            case: 33,
            law: "The coarsest axis of a dimension does not wrap: beyond its end lies nothing, and a check says so.",
            deviation: Some(
                "Every axis wraps there, so that `K(45)` reads the element of `K(13)`. Here its offset lies \
                 beyond the end, \
                 debug builds and the host model name the coordinate, and `checked_offset` refuses it.",
            ),
            shows: Values {
                expected: vec![1, 0, 32, 4, 165],
                typed: Runs(|| {
                    let extent: K = Folded::extent::<K>();
                    let folded: K8 = extent.fold();
                    numbers![Folded::contains(K(31)), Folded::contains(K(32)), extent, folded, Folded::offset(K(45))]
                }),
                run_time: Runs(|| {
                    let a = layout("Folded");
                    let inside = |k| a.checked_offset(&[("K", k)]).is_ok();
                    let extent = a.extent("K").unwrap_or(0);
                    let steps = a.axes().iter().find(|axis| axis.fold == 8).map_or(0, |axis| axis.size);
                    numbers![inside(31), inside(32), extent, steps, at(&a, &[("K", 45)])]
                }),
                cuda: Runs(
                    "const K extent = Folded::extent<K>();
                     out(Folded::contains(K(31)), Folded::contains(K(32)), extent, K8(extent), Folded::offset(K(45)));",
                ),
            },
        },
        Row {
            case: 34,
            law: "However a coordinate is split over subscripts, the element is that of the sum.",
            deviation: None,
            shows: Values {
                expected: triples().map(|(e, f, g)| i64::from((e + f + g) / 8 * 32 + (e + f + g) % 8)).collect(),
                typed: Runs(|| {
                    let data = memory(128);
                    let a = Folded::view(&data).unwrap();
                    triples().map(|(e, f, g)| i64::from(*a.at(K(e)).at(K(f)).at(K(g)))).collect()
                }),
                run_time: Runs(|| {
                    let a = layout("Folded");
                    triples().map(|(e, f, g)| at(&a, &[("K", e.into()), ("K", f.into()), ("K", g.into())])).collect()
                }),
                cuda: Runs(
                    "const Folded a{x};
                     for (int n = 0; n < 512; ++n) out(*a.at(K(n / 64)).at(K(n / 8 % 8)).rebase().at(K(n % 8)));",
                ),
            },
        },
        Row {
            case: 35,
            law: "Subscripts finer than any axis of the tensor add up before they are folded.",
            deviation: Some(
                "Each subscript is cut to the tensor's finest fold there, so that `K(4)` and `K(4)` make 0 and not 1.",
            ),
            shows: Values {
                expected: vec![1, 1, 2],
                typed: Runs(|| {
                    let data = memory(4);
                    let a = Blocks::view(&data).unwrap();
                    numbers![*a.at(K(4)).at(K(4)), *a.at(K(8)), *a.at(K(3)).rebase().at(K(13))]
                }),
                run_time: Runs(|| {
                    let a = layout("Blocks");
                    vec![at(&a, &[("K", 4), ("K", 4)]), at(&a, &[("K", 8)]), at(&a, &[("K", 3), ("K", 13)])]
                }),
                cuda: Runs(
                    "const Blocks a{x};
                     out(*a.at(K(4)).at(K(4)), *a.at(K(8)), *a.at(K(3)).rebase().at(K(13)));",
                ),
            },
        },
        Row {
            case: 36,
            law: "A swizzled tensor may be subscripted one dimension at a time: the offset is that of the sum.",
            deviation: Some(
                "The swizzle is dropped there unless one subscript has all that it reads: 320 and not 330.",
            ),
            shows: Values {
                expected: vec![330, 330, 330],
                typed: Runs(|| {
                    let data = memory(1024);
                    let s = Swizzled::view(&data).unwrap();
                    numbers![*s.at(I(37)).at(K8(3)), *s.at(I(37) + K8(3)), *s.at(K8(3)).rebase().at(I(37))]
                }),
                run_time: Runs(|| {
                    let s = layout("Swizzled");
                    let (i, k) = (("I", 37), ("K", 24));
                    vec![at(&s, &[i, k]), at(&s, &[i, k]), at(&s, &[k, i])]
                }),
                cuda: Runs(
                    "const Swizzled s{x};
                     out(*s.at(I(37)).at(K8(3)), *s.at(I(37) + K8(3)), *s.at(K8(3)).rebase().at(I(37)));",
                ),
            },
        },
        Row {
            case: 37,
            law: "A tensor projects coordinates on the dimensions that it has, and ignores the others.",
            deviation: None,
            shows: Values {
                expected: vec![58, 58],
                typed: Runs(|| numbers![Square::offset(I(3) + J(42) + K(10)), Square::offset(I(3) + K(10))]),
                run_time: Runs(|| {
                    let a = layout("Square");
                    vec![at(&a, &[("I", 3), ("J", 42), ("K", 10)]), at(&a, &[("I", 3), ("K", 10)])]
                }),
                cuda: Runs("out(Square::offset(I(3) + J(42) + K(10)), Square::offset(I(3) + K(10)));"),
            },
        },
        Row {
            case: 37,
            law: "A subscript that has none of the tensor's dimensions is a mistake.",
            deviation: Some(
                "A sum in which nothing matches is taken there, as zero; only a single dimension is refused.",
            ),
            shows: Refusal {
                typed: Runs(ui!("subscript_a_dimension_that_the_tensor_lacks", "has none of the dimensions")),
                run_time: Runs((
                    || layout("Square").offset(&[("J", 1), ("M", 2)]).map(drop),
                    "the layout has the dimensions I, K, and none of J, M",
                )),
                cuda: Runs(("out(Square::offset(J(1) + M(2)));", "none of these dimensions is one of the layout's")),
            },
        },
        Row {
            case: 38,
            law: "A coarse subscript lands on a finer axis.",
            deviation: None,
            shows: Values {
                expected: vec![48],
                typed: Runs(|| numbers![Fine::offset(I8(2) + J(1))]),
                run_time: Runs(|| vec![at(&layout("Fine"), &[("I", 16), ("J", 1)])]),
                cuda: Runs("out(Fine::offset(I8(2) + J(1)));"),
            },
        },
    ]
}

fn sizes() -> Vec<Row> {
    vec![
        Row {
            case: 39,
            law: "A tensor has as many elements as coordinates, and spans storage from the first to the last, \
                  gaps included.",
            deviation: None,
            shows: Values {
                expected: vec![155_232, 167_506, 670_024],
                typed: Runs(|| numbers![Image::LEN, Image::STORAGE, Image::BYTES]),
                run_time: Runs(|| {
                    let image = layout("Image");
                    vec![image.len(), image.storage(), 4 * image.storage()]
                }),
                cuda: Runs("out(Image::len, Image::storage, Image::bytes);"),
            },
        },
        Row {
            case: 40,
            law: "A stride that is given holds for the axes outside too.",
            deviation: None,
            shows: Values {
                expected: vec![48, 6, 1],
                typed: Runs(|| numbers![Spread::offset(I(1)), Spread::offset(J(1)), Spread::offset(K(1))]),
                run_time: Runs(|| layout("Spread").axes().iter().map(|axis| axis.stride).collect()),
                cuda: Runs("out(Spread::offset(I(1)), Spread::offset(J(1)), Spread::offset(K(1)));"),
            },
        },
        Row {
            case: 41,
            law: "An extent is that of all folds of a dimension together, and folds into any units.",
            deviation: None,
            shows: Values {
                expected: vec![64, 8, 64, 4],
                typed: Runs(|| {
                    let (k, m): (K, M) = (Eights::extent::<K>(), Coarse::extent::<M>());
                    let (eights, sixteens): (K8, M16) = (k.fold(), m.fold());
                    numbers![k, eights, m, sixteens]
                }),
                run_time: Runs(|| {
                    let (eights, coarse) = (layout("Eights"), layout("Coarse"));
                    let extents = [eights.extent("K").unwrap_or(0), coarse.extent("M").unwrap_or(0)];
                    numbers![extents[0], eights.axes()[0].size, extents[1], coarse.axes()[0].size]
                }),
                cuda: Runs(
                    "const K k = Eights::extent<K>();
                     const M m = Coarse::extent<M>();
                     out(k, K8(k), m, M16(m));",
                ),
            },
        },
        Row {
            case: 42,
            law: "A place is in range if every coordinate is, from zero on; one that is not named is zero.",
            deviation: Some(
                "There are two checks there, of which the usual one asks for the upper bound alone: `I(-1)` passes it.",
            ),
            shows: Values {
                expected: vec![1, 0, 0, 1, 0],
                typed: Runs(|| {
                    let data = memory(128);
                    let a = Folded::view(&data).unwrap();
                    let (last, beyond) = (a.at(K(31)), a.at(K(31)).at(K(1)));
                    let (below, row) = (a.at(I(-1)).in_range(), a.at(I(3)).in_range());
                    numbers![last.in_range(), beyond.in_range(), below, row, a.at(I(4) + K(1)).in_range()]
                }),
                run_time: Runs(|| {
                    let a = layout("Folded");
                    let inside = |coords: &[(&str, i64)]| a.checked_offset(coords).is_ok();
                    let (last, beyond) = (inside(&[("K", 31)]), inside(&[("K", 31), ("K", 1)]));
                    numbers![last, beyond, inside(&[("I", -1)]), inside(&[("I", 3)]), inside(&[("I", 4), ("K", 1)])]
                }),
                cuda: Runs(
                    "const Folded a{x};
                     out(a.at(K(31)).in_range(), a.at(K(31)).at(K(1)).in_range(), a.at(I(-1)).in_range());
                     out(a.at(I(3)).in_range(), a.at(I(4) + K(1)).in_range());",
                ),
            },
        },
        Row {
            case: 43,
            law: "A slice has coordinates and an extent of its own, and the strides of what it is cut from.",
            deviation: None,
            shows: Values {
                expected: vec![96, 1, 0, 120, 165],
                typed: Runs(|| {
                    let data = memory(Strided::STORAGE);
                    let part = Rows::view(&data).unwrap().slice::<I, 4>(I(3)).unwrap();
                    let strided: View<'_, i32, _> = Strided::view(&data).unwrap().slice::<I, 4>(I(3)).unwrap();
                    let inside = [part.at(I(3)).in_range(), part.at(I(4)).in_range()];
                    numbers![*part.at(I(0)), inside[0], inside[1], *strided.at(I(0)), *strided.at(I(1) + J(5))]
                }),
                run_time: Runs(|| {
                    let (from, part) = layout("Rows").slice("I", 3, 4).unwrap();
                    let (other, strided) = layout("Strided").slice("I", 3, 4).unwrap();
                    let inside = |i| part.checked_offset(&[("I", i)]).is_ok();
                    numbers![from, inside(3), inside(4), other, other + at(&strided, &[("I", 1), ("J", 5)])]
                }),
                cuda: Runs(
                    "const auto part = Rows{x}.slice<I, 4>(I(3));
                     const auto strided = Strided{x}.slice<I, 4>(I(3));
                     out(*part.at(I(0)), part.at(I(3)).in_range(), part.at(I(4)).in_range());
                     out(*strided.at(I(0)), *strided.at(I(1) + J(5)));",
                ),
            },
        },
        Row {
            case: 44,
            law: "Folds of one dimension that come from two indices add up, in any order.",
            deviation: None,
            shows: Values {
                expected: (0..16).map(|n| 64 * (n / 8 * 2 + n % 2)).chain([150, 150]).collect(),
                typed: Runs(|| {
                    let mut places: Vec<i64> = (0..16).map(|n| i64::from(Warps::offset(Waves::coords_of(n)))).collect();
                    places.extend(numbers![Rounds::offset(I(37) + K8(2)), Rounds::offset(K8(2) + I16(2) + I(5))]);
                    places
                }),
                run_time: Runs(|| {
                    let (waves, warps, rounds) = (layout("Waves"), layout("Warps"), layout("Rounds"));
                    let mut places: Vec<i64> = (0..16).map(|n| at(&warps, &waves.coords(n))).collect();
                    places
                        .extend([at(&rounds, &[("I", 37), ("K", 16)]), at(&rounds, &[("K", 16), ("I", 32), ("I", 5)])]);
                    places
                }),
                cuda: Runs(
                    "for (int n = 0; n < 16; ++n) out(Warps::offset(Waves::coords_of(n)));
                     out(Rounds::offset(I(37) + K8(2)), Rounds::offset(K8(2) + I16(2) + I(5)));",
                ),
            },
        },
    ]
}
