//! Which pixels of a window count.

/// The pixels of a window that count, and which one is the pixel itself: the one in the middle, and after the middle along a
/// dimension with an even number. OpenCV's structuring elements.
///
/// ```
/// # use tilewright_expr::stencils::Mask;
/// let diagonal = Mask::from([[true, false, false], [false, true, false], [false, false, true]]);
/// # assert_ne!(diagonal, Mask::cross(3, 3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mask {
    /// Row by row; `None` where all count.
    taken: Option<Vec<bool>>,
    size: (usize, usize),
    anchor: (usize, usize),
}

impl Mask {
    /// All pixels of `height` x `width`.
    pub fn rectangle(height: usize, width: usize) -> Mask {
        Mask { taken: None, size: (height, width), anchor: (height / 2, width / 2) }
    }

    /// `height` rows of `width` pixels, of which those count for which `taken(y, x)` holds.
    pub fn from_fn(height: usize, width: usize, taken: impl Fn(usize, usize) -> bool) -> Mask {
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (y, x)));
        let taken: Vec<bool> = places.map(|(y, x)| taken(y, x)).collect();
        let some = taken.contains(&false);
        Mask { taken: some.then_some(taken), ..Mask::rectangle(height, width) }
    }

    /// The middle row and the middle column.
    pub fn cross(height: usize, width: usize) -> Mask {
        Mask::from_fn(height, width, |y, x| y == height / 2 || x == width / 2)
    }

    /// The ellipse that fills the window, as OpenCV draws it: in row `y`, with `r` = `height / 2` and `c` = `width / 2` rounded
    /// down, columns as far from `c` as `c sqrt(1 - (y - r)^2 / r^2)`, rounded half to even.
    pub fn ellipse(height: usize, width: usize) -> Mask {
        let (r, c) = ((height / 2) as f64, (width / 2) as f64);
        let inverse = if r > 0.0 { 1.0 / (r * r) } else { 0.0 };
        Mask::from_fn(height, width, |y, x| {
            let (dy, dx) = (y as f64 - r, x as f64 - c);
            dx.abs() <= (c * ((r * r - dy * dy) * inverse).sqrt()).round_ties_even()
        })
    }

    /// The same pixels around the one in row `y` and column `x`, which need not be one of them.
    pub fn anchored(self, y: usize, x: usize) -> Mask {
        Mask { anchor: (y, x), ..self }
    }

    /// Rows and columns.
    pub fn size(&self) -> (usize, usize) {
        self.size
    }

    /// Row and column of the pixel itself.
    pub fn anchor(&self) -> (usize, usize) {
        self.anchor
    }

    pub(super) fn is_rectangle(&self) -> bool {
        self.taken.is_none()
    }

    /// Row and column of each pixel that counts, row by row.
    pub(super) fn taps(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let (height, width) = self.size;
        let places = (0..height).flat_map(move |y| (0..width).map(move |x| (y, x)));
        places.filter(move |(y, x)| self.taken.as_ref().is_none_or(|taken| taken[y * width + x]))
    }
}

impl<const W: usize, const H: usize> From<[[bool; W]; H]> for Mask {
    fn from(rows: [[bool; W]; H]) -> Mask {
        Mask::from_fn(H, W, |y, x| rows[y][x])
    }
}
