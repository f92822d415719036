//! What goes through host memory that has no room for all of it: factors of what is stored, and what follows from them.

use super::cost::{computed_on_cpu, from_disk};
use super::{Cost, Divisible, Job, Rates, Tiles};
use crate::stream::{PanelPlan, beside_on_host, for_panels};

/// Host memory that the CPU takes for factors, and for what follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gathered {
    /// Bytes with all of it in memory at once. Beyond what may be used it goes through in panels, where it can ([`Job::divisible`]).
    pub whole: u64,
    /// Bytes of a result that is made in memory before it takes its place, also in panels.
    pub result: u64,
}

/// How something goes through the CPU in host memory that has no room for all of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnHost {
    /// What it goes in.
    pub tiles: Tiles,
    /// Bytes of host memory, but for slots, which take what is left of it: panels, a result, and factors unless they lie in a file.
    pub host_bytes: u64,
    /// Whether factors that something is solved by lie in a file meanwhile.
    pub spills: bool,
}

/// Host memory that may be used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostRoom {
    pub(crate) bytes: u64,
    /// Whether factors that something is solved by may lie in a file.
    pub(crate) has_folder: bool,
}

impl HostRoom {
    /// Of those that nobody asks.
    pub(crate) const ENDLESS: HostRoom = HostRoom { bytes: u64::MAX, has_folder: false };

    /// Whether factors of so many bytes lie in a file: where in memory they would leave panels less than a quarter.
    pub(crate) fn spills(self, factors: u64) -> bool {
        self.has_folder && factors > self.bytes - self.bytes / 4
    }
}

/// On the CPU, where memory does not hold all of it; nothing where it does, or where panels have no room either.
pub(super) fn on_host(job: &Job, rates: &Rates, room: HostRoom) -> Option<(OnHost, Cost)> {
    let gathered = job.gathered.filter(|it| it.whole > room.bytes)?;
    let (what, element_bytes) = job.divisible?;
    let factors = job.read[0].map_or(0, |a| a.bytes);
    let room = HostRoom { bytes: room.bytes.checked_sub(gathered.result)?, ..room };
    // Factors alone are the result.
    let spills = matches!(what, Divisible::Solution { .. }) && room.spills(factors);
    let kept = if spills { 0 } else { factors };
    let left = for_panels(room.bytes.checked_sub(kept)?);
    let tiles = Tiles::new(job, (what, element_bytes), (left, &beside_on_host)).ok()?;
    let panels = u64::try_from(tiles.bytes(&beside_on_host)).unwrap_or(u64::MAX);
    let host_bytes = panels.saturating_add(kept).saturating_add(gathered.result);
    Some((OnHost { tiles, host_bytes, spills }, cost(job, rates, &tiles, spills)))
}

/// Reading and writing go on while panels are computed.
fn cost(job: &Job, rates: &Rates, tiles: &Tiles, spills: bool) -> Cost {
    let sum = |bytes: fn(&PanelPlan) -> u128| match tiles {
        Tiles::Factors(plan) => bytes(plan) as f64,
        Tiles::Solution { factors, solution } => (bytes(factors) + bytes(solution)) as f64,
        _ => 0.0,
    };
    let copied = sum(PanelPlan::bytes_to_gpu) + sum(PanelPlan::bytes_to_host);
    let compute = computed_on_cpu(job, rates, 0.0) + copied / rates.cpu.memory;
    // Each source once; of a file of factors all the rest.
    let read = job.read.iter().flatten();
    let of_sources: f64 = read.clone().map(|it| it.bytes as f64).sum();
    let of_factors = if spills { (copied - of_sources - job.written.bytes as f64).max(0.0) } else { 0.0 };
    let bring = read.map(|it| from_disk(it, rates)).sum::<f64>() + of_factors / rates.disk;
    let back = from_disk(&job.written, rates);
    let call = rates.cpu.call;
    Cost { compute, bring, back, call, wall: compute.max(bring).max(back) + call }
}
