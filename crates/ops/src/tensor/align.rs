//! Broadcasting by position, as NumPy and PyTorch do it: shapes are lined up at their last axes.

use super::axes::{Axes, checked};
use super::views::repeated;
use super::{Item, Tensor};
use crate::error::Error;
use tilewright_dims::Dims;

impl<T: Item, L: Dims> Tensor<T, L> {
    /// The tensor's axes, whatever they are called, as the last dimensions of the tuple `M`, and broadcast to these extents: an
    /// axis that is 1 long, and one that is missing before the others, repeats what is there. A view of the same memory.
    ///
    /// Tensors that are aligned to one list fit the same expression; [`broadcast_shapes`] gives the extents. Refused are an axis of
    /// another size, and more axes than `M` has dimensions.
    ///
    /// ```
    /// # use tilewright_dims::dims;
    /// # use tilewright_ops::{Evaluate, Tensor, broadcast_shapes};
    /// dims! { N, Y, X, I, J, K }
    /// let a = Tensor::<f32, (I, J)>::from_vec([2, 1], vec![10.0, 20.0])?;
    /// let b = Tensor::<f32, (K,)>::from_vec([3], vec![1.0, 2.0, 3.0])?;
    /// let shape: [usize; 2] = broadcast_shapes(&[&a.extents(), &b.extents()])?.try_into().expect("two axes");
    /// let (a, b) = (a.align::<(Y, X), 2>(shape)?, b.align::<(Y, X), 2>(shape)?);
    /// let sum = (a.expr() + &b).store::<(Y, X)>().eval()?;
    /// assert_eq!(sum.to_vec()?, [11.0, 12.0, 13.0, 21.0, 22.0, 23.0]);
    /// # Ok::<(), tilewright_ops::Error>(())
    /// ```
    pub fn align<M: Dims, const R: usize>(&self, extents: [usize; R]) -> Result<Tensor<T, M>, Error> {
        checked::<M>(&extents)?;
        let Some(missing) = R.checked_sub(L::RANK) else {
            return Err(Error::AlignRank { shape: self.extents(), extents: extents.to_vec() });
        };
        let own = self.axes.as_slice();
        for (position, a) in own.iter().enumerate() {
            let expected = extents[missing + position];
            if a.extent != 1 && a.extent as usize != expected {
                let (dim, shape) = (M::NAMES[missing + position], self.extents());
                return Err(Error::Align { position, dim, shape, extents: extents.to_vec(), expected });
            }
        }
        let axis = |i: usize| Some((own[i.checked_sub(missing)?].extent, own[i - missing].stride));
        Ok(self.seen(Axes::of::<M>(|i| repeated(axis(i), extents[i]))))
    }
}

/// The shape that arrays of these shapes are broadcast to by position: along each axis, counted from the last, the size that is not
/// 1. Refused are two such sizes that differ.
///
/// ```
/// # use tilewright_ops::broadcast_shapes;
/// assert_eq!(broadcast_shapes(&[&[5, 1, 4], &[3, 1]])?, [5, 3, 4]);
/// assert!(broadcast_shapes(&[&[2], &[3]]).is_err());
/// # Ok::<(), tilewright_ops::Error>(())
/// ```
pub fn broadcast_shapes(shapes: &[&[usize]]) -> Result<Vec<usize>, Error> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut sizes: Vec<(usize, usize)> = vec![(1, 0); rank];
    for (number, shape) in shapes.iter().enumerate() {
        for (back, size) in shape.iter().rev().enumerate().filter(|(_, size)| **size != 1) {
            let (known, of) = &mut sizes[rank - 1 - back];
            if *known == 1 {
                (*known, *of) = (*size, number);
            } else if known != size {
                return Err(Error::Shapes { axis: back + 1, shapes: [*of, number], sizes: [*known, *size] });
            }
        }
    }
    Ok(sizes.into_iter().map(|(size, _)| size).collect())
}
