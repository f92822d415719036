use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use tilewright_driver::{Error as DriverError, Stream, blas::Blas, solver::Solver};

use super::Timed;
use crate::Error;
use crate::budget::Budget;

/// A GPU for linear algebra: a stream, and the libraries' handles for it. Clones are the same.
///
/// Libraries are looked for when an operation first needs them, and a missing one is the error of that operation
/// ([`tilewright_driver::Error::NoLibrary`]); products need cuBLAS alone.
#[derive(Clone)]
pub struct Gpu {
    stream: Stream,
    blas: Arc<Lazy<Blas>>,
    solver: Arc<Lazy<Solver>>,
    timed: Arc<Timed>,
    pinned: Budget,
}

/// A handle that is made when it is first asked for.
struct Lazy<T>(Mutex<Option<Arc<T>>>);

impl<T> Lazy<T> {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(None)))
    }

    fn get_if_made(&self) -> Option<Arc<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn get(&self, make: impl FnOnce() -> Result<T, DriverError>) -> Result<Arc<T>, Error> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = &*made {
            return Ok(handle.clone());
        }
        let handle = Arc::new(make()?);
        *made = Some(handle.clone());
        Ok(handle)
    }
}

impl Gpu {
    /// Linear algebra on a stream. Loads nothing yet.
    pub fn new(stream: &Stream) -> Self {
        let (blas, solver, timed) = (Lazy::new(), Lazy::new(), Arc::default());
        Self { stream: stream.clone(), blas, solver, timed, pinned: Budget::pinned() }
    }

    /// With another budget of the page-locked memory that copies from and to ordinary memory pass through; where it has no room, the driver makes them
    /// alone. Otherwise it is [`Budget::pinned`].
    #[must_use]
    pub fn passing_within(self, pinned: Budget) -> Self {
        Self { pinned, ..self }
    }

    pub(crate) fn pinned(&self) -> &Budget {
        &self.pinned
    }

    /// The stream that everything runs on.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// cuBLAS.
    pub fn blas(&self) -> Result<Arc<Blas>, Error> {
        self.blas.get(|| Blas::new(&self.stream))
    }

    /// cuSOLVER.
    pub fn solver(&self) -> Result<Arc<Solver>, Error> {
        self.solver.get(|| Solver::new(&self.stream))
    }

    /// What products take.
    pub(crate) fn timed(&self) -> &Timed {
        &self.timed
    }

    /// cuSOLVER, where somebody asked for it before.
    pub(crate) fn solver_if_there(&self) -> Option<Arc<Solver>> {
        self.solver.get_if_made()
    }
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gpu on {:?}", self.stream)
    }
}
