//! Expressions that are made of an expression, and kept with it.

use super::{Core, lock};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use tilewright_expr::plan::Configuration;

/// What was made of an expression so far.
#[derive(Default)]
pub(super) struct Derived {
    summed: OnceLock<Option<Arc<Core>>>,
    under: Mutex<HashMap<Configuration, Arc<Core>>>,
}

impl Core {
    /// The same expression under a configuration, with nothing compiled.
    pub(crate) fn under(&self, config: Configuration) -> Core {
        Core { configuration: Some(config), ..Core::new(self.graph.clone(), &self.name) }
    }

    /// As [`Core::under`], one for all who ask.
    pub(crate) fn kept_under(&self, config: Configuration) -> Arc<Core> {
        lock(&self.derived.under).entry(config).or_insert_with(|| Arc::new(self.under(config))).clone()
    }

    /// The sums of the result over all dimensions but the last, in f32, with nothing stored between; nothing where the expression reduces or
    /// scans itself.
    pub(crate) fn summed(&self) -> Option<&Arc<Core>> {
        let sums = || Some(Arc::new(Core::new(self.graph.summed()?, &format!("sums of {}", self.name))));
        self.derived.summed.get_or_init(sums).as_ref()
    }
}
