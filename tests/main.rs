//! Device code, tested twice with one truth: on the host model under several schedules, and on a GPU where there is one.

mod fragments;
mod halves;
mod matrix;
mod mma;
mod numbers;
mod reductions;
mod runner;
mod vector_access;
mod vectors;
mod wgmma;
