//! Frames of video as decoders give them: luma and chroma in one allocation, seen as their planes.
//!
//! Frames are written the other way: an expression's [`YuvPicture`](tilewright_expr::colour::YuvPicture) has a result for each plane,
//! and one kernel computes all of them, though chroma is smaller.

use crate::error::Error;
use crate::tensor::{Item, Tensor};
use tilewright_dims::{Dim, Dims, Present, Without};
use tilewright_expr::colour::{Interleaved, Picture};

/// Luma over `L`, and interleaved chroma over `K`.
pub type TwoPlanes<T, L, K> = (Tensor<T, L>, Tensor<T, K>);
/// Luma over `L`, and two planes of chroma over `K`.
pub type ThreePlanes<T, L, K> = (Tensor<T, L>, Tensor<T, K>, Tensor<T, K>);

/// Sizes of a frame's planes.
struct Planes {
    /// Rows of luma.
    rows: usize,
    /// Elements from one row of luma to the next.
    pitch: i64,
    /// Elements from one column of luma to the next.
    step: i64,
    /// Whether chroma has half the rows, half the columns.
    halved: [bool; 2],
    /// Rows and columns of chroma.
    chroma: [i64; 2],
}

impl<T: Item, L: Picture> Tensor<T, L>
where
    L::Set: Without<L::Rows, Was: Present<L::Rows>>,
{
    /// Luma, and interleaved chroma over `K`, of a frame in one allocation: rows of luma, and below them, at the same pitch,
    /// rows of chroma. Both are views of the same memory.
    ///
    /// The tensor has all the rows: half as many again as luma for 4:2:0 (NV12, NV21, P010, with `K` = `(H, W, U)`), twice as
    /// many for 4:2:2 (NV16, P210, `(Y, W, U)`), three times for 4:4:4 (NV24, `(Y, X, U)`). Sizes that are halved must be
    /// even.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_ops::Tensor;
    /// dims! { Y, X, H, W, U }
    /// let frame = Tensor::<u8, (Y, X)>::from_vec([6, 8], (0..48).collect())?;
    /// let (luma, chroma) = frame.luma_and_chroma::<(H, W, U)>()?;
    /// assert_eq!((luma.extents(), chroma.extents()), (vec![4, 8], vec![2, 4, 2]));
    /// assert_eq!(chroma.narrow::<U>(1, 1)?.to_vec()?, [33, 35, 37, 39, 41, 43, 45, 47]);
    /// # Ok::<(), tilewright_ops::Error>(())
    /// ```
    pub fn luma_and_chroma<K>(&self) -> Result<TwoPlanes<T, L, K>, Error>
    where
        K: Interleaved<Plane: Picture<Batch = L::Batch>>,
    {
        let planes = self.planes::<K::Plane>()?;
        // A row of chroma holds two values a sample: as many as luma has where columns are halved, else twice as many.
        let pitch = if planes.halved[1] { planes.pitch } else { 2 * planes.pitch };
        let start = planes.rows as i64 * planes.pitch;
        let chroma = self.part::<K>(start, |dim| match dim {
            d if d == <K::Plane as Picture>::Rows::ID => (planes.chroma[0], pitch),
            d if d == <K::Plane as Picture>::Columns::ID => (planes.chroma[1], 2 * planes.step),
            d if d == K::Channel::ID => (2, planes.step),
            d => self.axis(d),
        })?;
        Ok((self.narrow::<L::Rows>(0, planes.rows)?, chroma))
    }

    /// Luma and two planes of chroma over `K` of a frame in one allocation: rows of luma, and behind them the planes of
    /// chroma, at half the pitch where columns are halved. All are views of the same memory: I420 with `K` = `(H, W)`, of
    /// which YV12 has the second plane first; I422 with `(Y, W)`, I444 with `(Y, X)`. Sizes as for
    /// [`Tensor::luma_and_chroma`].
    pub fn three_planes<K>(&self) -> Result<ThreePlanes<T, L, K>, Error>
    where
        K: Picture<Batch = L::Batch>,
    {
        let planes = self.planes::<K>()?;
        if planes.halved[1] && planes.pitch % 2 != 0 {
            return Err(Error::Pitch { dim: L::Rows::NAME, pitch: planes.pitch });
        }
        let pitch = if planes.halved[1] { planes.pitch / 2 } else { planes.pitch };
        let start = planes.rows as i64 * planes.pitch;
        let plane = |number: i64| {
            let from = start + number * planes.chroma[0] * pitch;
            self.part::<K>(from, |dim| match dim {
                d if d == K::Rows::ID => (planes.chroma[0], pitch),
                d if d == K::Columns::ID => (planes.chroma[1], planes.step),
                d => self.axis(d),
            })
        };
        Ok((self.narrow::<L::Rows>(0, planes.rows)?, plane(0)?, plane(1)?))
    }

    fn planes<K: Picture>(&self) -> Result<Planes, Error> {
        let halved = [K::Rows::ID != L::Rows::ID, K::Columns::ID != L::Columns::ID];
        let ((all, pitch), (columns, step)) = (self.axis(L::Rows::ID), self.axis(L::Columns::ID));
        // Rows that are a multiple of the first number hold luma in `parts` of it.
        let (multiple, parts, of) = match halved {
            [true, true] => (3, 2, 3),
            [true, false] => (4, 1, 2),
            [false, true] => (2, 1, 2),
            [false, false] => (3, 1, 3),
        };
        let refuse = |dim, multiple, extent: i64| {
            if extent % multiple == 0 {
                return Ok(());
            }
            Err(Error::Frame { dim, multiple: multiple as usize, extent: extent as usize })
        };
        refuse(L::Rows::NAME, multiple, all)?;
        refuse(L::Columns::NAME, if halved[1] { 2 } else { 1 }, columns)?;
        let rows = all / of * parts;
        let half = |n: i64, halved: bool| if halved { n / 2 } else { n };
        Ok(Planes {
            rows: rows as usize,
            pitch,
            step,
            halved,
            chroma: [half(rows, halved[0]), half(columns, halved[1])],
        })
    }

    /// Extent and stride along a dimension.
    fn axis(&self, dim: u64) -> (i64, i64) {
        let (_, axes, _) = self.parts();
        axes.find(dim).unwrap_or((1, 0))
    }

    /// A plane that starts at element `start`.
    fn part<K: Dims>(&self, start: i64, axes: impl Fn(u64) -> (i64, i64)) -> Result<Tensor<T, K>, Error> {
        let extent = self.len();
        self.viewed(start, axes).ok_or(Error::Range {
            dim: L::Rows::NAME,
            start: start.unsigned_abs() as usize,
            end: extent + 1,
            extent,
        })
    }
}
