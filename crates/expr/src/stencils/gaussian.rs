//! Blurring by a Gaussian.

use super::taps::Taps;
use crate::error::Error;
use crate::graph::{DimId, Graph, NodeId};
use crate::reads::Border;

/// Halves of OpenCV's kernels of 1 to 9 taps where no deviation is given, in 1/256.
const SMALL: [&[f64]; 5] =
    [&[256.0], &[64.0, 128.0], &[16.0, 64.0, 96.0], &[8.0, 28.0, 56.0, 72.0], &[4.0, 13.0, 30.0, 51.0, 60.0]];

impl Taps {
    /// `exp(-x^2 / (2 sigma^2))` at `size` whole distances from the middle one, divided by their sum: OpenCV's
    /// `getGaussianKernel`. A `sigma` of 0 means `0.3 ((size - 1) / 2 - 1) + 0.8`, and for up to 9 taps OpenCV's fixed weights,
    /// such as 1/4, 1/2, 1/4. `size` is odd.
    pub fn gaussian(size: usize, sigma: f64) -> Taps {
        let middle = size / 2;
        if let (Some(half), true) = (SMALL.get(middle), sigma <= 0.0 && size % 2 == 1) {
            let weights = half.iter().chain(half.iter().rev().skip(1));
            return weights.map(|w| w / 256.0).collect::<Vec<f64>>().into();
        }
        let sigma = if sigma > 0.0 { sigma } else { 0.3 * ((size as f64 - 1.0) * 0.5 - 1.0) + 0.8 };
        let place = |i: usize| i as f64 - middle as f64;
        let weights: Vec<f64> = (0..size).map(|i| (-0.5 / (sigma * sigma) * place(i) * place(i)).exp()).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|w| w / sum).collect::<Vec<f64>>().into()
    }
}

impl Graph {
    /// `source` blurred by a window of `size` along each dimension, as wide as `sigma` says; see [`Taps::gaussian`].
    pub fn gaussian_blur(
        &mut self,
        source: NodeId,
        (dim_y, height, sigma_y): (DimId, usize, f64),
        (dim_x, width, sigma_x): (DimId, usize, f64),
        border: Border<NodeId>,
    ) -> NodeId {
        for (dim, size, sigma) in [(dim_y, height, sigma_y), (dim_x, width, sigma_x)] {
            if size.is_multiple_of(2) {
                self.refuse_window(dim, size, "a Gaussian has an odd size, so that a pixel is in the middle");
                return source;
            }
            if !(sigma >= 0.0 && sigma.is_finite()) {
                let dim = self.dim_name(dim);
                self.fail(Error::Sigma { dim, sigma });
                return source;
            }
        }
        let (column, row) = (Taps::gaussian(height, sigma_y), Taps::gaussian(width, sigma_x));
        let blurred = self.separable(source, (dim_y, &column), (dim_x, &row), border);
        self.called("gaussian blur", &[source], blurred)
    }
}
