use crate::Error;

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

    pub(crate) fn check(self) -> Result<(), Error> {
        if self.is_supported() {
            return Ok(());
        }
        let why = format!("this processor lacks the instructions of {self:?}; take Path::best()");
        Err(Error::Unsupported { operation: "bits::Product", element: "bits", place: "CPU", why })
    }
}
