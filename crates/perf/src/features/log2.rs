//! A logarithm that is fast, and the same on every machine: trees compare it with thresholds that were found elsewhere.

/// log2 of a positive normal number, to 4e-6: exponent, and a series of atanh for the fraction. Below that, -126.
pub(super) fn log2(value: f32) -> f32 {
    let bits = value.max(f32::MIN_POSITIVE).to_bits();
    // The exponent that leaves a fraction between 2/3 and 4/3.
    const THIRD: u32 = 0x3f2a_aaab;
    let exponent = (bits.wrapping_sub(THIRD) as i32) >> 23;
    let fraction = f32::from_bits(bits.wrapping_sub((exponent as u32) << 23));
    let z = (fraction - 1.0) / (fraction + 1.0);
    let square = z * z;
    const TWO_OVER_LN2: f32 = 2.885_39;
    let series = 1.0 + square * (1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0)));
    exponent as f32 + TWO_OVER_LN2 * z * series
}

#[cfg(test)]
mod tests {
    use super::log2;

    #[test]
    fn it_is_the_logarithm() {
        let mut value = 1e-30f32;
        while value < 1e30 {
            let (found, expected) = (log2(value), f64::from(value).log2());
            assert!((f64::from(found) - expected).abs() < 4e-6 * (1.0 + expected.abs()), "{value}: {found}, {expected}");
            value *= 1.0137;
        }
        assert_eq!([1.0, 2.0, 1024.0, 0.25].map(log2), [0.0, 1.0, 10.0, -2.0]);
        assert_eq!([0.0, -1.0, f32::NAN].map(log2), [-126.0; 3]);
    }
}
