//! wip
pub mod device;
mod error;
pub mod features;
pub mod gbt;
mod random;
pub mod work;

pub use device::{DeviceFacts, Unit};
pub use error::Error;
pub use features::Features;
pub use gbt::{Ensemble, Gbt, GbtParams, GbtValidParams, Table};
pub use work::Work;
