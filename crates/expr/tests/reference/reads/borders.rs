//! Borders, paddings and boxes that reach outside.

use super::*;
use tilewright_expr::coordinate;

/// Every border at distances up to ten sizes, and at the ends of `i32`.
#[test]
fn any_distance() {
    for n in [1i64, 2, 3, 7] {
        let (p, tensor) = array::<i16>(&mut Rng::new(n as u64), <(X,)>::IDS, &[n]);
        let ends = [i32::MIN, i32::MIN + 1, i32::MIN + 2, i32::MAX, i32::MAX - 1, i32::MAX - 2, 1 << 30, -(1 << 30)];
        let coords: Vec<i32> = (-10 * n as i32..=10 * n as i32 + n as i32).chain(ends).collect();
        let list = ArrayD::from_shape_vec(vec![coords.len()], coords.clone()).expect("a list");
        for border in borders(-99i16) {
            let t = trace(|p: In<i16, (X,)>, c: In<i32, (K,)>| p.at_border::<X, _>(c, border).store::<(K,)>());
            let expected = list.mapv(|c| match brought(c.into(), n, border) {
                Some(at) => p[[at as usize].as_slice()],
                None => -99,
            });
            check(&t.graph, &[&tensor, &Tensor::of(<(K,)>::IDS, &list)], &expected);
        }
    }
}

/// The pictures in the documentation.
#[test]
fn as_drawn() {
    let letters = ArrayD::from_shape_vec(vec![8], b"abcdefgh".to_vec()).expect("eight");
    let drawn: [&[u8]; 5] =
        [b"vvvabcdefghvvv", b"aaaabcdefghhhh", b"cbaabcdefghhgf", b"dcbabcdefghgfe", b"fghabcdefghabc"];
    for (border, drawn) in borders(b'v').into_iter().zip(drawn) {
        let t = trace(|p: In<u8, (X,)>| p.pad::<X>(3, 3, border).store::<(X,)>());
        let expected = ArrayD::from_shape_vec(vec![14], drawn.to_vec()).expect("fourteen");
        check(&t.graph, &[&Tensor::of(<(X,)>::IDS, &letters)], &expected);
    }
}

/// Around a picture, corners included; again around what is padded; and of a crop.
#[test]
fn padded_pictures() {
    let mut rng = Rng::new(5);
    let (h, w) = (3, 5);
    let (p, tensor) = array::<f32>(&mut rng, <(Y, X)>::IDS, &[h, w]);
    let at = |y: i64, x: i64, border: Border<f32>| match (brought(y, h, border), brought(x, w, border)) {
        (Some(y), Some(x)) => p[[y as usize, x as usize].as_slice()],
        _ => 0.5,
    };
    for border in borders(0.5f32) {
        let t = trace(|p: In<f32, (Y, X)>| p.pad::<Y>(7, 1, border).pad::<X>(2, 12, border).store::<(Y, X)>());
        let expected = tabulate(&[h + 8, w + 14], |i| at(i[0] as i64 - 7, i[1] as i64 - 2, border));
        check(&t.graph, &[&tensor], &expected);

        let t = trace(|p: In<f32, (Y, X)>| {
            p.slice::<X>(1, 3).pad::<X>(4, 0, border).pad::<X>(0, 3, border).store::<(Y, X)>()
        });
        let inner = |x: i64| brought(x, 3, border).map(|x| p[[0, 1 + x as usize].as_slice()]).unwrap_or(0.5);
        let outer = |x: i64| brought(x, 7, border).map(|x| inner(x - 4)).unwrap_or(0.5);
        let got = &evaluate_every_way(&t.graph, &[&tensor])[0];
        let expected: Vec<f32> = (0..10).map(outer).collect();
        let first: Vec<u64> = expected.iter().map(|v| u64::from(v.to_bits())).collect();
        let same = |(a, b): (&u64, &u64)| crate::tensor::same_bits(tilewright_expr::DType::F32, *a, *b);
        assert!(got.bits[..10].iter().zip(&first).all(same), "{border:?}");
    }
    let boxes = Tensor::boxes(<(N,)>::IDS, &[2], &[Rect::new(1, 0, 3, 2), Rect::new(2, 1, 3, 2)]);
    let t = trace(|p: In<f32, (Y, X)>, b: In<Rect, (N,)>| {
        p.crop::<Y, X, _>(b).pad::<X>(1, 1, Border::Wrap).store::<(N, Y, X)>()
    });
    let expected = tabulate(&[2, 2, 5], |i| p[[i[1] + i[0], (i[2] + 2) % 3 + 1 + i[0]].as_slice()]);
    check(&t.graph, &[&tensor, &boxes], &expected);
}

#[test]
fn boxes_that_reach_outside() {
    let mut rng = Rng::new(6);
    let (h, w) = (7, 9);
    let (p, tensor) = array::<u8>(&mut rng, <(Y, X)>::IDS, &[h, w]);
    let boxes: Vec<Rect> = (0..6)
        .map(|_| Rect::new(rng.range(-30, 30) as i32, rng.range(-30, 30) as i32, 4, 3))
        .chain([Rect::new(2, 1, 4, 3)])
        .collect();
    let n = boxes.len() as i64;
    let list = Tensor::boxes(<(N,)>::IDS, &[n], &boxes);
    for border in borders(200u8) {
        let t = trace(|p: In<u8, (Y, X)>, b: In<Rect, (N,)>| p.crop_border::<Y, X, _>(b, border).store::<(N, Y, X)>());
        let expected = tabulate(&[n, 3, 4], |i| {
            let (y, x) = (i[1] as i64 + i64::from(boxes[i[0]].y), i[2] as i64 + i64::from(boxes[i[0]].x));
            match (brought(y, h, border), brought(x, w, border)) {
                (Some(y), Some(x)) => p[[y as usize, x as usize].as_slice()],
                _ => 200,
            }
        });
        check(&t.graph, &[&tensor, &list], &expected);
    }
}

/// A window of a window that a border made.
#[test]
fn a_stencil_through_a_border() {
    let (p, tensor) = array::<i64>(&mut Rng::new(7), <(Y, X)>::IDS, &[4, 6]);
    let t = trace(|p: In<i64, (Y, X)>| {
        let next = |step: i32| p.at_border::<X, _>(coordinate::<X>() + step, Border::Reflect101);
        (next(-2) - next(3)).store::<(Y, X)>()
    });
    let at = |y: usize, x: i64| p[[y, brought::<i64>(x, 6, Border::Reflect101).expect("mirrored") as usize].as_slice()];
    let expected = tabulate(&[4, 6], |i| at(i[0], i[1] as i64 - 2).wrapping_sub(at(i[0], i[1] as i64 + 3)));
    check(&t.graph, &[&tensor], &expected);
}
