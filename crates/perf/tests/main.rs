//! Tests of the learned model, a module per topic.

mod evaluation;
mod xgboost;
