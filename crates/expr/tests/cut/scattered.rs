//! Values that go to computed places: results are whole, or have the dimension.

use super::*;
use crate::scatter;
use ndarray::ArrayD;

/// What windows have more is another band's.
#[test]
fn values_of_bands_meet_in_results() {
    let t = trace(|a: In<i32, (Y, X)>, k: In<i32, (Y,)>| {
        a.scatter::<Y, K, _, _>(k, 16, meet::Sum, Initial::Filled(0)).store::<(X, K)>()
    });
    let cut = t.graph.cut(Y::ID).unwrap();
    assert_eq!((cut.scattered, cut.graph.is_some(), cut.numbers), (true, false, Numbers::None));
    assert_eq!(cut.shares, [band(0, 0), band(0, 0)]);
    let cut = t.graph.cut(X::ID).unwrap();
    assert_eq!((cut.scattered, cut.shares), (false, [band(0, 0), Share::Whole].to_vec()), "the result has it");
    assert_eq!(t.graph.cut(K::ID).unwrap_err(), Uncut::Lacking { result: 0 });
    let t = trace(|a: In<i32, (Y, X)>| {
        let low = a.box_filter::<Y, X>(3, 5, Border::Replicate).to::<i32>();
        low.histogram::<(Y, X), K>(16).store::<(K,)>()
    });
    let cut = t.graph.cut(Y::ID).unwrap();
    assert_eq!((cut.scattered, cut.numbers, cut.margin), (true, Numbers::Within, Margin { before: -1, after: 1 }));
    assert_eq!(cut.graph.unwrap().operands.len(), 3);
    let t = trace(|a: In<i32, (Y, X)>| a.histogram::<(Y, X), K>(16).store::<(K,)>());
    assert!(t.graph.cut(Y::ID).unwrap().scattered && t.graph.cut(X::ID).unwrap().scattered);
    // Coordinates are the whole's.
    let t = trace(|a: In<i32, (Y,)>| {
        a.scatter::<Y, Y, _, _>(coordinate::<Y>() / 2, 16, meet::Max, Initial::Filled(0)).store::<(Y,)>()
    });
    let cut = t.graph.cut(Y::ID).unwrap();
    assert_eq!((cut.scattered, cut.numbers), (true, Numbers::Window), "another dimension of the same name");
}

#[test]
fn beside_results_that_have_the_dimension_they_are_apart() {
    let t = trace(|a: In<i32, (Y,)>, k: In<i32, (Y,)>| {
        (a.store::<(Y,)>(), a.scatter::<Y, K, _, _>(k, 16, meet::Sum, Initial::Filled(0)).store::<(K,)>())
    });
    assert_eq!(t.graph.cut(Y::ID).unwrap_err(), Uncut::Scattered { result: 1 });
    assert_eq!(t.graph.cut_images(Y::ID, |_, _| 100, |_, _| false).unwrap_err(), Uncut::Scattered { result: 1 });
    let (graph, kept) = t.graph.only_results(&[1], |_, _| 100).unwrap();
    assert_eq!((kept, graph.cut(Y::ID).unwrap().scattered), (vec![0, 1], true));
    let (graph, kept) = t.graph.only_results(&[0], |_, _| 100).unwrap();
    assert_eq!((kept, graph.cut(Y::ID).unwrap().scattered), (vec![0], false));
}

/// What is evaluated on a window, on the first band and on others.
#[test]
fn scattered_bands_are_kernels() {
    let stencils = trace(|a: In<i32, (Y, X)>, k: In<i32, (Y, X)>| {
        let low = (a + coordinate::<Y>()).box_filter::<Y, X>(3, 5, Border::Reflect101).to::<i32>();
        let sums = low.scatter::<(Y, X), K, _, _>(k, 16, meet::Sum, Initial::Filled(3)).store::<(K,)>();
        (sums, low.scatter::<Y, K, _, _>(k / 2, 9, meet::Min, Initial::Filled(70)).store::<(K, X)>())
    });
    let backwards = trace(|a: In<i32, (Y, X)>, k: In<i32, (Y, X)>| {
        a.reverse::<Y>().scatter::<(Y, X), K, _, _>(k, 16, meet::Xor, Initial::Filled(3)).store::<(K,)>()
    });
    let mut rng = Rng::new(14);
    let mut case = |name: &str, graph: Graph, along: i64, numbers: &[i32]| {
        let mut numbers = numbers.iter();
        let operand = |spec: &OperandSpec| {
            if spec.dims.is_empty() {
                return Tensor::of(&[], &arr0(*numbers.next().unwrap()).into_dyn());
            }
            let shape: Vec<i64> = spec.dims.iter().map(|dim| if *dim == Y::ID { along } else { 37 }).collect();
            let values = ArrayD::from_shape_simple_fn(shape.iter().map(|n| *n as usize).collect::<Vec<_>>(), || {
                rng.range(-2, 18) as i32
            });
            match spec.dtype {
                DType::I32 => Tensor::of(&spec.dims, &values),
                // The ruler, which nobody reads.
                _ => Tensor::of(&spec.dims, &values.mapv(|_| 0xa5u8)),
            }
        };
        let operands = graph.operands.iter().map(operand).collect();
        scatter::Case::new(name, graph, operands, 3)
    };
    let cut = stencils.graph.cut(Y::ID).unwrap();
    assert_eq!((cut.margin, cut.numbers), (Margin { before: -1, after: 1 }, Numbers::Band));
    let graph = cut.graph.unwrap();
    let numbers = [39, 90, 1, 18];
    let mut cases = vec![case("the first", graph.clone(), 19, &numbers), case("others", graph.held(), 19, &numbers)];
    let passes = backwards.graph.cut_images(Y::ID, |_, _| 90, |_, _| false).unwrap();
    assert!(passes.cut.scattered && passes.cut.margin == Margin::NONE);
    let images = passes.cut.shares.iter().flat_map(|share| match share {
        Share::Image(image) => [image.begin(40..57, 17, 90) as i32, 90],
        share => panic!("{share:?}"),
    });
    let numbers: Vec<i32> = [40].into_iter().chain(images).collect();
    cases.push(case("backwards", passes.cut.graph.unwrap().held(), 17, &numbers));
    scatter::check_cases("cut::scattered::scattered_bands_are_kernels", &cases);
}
