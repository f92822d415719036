//! How many threads there is work for.

use std::sync::LazyLock;
use std::thread::available_parallelism;

/// Cores that this process may use, as of the first time that somebody asked: to ask reads files of control groups, 60 us beside an H200.
pub(crate) fn cores() -> usize {
    static CORES: LazyLock<usize> = LazyLock::new(|| available_parallelism().map_or(1, usize::from));
    *CORES
}
