//! Errors in units in the last place, on points from files.

use std::collections::HashMap;

/// Arguments and correctly rounded values of one function.
#[derive(Default)]
pub(crate) struct Points {
    /// Arguments, value, and whether all arguments are f32.
    pub(crate) rows: Vec<(Vec<f64>, f64, bool)>,
}

/// The size that errors count relative to, where it is larger than the value: an oscillation's amplitude, or what a difference
/// starts from.
pub(crate) enum Size {
    /// A number; 0 for the value alone.
    Number(f64),
    /// That of a function at a place, at least the number.
    Of(&'static str, Vec<f64>, f64),
}

/// What errors of the function `name` at `x` count relative to.
pub(crate) fn size(name: &str, x: &[f64]) -> Size {
    let at = x[x.len() - 1];
    let far = at.abs();
    Size::Number(match name {
        // What the reflection starts from.
        "digamma" if at < 0.0 => return Size::Of("digamma", vec![1.0 - at], 0.0),
        "lgamma" if at < 0.0 => return Size::Of("lgamma", vec![far], 1.0),
        // Left of 0, the sum of the terms above 0 and that of those below may cancel.
        "zeta" if at < 0.0 => return Size::Of("zeta", vec![x[0], (at.ceil() - at).min(at - at.floor())], 0.0),
        "polygamma" if at < 0.0 => {
            let part = at - at.floor();
            return Size::Of("polygamma", vec![x[0], part.min(1.0 - part)], 0.0);
        }
        // B(a, b) is 1 at (1, 1).
        "log_beta" => 1.0,
        // The oscillation's amplitude, from where it has started.
        "bessel_j0" | "bessel_j1" | "bessel_y0" | "bessel_y1" if far >= 1.0 => {
            (2.0 / (std::f64::consts::PI * far)).sqrt()
        }
        "spherical_bessel_j0" if far > 2.0 => 1.0 / far,
        "airy_ai" if at < -1.0 => far.powf(-0.25) / std::f64::consts::PI.sqrt(),
        _ => 0.0,
    })
}

fn float(text: &str) -> Option<f64> {
    u64::from_str_radix(&format!("{text:0<16}"), 16).ok().map(f64::from_bits)
}

/// Reads a file of points; the error is a line that is none.
pub(crate) fn points(text: &str) -> Result<HashMap<&str, Points>, &str> {
    let mut all: HashMap<&str, Points> = HashMap::new();
    let mut name = "";
    for line in text.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        if let Some(next) = line.strip_prefix("= ") {
            name = next;
            continue;
        }
        let exact = !line.starts_with('-');
        let row: Option<Vec<f64>> = line.trim_start_matches('-').split(' ').map(float).collect();
        let mut row = row.filter(|row| row.len() > 1 && !name.is_empty()).ok_or(line)?;
        let value = row.pop().ok_or(line)?;
        all.entry(name).or_default().rows.push((row, value, exact));
    }
    Ok(all)
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

/// Of errors with their arguments, at least one.
pub(crate) fn summary(mut errors: Vec<(f64, Vec<f64>)>) -> Summary {
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n = errors.len();
    let at = |share: usize| errors[(n * share / 100).min(n - 1)].0;
    Summary { figures: [at(50), at(95), errors[n - 1].0], worst: errors[n - 1].1.clone() }
}

/// Three significant digits, or fewer.
fn figure(v: f64) -> String {
    if v >= 1000.0 { format!("{v:.0e}") } else { format!("{}", (v * 100.0).round() / 100.0) }
}

/// `median / 95th percentile / worst`.
pub(crate) fn row(figures: &[f64]) -> String {
    figures.iter().map(|v| figure(*v)).collect::<Vec<_>>().join(" / ")
}
