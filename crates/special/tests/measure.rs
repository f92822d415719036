//! Errors in units in the last place, on points from files.

use std::collections::HashMap;

/// Arguments and correctly rounded values of one function.
#[derive(Default)]
pub(crate) struct Points {
    /// Arguments, value, and whether all arguments are f32.
    pub(crate) rows: Vec<(Vec<f64>, f64, bool)>,
}

/// A function under test.
pub(crate) struct Case {
    /// Its name in the files.
    pub(crate) name: &'static str,
    /// In f64.
    pub(crate) double: fn(&[f64]) -> f64,
    /// In f32.
    pub(crate) single: fn(&[f32]) -> f32,
    /// The size that errors count relative to, where it is larger than the value: an oscillation's amplitude, or what a
    /// difference starts from.
    pub(crate) size: fn(&[f64]) -> f64,
}

fn float(text: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(&format!("{text:0<16}"), 16).expect("sixteen digits"))
}

/// Reads a file of points.
pub(crate) fn points(text: &'static str) -> HashMap<&'static str, Points> {
    let mut all: HashMap<&str, Points> = HashMap::new();
    let mut name = "";
    for line in text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        if let Some(next) = line.strip_prefix("= ") {
            name = next;
            continue;
        }
        let exact = !line.starts_with('-');
        let mut row: Vec<f64> = line.trim_start_matches('-').split(' ').map(float).collect();
        let value = row.pop().expect("a value");
        all.entry(name).or_default().rows.push((row, value, exact));
    }
    all
}

/// The distance of neighbours near `v`, of floats with `bits` of significand and `least` exponent.
fn unit(v: f64, bits: i32, least: i32) -> f64 {
    let exponent = ((v.abs().to_bits() >> 52) as i32 - 1023).max(least) - (bits - 1);
    if exponent < -1022 {
        f64::from_bits(1 << (exponent + 1074))
    } else {
        f64::from_bits(((exponent + 1023) as u64) << 52)
    }
}

/// In ulp of the format, relative to the larger of the value and `size`.
pub(crate) fn error(got: f64, value: f64, size: f64, single: bool) -> f64 {
    if got == value || (got.is_nan() && value.is_nan()) {
        return 0.0;
    }
    let (bits, least, most) = if single { (24, -126, f64::from(f32::MAX)) } else { (53, -1022, f64::MAX) };
    // Past the largest float, the distance is counted as if the format went on.
    let clamp = |v: f64| v.clamp(-most, most);
    if got.is_nan() || value.is_nan() {
        return f64::INFINITY;
    }
    let (got, value) = (clamp(got), clamp(value));
    let scale = value.abs().max(size.min(most));
    ((got - value) / unit(scale, bits, least)).abs()
}

/// Median, 95th percentile, worst, and where that is.
#[derive(Debug, Clone)]
pub(crate) struct Summary {
    /// The three figures in ulp.
    pub(crate) figures: [f64; 3],
    /// The arguments of the worst.
    pub(crate) worst: Vec<f64>,
}

fn summary(mut errors: Vec<(f64, Vec<f64>)>) -> Summary {
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n = errors.len();
    let at = |share: usize| errors[(n * share / 100).min(n - 1)].0;
    Summary { figures: [at(50), at(95), errors[n - 1].0], worst: errors[n - 1].1.clone() }
}

impl Case {
    /// Errors in f64 and in f32.
    pub(crate) fn measure(&self, points: &Points) -> (Summary, Summary) {
        let double =
            points.rows.iter().map(|(x, y, _)| (error((self.double)(x), *y, (self.size)(x), false), x.clone()));
        let single = points.rows.iter().filter(|row| row.2).map(|(x, y, _)| {
            let narrow: Vec<f32> = x.iter().map(|v| *v as f32).collect();
            (error(f64::from((self.single)(&narrow)), *y, (self.size)(x), true), x.clone())
        });
        (summary(double.collect()), summary(single.collect()))
    }
}
