//! Learned latency of kernels, to choose a configuration without timing any.
//!
//! This crate knows no kernel and needs no GPU. An operation describes what a configuration would do for a problem ([`Work`]); from
//! that and from facts of a device come numbers ([`Features`]); gradient-boosted trees ([`gbt`]) say how far the time stays behind the
//! roofline; a [`Model`] ranks all candidates of a problem in one go. Everything public takes plain slices.
//!
//! ```
//! use tilewright_perf::dataset::named;
//! use tilewright_perf::synthetic::Synthetic;
//! use tilewright_perf::training::{Examples, Operation, Plan, train};
//! use tilewright_perf::{DeviceFacts, Error, Model};
//!
//! // Rows are measured, elsewhere; these are made up.
//! let device = DeviceFacts::h200();
//! let examples = Examples::of(&Synthetic, &Synthetic.rows(60, 40, 1), &[device.clone()])?;
//! let file = train(&Synthetic, &examples, &Plan::default(), "2026-11-22")?.to_bytes()?;
//!
//! let model = Model::load(&file)?;
//! let problem = named([("m", 128), ("n", 7168), ("k", 2048)]);
//! let candidates = Synthetic.configurations(&problem, &device);
//! let works = candidates.iter().map(|it| Synthetic.work(&problem, it, &device)).collect::<Result<Vec<_>, Error>>()?;
//! let ranking = model.rank(&device, works.len(), |index| works[index])?;
//! let best = ranking.best();
//! println!("{:?}: {:.1} us, {}", candidates[best.index as usize], best.microseconds, ranking.source());
//! # Ok::<(), Error>(())
//! ```
//!
//! - [`dataset`]: rows that were measured, in compressed CSV files to which runs append.
//! - [`training`]: from rows to a model, and cross-validation by problem.
//! - [`evaluation`]: regret, metrics, folds.
//! - [`synthetic`]: an operation that is made up, for tests and benchmarks.

pub mod dataset;
pub mod device;
mod error;
pub mod evaluation;
pub mod features;
pub mod gbt;
mod model;
mod random;
mod shortlist;
pub mod synthetic;
pub mod training;
pub mod work;

pub use device::{DeviceFacts, Unit};
pub use error::Error;
pub use features::Features;
pub use gbt::{Ensemble, Gbt, GbtParams, GbtValidParams, Table};
pub use model::{Candidate, Model, Models, Ranking, Source};
pub use shortlist::{WITHIN, shortlist};
pub use work::Work;
