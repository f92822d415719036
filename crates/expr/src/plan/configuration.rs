//! [`Configuration`]: what a plan can be told, instead of choosing it.

use super::{Plan, Pointwise};
use crate::collective::Sharing;
use crate::error::Error;
use crate::graph::Graph;

/// A configuration of a kernel of one section: which one depends on what the kernel is. Results do not depend on it, to the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Configuration {
    /// Of a kernel whose threads share nothing.
    Pointwise(Pointwise),
    /// Of one whose threads reduce rows together.
    Shared(Sharing),
}

impl From<Pointwise> for Configuration {
    fn from(config: Pointwise) -> Configuration {
        Configuration::Pointwise(config)
    }
}

impl From<Sharing> for Configuration {
    fn from(config: Sharing) -> Configuration {
        Configuration::Shared(config)
    }
}

/// Refuses what is no power of two within these limits.
pub(crate) fn power(what: &'static str, got: u32, [least, most]: [u32; 2]) -> Result<(), Error> {
    match got.is_power_of_two() && (least..=most).contains(&got) {
        true => Ok(()),
        false => Err(Error::Configuration { what, got: got.into(), least: least.into(), most: most.into() }),
    }
}

impl Plan {
    /// The same plan before [`Plan::classify`], which follows a configuration.
    pub(crate) fn unclassified(&self) -> Plan {
        let mut plan = self.clone();
        for slot in plan.inputs.iter_mut().chain(&mut plan.outputs) {
            slot.alignment = slot.bound;
        }
        plan
    }

    /// The same plan under a configuration. Refuses kernels that have none of its kind, and configurations that are not legal.
    pub fn configured(&self, graph: &Graph, config: impl Into<Configuration>) -> Result<Plan, Error> {
        match config.into() {
            Configuration::Pointwise(config) => self.divided(graph, config),
            Configuration::Shared(config) => self.shared(graph, config),
        }
    }
}
