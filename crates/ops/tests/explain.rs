//! What an explanation says, against numbers counted by hand.

use tilewright_dims::dims;
use tilewright_expr::bind::Place;
use tilewright_expr::plan::Extent;
use tilewright_expr::{DType, In, Rect};
use tilewright_ops::{Explanation, Tensor, fuse};

dims! { N, Y, X, C }

fn zeros<const R: usize, L: tilewright_dims::Dims>(extents: [usize; R]) -> Tensor<f32, L> {
    Tensor::from_vec(extents, vec![0.0; extents.iter().product()]).unwrap()
}

/// Fifty boxes of 60 x 120 out of a 4K frame, to 64 x 128 planes.
fn crops(boxes: &[Rect]) -> Explanation {
    let crops = fuse(
        |pic: In<u8, (Y, X, C)>, boxes: In<Rect, (N,)>, mul: In<f32, (C,)>, sub: In<f32, (C,)>, div: In<f32, (C,)>| {
            let pixel = pic.crop::<Y, X, _>(boxes).resize::<Y, X>(128, 64).reverse::<C>();
            ((pixel * mul - sub) / div).store::<(N, C, Y, X)>()
        },
    );
    let picture = Tensor::<u8, (Y, X, C)>::from_vec([2160, 3840, 3], vec![0; 2160 * 3840 * 3]).unwrap();
    let list = Tensor::<Rect, (N,)>::from_vec([boxes.len()], boxes.to_vec()).unwrap();
    let colour = zeros::<1, (C,)>([3]);
    crops.explain(&picture, &list, &colour, &colour, &colour).unwrap()
}

#[test]
fn fifty_crops() {
    let e = crops(&[Rect::new(7, 9, 60, 120); 50]);
    let points = 50 * 3 * 128 * 64;
    assert_eq!(e.points, points);
    // Pixels of the boxes, boxes of 16 bytes, three colours of 4 bytes each.
    let pixels = 50 * 60 * 120 * 3;
    assert_eq!(e.operands.iter().map(|o| o.bytes).collect::<Vec<_>>(), [pixels, 50 * 16, 12, 12, 12]);
    assert_eq!((e.bytes_read(), e.bytes_written()), (pixels + 836, points * 4));
    // A value is four conversions, three interpolations of 3, a multiply-add and a division: 16. A thread has two rows of three
    // channels: 96, and three signs of `sub`. A place along a dimension is a conversion, an addition, a multiply-add, a maximum,
    // a floor, a weight and a conversion back: 8, of which it has one along X and two along Y: 24; the scale along each is a
    // conversion and a product: 4. Multiply-adds are four for each value, and one for each place.
    let threads = points / 6;
    assert_eq!(e.operations.float, (96 + 3 + 24 + 4) * threads);
    // The last index along each: 2; at each place the left neighbour, the right one, the smaller of that and the last, both moved
    // by the box: 5, three times; the second row's coordinate: 1.
    assert_eq!(e.operations.integer, (2 + 15 + 1) * threads);
    assert_eq!(e.operations.instructions, e.operations.total() - (24 + 3) * threads);
    assert!(!e.operations.open_loops);
    let limit = e.limit();
    assert!(limit.is_memory());
    assert!((limit.memory_seconds - (pixels + 836 + points * 4) as f64 / 4.25e12).abs() < 1e-12);
    assert!((limit.seconds() - 2.6e-6 - limit.memory_seconds).abs() < 1e-12);
    let not_written: Vec<_> = e.intermediates.iter().map(|i| (i.operation.as_str(), i.bytes)).collect();
    let planes = Some(points * 4);
    let mut expected = vec![
        ("crop", Some(pixels)),
        ("resize", planes),
        ("reverse", planes),
        ("neg", Some(12)),
        ("multiply-add", planes),
    ];
    expected.sort_unstable();
    assert_eq!(
        {
            let mut got = not_written;
            got.sort_unstable();
            got
        },
        expected
    );
    assert_eq!(e.bytes_not_written(), pixels + 3 * points * 4 + 12);
}

#[test]
fn boxes_of_different_sizes() {
    let e = crops(&[Rect::new(0, 0, 10, 20), Rect::new(5, 5, 7, 3)]);
    assert_eq!(e.operands[0].bytes, 3 * (10 * 20 + 7 * 3));
    let crop = &e.intermediates.iter().find(|i| i.bytes == Some(3 * (10 * 20 + 7 * 3)));
    assert_eq!(crop.unwrap().dtype, DType::U8);
}

#[test]
fn an_axpy() {
    let f = fuse(|a: In<f32, ()>, x: In<f32, (Y, X)>, y: In<f32, (X,)>| (x * a + y).store::<(Y, X)>());
    let e = f.explain(2.0, &zeros::<2, (Y, X)>([300, 1024]), &zeros::<1, (X,)>([1024])).unwrap();
    let points = 300 * 1024;
    assert_eq!((e.points, e.operations.float, e.operations.instructions), (points, 2 * points, points));
    assert_eq!(e.operations.integer, 0);
    assert_eq!((e.bytes_read(), e.bytes_written()), (4 + points * 4 + 4096, points * 4));
    assert!(e.intermediates.is_empty(), "one operation");
    assert_eq!(e.operations_a_point(), 2.0);
    let x = &e.operands[1];
    assert_eq!((x.place, x.dense, &x.access_bytes[..], x.alignment), (Place::Device, true, &[16][..], 16));
    assert_eq!((e.operands[0].place, e.operands[2].place), (Place::Host, Place::Host));
    let sides: Vec<_> = e.sections[0].loops.iter().map(|l| (l.dim, l.extent, l.known, l.reduced)).collect();
    let unknown = |m| Extent::MultipleOf(m);
    assert_eq!(sides, [("Y", 300, unknown(1), false), ("X", 1024, unknown(4), false)]);
    let s = &e.sections[0];
    assert_eq!((s.lanes, s.registers.len(), &s.shared), ((4, "X"), 0, &None));
    assert_eq!(u64::from(e.grid[0]) * u64::from(e.block[0] * e.block[1]) * 4, points);
}

#[test]
fn points_beside_the_last_vector() {
    let f = fuse(|x: In<f32, (Y, X)>, y: In<f32, (X,)>| (x * y).sqrt().store::<(X, Y)>());
    let x = zeros::<2, (Y, X)>([7, 1031]).narrow::<X>(1, 1027).unwrap();
    let e = f.explain(&x, &zeros::<1, (X,)>([1027])).unwrap();
    assert_eq!(e.operations.float, 2 * 7 * 1027);
    assert!(!e.operands[0].dense);
    let axes = e.operands[0].axes.iter().map(|a| (a.dim, a.extent, a.stride)).collect::<Vec<_>>();
    assert_eq!(axes, [("Y", 7, 1031), ("X", 1027, 1)]);
    assert_eq!(e.bytes_not_written(), 4 * 7 * 1027, "the product");
}

#[test]
fn loops_of_a_thread() {
    let f = fuse(|a: In<f32, (Y, N)>, b: In<f32, (N, X)>, c: In<f32, (C, X)>| {
        ((a * b).sum::<N>() + c.sum::<C>()).store::<(Y, X)>()
    });
    let e =
        f.explain(&zeros::<2, (Y, N)>([6, 40]), &zeros::<2, (N, X)>([40, 10]), &zeros::<2, (C, X)>([5, 10])).unwrap();
    let (points, inner) = (60, 40);
    match &e.sections[0].shared {
        // The product and its sum, five values of the other sum (from 0 on), one addition.
        None => assert_eq!(e.operations.float, points * (2 * inner + 5 + 1)),
        Some(s) => {
            assert_eq!((s.rows, s.values, s.segments), (60, 40, 1));
            // The tree joins 8 + .. accumulators besides.
            let tree = u64::from(s.tree_width) - 1;
            assert_eq!(e.operations.float, points * (2 * inner + tree + 5 + 1));
        }
    }
    assert_eq!(e.bytes_read(), 4 * (240 + 400 + 50));
}

#[test]
fn a_shared_sum_in_segments() {
    let f = fuse(|x: In<f32, (Y, X)>| x.sum::<(Y, X)>().store::<()>());
    let e = f.explain(&zeros::<2, (Y, X)>([1 << 10, 1 << 10])).unwrap();
    let s = e.sections[0].shared.clone().unwrap();
    assert_eq!((s.rows, s.values, s.again), (1, 1 << 20, false));
    assert!(s.segments > 1);
    // Every value is added to an accumulator; then all accumulators but one are joined.
    let joined = s.segments as u64 * (u64::from(s.tree_width) - 1) + s.segments as u64 - 1;
    assert_eq!(e.operations.float, (1 << 20) + joined);
    assert_eq!((e.bytes_read(), e.bytes_written()), (4 << 20, 4));
    assert!(e.sections[0].loops.iter().all(|l| l.reduced));
}

#[test]
fn the_page_says_it() {
    let f = fuse(|x: In<f32, (Y, X)>| {
        let y = (x * 2.0).exp();
        ((y + 1.0).store::<(Y, X)>(), y.sum::<X>().store::<(Y,)>())
    });
    let page = f.explain(&zeros::<2, (Y, X)>([700, 300])).unwrap().to_string();
    for expected in [
        "one kernel, 210,000 points",
        "X = 300 (run-time, a multiple of 4, reduced)",
        "operand 0    f32 (Y = 700, X = 300), dense, on the device, aligned to 16; 16-byte accesses, 840,000 bytes",
        "result 1     f32 (Y = 700), dense",
        "840,000 bytes read, 842,800 written",
        "H200:",
        "not written",
        "result 1 (Y)\n└ sum along X: f32 (Y)",
        "exp: f32 (Y, X) #1",
        "└ mul: f32 (Y, X)\n",
        "result 0 (Y, X)\n└ add: f32 (Y, X)\n  ├ exp",
    ] {
        assert!(page.contains(expected), "{expected:?} in\n{page}");
    }
    assert!(page.lines().all(|l| l.chars().count() <= 160), "{page}");
}
