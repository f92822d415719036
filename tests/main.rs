//! Device code, tested twice with one truth: on the host model under several schedules, and on a GPU where there is one.

mod places;
mod runner;
mod vectors;
mod zero_cost;
