use crate::Error;
use crate::raw::bits::{bits_a_round, rounds};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Rounds that are timed at once: under a tenth of a millisecond.
const ROUNDS: u64 = 20_000;
/// How often, for the best of them.
const TIMES: usize = 9;

/// Which instructions of the CPU count bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Path {
    /// 64 bits at a time, on any processor.
    Scalar,
    /// 256 bits at a time, counted by look-ups of half bytes (Muła).
    Avx2,
    /// 512 bits at a time, by VPOPCNTDQ.
    Avx512,
}

impl Path {
    /// All paths, the widest last.
    pub const ALL: [Self; 3] = [Self::Scalar, Self::Avx2, Self::Avx512];

    /// The widest path that this processor has.
    pub fn best() -> Self {
        Self::ALL.into_iter().rev().find(|path| path.is_supported()).unwrap_or(Self::Scalar)
    }

    /// Whether this processor has the instructions.
    pub fn is_supported(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return match self {
            Self::Scalar => true,
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            Self::Avx512 => is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vpopcntdq"),
        };
        #[cfg(not(target_arch = "x86_64"))]
        return self == Self::Scalar;
    }

    /// Pairs of bits that one core counts in a second at best, measured now: what products are made of (and, count, add), all in registers. Under
    /// a millisecond. Nothing of [`Path::Scalar`], and of a path that this processor lacks.
    pub fn limit(self) -> Option<f64> {
        let bits = self.bits_at_once()?;
        let least = (0..TIMES).map(|_| self.once().as_secs_f64()).fold(f64::INFINITY, f64::min);
        Some(bits / least.max(1e-9))
    }

    /// The same in the mean over such a time: of a core whose clock changes, or that others share, less than [`Path::limit`].
    pub fn limit_over(self, time: Duration) -> Option<f64> {
        let bits = self.bits_at_once()?;
        let (begin, mut times) = (Instant::now(), 0.0);
        while times == 0.0 || begin.elapsed() < time {
            self.once();
            times += 1.0;
        }
        Some(bits * times / begin.elapsed().as_secs_f64().max(1e-9))
    }

    /// Bits that [`Path::once`] counts.
    fn bits_at_once(self) -> Option<f64> {
        bits_a_round(self).filter(|_| self.is_supported()).map(|bits| (bits * ROUNDS) as f64)
    }

    fn once(self) -> Duration {
        let begin = Instant::now();
        black_box(rounds(self, black_box(ROUNDS)));
        begin.elapsed()
    }

    pub(crate) fn check(self) -> Result<(), Error> {
        if self.is_supported() {
            return Ok(());
        }
        let why = format!("this processor lacks the instructions of {self:?}; take Path::best()");
        Err(Error::Unsupported { operation: "bits::Product", element: "bits", place: "CPU", why })
    }
}

#[cfg(test)]
mod tests {
    use super::Path;
    use std::time::Duration;

    #[test]
    fn paths_that_are_supported_have_a_limit() {
        assert_eq!(Path::Scalar.limit(), None);
        assert_eq!(Path::Scalar.limit_over(Duration::ZERO), None);
        for path in [Path::Avx2, Path::Avx512] {
            for limit in [path.limit(), path.limit_over(Duration::ZERO), path.limit_over(Duration::from_millis(1))] {
                assert_eq!(limit.is_some(), path.is_supported());
                // No core counts more than four vectors of 512 at 6 GHz.
                assert!(limit.is_none_or(|limit| (1e3..4.0 * 512.0 * 6e9).contains(&limit)), "{path:?} {limit:?}");
            }
        }
    }
}
