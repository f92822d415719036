//! A trained model: what it was trained on, and trees that know how far a configuration stays behind its roofline.

mod file;
mod ranking;
mod set;

pub use ranking::{Candidate, Ranking, Source};
pub use set::Models;

use crate::Error;
use crate::device::DeviceFacts;
use crate::features::Features;
use crate::gbt::Trees;
use serde::{Deserialize, Serialize};

/// A model of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Model(Body);

/// What a model is made of; one that was read has to be checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Body {
    pub(crate) op: String,
    /// Names of all features, so that a model from before a change of [`crate::features::GENERAL`] is refused.
    pub(crate) names: Vec<String>,
    pub(crate) features: Features,
    pub(crate) devices: Vec<DeviceFacts>,
    pub(crate) trained: String,
    pub(crate) rows: u64,
    pub(crate) problems: u64,
    pub(crate) trees: Trees,
}

impl Model {
    /// Of what training made; it is sound.
    pub(crate) fn new(body: Body) -> Self {
        Self(body)
    }

    /// The operation.
    pub fn op(&self) -> &str {
        &self.0.op
    }

    /// Its features.
    pub fn features(&self) -> &Features {
        &self.0.features
    }

    /// Refuses features that are not its own: other ones, or in another order. A model must not be asked about these.
    pub fn check_features(&self, features: &Features) -> Result<(), Error> {
        let (own, given) = (self.0.features.names(), features.names());
        let differs = |at: &usize| own.get(*at) != given.get(*at);
        match (0..own.len().max(given.len())).find(differs) {
            Some(at) => {
                let said = |names: &[String]| names.get(at).map_or("none", String::as_str).to_owned();
                let (found, expected) = (format!("`{}` at place {at}", said(&own)), format!("`{}`", said(&given)));
                Err(Error::Model { what: "list of features", found, expected })
            }
            None => Ok(()),
        }
    }

    /// The devices on which its rows were measured; at least one.
    pub fn devices(&self) -> &[DeviceFacts] {
        &self.0.devices
    }

    /// The day of its training, year-month-day.
    pub fn trained(&self) -> &str {
        &self.0.trained
    }

    /// How many rows it was trained on.
    pub fn rows(&self) -> u64 {
        self.0.rows
    }

    /// How many problems these rows have.
    pub fn problems(&self) -> u64 {
        self.0.problems
    }

    /// How many trees each seed has.
    pub fn trees(&self) -> Vec<usize> {
        self.0.trees.counts()
    }
}
