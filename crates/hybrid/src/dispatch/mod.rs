//! Where an operation runs: on the CPU or on the GPU, by what either is expected to take.
//!
//! A [`Job`] says what is read from where, what is written, and how much is computed; [`Rates`] what the machine can do; a [`Decision`] has
//! the processor, the reason, and both expected times. It is made of a few divisions and asks no device, so a plan costs nothing:
//!
//! ```
//! use tilewright_hybrid::Side;
//! use tilewright_hybrid::dispatch::{At, Choice, Decision, Job, ProductExtents, Rates, Unit};
//!
//! let extents = ProductExtents { rows: 8192, columns: 8192, depth: 8192 };
//! let job = Job::matmul(("f64", 8, Unit::F64), extents, [At::Pinned; 3], false)?;
//! let plan = Decision::of(&job, Choice::Auto, &Rates::h200(), 8 << 30)?;
//! assert_eq!(plan.side, Side::Gpu);
//! println!("{plan}");   // gpu.matmul.f64 reason=cost(cpu=1.15 s, gpu=47.64 ms) bound=bring 1.611 GB
//! # Ok::<(), tilewright_hybrid::Error>(())
//! ```
//!
//! What the longest of computation and copies is, the *bound*, says what would have to be faster. Bytes and operations are counted as they
//! are, never as the square of the longest side.

mod copies;
mod cost;
mod decision;
mod expected;
mod experience;
mod explained;
mod identity;
mod job;
mod on_host;
mod profile;
mod rates;
mod record;
mod stage;
mod stored;
mod trace;
mod verb;

pub use cost::{Bound, Cost, OnGpu, Tiles};
pub use decision::{Choice, Decision, Reason};
pub use expected::{Expected, Facts};
pub use explained::Explained;
pub use identity::{GpuIdentity, Identity};
pub use job::{At, Divisible, Emulation, Job, MatvecExtents, Operand, ProductExtents, Tiling};
pub use on_host::{Gathered, OnHost};
pub use profile::Profile;
pub use rates::{Accelerator, Flops, Link, Processor, Rates, Unit};
pub use record::{Outcome, decide, last_decision, last_outcome};
pub use trace::Trace;
pub use verb::Verb;

pub(crate) use copies::BEGINS;
pub(crate) use experience::Experience;
pub(crate) use on_host::HostRoom;
pub(crate) use record::{Moved, begun_anew, checked, copied, ended, in_tiles, moved, noted, streamed, to_gpu, to_host};
pub(crate) use stage::Stage;
pub(crate) use trace::{Running, is_recorded, thread_number};
