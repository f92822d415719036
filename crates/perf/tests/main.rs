//! Tests of the learned model, a module per topic.

mod dataset;
mod estimator;
mod evaluation;
mod features;
mod model;
mod xgboost;
