//! What is refused: sizes that make no sense, values that cannot meet, values that meet though nobody said how.

use crate::tensor::{Layout, Stored, Tensor, evaluate};
use tilewright_dims::{Dims, dims};
use tilewright_expr::dtype::Scalar;
use tilewright_expr::graph::{Graph, OperandSpec};
use tilewright_expr::scatter::Scattering;
use tilewright_expr::{Collision, DType, Error, In, Initial, Rect, coordinate, meet, trace};

dims! { N, Y, X, Bin, Cell }

fn message(graph: &Graph) -> String {
    graph.check().expect_err("it is refused").to_string()
}

#[test]
fn sizes() {
    let none = trace(|x: In<u8, (X,)>| x.histogram::<X, Bin>(0).store::<(Bin,)>()).graph;
    assert_eq!(message(&none), "dimension `Bin` cannot be 0 long; a size is from 1 to 2147483647");
    let many = trace(|x: In<u8, (X,)>| x.histogram::<X, Bin>(1 << 40).store::<(Bin,)>()).graph;
    assert_eq!(message(&many), "dimension `Bin` cannot be 1099511627776 long; a size is from 1 to 2147483647");
    let nowhere =
        trace(|x: In<i32, (X,)>| x.scatter::<X, Cell, _, _>(x, 0, meet::Sum, Initial::Filled(0)).store::<(Cell,)>());
    assert_eq!(message(&nowhere.graph), "dimension `Cell` cannot be 0 long; a size is from 1 to 2147483647");
    // Nothing says how many values there are.
    let endless = trace(|| {
        coordinate::<X>()
            .scatter::<X, Cell, _, _>(coordinate::<X>(), 5, meet::Sum, Initial::Filled(0))
            .store::<(Cell,)>()
    });
    let error = evaluate(&endless.graph, &[], &[Layout::dense(1)], true, 0).map(|_| ()).expect_err("unsized");
    assert!(matches!(error, Error::Unsized { dim: "X" }), "{error}");
    let crops = trace(|x: In<u8, (Y, X)>, boxes: In<Rect, (N,)>| {
        let crop = x.crop::<Y, X, _>(boxes);
        crop.scatter::<(Y, X), Cell, _, _>(crop.to::<i32>(), 9, meet::Max, Initial::Filled(0)).store::<(N, Cell)>()
    });
    let x =
        Tensor { dtype: DType::U8, components: 1, dims: <(Y, X)>::IDS.to_vec(), shape: vec![4, 4], bits: vec![0; 16] };
    let bits = vec![0, 0, 2, 2, 1, 1, 3, 3];
    let boxes = Tensor { dtype: DType::I32, components: 4, dims: <(N,)>::IDS.to_vec(), shape: vec![2], bits };
    let stored = [Stored::new(&x, &Layout::dense(2)), Stored::new(&boxes, &Layout::dense(1))];
    let error = evaluate(&crops.graph, &stored, &[Layout::dense(2)], true, 0).map(|_| ()).expect_err("boxes differ");
    assert!(matches!(error, Error::Ragged { first: 2, other: 3, index: 1, .. }), "{error}");
}

/// Graphs that are built without types.
#[test]
fn types() {
    for dtype in DType::ALL {
        for collision in Collision::ALL {
            let mut graph = Graph::default();
            graph.name_dim(<(X,)>::IDS[0], "X");
            let value = graph.operand(OperandSpec { dtype, components: 1, dims: <(X,)>::IDS.into() });
            let (value, coord) = (graph.input(value, 0), graph.index(<(X,)>::IDS[0]));
            let initial = Initial::Filled(Scalar { dtype, bits: 0 });
            graph.scatter(
                &Scattering { value, places: vec![(<(Bin,)>::IDS[0], coord, 4)], collision, initial },
                <(Bin,)>::IDS,
            );
            match collision.takes(dtype) {
                true => assert!(graph.check().is_ok()),
                false => assert!(message(&graph).starts_with(&format!("values of `{dtype}` that meet")), "{dtype}"),
            }
        }
    }
}

/// The host finds out that values meet which should not.
#[test]
fn values_that_meet() {
    let graph = trace(|x: In<f32, (X,)>, at: In<i32, (X,)>| {
        x.scatter::<X, Cell, _, _>(at, 6, meet::Unique, Initial::Filled(0.0)).store::<(Cell,)>()
    })
    .graph;
    let x = Tensor::maps(<(X,)>::IDS, &[4], 1, &[1.0, 2.0, 3.0, 4.0]);
    let at = |bits: [i32; 4]| {
        let bits = bits.iter().map(|b| u64::from(*b as u32)).collect();
        let at = Tensor { dtype: DType::I32, components: 1, dims: <(X,)>::IDS.to_vec(), shape: vec![4], bits };
        [Stored::new(&x, &Layout::dense(1)), Stored::new(&at, &Layout::dense(1))]
    };
    let run = |at: [Stored; 2]| evaluate(&graph, &at, &[Layout::dense(1)], true, 0).map(|r| r.0[0].array::<f32>());
    // What goes nowhere meets nothing.
    assert_eq!(run(at([5, -1, 0, -1])).unwrap().into_raw_vec_and_offset().0, [3.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let error = run(at([5, 2, 0, 2])).unwrap_err();
    assert!(matches!(error, Error::Met { output: 0, place: 2 }), "{error}");
}
