//! Every kind of expression: the bits of the whole, whatever the bands.

use super::*;
use tilewright_expr::{Border, In, coordinate};
use tilewright_ops::{Tensor, fuse};

#[test]
fn pointwise_of_six_operations_with_everything_broadcast() {
    let mut random = Random(1);
    for [rows, columns] in [[1, 1], [1, 50], [37, 1], [19, 23], [64, 8]] {
        let [a, b] = [0, 1].map(|_| random.of(rows * columns, Random::unit));
        let (of_row, of_column) = (random.of(rows, Random::unit), random.of(columns, Random::unit));
        let six = fuse(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>, y: In<f32, (Y,)>, x: In<f32, (X,)>, s: In<f32, ()>| {
            ((a * s + y).max(b) - x).abs().sqrt().store::<(Y, X)>()
        });
        let whole = |values: &[f32]| Tensor::<f32, (Y, X)>::from_vec([rows, columns], values.to_vec()).unwrap();
        let (ty, tx) = (
            Tensor::<f32, (Y,)>::from_vec([rows], of_row.clone()).unwrap(),
            Tensor::<f32, (X,)>::from_vec([columns], of_column.clone()).unwrap(),
        );
        let expected = (six.call(&whole(&a), &whole(&b), &ty, &tx, 1.5f32).unwrap().to_vec().unwrap(),);
        let [sa, sb] = [&a, &b].map(|values| MemorySource::new(matrix(values, [rows, columns])));
        // A column and a row, as matrices of either shape.
        let (sy, sx) =
            (MemorySource::new(matrix(&of_row, [rows, 1])), MemorySource::new(matrix(&of_column, [1, columns])));
        let [a, b] = [&sa, &sb].map(|source| Array::<f32, (Y, X)>::new(source, [rows, columns]).unwrap());
        let (y, x) = (Array::<f32, (Y,)>::new(&sy, [rows]).unwrap(), Array::<f32, (X,)>::new(&sx, [columns]).unwrap());
        compare!(format!("{rows} x {columns}"), bands [1, 2, 5, 7, 100], expected: [f32, [rows, columns]], |sinks| {
            let evaluation = Evaluation::new(&six, (&a, &b, &y, &x, 1.5f32), &sinks).unwrap();
            assert_eq!(evaluation.dimension(), Some("Y"));
            evaluation
        });
    }
}

#[test]
fn every_type_of_elements() {
    let mut random = Random(2);
    let shape = [13, 11];
    macro_rules! each { ($($from:ident => $to:ident: $value:expr),*) => { $({
        let values: Vec<$from> = random.of(13 * 11, $value);
        let cast = fuse(|x: In<$from, (Y, X)>| x.to::<f32>().mul_add(2.0, -3.5).to::<$to>().store::<(Y, X)>());
        let tensor = Tensor::<$from, (Y, X)>::from_vec(shape, values.clone()).unwrap();
        let expected = (cast.call(&tensor).unwrap().to_vec().unwrap(),);
        let source = MemorySource::new(matrix(&values, shape));
        let x = Array::<$from, (Y, X)>::new(&source, shape).unwrap();
        compare!(stringify!($from => $to), bands [1, 4], expected: [$to, shape], |sinks| Evaluation::new(&cast, (&x,), &sinks).unwrap());
    })* } }
    each!(
        u8 => f32: |r| r.next() as u8,
        f16 => f16: |r| f16::from_f32(r.unit()),
        bf16 => f64: |r| bf16::from_f32(r.unit()),
        f64 => i32: |r| f64::from(r.unit()) * 1e6,
        i64 => u8: |r| r.next() as i64 % 200,
        i32 => bool: |r| r.next() as i32 % 3,
        bool => bf16: |r| r.next() % 2 == 1
    );
}

#[test]
fn stencils_bring_a_margin() {
    let mut random = Random(3);
    for border in [Border::Replicate, Border::Reflect, Border::Reflect101, Border::Constant(0.25f32)] {
        for [rows, columns] in [[1, 9], [23, 12]] {
            let shape = [rows, columns];
            let values = random.of(rows * columns, Random::unit);
            // Two passes, one inside the other, beside a value at the point itself.
            let blurred = fuse(|x: In<f32, (Y, X)>| {
                let low = x.gaussian_blur::<Y, X>((5, 3), (1.0, 1.0), border);
                ((x - low).correlate::<Y, X>([[0.0, 1.0, 0.5], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]], border) + x)
                    .store::<(Y, X)>()
            });
            let tensor = Tensor::<f32, (Y, X)>::from_vec(shape, values.clone()).unwrap();
            let expected = (blurred.call(&tensor).unwrap().to_vec().unwrap(),);
            let source = MemorySource::new(matrix(&values, shape));
            let x = Array::<f32, (Y, X)>::new(&source, shape).unwrap();
            compare!(format!("{border:?} {shape:?}"), bands [1, 8, 23], expected: [f32, shape], |sinks| {
                let evaluation = Evaluation::new(&blurred, (&x,), &sinks).unwrap();
                assert_eq!(evaluation.dimension(), Some("Y"));
                assert!(evaluation.plan(1 << 30).unwrap().margin.places() >= 4);
                evaluation
            });
        }
    }
}

/// A band at an end has rows of the other end beside it; with what counts, those rows' coordinates too.
#[test]
fn borders_that_repeat_go_on_at_the_other_end() {
    let mut random = Random(13);
    for [rows, columns] in [[1, 5], [2, 9], [23, 12], [41, 7]] {
        let shape = [rows, columns];
        let values = random.of(rows * columns, Random::unit);
        let tensor = Tensor::<f32, (Y, X)>::from_vec(shape, values.clone()).unwrap();
        let source = MemorySource::new(matrix(&values, shape));
        let x = Array::<f32, (Y, X)>::new(&source, shape).unwrap();
        let plain = fuse(|x: In<f32, (Y, X)>| {
            let low = x.box_filter::<Y, X>(5, 3, Border::Wrap);
            ((x - low).correlate::<Y, X>([[0.0, 1.0, 0.5], [1.0, -4.0, 1.0], [0.0, 2.0, 0.0]], Border::Wrap) + x)
                .store::<(Y, X)>()
        });
        let counted = fuse(|x: In<f32, (Y, X)>| {
            let ramp = x * coordinate::<Y>().to::<f32>();
            (ramp.box_filter::<Y, X>(3, 3, Border::Wrap) - coordinate::<Y>().to::<f32>()).store::<(Y, X)>()
        });
        // Away and back: what is read stands at the point, the coordinate beside it.
        let beside = fuse(|x: In<f32, (Y, X)>| {
            let behind = x.correlate::<Y, X>([[0.0], [0.0], [1.0]], Border::Wrap) * coordinate::<Y>().to::<f32>();
            behind.correlate::<Y, X>([[1.0], [0.0], [0.0]], Border::Wrap).store::<(Y, X)>()
        });
        for (name, expression) in [("plain", &plain), ("counted", &counted), ("beside", &beside)] {
            let expected = (expression.call(&tensor).unwrap().to_vec().unwrap(),);
            compare!(format!("{name} {shape:?}"), bands [1, 4, 10, 40], expected: [f32, shape], |sinks| {
                let evaluation = Evaluation::new(expression, (&x,), &sinks).unwrap();
                assert_eq!(evaluation.dimension(), Some("Y"));
                assert!(evaluation.plan(1 << 30).unwrap().wraps);
                evaluation
            });
        }
    }
}

#[test]
fn coordinates_and_lengths_are_those_of_the_whole() {
    let mut random = Random(4);
    for [rows, columns] in [[1, 4], [17, 9], [30, 2]] {
        let shape = [rows, columns];
        let values = random.of(rows * columns, Random::unit);
        let ramp = fuse(|x: In<f32, (Y, X)>| {
            let low = (x * coordinate::<Y>().to::<f32>()).box_filter::<Y, X>(3, 3, Border::Reflect);
            let even = (coordinate::<Y>() & 1).eq(0);
            even.select(low, x + coordinate::<X>().to::<f32>()).store::<(Y, X)>()
        });
        let tensor = Tensor::<f32, (Y, X)>::from_vec(shape, values.clone()).unwrap();
        let source = MemorySource::new(matrix(&values, shape));
        let x = Array::<f32, (Y, X)>::new(&source, shape).unwrap();
        let expected = (ramp.call(&tensor).unwrap().to_vec().unwrap(),);
        compare!(format!("{shape:?}"), bands [1, 4, 100], expected: [f32, shape], |sinks| {
            let evaluation = Evaluation::new(&ramp, (&x,), &sinks).unwrap();
            assert_eq!(evaluation.dimension(), Some("Y"));
            evaluation
        });
    }
}

#[test]
fn several_results_and_sums_along_what_is_not_cut() {
    let mut random = Random(5);
    let [rows, columns] = [21, 33];
    let values = random.of(rows * columns, Random::unit);
    let normal = fuse(|x: In<f32, (Y, X)>| {
        let mean = x.mean::<X>();
        ((x - mean).exp().store::<(Y, X)>(), x.softmax::<X>().maximum::<X>().store::<(Y,)>())
    });
    let tensor = Tensor::<f32, (Y, X)>::from_vec([rows, columns], values.clone()).unwrap();
    let (a, b) = normal.call(&tensor).unwrap();
    let expected = (a.to_vec().unwrap(), b.to_vec().unwrap());
    let source = MemorySource::new(matrix(&values, [rows, columns]));
    let x = Array::<f32, (Y, X)>::new(&source, [rows, columns]).unwrap();
    compare!("normal", bands [1, 4, 20, 21], expected: [f32, [rows, columns], f32, [1, rows]], |sinks| {
        Evaluation::new(&normal, (&x,), &sinks).unwrap()
    });
}

#[test]
fn what_is_read_anywhere_is_brought_whole() {
    let mut random = Random(6);
    let [rows, columns, entries] = [19, 6, 5];
    let table = random.of(entries * columns, Random::unit);
    let (which, weights) = (random.of(rows, |r| (r.next() % entries as u64) as i32), random.of(rows, Random::unit));
    let looked_up = fuse(|table: In<f32, (K, X)>, which: In<i32, (Y,)>, weights: In<f32, (Y,)>| {
        (table.at::<K, _>(which) * weights + table.sum::<K>()).store::<(Y, X)>()
    });
    let (tt, tw) = (
        Tensor::<f32, (K, X)>::from_vec([entries, columns], table.clone()).unwrap(),
        Tensor::<f32, (Y,)>::from_vec([rows], weights.clone()).unwrap(),
    );
    let ti = Tensor::<i32, (Y,)>::from_vec([rows], which.clone()).unwrap();
    let expected = (looked_up.call(&tt, &ti, &tw).unwrap().to_vec().unwrap(),);
    let (st, si, sw) = (
        MemorySource::new(matrix(&table, [entries, columns])),
        MemorySource::new(matrix(&which, [1, rows])),
        MemorySource::new(matrix(&weights, [rows, 1])),
    );
    let (t, i, w) = (
        Array::<f32, (K, X)>::new(&st, [entries, columns]).unwrap(),
        Array::<i32, (Y,)>::new(&si, [rows]).unwrap(),
        Array::<f32, (Y,)>::new(&sw, [rows]).unwrap(),
    );
    compare!("looked up", bands [1, 6, 19], expected: [f32, [rows, columns]], |sinks| {
        let evaluation = Evaluation::new(&looked_up, (&t, &i, &w), &sinks).unwrap();
        assert_eq!(evaluation.plan(1 << 30).unwrap().bytes_once, 4 * (entries * columns) as u128);
        evaluation
    });
}

#[test]
fn another_dimension_is_cut_where_the_outermost_cannot_be() {
    let mut random = Random(7);
    let shape @ [rows, columns] = [14, 27];
    let values = random.of(rows * columns, Random::unit);
    let tensor = Tensor::<f32, (Y, X)>::from_vec(shape, values.clone()).unwrap();
    let source = MemorySource::new(matrix(&values, shape));
    let x = Array::<f32, (Y, X)>::new(&source, shape).unwrap();
    let scaled = fuse(|x: In<f32, (Y, X)>| (x / x.sum::<Y>() + x.cumsum::<Y>() - x.reverse::<Y>()).store::<(Y, X)>());
    let expected = (scaled.call(&tensor).unwrap().to_vec().unwrap(),);
    compare!("scaled", bands [1, 4, 27], expected: [f32, shape], |sinks| {
        let evaluation = Evaluation::new(&scaled, (&x,), &sinks).unwrap();
        assert_eq!(evaluation.dimension(), Some("X"));
        evaluation
    });
}

#[test]
fn arrays_of_three_dimensions_and_of_one() {
    let mut random = Random(8);
    let [rows, columns, channels] = [11, 4, 3];
    let values = random.of(rows * columns * channels, |r| r.next() as u8);
    let blurred = fuse(|x: In<u8, (Y, X, C)>| {
        x.box_filter::<Y, X>(3, 3, Border::Replicate).reverse::<C>().to::<u8>().store::<(Y, C, X)>()
    });
    let tensor = Tensor::<u8, (Y, X, C)>::from_vec([rows, columns, channels], values.clone()).unwrap();
    let result = blurred.call(&tensor).unwrap().to_vec().unwrap();
    // As a store has it: rows and the rest, or all but the last and the last.
    for (read, written) in [
        ([rows, columns * channels], [rows, columns * channels]),
        ([rows * columns, channels], [rows * channels, columns]),
    ] {
        let source = MemorySource::new(matrix(&values, read));
        let x = Array::<u8, (Y, X, C)>::new(&source, [rows, columns, channels]).unwrap();
        let expected = (result.clone(),);
        compare!(format!("{read:?}"), bands [1, 5, 11], expected: [u8, written], |sinks| Evaluation::new(&blurred, (&x,), &sinks).unwrap());
    }
    let line = random.of(131, Random::unit);
    let differences = fuse(|x: In<f32, (X,)>| {
        let next = x.at_border::<X, _>(coordinate::<X>() + 1, Border::Replicate);
        (x * 2.0 + next.sum::<X>()).store::<(X,)>()
    });
    let doubled = fuse(|x: In<f32, (X,)>| (x * 2.0).exp().store::<(X,)>());
    let tensor = Tensor::<f32, (X,)>::from_vec([131], line.clone()).unwrap();
    for [rows, columns] in [[1, 131], [131, 1]] {
        let source = MemorySource::new(matrix(&line, [rows, columns]));
        let x = Array::<f32, (X,)>::new(&source, [131]).unwrap();
        let expected = (doubled.call(&tensor).unwrap().to_vec().unwrap(),);
        compare!("a line", bands [1, 50, 131], expected: [f32, [columns, rows]], |sinks| Evaluation::new(&doubled, (&x,), &sinks).unwrap());
        // What cannot be cut as it is is one band where that is short.
        let expected = (differences.call(&tensor).unwrap().to_vec().unwrap(),);
        compare!("a line and its sum", bands [1], expected: [f32, [1, 131]], |sinks| {
            let evaluation = Evaluation::new(&differences, (&x,), &sinks).unwrap();
            assert_eq!(evaluation.plan(1 << 30).unwrap().dimension, None);
            evaluation
        });
    }
}
