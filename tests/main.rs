//! Device code, tested twice with one truth: on the host model under several schedules, and on a GPU where there is one.

mod copies;
mod mbarriers;
mod places;
mod runner;
mod shadow;
mod tensor_maps;
mod tiles;
mod vectors;
mod zero_cost;
