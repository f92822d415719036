//! Layouts of a part of a tensor, and of a tensor in vectors.

use super::{Axis, Layout, LayoutError};

impl Layout {
    /// The part that begins at `start` and is `steps` steps of the outermost axis of `dim` long: its offset, and its layout, whose
    /// coordinates begin at zero. `start` is a multiple of that axis's fold.
    ///
    /// ```
    /// let a: tilewright_headers::layout::Layout = "K/8: 4, I: 4, K%8".parse()?;
    /// let (offset, part) = a.slice("K", 8, 2)?;
    /// assert_eq!((offset, part.extent("K")), (32, Some(16)));
    /// # Ok::<(), tilewright_headers::layout::LayoutError>(())
    /// ```
    pub fn slice(&self, dim: &str, start: i64, steps: i32) -> Result<(i64, Layout), LayoutError> {
        let extent = self.extent(dim).unwrap_or(0);
        let refuse = |unit| LayoutError::Slice { dim: dim.into(), start, steps, unit, extent };
        let is_cut = |a: &&mut Axis| a.dim == dim && !a.wraps;
        let mut axes = self.axes().to_vec();
        let Some(axis) = axes.iter_mut().find(is_cut).filter(|_| self.extent(dim).is_some()) else {
            return Err(refuse(0));
        };
        let unit = i64::from(axis.fold);
        let ends = start.checked_div(unit).and_then(|first| first.checked_add(i64::from(steps)));
        if steps < 1 || start < 0 || start % unit != 0 || ends.is_none_or(|end| end > i64::from(axis.size)) {
            return Err(refuse(axis.fold));
        }
        axis.size = steps;
        Ok((self.place(&[(dim, start)]), Layout::through(axes, self.maps().to_vec())?))
    }

    /// The same memory in vectors of so many elements: the contiguous axis has fewer steps, the others a smaller stride. An axis that
    /// one vector fills goes, where a coarser one begins behind it.
    ///
    /// ```
    /// let a: tilewright_headers::layout::Layout = "I: 4 => 40, K: 32".parse()?;
    /// assert_eq!(a.vectors(4)?, "I: 4 => 10, K/4: 8".parse()?);
    /// let a: tilewright_headers::layout::Layout = "K/4: 8, I: 4, K%4".parse()?;
    /// assert_eq!(a.vectors(4)?, "K/4: 8, I: 4".parse()?);
    /// # Ok::<(), tilewright_headers::layout::LayoutError>(())
    /// ```
    pub fn vectors(&self, elements: i32) -> Result<Layout, LayoutError> {
        let v = i64::from(elements);
        let shortened = |a: &Axis| {
            let refuse = |what, got| LayoutError::Vectors { axis: a.to_string(), elements, what, got };
            match a.stride {
                _ if elements < 1 => Err(refuse("size", a.size.into())),
                1 if a.size % elements != 0 => Err(refuse("size", a.size.into())),
                1 => Ok(Axis { fold: a.fold.saturating_mul(elements), size: a.size / elements, ..a.clone() }),
                stride if a.size > 1 && stride % v != 0 => Err(refuse("stride", stride)),
                stride => Ok(Axis { stride: stride / v, ..a.clone() }),
            }
        };
        let mut axes: Vec<Axis> = self.axes().iter().map(shortened).collect::<Result<_, _>>()?;
        let filled =
            |a: &Axis| a.wraps && a.size == 1 && axes.iter().filter(|b| b.dim == a.dim && b.fold == a.fold).count() > 1;
        if let Some(place) = axes.iter().position(filled) {
            axes.remove(place);
        }
        match self.axes().iter().find(|a| a.stride != 1 || elements == 1) {
            Some(a) if elements != 1 && !self.axes().iter().any(|a| a.stride == 1) => {
                Err(LayoutError::Vectors { axis: a.to_string(), elements, what: "stride", got: a.stride })
            }
            _ => Layout::through(axes, self.maps().to_vec()),
        }
    }
}
