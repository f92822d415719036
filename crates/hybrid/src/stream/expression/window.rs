//! Bands, and what of a dimension is evaluated for each.

use std::ops::Range;

/// Some indices of the dimension that is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Band {
    /// Those of the results.
    pub(super) indices: Range<usize>,
    /// Those that are evaluated.
    pub(super) window: Window,
}

impl Band {
    /// Indices of its window before its own.
    pub(super) fn begin(&self) -> usize {
        usize::try_from(self.indices.start as i64 - self.window.first).unwrap_or(0)
    }
}

/// Neighbouring indices that are evaluated at once. Beyond an end of the dimension they are those of its other end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    first: i64,
    indices: usize,
    extent: usize,
}

impl Window {
    /// Some indices of a dimension of this length, which may go on beyond both of its ends.
    pub(super) fn new(indices: Range<i64>, extent: usize) -> Window {
        let count = usize::try_from(indices.end - indices.start).unwrap_or(0);
        Window { first: indices.start, indices: if extent == 0 { 0 } else { count }, extent }
    }

    /// Its first index; below 0 where that is one of the other end.
    pub(super) fn first(&self) -> i64 {
        self.first
    }

    /// How many indices it has.
    pub(super) fn len(&self) -> usize {
        self.indices
    }

    fn end(&self) -> i64 {
        self.first + self.indices as i64
    }

    /// The neighbouring indices that it is of, in their order: one range, and more where it goes on at the other end.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (mut at, end, extent) = (self.first, self.end(), self.extent as i64);
        std::iter::from_fn(move || {
            let begin = (at < end).then(|| at.rem_euclid(extent))?;
            let count = (end - at).min(extent - begin);
            at += count;
            Some(begin as usize..(begin + count) as usize)
        })
    }

    /// What it has that the window before it has not: behind that, or before it where bands are read backwards.
    pub(super) fn behind(&self, before: &Window) -> Window {
        if self.first < before.first {
            return Window::new(self.first..self.end().min(before.first), self.extent);
        }
        let first = self.first.max(before.end()).min(self.end());
        Window::new(first..self.end(), self.extent)
    }

    /// Whether it has indices of both ends, which windows far from it need too.
    pub(super) fn goes_on(&self) -> bool {
        self.first < 0 || self.end() > self.extent as i64
    }

    /// From where on it is read again, or up to where: by the next window, or, where it has both ends, by any.
    pub(super) fn again(&self, next: Option<&Window>) -> Option<Range<usize>> {
        if self.goes_on() {
            return Some(0..self.extent);
        }
        let index = |index: i64| usize::try_from(index).unwrap_or(0);
        next.map(|next| if next.first < self.first { 0..index(next.end()) } else { index(next.first)..self.extent })
    }

    /// What of it the next window does not need again.
    pub(super) fn done(&self, next: Option<&Window>) -> Option<Range<usize>> {
        let (first, end) = (usize::try_from(self.first).ok()?, usize::try_from(self.end()).ok()?);
        let done = match self.again(next) {
            Some(again) if again.start == 0 => first.max(again.end)..end.min(self.extent),
            Some(again) => first..end.min(again.start),
            None => first..end,
        };
        (done.start < done.end).then_some(done)
    }
}

impl std::fmt::Debug for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.first, self.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Index by index a window is what the remainders say.
    #[test]
    fn pieces_are_the_indices_modulo_the_length() {
        for extent in [1usize, 2, 5, 9] {
            for first in -12i64..12 {
                for count in 0i64..24 {
                    let window = Window::new(first..first + count, extent);
                    let expected: Vec<usize> =
                        (first..first + count).map(|i| i.rem_euclid(extent as i64) as usize).collect();
                    assert_eq!(window.pieces().flatten().collect::<Vec<_>>(), expected, "{window:?} of {extent}");
                    assert_eq!(window.len(), expected.len());
                }
            }
        }
        assert_eq!(Window::new(-2..7, 5).pieces().collect::<Vec<_>>(), [3..5, 0..5, 0..2]);
    }

    #[test]
    fn what_is_new_and_what_is_done() {
        let (one, two) = (Window::new(0..6, 20), Window::new(4..12, 20));
        assert_eq!(two.behind(&one), Window::new(6..12, 20));
        assert_eq!((one.done(Some(&two)), two.done(None)), (Some(0..4), Some(4..12)));
        assert_eq!(one.behind(&two), Window::new(0..4, 20), "backwards");
        assert_eq!((two.done(Some(&one)), one.done(None)), (Some(6..12), Some(0..6)));
        assert_eq!(one.done(Some(&one)), None, "all of it is read again");
        let (first, last) = (Window::new(-2..6, 20), Window::new(14..22, 20));
        assert_eq!((first.done(Some(&two)), last.done(None)), (None, None), "both ends are needed to the last");
    }
}
