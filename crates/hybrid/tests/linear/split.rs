//! D10: work that is divided between the processors. Dividing it is the caller's, by rows of the first factor; what it gives does not depend on where.

use super::numbers::{Random, random};
use super::places;
use ndarray::{Array2, s};
use tilewright_hybrid::Complex64;
use tilewright_hybrid::linear::{Multiply, Overflow, Place, Precision, Scalar, matmul, matmul_integer};

const SIZES: [usize; 3] = [53, 37, 211];

/// As many rows on the CPU as each of these says, the others elsewhere.
const CUTS: [usize; 5] = [0, 1, 17, 52, 53];

#[test]
fn d10_integers_do_not_depend_on_how_rows_are_divided_between_processors() {
    places::each("linear::split::d10_integers_do_not_depend_on_how_rows_are_divided_between_processors", |place| {
        let ([rows, columns, depth], mut bits) = (SIZES, Random::new(1));
        let mut bytes = |rows, columns| Array2::from_shape_simple_fn((rows, columns), || bits.bits() as i8);
        let (a, b) = (bytes(rows, depth), bytes(depth, columns));
        let exact = Array2::from_shape_fn((rows, columns), |(i, j)| {
            (0..depth).map(|k| i32::from(a[[i, k]]) * i32::from(b[[k, j]])).sum::<i32>()
        });
        for cut in CUTS {
            let mut c = Array2::from_elem((rows, columns), -1);
            for (place, part) in [(&Place::Cpu, 0..cut), (place, cut..rows)] {
                let (a, mut c) = (a.slice(s![part.clone(), ..]), c.slice_mut(s![part, ..]));
                matmul_integer(place, Overflow::Error, (&a).into(), (&b).into(), (&mut c).into()).unwrap();
            }
            assert_eq!(c, exact, "{cut} of {rows} rows on the CPU");
        }
    });
}

fn floats<T: Scalar + Multiply<Factor = T>>(place: &Place) {
    let [rows, columns, depth] = SIZES;
    let (a, b) = (random::<T>(2, rows, depth), random::<T>(3, depth, columns));
    for cut in CUTS {
        let mut c = Array2::from_elem((rows, columns), T::from_f64(f64::NAN));
        for (place, part) in [(&Place::Cpu, 0..cut), (place, cut..rows)] {
            let (a, mut c) = (a.slice(s![part.clone(), ..]), c.slice_mut(s![part, ..]));
            matmul(place, Precision::Auto, T::ONE, (&a).into(), (&b).into(), T::ZERO, (&mut c).into()).unwrap();
        }
        for ((i, j), got) in c.indexed_iter() {
            let terms = (0..depth).map(|k| a[[i, k]].wide() * b[[k, j]].wide());
            let (sum, size) = terms.fold((Complex64::default(), 0.0), |(sum, size), it| (sum + it, size + it.norm()));
            let off = (got.wide() - sum).norm();
            assert!(off <= depth as f64 * T::EPSILON * size, "{} {cut} {i} {j}: {off}", T::NAME);
        }
    }
}

#[test]
fn d10_floats_stay_within_their_bound_however_rows_are_divided() {
    places::each("linear::split::d10_floats_stay_within_their_bound_however_rows_are_divided", |place| {
        floats::<f32>(place);
        floats::<f64>(place);
        floats::<Complex64>(place);
    });
}
