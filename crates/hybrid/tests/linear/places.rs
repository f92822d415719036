//! Where a test runs.

use tilewright_hybrid::linear::Place;

/// Set in a process that is started for its GPU alone.
pub(crate) const GPU_ALONE: &str = "TILEWRIGHT_TEST_GPU_ALONE";

/// Runs a test on the CPU, and on a GPU where there is one.
pub(super) fn each(name: &str, test: impl Fn(&Place)) {
    if std::env::var_os(GPU_ALONE).is_none() {
        test(&Place::Cpu);
    }
    if let Some(gpu) = crate::gpu(name) {
        test(&Place::Gpu(gpu));
    }
}
