//! Weights of a window of rows and columns.

use super::taps::Taps;

/// The weights of a window of a picture, and which of them belongs to the pixel itself: the one in the middle, and after the
/// middle along a dimension with an even number.
///
/// ```
/// # use tilewright_expr::stencils::Kernel;
/// let sharper = Kernel::from([[0.0, -1.0, 0.0], [-1.0, 5.0, -1.0], [0.0, -1.0, 0.0]]);
/// let disc = Kernel::from_fn(7, 7, |y, x| if (y - 3.0).hypot(x - 3.0) < 3.5 { 1.0 } else { 0.0 });
/// # assert_eq!((sharper.size(), disc.size()), ((3, 3), (7, 7)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    weights: Vec<f64>,
    size: (usize, usize),
    anchor: (usize, usize),
}

impl Kernel {
    /// `height` rows of `width` weights, the one in row `y` and column `x` being `weight(y, x)`.
    pub fn from_fn(height: usize, width: usize, weight: impl Fn(f64, f64) -> f64) -> Kernel {
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (y as f64, x as f64)));
        let weights = places.map(|(y, x)| weight(y, x)).collect();
        Kernel { weights, size: (height, width), anchor: (height / 2, width / 2) }
    }

    /// The products of a column's weights and a row's.
    pub fn outer(column: &Taps, row: &Taps) -> Kernel {
        let weights = column.weights().iter().flat_map(|c| row.weights().iter().map(move |r| c * r)).collect();
        let size = (column.weights().len(), row.weights().len());
        Kernel { weights, size, anchor: (column.anchor(), row.anchor()) }
    }

    /// The same weights around the one in row `y` and column `x`.
    pub fn anchored(self, y: usize, x: usize) -> Kernel {
        Kernel { anchor: (y, x), ..self }
    }

    /// Turned by half a turn around the same weight: what makes a convolution of a correlation.
    pub fn flipped(mut self) -> Kernel {
        self.weights.reverse();
        // An anchor outside stays outside, and is refused where the kernel is used.
        let turned = |anchor: usize, size: usize| size.wrapping_sub(1).wrapping_sub(anchor);
        self.anchor = (turned(self.anchor.0, self.size.0), turned(self.anchor.1, self.size.1));
        self
    }

    /// Rows and columns.
    pub fn size(&self) -> (usize, usize) {
        self.size
    }

    /// Row and column of the weight that belongs to the pixel itself.
    pub fn anchor(&self) -> (usize, usize) {
        self.anchor
    }

    /// Row, column and weight of each place whose weight is not 0, row by row.
    pub(super) fn taps(&self) -> impl Iterator<Item = ((usize, usize), f64)> + '_ {
        let width = self.size.1;
        let all = self.weights.iter().enumerate().map(move |(i, w)| ((i / width, i % width), *w));
        all.filter(|(_, w)| *w != 0.0)
    }
}

macro_rules! arrays {
    ($($t:ty),*) => { $(impl<const W: usize, const H: usize> From<[[$t; W]; H]> for Kernel {
        fn from(rows: [[$t; W]; H]) -> Kernel {
            let weights = rows.iter().flatten().map(|w| f64::from(*w)).collect();
            Kernel { weights, size: (H, W), anchor: (H / 2, W / 2) }
        }
    })* };
}
arrays!(f32, f64);
