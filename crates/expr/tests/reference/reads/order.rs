//! Quarter turns, circular buffers, interlaced rows.

use super::*;
use tilewright_expr::{Deinterlace, PlaneOrder};

#[test]
fn quarter_turns() {
    let (p, tensor) = array::<u16>(&mut Rng::new(1), <(C, Y, X)>::IDS, &[2, 3, 5]);
    for quarters in -5..=6 {
        let t = trace(|p: In<u16, (C, Y, X)>| p.rot90::<Y, X>(quarters).store::<(C, Y, X)>());
        // One turn at a time: the last column becomes the first row.
        let mut turned = p.clone();
        for _ in 0..quarters.rem_euclid(4) {
            let (h, w) = (turned.shape()[1], turned.shape()[2]);
            turned = tabulate(&[2, w as i64, h as i64], |i| turned[[i[0], i[2], w - 1 - i[1]].as_slice()]);
        }
        check(&t.graph, &[&tensor], &turned);
    }
}

#[test]
fn circular_buffers() {
    let (p, tensor) = array::<u8>(&mut Rng::new(2), <(N, X)>::IDS, &[5, 7]);
    for first in [0, 1, 4, 5, 13, -1, -12, i32::MAX, i32::MIN] {
        let number = Tensor::of(&[], &ArrayD::from_elem(vec![], first));
        for order in [PlaneOrder::NewestFirst, PlaneOrder::OldestFirst] {
            let t = trace(|p: In<u8, (N, X)>, f: In<i32, ()>| p.rotate_planes::<N, _>(f, order).store::<(N, X)>());
            let expected = tabulate(&[5, 7], |i| {
                let z = i[0] as i64;
                let from = if order == PlaneOrder::NewestFirst { i64::from(first) - z } else { i64::from(first) + z };
                p[[from.rem_euclid(5) as usize, i[1]].as_slice()]
            });
            check(&t.graph, &[&tensor, &number], &expected);
        }
    }
}

fn deinterlaced<T: Gray + Number + Sampled>(rows: i64, plus: f64)
where
    T::Real: tilewright_expr::Element + Into<f64>,
{
    let (p, tensor) = picture::<T>(&mut Rng::new(rows as u64), <(Y, X)>::IDS, &[rows, 4], 100);
    for mode in [Deinterlace::Blend, Deinterlace::KeepEven, Deinterlace::KeepOdd] {
        let t = trace(|p: In<T, (Y, X)>| p.deinterlace::<Y>(mode).store::<(Y, X)>());
        let expected = tabulate(&[rows, 4], |i| {
            let (y, last) = (i[0], rows as usize - 1);
            let at = |y: usize| p[[y, i[1]].as_slice()].real();
            let mean = |a: usize, b: usize| (at(a) + at(b) + plus) * 0.5;
            match mode {
                Deinterlace::Blend if y > 0 => mean(y, y - 1),
                Deinterlace::KeepEven if y % 2 == 1 && y < last => mean(y - 1, y + 1),
                Deinterlace::KeepOdd if y % 2 == 0 && 0 < y && y < last => mean(y - 1, y + 1),
                _ => at(y),
            }
        });
        near::<T::Real>(
            &evaluate_every_way(&t.graph, &[&tensor])[0],
            &expected,
            0.0,
            &format!("{mode:?} of {rows} rows"),
        );
    }
}

/// Of odd and even height.
#[test]
fn interlaced_rows() {
    for rows in [1, 2, 3, 6, 7] {
        deinterlaced::<u8>(rows, 1.0);
        deinterlaced::<i32>(rows, 1.0);
        deinterlaced::<f32>(rows, 0.0);
    }
}
