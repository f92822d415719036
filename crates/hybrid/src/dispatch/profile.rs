//! Rates that were measured once, kept on disk.

use super::{Identity, Rates};
use crate::Error;
use crate::store::replace;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// The form of the file; another form has another number.
const SCHEMA: u32 = 10;
/// No profile is longer.
const LONGEST: u64 = 1 << 16;

/// Rates with whose they are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    schema: u32,
    /// Whose.
    pub identity: Identity,
    /// What was measured.
    pub rates: Rates,
}

impl Profile {
    /// Of this machine.
    pub fn new(identity: Identity, rates: Rates) -> Profile {
        Profile { schema: SCHEMA, identity, rates }
    }

    /// That of a file, or, where there is none, or one that is damaged, of another form or another machine, what `measure` gives, which
    /// is then kept there. Rates that say nothing of a GPU that is there are not kept: its measurement failed. That nothing is kept is no error: the next
    /// process measures again.
    pub fn kept_or_measured(path: &Path, identity: &Identity, measure: impl FnOnce() -> Rates) -> Profile {
        match Profile::read(path, identity) {
            Ok(profile) => return profile,
            Err(error) => tracing::debug!(target: "tilewright::dispatch", %error, "rates are measured anew"),
        }
        let profile = Profile::new(identity.clone(), measure());
        let kept = profile.fault().map_or_else(|| profile.write(path), |fault| Err(corrupt(path, fault)));
        if let Err(error) = kept {
            tracing::debug!(target: "tilewright::dispatch", %error, "rates are not kept");
        }
        profile
    }

    /// That of a file. Refuses what is damaged, of another form, without rates of its GPU, or another machine's.
    pub fn read(path: &Path, identity: &Identity) -> Result<Profile, Error> {
        let odd = |why: String| corrupt(path, why);
        let bytes = std::fs::metadata(path).map_err(|error| failed(path, "stat", error))?.len();
        if bytes > LONGEST {
            return Err(odd(format!("{bytes} bytes are no profile, at most {LONGEST}")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| failed(path, "read", error))?;
        let profile: Profile = serde_json::from_str(&text).map_err(|error| odd(error.to_string()))?;
        if profile.schema != SCHEMA {
            return Err(odd(format!("a profile of form {}, this is {SCHEMA}", profile.schema)));
        }
        if let Some(fault) = profile.fault() {
            return Err(odd(fault));
        }
        if profile.identity != *identity {
            return Err(odd(format!("of another machine: {:?}", profile.identity)));
        }
        Ok(profile)
    }

    /// What is wrong with it.
    fn fault(&self) -> Option<String> {
        let lacking = || match (&self.identity.gpu, &self.rates.gpu) {
            (Some(gpu), None) => Some(format!("no rates of its GPU, {}", gpu.name)),
            _ => None,
        };
        self.rates.fault().or_else(lacking)
    }

    /// Replaces a file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|error| failed(folder, "mkdir", error))?;
        replace(path, serde_json::to_string_pretty(self).unwrap_or_default().as_bytes())
    }
}

fn corrupt(path: &Path, why: String) -> Error {
    Error::Corrupt { path: path.into(), chunk: None, why }
}

fn failed(path: &Path, call: &'static str, error: std::io::Error) -> Error {
    Error::Io { path: path.into(), call, error: Arc::new(error) }
}
