//! Channels taken out, put together, mixed.

use super::{C, H, K, N, W, X, Y, close, picture, refusal, results, tabulate};
use crate::random::Rng;
use tilewright_dims::Dims;
use tilewright_expr::colour::{per_channel, stack};
use tilewright_expr::{In, coordinate, trace};

#[test]
fn channels_are_taken_out_and_stacked() {
    let mut rng = Rng::new(1);
    for shape in [[1, 1, 3], [5, 7, 3], [4, 33, 5]] {
        let (a, t) = picture::<u16>(&mut rng, <(Y, X, C)>::IDS, &shape, 65535.0);
        let graph = trace(|x: In<u16, (Y, X, C)>| {
            let [red, green, blue] = [0, 1, 2].map(|i| x.channel::<C>(i));
            (
                stack::<C, _>([blue, red, green, blue]).store::<(C, Y, X)>(),
                stack::<K, _>([blue, red]).store::<(Y, X, K)>(),
                green.store::<(X, Y)>(),
                stack::<C, _>([green]).store::<(Y, C, X)>(),
            )
        })
        .graph;
        let [y, x, _] = shape;
        // The outputs have different extents of C: one at a time.
        let order = [2, 0, 1, 2];
        let expected = [
            tabulate(&[4, y, x], |i| f64::from(a[[i[1], i[2], order[i[0]]]])),
            tabulate(&[y, x, 2], |i| f64::from(a[[i[0], i[1], order[i[2]]]])),
            tabulate(&[x, y], |i| f64::from(a[[i[1], i[0], 1]])),
            tabulate(&[y, 1, x], |i| f64::from(a[[i[0], i[2], 1]])),
        ];
        for (i, e) in expected.iter().enumerate() {
            let mut one = graph.clone();
            one.outputs = vec![graph.outputs[i].clone()];
            close::<u16>(&results(&one, &[&t])[0], e, 0.0);
        }
    }
}

#[test]
fn a_colour_is_a_literal_over_channels() {
    let graph = trace(|x: In<f32, (Y, X)>| (x * per_channel::<C, _, 3>([0.5, -2.0, 7.0])).store::<(C, X, Y)>()).graph;
    let (a, t) = picture::<f32>(&mut Rng::new(2), <(Y, X)>::IDS, &[5, 9], 1.0);
    let factors = [0.5, -2.0, 7.0];
    let expected = tabulate(&[3, 9, 5], |i| f64::from(a[[i[2], i[1]]] * factors[i[0]] as f32));
    close::<f32>(&results(&graph, &[&t])[0], &expected, 0.0);
}

#[test]
fn matrices() {
    let (m, offset) =
        ([[0.25f32, -1.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [3.0, 2.0, 1.0]], [0.5f32, 0.0, -4.0, 0.0]);
    let graph = trace(|x: In<f32, (C, Y, X)>| {
        (x.mix::<C, K>(m).store::<(Y, X, K)>(), x.mix::<C, K>((m, offset)).store::<(K, Y, X)>())
    })
    .graph;
    let (a, t) = picture::<f32>(&mut Rng::new(3), <(C, Y, X)>::IDS, &[3, 6, 11], 10.0);
    let row = |k: usize, y: usize, x: usize| (0..3).map(|c| f64::from(m[k][c]) * f64::from(a[[c, y, x]])).sum::<f64>();
    let got = results(&graph, &[&t]);
    close::<f32>(&got[0], &tabulate(&[6, 11, 4], |i| row(i[2], i[0], i[1])), 1e-5);
    close::<f32>(&got[1], &tabulate(&[4, 6, 11], |i| row(i[0], i[1], i[2]) + f64::from(offset[i[0]])), 1e-5);

    // A matrix in place: the dimension keeps its name.
    let turn = [[0.0f64, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
    let graph = trace(|x: In<f64, (X, C)>| x.mix::<C, C>(turn).store::<(X, C)>()).graph;
    let (a, t) = picture::<f64>(&mut Rng::new(4), <(X, C)>::IDS, &[17, 3], 1.0);
    close::<f64>(&results(&graph, &[&t])[0], &tabulate(&[17, 3], |i| a[[i[0], (i[1] + 1) % 3]]), 0.0);
}

#[test]
fn matrices_that_are_operands() {
    let mut rng = Rng::new(5);
    let (a, t) = picture::<f32>(&mut rng, <(Y, X, C)>::IDS, &[4, 9, 3], 10.0);
    let (m, mt) = picture::<f32>(&mut rng, <(K, C)>::IDS, &[2, 3], 2.0);
    let graph = trace(|x: In<f32, (Y, X, C)>, m: In<f32, (K, C)>| x.mix_by::<C, _>(m, 3).store::<(Y, X, K)>()).graph;
    let expected =
        tabulate(&[4, 9, 2], |i| (0..3).map(|c| f64::from(m[[i[2], c]]) * f64::from(a[[i[0], i[1], c]])).sum());
    close::<f32>(&results(&graph, &[&t, &mt])[0], &expected, 1e-5);

    let (m, mt) = picture::<f32>(&mut rng, <(N, K, C)>::IDS, &[5, 2, 3], 2.0);
    let graph =
        trace(|x: In<f32, (Y, X, C)>, m: In<f32, (N, K, C)>| x.mix_by::<C, _>(m, 3).store::<(N, Y, X, K)>()).graph;
    let expected = tabulate(&[5, 4, 9, 2], |i| {
        (0..3).map(|c| f64::from(m[[i[0], i[3], c]]) * f64::from(a[[i[1], i[2], c]])).sum()
    });
    close::<f32>(&results(&graph, &[&t, &mt])[0], &expected, 1e-5);
}

#[test]
fn means_and_normalisation() {
    let mut rng = Rng::new(6);
    let (a, t) = picture::<u8>(&mut rng, <(Y, X, C)>::IDS, &[7, 10, 3], 255.0);
    let graph = trace(|x: In<u8, (Y, X, C)>| x.mean_channels::<C>(3).store::<(Y, X)>()).graph;
    let mean = |y, x| (0..3).map(|c| f64::from(a[[y, x, c]])).sum::<f64>() / 3.0;
    close::<f32>(&results(&graph, &[&t])[0], &tabulate(&[7, 10], |i| mean(i[0], i[1])), 1e-4);

    let (m, mt) = picture::<f32>(&mut rng, <(C,)>::IDS, &[3], 100.0);
    let deviations = [50.0f32, 60.0, 70.0];
    let graph = trace(|x: In<u8, (Y, X, C)>, mean: In<f32, (C,)>| {
        x.to::<f32>().normalise(mean, per_channel::<C, _, 3>(deviations)).store::<(C, Y, X)>()
    })
    .graph;
    let expected = tabulate(&[3, 7, 10], |i| {
        (f64::from(a[[i[1], i[2], i[0]]]) - f64::from(m[[i[0]]])) / f64::from(deviations[i[0]])
    });
    close::<f32>(&results(&graph, &[&t, &mt])[0], &expected, 1e-5);
}

#[test]
fn what_is_refused() {
    let mut rng = Rng::new(7);
    let (_, t) = picture::<f32>(&mut rng, <(X, C)>::IDS, &[4, 3], 1.0);
    let graph = trace(|x: In<f32, (X, C)>| x.channel::<C>(3).store::<(X,)>()).graph;
    assert_eq!(refusal(&graph, &[&t]), "the expression reads index 3, but `C` is 3 long");
    let graph = trace(|x: In<f32, (X, C)>| x.channel::<C>(usize::MAX).store::<(X,)>()).graph;
    assert_eq!(refusal(&graph, &[&t]), "the expression reads index 2147483647, but `C` is 3 long");
    let graph = trace(|x: In<f32, (X, C)>| x.mix::<C, K>([[1.0f32, 2.0, 3.0, 4.0]; 2]).store::<(X, K)>()).graph;
    assert!(refusal(&graph, &[&t]).contains("dimension `C` is 3 long in operand 0 and 4 long in the expression"));
    let graph = trace(|x: In<f32, (X, C)>| x.mean_channels::<C>(1000).store::<(X,)>()).graph;
    assert!(graph.check().is_err_and(|e| e.to_string().contains("1000 of `C`")));
    let graph = trace(|x: In<f32, (X, C)>| x.mean_channels::<C>(0).store::<(X,)>()).graph;
    assert!(graph.check().is_err_and(|e| e.to_string().contains("`C` cannot be 0 long")));
    let none: [tilewright_expr::Expr<f32, (W, ())>; 0] = [];
    let graph = trace(|x: In<f32, (X,)>| {
        let _ = (x, coordinate::<H>());
        stack::<C, _>(none).store::<(C, W)>()
    })
    .graph;
    assert!(graph.check().is_err_and(|e| e.to_string().contains("`C` cannot be 0 long")));
}
