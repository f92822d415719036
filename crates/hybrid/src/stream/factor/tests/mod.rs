//! Passes on a device that does everything as late as it may, against loops with twice the digits.

mod carried;
mod cases;
mod cholesky;
mod faults;
mod lu;
mod on_host;
mod plans;
