//! What OpenCV makes of the same pictures, by the same names: `golden/opencv.py` says how.

mod arithmetic;
mod filters;
mod geometry;

use std::cell::RefCell;
use std::collections::HashMap;
use tilewright_dims::Dims;
use tilewright_ops::{Error, Item, Tensor};

/// An element of a golden array.
pub(super) trait Number: Item {
    fn of(value: f64) -> Self;
    fn value(self) -> f64;
}
macro_rules! numbers {
    ($($t:ty),*) => { $(impl Number for $t {
        fn of(value: f64) -> Self {
            value as $t
        }
        fn value(self) -> f64 {
            self as f64
        }
    })* };
}
numbers!(u8, i16, u16, i32, i64, f32, f64);

/// The arrays by their names, and what did not agree with one.
pub(super) struct Golden {
    arrays: HashMap<&'static str, (Vec<usize>, Vec<f64>)>,
    misses: RefCell<Vec<String>>,
}

impl Golden {
    pub(super) fn read() -> Golden {
        let mut arrays = HashMap::new();
        let mut lines = include_str!("../golden/opencv.txt").lines().skip(1);
        while let (Some(head), Some(values)) = (lines.next(), lines.next()) {
            let words: Vec<&str> = head.split(' ').collect();
            let extents = words[2..].iter().map(|n| n.parse().expect("an extent")).collect();
            let values = values.split(' ').map(|v| v.parse().expect("a number")).collect();
            assert!(arrays.insert(words[0], (extents, values)).is_none(), "{head} stands twice");
        }
        Golden { arrays, misses: RefCell::default() }
    }

    pub(super) fn array(&self, name: &str) -> (&[usize], &[f64]) {
        let (extents, values) = self.arrays.get(name).unwrap_or_else(|| panic!("{name} is in the file"));
        (extents, values)
    }

    /// An array as an operand.
    pub(super) fn tensor<T: Number, L: Dims>(&self, name: &str) -> Result<Tensor<T, L>, Error> {
        let (extents, values) = self.array(name);
        let values = values.iter().map(|v| T::of(*v)).collect();
        match *extents {
            [a] => Tensor::from_vec([a], values),
            [a, b] => Tensor::from_vec([a, b], values),
            [a, b, c] => Tensor::from_vec([a, b, c], values),
            _ => panic!("{name} has {extents:?}"),
        }
    }

    /// Whether a result agrees with an array: extents, and values up to `most`; of floats, as a share of the largest.
    pub(super) fn compare<T: Number, L: Dims>(&self, name: &str, most: f64, got: &Tensor<T, L>) -> Result<(), Error> {
        let (extents, expected) = self.array(name);
        let values = got.to_vec()?;
        let largest = expected.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let unit = if T::of(0.5).value() == 0.5 { largest } else { 1.0 };
        let distance = |(g, e): (&T, &f64)| (g.value() - T::of(*e).value()).abs() / unit;
        let off =
            values.iter().zip(expected).map(distance).fold(0.0, |m: f64, d| if m.is_nan() || d <= m { m } else { d });
        let shape = got.extents();
        if shape != extents || off.is_nan() || off > most {
            self.misses.borrow_mut().push(format!("{name}: {off} off, at most {most}; {shape:?} of {extents:?}"));
        }
        Ok(())
    }

    /// Ends a test, with all that did not agree.
    pub(super) fn finish(&self) -> Result<(), Error> {
        let misses = self.misses.borrow();
        assert!(misses.is_empty(), "{} miss:\n{}", misses.len(), misses.join("\n"));
        Ok(())
    }
}

/// Lines of `name, most, |operand: type[dimensions] = array, ..| value => [dimensions]`: the value of the operands against the array.
macro_rules! agree {
    ($golden:ident: $(
        $name:expr, $most:expr, |$($operand:ident: $T:ty [$($D:ident)*] = $array:literal),*| $value:expr => [$($R:ident)*];
    )*) => { $(
        let lines = tilewright_ops::fuse(move |$($operand: tilewright_expr::In<$T, ($($D,)*)>),*| $value.store::<($($R,)*)>());
        let got = lines.call($(&$golden.tensor::<$T, ($($D,)*)>($array)?),*)?;
        $golden.compare($name.as_ref(), $most, &got)?;
    )* };
}
use agree;
