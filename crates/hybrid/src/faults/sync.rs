//! What a gate is locked with; the model of it has loom's instead.

pub(super) use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};
