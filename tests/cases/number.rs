//! What a form yields: integers, whatever type they have there.

use tilewright_dims::{Dim, Fold};

/// A value as a bare integer; a fold in its own units.
pub(crate) trait Number {
    fn number(self) -> i64;
}

impl<D: Dim, const N: i32> Number for Fold<D, N> {
    fn number(self) -> i64 {
        i64::from(self.get())
    }
}

impl Number for i64 {
    fn number(self) -> i64 {
        self
    }
}

impl Number for i32 {
    fn number(self) -> i64 {
        i64::from(self)
    }
}

impl Number for usize {
    fn number(self) -> i64 {
        self as i64
    }
}

impl Number for bool {
    fn number(self) -> i64 {
        i64::from(self)
    }
}

/// Values of whatever types as integers.
macro_rules! numbers {
    ($($value:expr),* $(,)?) => { vec![$($crate::cases::number::Number::number($value)),*] };
}

pub(crate) use numbers;
