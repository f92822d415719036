//! Where results go: into sinks, or into parts of them.

use crate::Error;
use crate::budget::Budget;
use crate::dispatch::At;
use crate::store::{Element, Extents, LockedSink, QueueCopy, ResidentSink, Sink, Tile};
use std::sync::Arc;
use tilewright_driver::DeviceRoom;
use tilewright_expr::bind::Axis;

/// Where a result goes.
#[derive(Clone)]
pub(super) enum Goal<'a> {
    Whole(&'a dyn Sink),
    Section(Arc<Section<'a>>),
}

impl<'a> Goal<'a> {
    pub(super) fn sink(&self) -> &dyn Sink {
        match self {
            Goal::Whole(sink) => *sink,
            Goal::Section(section) => &**section,
        }
    }

    /// A tile of it as a goal of its own.
    pub(super) fn section(&self, tile: Tile) -> Goal<'a> {
        Goal::Section(Arc::new(Section { of: self.clone(), tile }))
    }

    /// Where on a GPU it lies, if it does.
    pub(super) fn resident(&self) -> Option<Resident<'_>> {
        match self {
            Goal::Whole(sink) => {
                let (sink, extents) = (sink.resident()?, sink.extents());
                Some(Resident { sink, tile: extents.whole(), columns: extents.columns })
            }
            Goal::Section(section) => {
                let of = section.of.resident()?;
                Some(Resident { tile: within(&of.tile, &section.tile), ..of })
            }
        }
    }
}

/// A tile of the matrix that a sink on a GPU is: kernels write it where it is, and nothing beside it.
pub(super) struct Resident<'g> {
    sink: &'g dyn ResidentSink,
    tile: Tile,
    /// Those of the matrix.
    columns: usize,
}

impl<'g> Resident<'g> {
    /// The memory, which begins with the matrix.
    pub(super) fn room(&self) -> DeviceRoom<'g> {
        self.sink.room()
    }

    /// What a kernel wrote to a tile of it is there.
    pub(super) fn landed(&self, tile: &Tile) {
        self.sink.landed(&within(&self.tile, tile));
    }

    /// How many elements of the memory stand before it, and its axes there: of those that it would have alone, whatever is a row or more goes on in the
    /// rows of the matrix.
    pub(super) fn axes(&self, alone: Vec<Axis>) -> (usize, Vec<Axis>) {
        let (width, pitch) = (self.tile.columns.len().max(1) as i64, self.columns as i64);
        let stride = |stride: i64| if stride < width { stride } else { stride / width * pitch };
        let axes = alone.into_iter().map(|axis| Axis { stride: stride(axis.stride), ..axis }).collect();
        (self.tile.rows.start * self.columns + self.tile.columns.start, axes)
    }
}

/// A tile of a tile.
fn within(of: &Tile, tile: &Tile) -> Tile {
    let (row, column) = (of.rows.start, of.columns.start);
    Tile {
        rows: tile.rows.start + row..tile.rows.end + row,
        columns: tile.columns.start + column..tile.columns.end + column,
    }
}

/// A tile of a sink, as a sink.
pub(super) struct Section<'a> {
    of: Goal<'a>,
    tile: Tile,
}

impl Section<'_> {
    /// A tile of it in the whole sink.
    fn within(&self, tile: &Tile) -> Tile {
        within(&self.tile, tile)
    }
}

impl Sink for Section<'_> {
    fn extents(&self) -> Extents {
        self.tile.extents()
    }

    fn element(&self) -> Element {
        self.of.sink().element()
    }

    fn grain(&self) -> Extents {
        let Extents { rows, columns } = self.of.sink().grain();
        let is_grain = self.tile.rows.start.is_multiple_of(rows) && self.tile.columns.start.is_multiple_of(columns);
        if is_grain { Extents::new(rows, columns) } else { Extents::new(1, 1) }
    }

    fn gather_within(&self, host: &Budget) -> Result<(), Error> {
        self.of.sink().gather_within(host)
    }

    fn write_tile(&self, tile: &Tile, data: &[u8]) -> Result<(), Error> {
        self.of.sink().write_tile(&self.within(tile), data)
    }

    fn locked(&self) -> Option<&dyn LockedSink> {
        self.of.sink().locked().map(|_| self as &dyn LockedSink)
    }

    fn at(&self) -> At {
        self.of.sink().at()
    }

    /// The whole sink is committed by whoever has it.
    fn commit(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

impl LockedSink for Section<'_> {
    fn land(&self, tile: &Tile, copy: QueueCopy<'_>) -> Result<(), Error> {
        self.of.sink().locked().map_or(Ok(()), |sink| sink.land(&self.within(tile), copy))
    }

    fn landed(&self, tile: &Tile) {
        self.of.sink().locked().into_iter().for_each(|sink| sink.landed(&self.within(tile)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::expression::shape::Shape;
    use std::sync::Mutex;
    use tilewright_expr::DType;
    use tilewright_expr::graph::DimId;

    const DIMS: [DimId; 3] = [1, 2, 3];

    /// A matrix on a GPU that is not there: it knows what has landed.
    struct There {
        extents: Extents,
        landed: Mutex<Vec<Tile>>,
    }

    impl Sink for There {
        fn extents(&self) -> Extents {
            self.extents
        }

        fn element(&self) -> Element {
            Element::F32
        }

        fn write_tile(&self, _: &Tile, _: &[u8]) -> Result<(), Error> {
            unreachable!("kernels write where it is")
        }

        fn resident(&self) -> Option<&dyn ResidentSink> {
            Some(self)
        }

        fn commit(self: Box<Self>) -> Result<(), Error> {
            Ok(())
        }
    }

    impl ResidentSink for There {
        fn room(&self) -> DeviceRoom<'_> {
            unreachable!("nobody writes")
        }

        fn landed(&self, tile: &Tile) {
            self.landed.lock().unwrap().push(tile.clone());
        }
    }

    fn shape(extents: [usize; 3], matrix: Extents) -> Shape {
        Shape::new("elements", (&DIMS, extents.into()), DType::F32, (matrix, Element::F32)).unwrap()
    }

    /// Elements of a section, index by index, lie where the same ones of the whole do; so do those of a section of it, and what lands there.
    #[test]
    fn sections_on_a_gpu_are_what_the_indices_are() {
        let mut strided = 0;
        for (extents, matrix) in [
            ([7, 3, 5], [21, 5]),
            ([7, 3, 5], [7, 15]),
            ([1, 8, 5], [8, 5]),
            ([7, 3, 6], [1, 126]),
            ([1, 1, 7], [1, 7]),
        ] {
            let matrix = Extents::new(matrix[0], matrix[1]);
            let sink = There { extents: matrix, landed: Mutex::default() };
            let (whole, goal) = (shape(extents, matrix), Goal::Whole(&sink));
            for (axis, dim) in DIMS.into_iter().enumerate() {
                let mut indices = extents[axis] / 4..extents[axis] - extents[axis] / 4;
                let Some(tile) = whole.tile(dim, indices.clone()) else { continue };
                strided += usize::from(tile.columns.len() < matrix.columns);
                let (mut goal, mut of) = (goal.section(tile), extents);
                for _ in 0..2 {
                    of[axis] = indices.len();
                    let (part, there) = (shape(of, goal.sink().extents()), goal.resident().unwrap());
                    let (before, axes) = there.axes(part.axes());
                    for flat in 0..of.iter().product() {
                        let [plane, row] = [of[1] * of[2], of[2]];
                        let mut index = [flat / plane, flat % plane / row, flat % row];
                        let at: usize = index.iter().zip(&axes).map(|(i, axis)| i * axis.stride as usize).sum();
                        index[axis] += indices.start;
                        let expected = (index[0] * extents[1] + index[1]) * extents[2] + index[2];
                        assert_eq!(before + at, expected, "{index:?} of {extents:?} as {matrix:?} along {dim}");
                    }
                    there.landed(&part.whole());
                    assert_eq!(sink.landed.lock().unwrap().pop(), whole.tile(dim, indices.clone()));
                    let first = usize::from(indices.len() > 1);
                    indices.start += first;
                    let rest = part.tile(dim, first..of[axis]).unwrap();
                    goal = goal.section(rest);
                }
            }
        }
        assert!(strided > 2);
    }
}
