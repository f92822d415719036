//! The rows of the table of operations, which the tests compare on all machines: here as kernels.

use super::operations::{AFFINE, BOXES, C, Channels, Given, N, PERSPECTIVE, Q, R, Rows, Scalar, X, Y, of};
use super::{Entries, MANY, Suite, zeros};
use tilewright_dims::Dims;
use tilewright_expr::{Affine, DType, In, Out, Perspective, Rect, Value};
use tilewright_ops::{Error, Fused, Plan, Tensor, fuse};

/// Element types of [`Suite::Patterns`].
pub(super) const PICTURES: [DType; 2] = [DType::U8, DType::F32];
/// Rows whose results have the size of the table's own small pictures.
const OF_ONE_SIZE: [&str; 4] = ["nv12", "nv21", "i420", "yv12"];
/// Rows and columns of its pictures.
const PICTURE: [usize; 2] = [480, 640];
/// Their channels.
const CHANNELS: [usize; 2] = [1, 3];

/// Adds the rows of a suite and a type.
pub(super) fn add(entries: &mut Entries, suite: Suite, dtype: DType) -> Result<(), Error> {
    let mut collected = Collect { entries, suite, error: None };
    of(dtype, &mut collected);
    collected.error.map_or(Ok(()), Err)
}

/// Goes through the rows. The first error is kept.
struct Collect<'a> {
    entries: &'a mut Entries,
    suite: Suite,
    error: Option<Error>,
}

impl Rows for Collect<'_> {
    fn row<T: Scalar, U: Scalar, L: Dims>(
        &mut self,
        name: &'static str,
        channels: Channels,
        of: fn(&Given<T>) -> Out<U, L>,
    ) {
        if self.error.is_none() {
            self.error = self.kernels(name, channels, of).err();
        }
    }
}

type Row<T, U, L> = Fused<
    (
        In<T, (Y, X, C)>,
        In<T, (Y, X, C)>,
        In<T, (Y, X, C)>,
        In<Rect, (N,)>,
        In<Affine, (N,)>,
        In<Perspective, (N,)>,
        In<f32, (R, Q)>,
        In<f32, (R, Q)>,
    ),
    Out<U, L>,
>;

impl Collect<'_> {
    fn kernels<T: Scalar, U: Scalar, L: Dims>(
        &mut self,
        name: &str,
        channels: Channels,
        of: fn(&Given<T>) -> Out<U, L>,
    ) -> Result<(), Error> {
        let row: Row<T, U, L> = fuse(move |a, b, c, boxes, affine, perspective, v, u| {
            of(&Given { a, b, c, boxes, affine, perspective, places: [v, u] })
        });
        let dtype = <T as Value>::DTYPE;
        let in_place = row.graph().reads_in_place();
        match self.suite {
            Suite::Functions if in_place => {
                // Whole vectors; vectors and a rest; single elements.
                let whole = zeros::<T, (Y, X, C), 3>([1, MANY, 1])?;
                let rest = zeros::<T, (Y, X, C), 3>([1, MANY + 1, 1])?;
                for (memory, x) in
                    [("vectors", &whole), ("vectors and a rest", &rest), ("strided", &whole.step_by::<X>(2)?)]
                {
                    let plan = call(&row, x)?.of_used_operands();
                    self.entries.plan(self.suite, (name, &format!("{dtype}, {memory}")), &plan)?;
                }
            }
            Suite::Patterns if !in_place && !OF_ONE_SIZE.contains(&name) => {
                for count in CHANNELS.into_iter().filter(|n| channels.list().contains(n)) {
                    let plan = call(&row, &zeros([PICTURE[0], PICTURE[1], count])?)?;
                    self.entries.plan(self.suite, (name, &format!("{dtype}, {count} channels")), &plan)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The plan of a row over pictures like this one.
fn call<T: Scalar, U: Scalar, L: Dims>(row: &Row<T, U, L>, x: &Tensor<T, (Y, X, C)>) -> Result<Plan, Error> {
    let boxes = BOXES.map(|[x, y, w, h]| Rect::new(x, y, w, h)).to_vec();
    let boxes = Tensor::<Rect, (N,)>::from_vec([2], boxes)?;
    let affine = Tensor::<Affine, (N,)>::from_vec([2], AFFINE.map(Affine).to_vec())?;
    let perspective = Tensor::<Perspective, (N,)>::from_vec([2], PERSPECTIVE.map(Perspective).to_vec())?;
    let places = zeros::<f32, (R, Q), 2>([MANY / 512, 1024])?;
    row.plan(x, x, x, &boxes, &affine, &perspective, &places, &places)
}
