//! All candidates of a problem, the fastest first.

use super::Model;
use crate::Error;
use crate::device::DeviceFacts;
use crate::features::Scales;
use crate::gbt::{Asker, LANES};
use crate::shortlist;
use crate::work::Work;

/// The most features that a model asks for.
const MOST_FEATURES: usize = 255;

/// A candidate with what is expected of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Its place among those that were given.
    pub index: u32,
    /// The time to expect, in microseconds. Where a model has learned only how candidates differ, what they have in common is the
    /// operation's own expectation: times are to be compared with each other, and with nothing else.
    pub microseconds: f32,
    /// How far the seeds disagree, per time: 0.05 is 5 %.
    pub spread: f32,
}

/// Where a prediction comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The model was trained on this architecture.
    Measured {
        /// The device's architecture, as 90 for sm_90.
        architecture: u32,
    },
    /// No model was: this is another architecture's, with the roofline and the features of the device that was asked about.
    Scaled {
        /// The device's architecture.
        architecture: u32,
        /// That of the model.
        trained_on: u32,
    },
}

impl std::fmt::Display for Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Measured { architecture } => write!(formatter, "measured on sm_{architecture}"),
            Self::Scaled { architecture, trained_on } => {
                write!(formatter, "sm_{architecture} was never measured: scaled from sm_{trained_on}")
            }
        }
    }
}

/// The candidates of a problem in the order of their expected times.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    candidates: Vec<Candidate>,
    source: Source,
}

impl Ranking {
    /// The candidate to take.
    pub fn best(&self) -> Candidate {
        self.candidates[0]
    }

    /// The first `k`, or all if there are fewer.
    pub fn top(&self, k: usize) -> &[Candidate] {
        &self.candidates[..k.min(self.candidates.len())]
    }

    /// Those to time where `count` can be timed, by their places among those that were given: [`shortlist`]. `kind` says what candidates have in
    /// common that a model is wrong about alike.
    pub fn to_time<K: PartialEq>(&self, count: usize, kind: impl Fn(usize) -> K) -> Vec<usize> {
        let order: Vec<usize> = (0..self.candidates.len()).collect();
        let place = |at: usize| self.candidates[at].index as usize;
        let listed = shortlist(count, &order, |at| self.candidates[at].microseconds, |at| kind(place(at)));
        listed.into_iter().map(place).collect()
    }

    /// All candidates; at least one.
    pub fn all(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Where the times come from.
    pub fn source(&self) -> &Source {
        &self.source
    }
}

impl Model {
    /// Ranks `count` candidates; `work` describes each. Ties keep the order given. Memory is allocated for the result alone.
    ///
    /// Refuses to rank nothing, facts of a device that cannot be, and works that [`crate::Features::fill`] refuses: leave out what the
    /// device cannot hold before.
    pub fn rank(&self, device: &DeviceFacts, count: usize, work: impl Fn(usize) -> Work) -> Result<Ranking, Error> {
        if count == 0 || count > u32::MAX as usize {
            return Err(Error::TooFew { what: "candidates to rank", found: count, least: 1 });
        }
        device.check()?;
        let mut candidates = self.predict(self.known_as(device), count, work)?;
        // Times are positive: their bits are in their order.
        let key = |it: &Candidate| u64::from(it.microseconds.to_bits()) << 32 | u64::from(it.index);
        candidates.sort_unstable_by_key(key);
        Ok(Ranking { candidates, source: self.source(device) })
    }

    fn predict(
        &self,
        device: &DeviceFacts,
        count: usize,
        work: impl Fn(usize) -> Work,
    ) -> Result<Vec<Candidate>, Error> {
        let mut candidates = Vec::with_capacity(count);
        let (mut asker, scales) = (Asker::new(&self.0.trees), Scales::of(device));
        let mut row = [0.0; MOST_FEATURES];
        let row = &mut row[..self.0.features.count()];
        let mut rooflines = [0.0; LANES];
        for start in (0..count).step_by(LANES) {
            let lanes = LANES.min(count - start);
            for (lane, roofline) in rooflines[..lanes].iter_mut().enumerate() {
                let work = work(start + lane);
                work.check(device)?;
                *roofline = self.0.features.fill_scaled(&work, &scales, row)?;
                asker.fill(lane, row);
            }
            let said = asker.ask().zip(&rooflines[..lanes]).enumerate();
            candidates.extend(said.map(|(lane, ((mean, spread), roofline))| Candidate {
                index: (start + lane) as u32,
                microseconds: roofline * mean.exp(),
                spread,
            }));
        }
        Ok(candidates)
    }

    fn source(&self, device: &DeviceFacts) -> Source {
        let architecture = device.architecture;
        let trained_on = self.nearest(architecture);
        if trained_on == architecture {
            Source::Measured { architecture }
        } else {
            Source::Scaled { architecture, trained_on }
        }
    }

    /// As what the model knows a device: as itself if it has rows of it; else as one of the same chip, whose choices are sound, while of what
    /// differs between the two it has learned nothing; else as itself.
    fn known_as<'a>(&'a self, device: &'a DeviceFacts) -> &'a DeviceFacts {
        let chip = |it: &DeviceFacts| (it.architecture, it.multiprocessors.to_bits());
        if self.0.devices.iter().any(|own| own.name == device.name) {
            return device;
        }
        self.0.devices.iter().find(|own| chip(own) == chip(device)).unwrap_or(device)
    }

    /// The architecture of its devices that is nearest to another.
    pub(super) fn nearest(&self, architecture: u32) -> u32 {
        let trained = self.0.devices.iter().map(|device| device.architecture);
        trained.min_by_key(|own| own.abs_diff(architecture)).unwrap_or(architecture)
    }
}
