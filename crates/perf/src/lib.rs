//! wip
pub mod dataset;
pub mod device;
mod error;
pub mod evaluation;
pub mod features;
pub mod gbt;
mod model;
mod random;
pub mod synthetic;
pub mod training;
pub mod work;

pub use device::{DeviceFacts, Unit};
pub use error::Error;
pub use features::Features;
pub use gbt::{Ensemble, Gbt, GbtParams, GbtValidParams, Table};
pub use model::{Candidate, Model, Models, Ranking, Source};
pub use work::Work;
