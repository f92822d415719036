//! [`Grouped`]: a problem with configurations to measure, whatever its operation.

use super::timing::Timed;
use crate::Result;
use crate::session::Session;
use std::fmt::Debug;
use tilewright_driver::Arch;
use tilewright_ops::Error;
use tilewright_ops::conv::Multiprocessor;
use tilewright_perf::dataset::Named;

/// What kernels are compiled for.
pub type For = (Multiprocessor, Arch);

/// A problem with configurations to measure. Its kernels are compiled by other threads, meanwhile and ahead.
pub trait Grouped: Send + Sync + 'static {
    /// A configuration.
    type Config: Copy + Debug + PartialEq + Send + Sync;

    /// Its name in messages.
    fn name(&self) -> String;

    /// What is measured.
    fn configs(&self) -> &[Self::Config];

    /// What is taken where there is no model.
    fn plain(&self) -> Self::Config;

    /// The problem as rows of data sets have it.
    fn problem(&self) -> Named;

    /// A configuration as they have it.
    fn named(&self, config: Self::Config) -> Named;

    /// Compiles a configuration's kernels, so that a call finds them.
    fn compile(&self, config: Self::Config, on: For) -> std::result::Result<(), Error>;

    /// Times configurations in turns, so that what changes meanwhile changes all. Those that cannot be launched are told and left out.
    fn time(&self, session: &Session, configs: &[Self::Config]) -> Result<Vec<Timed<Self::Config>>>;
}
