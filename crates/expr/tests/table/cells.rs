//! The cells of the table: graphs of the rows, and what they are run on.

use crate::naive::Number;
use crate::operations::{
    AFFINE, BOXES, C, Channels, Given, N, PERSPECTIVE, PLACES, Q, R, Rows, SIZE, Scalar, X, Y, names, of,
};
use crate::random::{Case, Operand, Rng};
use crate::tensor::{Layout, Tensor};
use std::any::Any;
use tilewright_dims::Dims;
use tilewright_expr::bind::Place;
use tilewright_expr::graph::Graph;
use tilewright_expr::{Affine, DType, In, Out, Outputs, Perspective, Rect, trace};

/// A row of one type.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) graph: Graph,
}

struct Graphs(Vec<Row>);

/// Traces what `$of` makes of everything that is given.
macro_rules! traced {
    ($t:ty, $of:expr) => {
        trace(
            |a: In<$t, (Y, X, C)>,
             b: In<$t, (Y, X, C)>,
             c: In<$t, (Y, X, C)>,
             boxes: In<Rect, (N,)>,
             affine: In<Affine, (N,)>,
             perspective: In<Perspective, (N,)>,
             v: In<f32, (R, Q)>,
             u: In<f32, (R, Q)>| { $of(&Given::<$t> { a, b, c, boxes, affine, perspective, places: [v, u] }) },
        )
        .graph
    };
}

impl Rows for Graphs {
    fn row<T: Scalar, U: Scalar, L: Dims>(&mut self, name: &'static str, _: Channels, of: fn(&Given<T>) -> Out<U, L>) {
        self.0.push(Row { name, graph: traced!(T, of) });
    }
}

/// The rows that a type has.
pub(crate) fn rows(dtype: DType) -> Vec<Row> {
    let mut graphs = Graphs(Vec::new());
    of(dtype, &mut graphs);
    graphs.0
}

/// Values of all operands: three pictures of these bits, and what else is given.
pub(crate) fn operands(pictures: [Tensor; 3]) -> Vec<Tensor> {
    let n = [BOXES.len() as i64];
    let places = PLACES.map(|n| n as i64);
    let count = PLACES[0] * PLACES[1];
    // Multiples of 1/8 from before the first pixel to behind the last.
    let list = |scale: f32, shift: f32| (0..count).map(move |i| ((i * 7) % 11) as f32 * scale + shift);
    let place = |values: Vec<f32>| Tensor::maps(<(R, Q)>::IDS, &places, 1, &values);
    let boxes: Vec<Rect> = BOXES.iter().map(|[x, y, w, h]| Rect::new(*x, *y, *w, *h)).collect();
    let mut all = Vec::from(pictures);
    all.push(Tensor::boxes(<(N,)>::IDS, &n, &boxes));
    all.push(Tensor::maps(<(N,)>::IDS, &n, 6, AFFINE.as_flattened()));
    all.push(Tensor::maps(<(N,)>::IDS, &n, 9, PERSPECTIVE.as_flattened()));
    all.push(place(list(0.625, -1.0).collect()));
    all.push(place(list(0.875, -1.5).collect()));
    all
}

/// A row of one type with one number of channels.
pub(crate) struct Cell {
    pub(crate) name: String,
    pub(crate) case: Case,
    /// Whether it also runs on the host model.
    pub(crate) runs: bool,
}

/// Every cell, row by row.
pub(crate) fn cells() -> Vec<Cell> {
    let rows: Vec<(DType, Row)> =
        DType::ALL.into_iter().flat_map(|dtype| rows(dtype).into_iter().map(move |row| (dtype, row))).collect();
    let mut cells = Vec::new();
    for (number, (name, channels)) in names().into_iter().enumerate() {
        let first = cells.len();
        for (dtype, row) in rows.iter().filter(|(_, row)| row.name == name) {
            for n in channels.list() {
                let case = case(&row.graph, *dtype, *n, cells.len() as u64);
                cells.push(Cell { name: format!("`{name}` of {dtype} with {n} channels"), case, runs: false });
            }
        }
        let of_row = &mut cells[first..];
        let (count, turn) = (of_row.len(), number * 17);
        [turn, turn + count / 2].into_iter().for_each(|i| of_row[i % count].runs = true);
    }
    cells
}

/// A graph on pictures with so many channels, in memory of any layout.
fn case(graph: &Graph, dtype: DType, channels: usize, seed: u64) -> Case {
    let mut rng = Rng::new(seed);
    let shape = [SIZE[0] as i64, SIZE[1] as i64, channels as i64];
    let pictures = [(); 3].map(|()| rng.tensor(dtype, <(Y, X, C)>::IDS, &shape));
    let operand = |(i, tensor): (usize, Tensor)| {
        let rank = tensor.dims.len();
        let layout = if i < 3 { Layout::random(&mut rng, rank) } else { Layout::dense(rank) };
        Operand { tensor, layout, place: if i < 3 { Place::Device } else { Place::Host } }
    };
    let operands = operands(pictures).into_iter().enumerate().map(operand).collect();
    let outputs = graph.results().iter().map(|r| Layout::random(&mut rng, r.dims.len())).collect();
    Case { graph: graph.clone(), operands, outputs, known: true }
}

/// The values of a type's three pictures as one graph with the results of many rows.
pub(crate) fn together(dtype: DType, wanted: impl Fn(&str) -> bool) -> (Vec<&'static str>, Graph) {
    /// As many results as there are.
    struct All(Vec<Box<dyn Outputs>>);
    impl Outputs for All {
        fn declare(&self, graph: &mut Graph, trace: u64) {
            self.0.iter().for_each(|o| o.declare(graph, trace));
        }

        fn are_in(&self, graph: &Graph, trace: u64, next: &mut usize) -> bool {
            self.0.iter().all(|o| o.are_in(graph, trace, next))
        }
    }
    struct Together<'a, W> {
        given: &'a dyn Any,
        wanted: &'a W,
        names: Vec<&'static str>,
        results: Vec<Box<dyn Outputs>>,
    }
    impl<W: Fn(&str) -> bool> Rows for Together<'_, W> {
        fn row<T: Scalar, U: Scalar, L: Dims>(
            &mut self,
            name: &'static str,
            _: Channels,
            of: fn(&Given<T>) -> Out<U, L>,
        ) {
            if (self.wanted)(name) {
                let given = self.given.downcast_ref::<Given<T>>().expect("rows of this type");
                self.names.push(name);
                self.results.push(Box::new(of(given)));
            }
        }
    }
    let mut names = Vec::new();
    macro_rules! graph {
        ($($v:ident $t:ty),*) => { match dtype { $(DType::$v => traced!($t, |given: &Given<$t>| {
            let mut all = Together { given, wanted: &wanted, names: Vec::new(), results: Vec::new() };
            of(dtype, &mut all);
            names = all.names;
            All(all.results)
        }),)* } };
    }
    let graph = graph!(Bool bool, U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F16 tilewright_expr::f16,
        BF16 tilewright_expr::bf16, F32 f32, F64 f64);
    (names, graph)
}

/// The three pictures' values at one place.
pub(crate) fn numbers(dtype: DType, pictures: &[Tensor], i: usize) -> [Number; 3] {
    [0, 1, 2].map(|k| Number::of(dtype, pictures[k].bits[i]))
}

/// A picture of one row and one channel.
pub(crate) fn line(dtype: DType, bits: Vec<u64>) -> Tensor {
    let shape = vec![1, bits.len() as i64, 1];
    Tensor { dtype, components: 1, dims: <(Y, X, C)>::IDS.into(), shape, bits }
}
