//! Models of several operations and architectures.

use super::Model;
use crate::Error;

/// Files of the models that are part of this crate, from `models/`, each with its operation.
const SHIPPED: [(&str, &[u8]); 3] = [
    ("conv2d_rows", include_bytes!("../../models/conv2d_rows.model")),
    ("conv2d_grad_weight", include_bytes!("../../models/conv2d_grad_weight.model")),
    ("pointwise", include_bytes!("../../models/pointwise.model")),
];

/// Models to choose from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Models {
    models: Vec<Model>,
}

impl Models {
    /// Those that are part of this crate: nothing is fetched at run time.
    pub fn shipped() -> Result<Self, Error> {
        Self::load(&SHIPPED.map(|(_, bytes)| bytes))
    }

    /// Those of them that know this operation; none where there are none. No other file is looked at.
    pub fn shipped_of(op: &str) -> Result<Self, Error> {
        let files: Vec<&[u8]> = SHIPPED.iter().filter(|(of, _)| *of == op).map(|(_, bytes)| *bytes).collect();
        Self::load(&files)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Model> {
        self.models.iter()
    }

    /// Those of files' bytes. Refuses what [`Model::load`] refuses.
    pub fn load(files: &[&[u8]]) -> Result<Self, Error> {
        Ok(Self { models: files.iter().map(|bytes| Model::load(bytes)).collect::<Result<_, _>>()? })
    }

    /// Adds a model; of those that suit equally the last added is taken.
    pub fn add(&mut self, model: Model) {
        self.models.push(model);
    }

    /// The model of an operation that was trained on this architecture, or on the nearest; its rankings say which. Refuses operations
    /// that no model knows.
    pub fn nearest(&self, op: &str, architecture: u32) -> Result<&Model, Error> {
        let of_op = self.models.iter().rev().filter(|model| model.op() == op);
        let distance = |model: &&Model| model.nearest(architecture).abs_diff(architecture);
        of_op.min_by_key(distance).ok_or_else(|| Error::NoModel { op: op.to_owned(), known: self.models.len() })
    }
}
