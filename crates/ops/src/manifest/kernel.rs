//! Users' kernels in manifests.

use crate::error::Error;
use crate::user_kernel::KernelSource;
use tilewright_driver::{Source, TargetKind};

/// A [`KernelSource`] that owns what it shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OwnKernel {
    pub(crate) name: Option<String>,
    pub(crate) entry: Option<String>,
    pub(crate) text: String,
    pub(crate) options: Vec<String>,
    pub(crate) target: TargetKind,
}

/// What targets are called.
pub(super) const TARGETS: [(&str, TargetKind); 3] =
    [("plain", TargetKind::Plain), ("arch_specific", TargetKind::ArchSpecific), ("portable", TargetKind::Portable)];

impl OwnKernel {
    /// What the compiler is given.
    pub(super) fn source(&self) -> Result<Source, Error> {
        KernelSource::of(self).to_source()
    }
}
