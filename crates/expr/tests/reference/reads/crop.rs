//! Crops, alone and resized, against loops over the written formula in f64.

use super::*;

#[test]
fn resize_of_a_crop() {
    let mut rng = Rng::new(4);
    let (h, w, c, n) = (23, 31, 3, 7);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X, C)>::IDS, &[h, w, c], 256);
    let boxes = rects(&mut rng, n, (h, w));
    let tensor = Tensor::boxes(<(N,)>::IDS, &[n], &boxes);
    for centres in [Centres::Half, Centres::Corner] {
        let t = trace(|p: In<u8, (Y, X, C)>, b: In<Rect, (N,)>| {
            p.crop::<Y, X, _>(b).resize_with::<Y, X>(9, 6, centres).reverse::<C>().store::<(N, C, Y, X)>()
        });
        let expected = tabulate(&[n, c, 9, 6], |i| {
            let at = |y: usize, x: usize| f64::from(p[[y, x, 2 - i[1]].as_slice()]);
            crop_pixel(at, boxes[i[0]], (i[2], i[3]), (9, 6), centres)
        });
        close::<f32>(&evaluate_every_way(&t.graph, &[&pic, &tensor])[0], &expected, 1e-5);
    }
}

/// One box for all, a box per picture, boxes over two dimensions, a box per channel.
#[test]
fn boxes_over_other_dimensions() {
    let mut rng = Rng::new(5);
    let (h, w, n, k) = (11, 17, 3, 4);
    let (p, pic) = picture::<i16>(&mut rng, <(N, Y, X)>::IDS, &[n, h, w], 1000);
    let boxes = rects(&mut rng, n * k, (h, w));
    let at = |n: usize| {
        let p = &p;
        move |y: usize, x: usize| f64::from(p[[n, y, x].as_slice()])
    };
    let none = Tensor::boxes(&[], &[], &boxes[3..4]);
    let t =
        trace(|p: In<i16, (N, Y, X)>, b: In<Rect, ()>| p.crop::<Y, X, _>(b).resize::<Y, X>(5, 4).store::<(N, Y, X)>());
    let expected = tabulate(&[n, 5, 4], |i| crop_pixel(at(i[0]), boxes[3], (i[1], i[2]), (5, 4), Centres::Half));
    close::<f32>(&evaluate_every_way(&t.graph, &[&pic, &none])[0], &expected, 1e-4);

    let each = Tensor::boxes(<(N,)>::IDS, &[n], &boxes[..n as usize]);
    let t = trace(|p: In<i16, (N, Y, X)>, b: In<Rect, (N,)>| {
        p.crop::<Y, X, _>(b).resize::<Y, X>(5, 4).store::<(Y, X, N)>()
    });
    let expected = tabulate(&[5, 4, n], |i| crop_pixel(at(i[2]), boxes[i[2]], (i[0], i[1]), (5, 4), Centres::Half));
    close::<f32>(&evaluate_every_way(&t.graph, &[&pic, &each])[0], &expected, 1e-4);

    let both = Tensor::boxes(<(N, K)>::IDS, &[n, k], &boxes);
    let t = trace(|p: In<i16, (N, Y, X)>, b: In<Rect, (N, K)>| {
        p.crop::<Y, X, _>(b).resize::<Y, X>(5, 4).store::<(K, N, Y, X)>()
    });
    let expected = tabulate(&[k, n, 5, 4], |i| {
        crop_pixel(at(i[1]), boxes[i[1] * k as usize + i[0]], (i[2], i[3]), (5, 4), Centres::Half)
    });
    close::<f32>(&evaluate_every_way(&t.graph, &[&pic, &both])[0], &expected, 1e-4);
}

/// Boxes of one size need no resize: the pixels themselves.
#[test]
fn crop_alone() {
    let mut rng = Rng::new(6);
    let (h, w, n) = (19, 23, 5);
    let (p, pic) = array::<f64>(&mut rng, <(Y, X)>::IDS, &[h, w]);
    let boxes: Vec<Rect> =
        (0..n).map(|_| Rect::new(rng.range(0, w - 6) as i32, rng.range(0, h - 3) as i32, 7, 4)).collect();
    let tensor = Tensor::boxes(<(N,)>::IDS, &[n], &boxes);
    let t = trace(|p: In<f64, (Y, X)>, b: In<Rect, (N,)>| p.crop::<Y, X, _>(b).store::<(N, Y, X)>());
    let expected = tabulate(&[n, 4, 7], |i| {
        let r = boxes[i[0]];
        p[[i[1] + r.y as usize, i[2] + r.x as usize].as_slice()]
    });
    check(&t.graph, &[&pic, &tensor], &expected);
}

#[test]
fn crop_of_a_crop() {
    let mut rng = Rng::new(7);
    let (h, w, n) = (29, 31, 6);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[h, w], 256);
    let outer = rects(&mut rng, n, (h, w));
    let inner: Vec<Rect> = outer.iter().map(|r| rng.inside(r.height.into(), r.width.into())).collect();
    let t = trace(|p: In<u8, (Y, X)>, a: In<Rect, (N,)>, b: In<Rect, (N,)>| {
        p.crop::<Y, X, _>(a).crop::<Y, X, _>(b).resize::<Y, X>(6, 5).store::<(N, Y, X)>()
    });
    let at = |y: usize, x: usize| f64::from(p[[y, x].as_slice()]);
    let expected = tabulate(&[n, 6, 5], |i| {
        let (a, b) = (outer[i[0]], inner[i[0]]);
        crop_pixel(at, Rect::new(a.x + b.x, a.y + b.y, b.width, b.height), (i[1], i[2]), (6, 5), Centres::Half)
    });
    let list = |boxes: &[Rect]| Tensor::boxes(<(N,)>::IDS, &[n], boxes);
    close::<f32>(&evaluate_every_way(&t.graph, &[&pic, &list(&outer), &list(&inner)])[0], &expected, 1e-5);
}

#[test]
fn crop_of_a_resize_and_resize_of_a_resize() {
    let mut rng = Rng::new(8);
    let (h, w, n) = (13, 9, 4);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[h, w], 256);
    let boxes = rects(&mut rng, n, (21, 18));
    let tensor = Tensor::boxes(<(N,)>::IDS, &[n], &boxes);
    let t = trace(|p: In<u8, (Y, X)>, b: In<Rect, (N,)>| {
        p.resize::<Y, X>(21, 18).crop::<Y, X, _>(b).resize_with::<Y, X>(7, 3, Centres::Corner).store::<(N, Y, X)>()
    });
    let at = |y: usize, x: usize| f64::from(p[[y, x].as_slice()]);
    let between = |y: usize, x: usize| bilinear(at, (y, x), (h, w), (21, 18), Centres::Half);
    let expected = tabulate(&[n, 7, 3], |i| crop_pixel(between, boxes[i[0]], (i[1], i[2]), (7, 3), Centres::Corner));
    close::<f32>(&evaluate_every_way(&t.graph, &[&pic, &tensor])[0], &expected, 1e-5);
}

/// Once cropped, the batch may be turned around, reordered or renamed: each picture keeps its own size.
#[test]
fn the_batch_of_a_crop_is_a_dimension_like_any_other() {
    let mut rng = Rng::new(9);
    let (h, w, n) = (23, 31, 4);
    let (p, pic) = picture::<u8>(&mut rng, <(Y, X)>::IDS, &[h, w], 256);
    let boxes = rects(&mut rng, n, (h, w));
    let tensor = Tensor::boxes(<(N,)>::IDS, &[n], &boxes);
    let at = |y: usize, x: usize| f64::from(p[[y, x].as_slice()]);
    let expected =
        |of: [usize; 4]| tabulate(&[n, 6, 5], |i| crop_pixel(at, boxes[of[i[0]]], (i[1], i[2]), (6, 5), Centres::Half));
    let t = trace(|p: In<u8, (Y, X)>, b: In<Rect, (N,)>| {
        let crops = p.crop::<Y, X, _>(b);
        (
            crops.reverse::<N>().resize::<Y, X>(6, 5).store::<(N, Y, X)>(),
            crops.rename::<N, K>().resize::<Y, X>(6, 5).store::<(K, Y, X)>(),
            crops.reorder::<N>(&[1, 3, 0, 0]).resize::<Y, X>(6, 5).store::<(N, Y, X)>(),
        )
    });
    // A world over N and K at once would be a batch of batches: one result at a time.
    for (i, of) in [[3, 2, 1, 0], [0, 1, 2, 3], [1, 3, 0, 0]].into_iter().enumerate() {
        let mut graph = t.graph.clone();
        graph.outputs = vec![graph.outputs[i].clone()];
        close::<f32>(&evaluate_every_way(&graph, &[&pic, &tensor])[0], &expected(of), 1e-5);
    }
}
