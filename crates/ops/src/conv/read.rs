//! [`read`]: an expression as the image of a convolution.

use super::element::Convolved;
use super::image::{Image, Seen};
use crate::error::Error;
use crate::feed::{Feeds, Operand};
use crate::fused::Fused;
use tilewright_dims::Dims;
use tilewright_expr::{Expr, Out};

/// What the operands `A` of an expression are in a call: a tuple of what [`Fused::call`] takes.
pub trait Operands<A> {
    /// Does `work` with all of them in their order.
    fn of<R>(&self, work: impl FnOnce(&[Operand<'_>]) -> R) -> R;
}

macro_rules! operands {
    ($($T:ident $S:ident $F:ident $i:tt),*) => {
        impl<$($T, $S, $F: Feeds<Expr<$T, $S>>),*> Operands<($(Expr<$T, $S>,)*)> for ($($F,)*) {
            fn of<R>(&self, work: impl FnOnce(&[Operand<'_>]) -> R) -> R {
                work(&[$(self.$i.operand()),*])
            }
        }
    };
}
operands!();
operands!(A SA FA 0);
operands!(A SA FA 0, B SB FB 1);
operands!(A SA FA 0, B SB FB 1, C SC FC 2);
operands!(A SA FA 0, B SB FB 1, C SC FC 2, D SD FD 3);
operands!(A SA FA 0, B SB FB 1, C SC FC 2, D SD FD 3, E SE FE 4);
operands!(A SA FA 0, B SB FB 1, C SC FC 2, D SD FD 3, E SE FE 4, G SG FG 5);
operands!(A SA FA 0, B SB FB 1, C SC FC 2, D SD FD 3, E SE FE 4, G SG FG 5, H SH FH 6);
operands!(A SA FA 0, B SB FB 1, C SC FC 2, D SD FD 3, E SE FE 4, G SG FG 5, H SH FH 6, I SI FI 7);

/// What `expression` makes of `operands`, as an image that a convolution or a gradient of one reads: a tensor that need not be stored.
///
/// `expression` stores over (images, rows, columns, channels), in that order, as the type that is multiplied, to which its values are
/// thereby rounded. All of the functions take it where they take a tensor: the activation and the normalisation of the layer before, a
/// sum of two tensors, pictures of bytes, crops, resizes, an enlargement, planes. Padding stays zero: outside of its sizes the
/// expression is not evaluated.
///
/// On a GPU the kernel's threads evaluate it as rows are brought, where it is a function of a place: of what stands anywhere in its
/// operands, but without a scan, without a reduction of more than 16 values, and without coordinates that have to be checked. What is none,
/// what takes more than 736 bytes of parameters, and every expression on the CPU, is computed by a call of its own before, into a tensor of
/// the element type: the same values. `_workspace` tells how many bytes that takes. Each element is evaluated as often as blocks of the
/// kernel read it: once, and again along the blocks' edges.
///
/// What is known of an expression is kept with it: make it once, not for each call.
///
/// ```
/// use tilewright_dims::dims;
/// use tilewright_expr::{In, f16};
/// use tilewright_ops::conv::{Conv2d, conv2d, read};
/// use tilewright_ops::{Tensor, fuse};
/// dims! { N, H, W, C, K, R, S }
/// let pictures = Tensor::<u8, (N, C, H, W)>::from_vec([1, 4, 2, 2], (0..16).collect())?;
/// let w = Tensor::<f16, (K, R, S, C)>::from_vec([4, 1, 1, 4], vec![f16::ONE; 16])?;
/// let mean = Tensor::<f32, (C,)>::from_vec([4], vec![1.5, 5.5, 9.5, 13.5])?;
/// let normalise = fuse(|x: In<u8, (N, C, H, W)>, mean: In<f32, (C,)>| {
///     (x.to::<f32>() - mean).to::<f16>().store::<(N, H, W, C)>()
/// });
/// let y = conv2d(&read(&normalise, (&pictures, &mean)), &w, &Conv2d::new())?;
/// assert_eq!(y.extents(), [1, 2, 2, 4]);
/// assert_eq!(y.to_vec()?[..4], [f16::from_f32(-6.0); 4]);
/// # Ok::<(), tilewright_ops::Error>(())
/// ```
pub fn read<A, T: Convolved, L: Dims, P: Operands<A>>(
    expression: &Fused<A, Out<T, L>>,
    operands: P,
) -> Read<'_, A, T, L, P> {
    Read { expression, operands }
}

/// An expression with its operands, of [`read`].
pub struct Read<'a, A, T, L, P> {
    expression: &'a Fused<A, Out<T, L>>,
    operands: P,
}

impl<A, T, L, P> std::fmt::Debug for Read<'_, A, T, L, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Read of {:?}", self.expression)
    }
}

impl<A, T: Convolved, L: Dims, P: Operands<A>> Image for Read<'_, A, T, L, P> {
    type Item = T;
    type Over = L;

    fn see<R>(&self, work: impl FnOnce(Seen<'_, T, L>) -> Result<R, Error>) -> Result<R, Error> {
        let Read { expression, operands } = self;
        operands.of(|operands| work(Seen::expression(expression.core(), expression.device(), operands)?))
    }
}
