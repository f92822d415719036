//! What products on a GPU are expected to run at before one was timed.

use super::{Flops, Unit};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a GPU is, as its driver says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Its compute capability, major and minor.
    pub arch: [u32; 2],
    /// Its streaming multiprocessors.
    pub multiprocessors: u32,
    /// Their highest clock, in Hz.
    pub clock: f64,
}

/// Which rates of products on a GPU nobody has measured yet, and what they are expected from instead. By default there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// What the GPU is, where some are expected.
    pub facts: Option<Facts>,
    /// Whether that of [`Unit::F64`] is.
    pub f64: bool,
    /// Of [`Unit::F32`].
    pub f32: bool,
    /// Of [`Unit::Tf32`].
    pub tf32: bool,
    /// Of [`Unit::Half`], and of what is taken by it.
    pub half: bool,
}

impl Expected {
    /// All of them, of such a GPU.
    pub fn all(facts: Facts) -> Expected {
        Expected { facts: Some(facts), f64: true, f32: true, tf32: true, half: true }
    }

    /// What the rate of a unit is expected from; nothing where it was measured or given.
    pub fn of(&self, unit: Unit) -> Option<Facts> {
        let is_expected = match unit {
            Unit::F64 => self.f64,
            Unit::F32 => self.f32,
            Unit::Tf32 => self.tf32,
            Unit::Half | Unit::Integer | Unit::Bits => self.half,
        };
        self.facts.filter(|_| is_expected)
    }

    /// That the rate of a unit is measured now.
    pub(crate) fn measured(&mut self, unit: Unit) {
        match unit {
            Unit::F64 => self.f64 = false,
            Unit::F32 => self.f32 = false,
            Unit::Tf32 => self.tf32 = false,
            Unit::Half | Unit::Integer | Unit::Bits => self.half = false,
        }
        if !(self.f64 || self.f32 || self.tf32 || self.half) {
            self.facts = None;
        }
    }
}

/// A compute capability from which on a multiprocessor does so many multiply-adds in a clock: of f64, f32, TF32 and halves added in f32, tensor cores
/// included (NVIDIA's white papers of each architecture). What has no TF32, or no bf16, computes in f32.
const MULTIPLY_ADDS: [([u32; 2], [u32; 4]); 9] = [
    ([5, 0], [4, 128, 128, 128]),
    ([7, 0], [32, 64, 64, 512]),
    ([7, 5], [2, 64, 64, 256]),
    ([8, 0], [64, 64, 512, 1024]),
    ([8, 6], [2, 128, 128, 256]),
    ([9, 0], [128, 128, 1024, 2048]),
    ([10, 0], [64, 128, 2048, 4096]),
    ([10, 3], [2, 128, 2048, 4096]),
    ([12, 0], [2, 128, 128, 256]),
];

/// What products of 2048 leave of that: of an H200 (132 multiprocessors, 1.98 GHz) 60, 50, 400 and 700 TFLOP/s of 67, 67, 535 and 1070.
const REACHED: [f64; 4] = [0.9, 0.75, 0.75, 0.65];

impl Facts {
    /// Operations in a second that products are expected to run at.
    pub fn flops(&self) -> Flops {
        let [first, ..] = MULTIPLY_ADDS;
        let known = MULTIPLY_ADDS.iter().rev().find(|(from, _)| *from <= self.arch).unwrap_or(&first).1;
        let clocks = f64::from(self.multiprocessors) * self.clock;
        let of = |unit: usize| 2.0 * f64::from(known[unit]) * REACHED[unit] * clocks;
        Flops { f64: of(0), f32: of(1), tf32: of(2), half: of(3) }
    }
}

impl fmt::Display for Facts {
    /// As `132 multiprocessors of sm_90 at 1.98 GHz`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Facts { arch: [major, minor], multiprocessors, clock } = self;
        write!(f, "{multiprocessors} multiprocessors of sm_{major}{minor} at {:.2} GHz", clock / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::Rates;

    #[test]
    fn d7_an_h200_is_expected_to_do_about_what_it_does() {
        let facts = Facts { arch: [9, 0], multiprocessors: 132, clock: 1.98e9 };
        let (expected, measured) = (facts.flops(), Rates::h200().gpu.unwrap().processor.flops);
        for unit in [Unit::F64, Unit::F32, Unit::Tf32, Unit::Half] {
            let ratio = expected.of(unit) / measured.of(unit);
            assert!((0.95..1.05).contains(&ratio), "{unit:?}: {ratio}");
        }
        assert_eq!(facts.to_string(), "132 multiprocessors of sm_90 at 1.98 GHz");
    }

    #[test]
    fn what_is_older_or_newer_than_the_table_is_taken_for_its_ends() {
        let of = |arch| Facts { arch, multiprocessors: 10, clock: 1e9 }.flops();
        assert_eq!((of([3, 5]), of([13, 0]), of([8, 9])), (of([5, 0]), of([12, 0]), of([8, 6])));
        assert_eq!(of([8, 0]).f64, 2.0 * 64.0 * 0.9 * 10e9);
        assert!(MULTIPLY_ADDS.is_sorted_by_key(|(arch, _)| *arch));
    }

    #[test]
    fn d7_what_is_measured_is_expected_no_more() {
        let facts = Facts { arch: [9, 0], multiprocessors: 132, clock: 1.98e9 };
        let mut expected = Expected::all(facts);
        expected.measured(Unit::F64);
        assert_eq!((expected.of(Unit::F64), expected.of(Unit::Bits)), (None, Some(facts)));
        [Unit::F32, Unit::Tf32, Unit::Half].into_iter().for_each(|unit| expected.measured(unit));
        assert_eq!(expected, Expected::default());
    }
}
