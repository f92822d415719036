//! Device code, tested twice with one truth: on the host model under several schedules, and on a GPU where there is one.

mod bit_products;
mod cases;
mod copies;
mod fragments;
mod gpu_kernels;
mod halves;
mod lessons;
mod matrix;
mod mbarriers;
mod mma;
mod numbers;
mod places;
mod random_layouts;
mod reductions;
mod runner;
mod shadow;
mod tensor_maps;
mod tiles;
mod vector_access;
mod vectors;
mod wgmma;
mod zero_cost;
