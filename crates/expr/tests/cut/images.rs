//! Operands that are read elsewhere than around the point: their images.

use super::*;

/// Where a band of each operand is, and of which operand.
fn images(graph: &Graph, dim: u64, length: impl Fn(u16, u64) -> i64) -> (Vec<(u16, i64, [i64; 2])>, i64) {
    let passes = graph.cut_images(dim, length, |_, _| true).unwrap();
    let image = |(operand, share): (&u16, &Share)| match share {
        Share::Image(image) => (*operand, image.step, [image.low, image.high]),
        share => panic!("{share:?}"),
    };
    (passes.kept.iter().zip(&passes.cut.shares).map(image).collect(), passes.cut.margin.places())
}

/// Slices are so far away, what is reversed runs from its end, and a border reaches as far inside as the coordinate was outside.
#[test]
fn bands_have_images_in_what_is_read_elsewhere() {
    let length = |_, dim: u64| if dim == Y::ID { 1000 } else { 7 };
    let t = trace(|a: In<f32, (Y, X)>| {
        (a.slice::<Y>(600, 300) - a.slice::<Y>(3, 300) + a.slice::<Y>(1, 300)).store::<(Y, X)>()
    });
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, 1, [1, 3]), (0, 1, [600, 600])], 2));
    let t =
        trace(|a: In<f32, (Y, X)>| (a.reverse::<Y>() + a.box_filter::<Y, X>(5, 3, Border::Reflect)).store::<(Y, X)>());
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, -1, [999, 999]), (0, 1, [-2, 2])], 4));
    let t = trace(|a: In<f32, (Y, X)>| a.pad::<Y>(400, 0, Border::Replicate).store::<(Y, X)>());
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, 1, [-400, -400])], 0), "what is outside is at an end");
    let t = trace(|a: In<f32, (Y, X)>| a.pad::<Y>(4, 2, Border::Reflect101).store::<(Y, X)>());
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, 1, [-8, 4])], 12), "as far inside as outside");
    let t = trace(|a: In<f32, (Y, X)>| a.pad::<Y>(4, 4, Border::Constant(0.0)).reverse::<Y>().store::<(Y, X)>());
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, -1, [1003, 1003])], 0));
    // Under another name, in the operand's own place.
    let t = trace(|a: In<f32, (Y, X)>| (a.rename::<Y, K>() + 1.0).store::<(K, X)>());
    let passes = t.graph.cut_images(K::ID, length, |_, _| true).unwrap();
    let Share::Image(image) = passes.cut.shares[0] else { panic!("{:?}", passes.cut.shares) };
    assert_eq!((image.along, image.step, passes.cut.length), (Y::ID, 1, Some(1000)));
    let dims = passes.cut.graph.unwrap().operands[0].dims.clone();
    assert!(dims.len() == 2 && [K::ID, X::ID].iter().all(|dim| dims.contains(dim)), "{dims:?}");
    // A window has the image wherever that ends.
    assert_eq!((image.begin(0..10, 12, 1000), image.begin(990..1000, 12, 1000)), (0, 988));
    // What is read at computed places is whole, and with nothing else there are no images.
    let t = trace(|a: In<f32, (Y, X)>, at: In<i32, (Y,)>| (a.at::<Y, _>(at) + a.reverse::<Y>()).store::<(Y, X)>());
    let passes = t.graph.cut_images(Y::ID, length, |_, _| true).unwrap();
    assert_eq!((passes.cut.shares[0], passes.kept), (Share::Whole, vec![0, 1]));
    let t = trace(|a: In<f32, (Y, X)>| a.cumsum::<Y>().slice::<Y>(1, 3).store::<(Y, X)>());
    assert_eq!(t.graph.cut_images(Y::ID, length, |_, _| true).unwrap_err(), Uncut::Length);
}

/// What a border repeats has an image that goes on at the other end, which serves other borders around there too; where windows may not go on it is whole.
#[test]
fn images_of_what_a_border_repeats() {
    let length = |_, dim: u64| if dim == Y::ID { 1000 } else { 7 };
    let wraps = |graph: &Graph| -> Vec<bool> {
        let shares = graph.cut_images(Y::ID, length, |_, _| true).unwrap().cut.shares;
        shares.iter().map(|share| matches!(share, Share::Image(image) if image.wraps)).collect()
    };
    let beside = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>| {
        let low = a.box_filter::<Y, X>(3, 1, Border::Wrap) + b.box_filter::<Y, X>(7, 1, Border::Reflect101);
        (low + a.box_filter::<Y, X>(5, 1, Border::Replicate)).store::<(Y, X)>()
    });
    assert_eq!(beside.graph.cut(Y::ID).unwrap_err(), Uncut::Wrapped);
    assert_eq!(images(&beside.graph, Y::ID, length), (vec![(0, 1, [-2, 2]), (1, 1, [-3, 3])], 6));
    assert_eq!(wraps(&beside.graph), [true, false]);
    for [below, above] in [[Border::Wrap, Border::Reflect], [Border::Reflect101, Border::Wrap]] {
        let t = trace(|a: In<f32, (Y, X)>| {
            a.box_filter::<Y, X>(5, 1, below).box_filter::<Y, X>(3, 1, above).reverse::<Y>().store::<(Y, X)>()
        });
        let back = |images: Vec<(u16, i64, [i64; 2])>| images.iter().map(|(.., [low, high])| high - low).sum::<i64>();
        let (found, places) = images(&t.graph, Y::ID, length);
        assert_eq!((found.len(), found[0].1, back(found), places), (1, -1, 6, 6), "{below:?} {above:?}");
        assert_eq!(wraps(&t.graph), [true]);
    }
    // What is as long as something else repeats with its own length; what repeats with another length than the operand's is no window of that.
    let t = trace(|a: In<f32, (Y, X)>| a.box_filter::<Y, X>(3, 1, Border::Wrap).slice::<Y>(900, 100).store::<(Y, X)>());
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, 1, [899, 901])], 2));
    let t = trace(|a: In<f32, (Y, X)>| a.pad::<Y>(4, 2, Border::Wrap).store::<(Y, X)>());
    assert_eq!(images(&t.graph, Y::ID, length), (vec![(0, 1, [-4, -4])], 0));
    let t = trace(|a: In<f32, (Y, X)>| a.slice::<Y>(100, 800).box_filter::<Y, X>(3, 1, Border::Wrap).store::<(Y, X)>());
    assert_eq!(t.graph.cut_images(Y::ID, length, |_, _| true).unwrap_err(), Uncut::Length);
    let image =
        |begin: i64| tilewright_expr::cut::Image { along: Y::ID, step: 1, low: begin, high: begin, wraps: true };
    assert_eq!((image(-3).begin(0..10, 12, 1000), image(3).begin(999..1000, 12, 1000)), (997, 2));
    let passes = beside.graph.cut_images(Y::ID, length, |operand, _| operand != 0).unwrap();
    assert_eq!(passes.cut.shares[0], Share::Whole);
}

/// What is evaluated on bands that are read elsewhere, as a kernel: rows that threads reduce together, borders, and what runs backwards.
#[test]
fn images_are_kernels() {
    let length = |_, dim: u64| if dim == Y::ID { 90 } else { 67 };
    let slices = trace(|a: In<f32, (Y, X)>| {
        (a.slice::<Y>(41, 40) * a.slice::<Y>(2, 40) - a.reverse::<Y>().slice::<Y>(5, 40)).store::<(Y, X)>()
    });
    let rows = trace(|a: In<f32, (Y, X)>| {
        let off = a.reverse::<Y>() - a.maximum::<X>();
        (off.store::<(Y, X)>(), (off * off).sum::<X>().store::<(Y,)>())
    });
    let borders = trace(|a: In<f32, (Y, X)>| {
        let low = a.box_filter::<Y, X>(3, 5, Border::Reflect101).slice::<Y>(7, 71);
        low.pad::<Y>(2, 3, Border::Reflect).reverse::<Y>().store::<(X, Y)>()
    });
    let repeated = trace(|a: In<f32, (Y, X)>| {
        let low = a.box_filter::<Y, X>(3, 5, Border::Wrap).box_filter::<Y, X>(5, 3, Border::Reflect);
        (low - a.box_filter::<Y, X>(3, 1, Border::Replicate)).store::<(Y, X)>()
    });
    let lag = trace(|a: In<f32, (Y, X)>| (a.slice::<Y>(0, 71) * a.slice::<Y>(19, 71)).sum::<Y>().store::<(X,)>());
    let mut rng = Rng::new(12);
    let mut case = |passes: Passes| {
        let (band, window) = (17, 17 + passes.cut.margin.places());
        let graph = passes.cut.graph.unwrap();
        let images = passes.cut.shares.iter().flat_map(|share| match share {
            Share::Image(image) => [image.begin(40..57, window, 90) as i32, 90],
            share => panic!("{share:?}"),
        });
        let mut numbers = [40].into_iter().chain(images);
        let ruler = passes.kept.len();
        let operand = |(number, spec): (usize, &OperandSpec)| {
            if spec.dims.is_empty() {
                let tensor = Tensor::of(&[], &arr0(numbers.next().unwrap()).into_dyn());
                return Operand { tensor, layout: Layout::dense(0), place: Place::Host };
            }
            let along = |dim: &u64| if *dim == Y::ID { if number == ruler { band } else { window } } else { 67 };
            let shape: Vec<i64> = spec.dims.iter().map(along).collect();
            let layout = Layout::dense(shape.len());
            Operand { tensor: rng.tensor(spec.dtype, &spec.dims, &shape), layout, place: Place::Device }
        };
        let operands = graph.operands.iter().enumerate().map(operand).collect();
        let outputs = graph.outputs.iter().map(|output| Layout::dense(output.dims.len())).collect();
        Case { graph, operands, outputs, known: true }
    };
    let whole =
        [("slices", slices.graph), ("rows", rows.graph), ("borders", borders.graph), ("repeated", repeated.graph)];
    let mut cases: Vec<(String, Case)> = whole
        .map(|(name, graph)| (name.to_string(), case(graph.cut_images(Y::ID, length, |_, _| true).unwrap())))
        .into();
    cases.push(("lag".into(), case(lag.graph.fold_images(Y::ID, 4, length, |_, _| true).unwrap().parts)));
    check_all("cut::images::images_are_kernels", cases.into_iter());
}
