use std::fmt;

use serde::{Deserialize, Serialize};

/// A compute capability, such as 9.0 for the H200.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Arch {
    /// The generation: 9 in 9.0.
    pub major: u32,
    /// The variant: 0 in 9.0.
    pub minor: u32,
}

impl Arch {
    /// `Arch::new(9, 0)` is the H100 and H200.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }
}

/// As in compiler options: `sm_90`.
impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.major, self.minor)
    }
}
