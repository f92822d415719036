//! Libraries that are looked for when they are first needed.

use std::{
    ffi::OsString,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use crate::toolkit::places;

/// A library that is looked for until it is found once, then kept for the life of the process. One that was not found is looked for again when what says
/// where to look has changed: variables of the environment, or the folder that [`install`](crate::toolkit::install) fills. A search reads folders and
/// starts Python, which takes far longer than the calls that find it missing.
pub(crate) struct Once<T: 'static>(Mutex<Found<T>>);

enum Found<T: 'static> {
    NotAsked,
    There(&'static T),
    Absent { tried: Vec<String>, surroundings: Surroundings },
}

/// What says where to look.
#[derive(PartialEq)]
struct Surroundings {
    variables: Vec<(OsString, OsString)>,
    installed: Vec<PathBuf>,
}

impl Surroundings {
    fn now() -> Self {
        Self { variables: std::env::vars_os().collect(), installed: places::install_folders() }
    }
}

impl<T> Once<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Found::NotAsked))
    }

    /// What a search finds, or the places that it tried.
    pub(crate) fn find(&self, search: impl FnOnce() -> Result<T, Vec<String>>) -> Result<&'static T, Vec<String>> {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let surroundings = match &*found {
            Found::There(there) => return Ok(there),
            Found::NotAsked => Surroundings::now(),
            Found::Absent { tried, surroundings } => match Surroundings::now() {
                now if now == *surroundings => return Err(tried.clone()),
                now => now,
            },
        };
        match search() {
            Ok(it) => {
                // Leaked on purpose, once: a library stays loaded as long as the process.
                let there: &'static T = Box::leak(Box::new(it));
                *found = Found::There(there);
                Ok(there)
            }
            Err(tried) => {
                *found = Found::Absent { tried: tried.clone(), surroundings };
                Err(tried)
            }
        }
    }
}
