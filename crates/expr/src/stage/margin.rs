//! How far a stage reaches beyond its tile.

/// Places before a tile's first point (a number that is not positive) and after its last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Margin {
    /// The first place, counted from the first point.
    pub before: i64,
    /// The last place, counted from the last point.
    pub after: i64,
}

impl Margin {
    /// No place beyond the tile.
    pub const NONE: Margin = Margin { before: 0, after: 0 };
    /// Farther than any stage reaches.
    pub const ANY: Margin = Margin { before: -(1 << 20), after: 1 << 20 };

    /// The smallest margin that holds both.
    pub fn and(self, other: Margin) -> Margin {
        Margin { before: self.before.min(other.before), after: self.after.max(other.after) }
    }

    /// The margin that holds a read `k` away too.
    pub fn with(self, k: i64) -> Margin {
        self.and(Margin { before: k, after: k })
    }

    /// The margin of what is read `k` away from each place of this one.
    pub fn moved(self, k: i64) -> Margin {
        Margin { before: self.before + k, after: self.after + k }.and(Margin::NONE)
    }

    /// As wide on the one side as on the other.
    pub fn even(self) -> Margin {
        let wide = self.after.max(-self.before);
        Margin { before: -wide, after: wide }
    }

    /// Widened to whole steps.
    pub fn in_steps(self, step: i64) -> Margin {
        Margin { before: self.before.div_euclid(step) * step, after: -(-self.after).div_euclid(step) * step }
    }

    /// Places on both sides.
    pub fn places(self) -> i64 {
        self.after - self.before
    }
}
