//! [`Conv2d`]: what a convolution does with its operands.

use super::config::Config;
use crate::tensor::Tensor;
use tilewright_dims::Dim;

/// Padding, stride, dilation, bias and configuration of a convolution.
///
/// ```
/// use tilewright_ops::conv::Conv2d;
/// let plain = Conv2d::new();
/// let same_size = Conv2d::new().padding(1);
/// let halved = Conv2d::new().padding([[0, 1], [0, 1]]).stride(2);
/// # let _ = (plain, same_size, halved);
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Conv2d<B = ()> {
    pub(crate) padding: Padding,
    pub(crate) stride: Pair,
    pub(crate) dilation: Pair,
    pub(crate) config: Config,
    pub(crate) bias: B,
}

impl Conv2d {
    /// No padding, stride 1, dilation 1, no bias, the configuration that is chosen for the sizes.
    pub fn new() -> Self {
        Conv2d {
            padding: Padding([[0; 2]; 2]),
            stride: Pair([1; 2]),
            dilation: Pair([1; 2]),
            config: Config::auto(),
            bias: (),
        }
    }
}

impl Default for Conv2d {
    fn default() -> Self {
        Conv2d::new()
    }
}

impl<B> Conv2d<B> {
    /// Zeros around the input, 0 to 7: one number for all sides, `[rows, columns]`, or `[[top, bottom], [left, right]]`.
    pub fn padding(self, padding: impl Into<Padding>) -> Self {
        Conv2d { padding: padding.into(), ..self }
    }

    /// Rows and columns of the input from one place of the result to the next, 1 or 2: one number, or `[rows, columns]`.
    pub fn stride(self, stride: impl Into<Pair>) -> Self {
        Conv2d { stride: stride.into(), ..self }
    }

    /// Rows and columns of the input from one tap to the next, 1 or 2: one number, or `[rows, columns]`.
    pub fn dilation(self, dilation: impl Into<Pair>) -> Self {
        Conv2d { dilation: dilation.into(), ..self }
    }

    /// How a kernel on a GPU goes about it; results on the CPU do not depend on it.
    pub fn config(self, config: Config) -> Self {
        Conv2d { config, ..self }
    }

    /// One number per channel of the result, added to the sum before it is rounded. Gradients of input and weights ignore it.
    pub fn bias<K: Dim>(self, bias: &Tensor<f32, (K,)>) -> Conv2d<&Tensor<f32, (K,)>> {
        let Conv2d { padding, stride, dilation, config, .. } = self;
        Conv2d { padding, stride, dilation, config, bias }
    }
}

/// Zeros around the input: `[[top, bottom], [left, right]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Padding(pub(crate) [[usize; 2]; 2]);

impl From<usize> for Padding {
    fn from(all: usize) -> Self {
        Padding([[all; 2]; 2])
    }
}
impl From<[usize; 2]> for Padding {
    fn from([rows, columns]: [usize; 2]) -> Self {
        Padding([[rows; 2], [columns; 2]])
    }
}
impl From<[[usize; 2]; 2]> for Padding {
    fn from(sides: [[usize; 2]; 2]) -> Self {
        Padding(sides)
    }
}

/// A number for rows and one for columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair(pub(crate) [usize; 2]);

impl From<usize> for Pair {
    fn from(both: usize) -> Self {
        Pair([both; 2])
    }
}
impl From<[usize; 2]> for Pair {
    fn from(pair: [usize; 2]) -> Self {
        Pair(pair)
    }
}

/// What stands for a bias over `K`: none, `()`, or a tensor of f32.
pub trait Bias<K>: Copy + bias::Sealed {
    /// The tensor.
    fn tensor(&self) -> Option<&Tensor<f32, (K,)>>;
}

impl<K: Dim> Bias<K> for () {
    fn tensor(&self) -> Option<&Tensor<f32, (K,)>> {
        None
    }
}
impl<K: Dim> Bias<K> for &Tensor<f32, (K,)> {
    fn tensor(&self) -> Option<&Tensor<f32, (K,)>> {
        Some(self)
    }
}

mod bias {
    use crate::tensor::Tensor;
    /// Nobody else's types are biases.
    pub trait Sealed {}
    impl Sealed for () {}
    impl<K> Sealed for &Tensor<f32, (K,)> {}
}
