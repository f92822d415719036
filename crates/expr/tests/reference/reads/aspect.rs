//! Frames that keep proportions.

use super::resize::resampled;
use super::*;
use tilewright_expr::{Aspect, Sampling};

/// Height and width of the picture in its frame, and where it starts, by the definition.
fn place((h, w): (i64, i64), (th, tw): (i64, i64), aspect: Aspect) -> ((i64, i64), (i64, i64)) {
    let r = |v: f32| v.round() as i64;
    let (mut high, mut wide) = (th, r(th as f32 / h as f32 * w as f32));
    let even = aspect == Aspect::PreserveRnEven;
    if even {
        wide -= wide % 2;
    }
    if wide > tw {
        (high, wide) = (r(tw as f32 / w as f32 * h as f32), tw);
        if even {
            high -= high % 2;
        }
    }
    let left = if aspect == Aspect::PreserveLeft { 0 } else { (tw - wide) / 2 };
    ((high, wide), ((th - high) / 2, left))
}

#[test]
fn frames() {
    let mut rng = Rng::new(1);
    let (h, w, n, c) = (29, 41, 8, 2);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X, C)>::IDS, &[h, w, c], 256);
    let mut boxes = rects(&mut rng, n, (h, w));
    // A square, a single pixel, a row that takes no row of the frame, a column.
    boxes[1..5].copy_from_slice(&[
        Rect::new(3, 4, 20, 20),
        Rect::new(40, 28, 1, 1),
        Rect::new(0, 9, 41, 1),
        Rect::new(7, 0, 1, 29),
    ]);
    let list = Tensor::boxes(<(N,)>::IDS, &[n], &boxes);
    let (grey, t_grey) = picture::<f32>(&mut rng, <(C,)>::IDS, &[c], 256);
    for (th, tw) in [(13i64, 18i64), (16, 7), (15, 15)] {
        for aspect in [Aspect::Ignore, Aspect::Preserve, Aspect::PreserveRnEven, Aspect::PreserveLeft] {
            for filter in [Filter::Nearest, Filter::Linear, Filter::Lanczos4, Filter::Area] {
                let sampling = Sampling::from(filter);
                let t = trace(|p: In<u8, (Y, X, C)>, b: In<Rect, (N,)>, grey: In<f32, (C,)>| {
                    let crops = p.crop::<Y, X, _>(b);
                    crops.resize_fit::<Y, X, _>(th as usize, tw as usize, filter, aspect, grey).store::<(N, C, Y, X)>()
                });
                let expected = tabulate(&[n, c, th, tw], |i| {
                    let b = boxes[i[0]];
                    let from = (i64::from(b.height), i64::from(b.width));
                    let ((high, wide), (top, left)) = match aspect {
                        Aspect::Ignore => ((th, tw), (0, 0)),
                        _ => place(from, (th, tw), aspect),
                    };
                    let (y, x) = (i[2] as i64 - top, i[3] as i64 - left);
                    if !(0..high).contains(&y) || !(0..wide).contains(&x) {
                        return f64::from(grey[[i[1]].as_slice()]);
                    }
                    let at = |y: usize, x: usize| f64::from(p[[y + b.y as usize, x + b.x as usize, i[1]].as_slice()]);
                    resampled(at, (y as usize, x as usize), from, (high as usize, wide as usize), sampling)
                });
                let what = format!("{aspect:?} {filter:?} to {th}x{tw}");
                near::<f32>(&evaluate_every_way(&t.graph, &[&pic, &list, &t_grey])[0], &expected, 5e-3, &what);
            }
        }
    }
}

/// Numbers worked out by hand: 100 x 40 (w x h) in 60 x 60.
#[test]
fn by_hand() {
    assert_eq!(place((40, 100), (60, 60), Aspect::Preserve), ((24, 60), (18, 0)));
    assert_eq!(place((100, 41), (60, 60), Aspect::Preserve), ((60, 25), (0, 17)));
    assert_eq!(place((100, 41), (60, 60), Aspect::PreserveRnEven), ((60, 24), (0, 18)));
    assert_eq!(place((100, 41), (60, 60), Aspect::PreserveLeft), ((60, 25), (0, 0)));
}
