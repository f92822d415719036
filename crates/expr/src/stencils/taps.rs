//! Weights along one dimension.

/// The weights of a window along one dimension, and which of them belongs to the point itself: the middle one, and the second
/// of the two in the middle of an even number.
///
/// ```
/// # use tilewright_expr::stencils::Taps;
/// let forward = Taps::from([-1.0f32, 1.0]).anchored(0);
/// # assert_eq!(forward.weights(), [-1.0, 1.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Taps {
    weights: Vec<f64>,
    anchor: usize,
}

impl Taps {
    /// The weights, the first for the smallest coordinate.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The index of the weight that belongs to the point itself.
    pub fn anchor(&self) -> usize {
        self.anchor
    }

    /// The same weights around another one of them.
    pub fn anchored(self, anchor: usize) -> Taps {
        Taps { anchor, ..self }
    }

    /// From the last weight to the first, around the same one: what makes a convolution of a correlation.
    pub fn flipped(mut self) -> Taps {
        self.weights.reverse();
        // An anchor outside stays outside, and is refused where the taps are used.
        self.anchor = (self.weights.len().wrapping_sub(1)).wrapping_sub(self.anchor);
        self
    }
}

impl From<Vec<f64>> for Taps {
    fn from(weights: Vec<f64>) -> Taps {
        let anchor = weights.len() / 2;
        Taps { weights, anchor }
    }
}
impl From<&[f64]> for Taps {
    fn from(weights: &[f64]) -> Taps {
        weights.to_vec().into()
    }
}
impl From<&[f32]> for Taps {
    fn from(weights: &[f32]) -> Taps {
        weights.iter().map(|w| f64::from(*w)).collect::<Vec<f64>>().into()
    }
}
impl<const N: usize> From<[f64; N]> for Taps {
    fn from(weights: [f64; N]) -> Taps {
        weights.as_slice().into()
    }
}
impl<const N: usize> From<[f32; N]> for Taps {
    fn from(weights: [f32; N]) -> Taps {
        weights.as_slice().into()
    }
}
