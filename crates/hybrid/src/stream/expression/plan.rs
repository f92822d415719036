//! In which bands an expression is computed, and what that is expected to take.

use super::evaluation::{Evaluation, On};
use super::window::{Band, Window};
use crate::Error;
use crate::dispatch::{Accelerator, Bound};
use crate::stream::matmul_plan::largest;
use std::ops::Range;
use tilewright_expr::stage::Margin;

/// Windows in the memory of the GPU at once, of operands and of results: one is copied, one is computed with, and one is spare, so that
/// neither way of the link waits for the other.
const STAGES: usize = 3;
/// Bytes of a band's operands and results: copies of so much run at the link's full rate, and the first and the last band, beside which one
/// way is idle, are a small part of the whole ...
const BAND_BYTES: Range<usize> = 16 << 20..256 << 20;
/// ... which is cut into so many bands, where these bytes allow it.
const BANDS: u128 = 32;
/// A band is so many times as long as its margins, which are brought twice.
const MARGINS: usize = 16;
/// What bands are multiples of, where they are many times as long.
const GRANULE: usize = 64;

/// How an expression is cut into bands, and what they are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExpressionPlan {
    /// The dimension that is cut; `None` where all is one band.
    pub dimension: Option<&'static str>,
    /// Its length.
    pub extent: usize,
    /// Indices of a band, at least 1; the last one has what is left.
    pub band: usize,
    /// Indices of the longest band that may be: fewer than the whole has where windows have to fit into shorter operands.
    pub longest: usize,
    /// How far operands are read beyond a band.
    pub margin: Margin,
    /// Whether what is read beyond an end of the dimension is the other end.
    pub wraps: bool,
    /// Whether bands read each operand elsewhere: its windows, as long as the band and the margin, stand where that is, and results have the band alone.
    pub elsewhere: bool,
    /// Bytes of an index: of the operands that are brought in bands.
    pub bytes_in: u128,
    /// Bytes of an index: of the results.
    pub bytes_out: u128,
    /// Bytes of operands that are brought once.
    pub bytes_once: u128,
    /// Bytes of what stands before each band, where scans go along the dimension.
    pub bytes_before: u128,
    /// Bytes that each band is reduced to, where it is.
    pub bytes_folded: u128,
    /// Bytes of results that are whole, and go back when all bands have been scattered into them.
    pub bytes_scattered: u128,
    /// Bytes of operands and results that lie on the GPU, and stay where they are.
    pub bytes_there: u128,
    /// Whether it is one band: a margin would be written into what lies beside a band on the GPU, or be read from the other end of what lies there.
    pub is_whole: bool,
    /// Windows in the memory of the GPU at once, 1 to 3.
    pub stages: usize,
    /// What other passes do, of which the expression takes several: before this one or behind it.
    pub others: OtherPasses,
}

/// What passes do beside the one that a plan is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OtherPasses {
    /// Their bands.
    pub bands: u128,
    /// Bytes that are copied to the GPU.
    pub to_gpu: u128,
    /// Bytes that are copied back.
    pub to_host: u128,
    /// Bytes of operands and results that lie on the GPU.
    pub there: u128,
}

impl OtherPasses {
    pub(super) fn of(plan: &ExpressionPlan) -> OtherPasses {
        let (bands, there) = (plan.count() as u128, plan.bytes_there);
        OtherPasses { bands, to_gpu: plan.own_to_gpu(), to_host: plan.own_to_host(), there }
    }

    pub(super) fn and(self, other: OtherPasses) -> OtherPasses {
        let OtherPasses { bands, to_gpu, to_host, there } = self;
        OtherPasses {
            bands: bands + other.bands,
            to_gpu: to_gpu + other.to_gpu,
            to_host: to_host + other.to_host,
            there: there + other.there,
        }
    }

    /// What they are expected to take where no copy waits for another.
    fn time(&self, gpu: &Accelerator) -> ExpressionTime {
        let (to_gpu, to_host) = (self.to_gpu as f64, self.to_host as f64);
        let compute =
            (to_gpu + to_host + self.there as f64) / gpu.processor.memory + self.bands as f64 * gpu.processor.call;
        // Both ways are busy as long as the shorter one lasts.
        let both = to_gpu.min(to_host);
        let alone = |bytes: f64, rate: f64| both / gpu.link.both + (bytes - both) / rate;
        let (to_gpu, to_host) = (alone(to_gpu, gpu.link.to_gpu), alone(to_host, gpu.link.to_host));
        ExpressionTime { compute, to_gpu, to_host, wall: compute.max(to_gpu).max(to_host) }
    }

    /// All of them but one.
    pub(super) fn but(self, one: OtherPasses) -> OtherPasses {
        let OtherPasses { bands, to_gpu, to_host, there } = self;
        OtherPasses {
            bands: bands.saturating_sub(one.bands),
            to_gpu: to_gpu.saturating_sub(one.to_gpu),
            to_host: to_host.saturating_sub(one.to_host),
            there: there.saturating_sub(one.there),
        }
    }
}

/// What is in the same memory as the bands of a plan.
#[derive(Default)]
pub(super) struct Beside {
    /// All passes, in bands of one index, each with bytes for every band that are there meanwhile.
    pub(super) passes: Vec<(ExpressionPlan, u128)>,
    /// Bytes for every band that are there at some time between passes.
    pub(super) alone: u128,
}

/// What a plan is expected to take, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpressionTime {
    /// Of the kernels, by the bytes that they read and write.
    pub compute: f64,
    /// Of copies to the GPU.
    pub to_gpu: f64,
    /// Of copies back.
    pub to_host: f64,
    /// From begin to end: the longest of the three, what is brought once, the first band in and the last one back.
    pub wall: f64,
}

impl ExpressionTime {
    /// Which of them it is.
    pub fn bound(&self) -> Bound {
        if self.compute >= self.to_gpu.max(self.to_host) {
            Bound::Compute
        } else if self.to_gpu >= self.to_host {
            Bound::Bring
        } else {
            Bound::Back
        }
    }
}

impl ExpressionPlan {
    /// Bands that so many bytes hold. As long as these are enough the bands do not depend on them.
    pub(super) fn new(evaluation: &Evaluation<'_>, on: On, budget: u64) -> Result<ExpressionPlan, Error> {
        Self::of_indices(evaluation, on).within(budget).map_err(|error| match (&evaluation.cut, error) {
            (Err(Error::Uncut { dimension, why }), Error::Budget { requested, available, .. }) => {
                let why = format!("{why}; all of it at once takes {requested} bytes, of {available}");
                Error::Uncut { dimension, why }
            }
            (_, error) => error,
        })
    }

    /// Bands of one index each.
    pub(super) fn of_indices(evaluation: &Evaluation<'_>, on: On) -> ExpressionPlan {
        let once = |(_, fed): (usize, &super::evaluation::Fed<'_>)| fed.shape.bytes() as u128;
        let bytes_once = evaluation.brought_whole(on).map(once).sum();
        let [bytes_in, bytes_out] = evaluation.bytes_of(on, 1);
        let (bytes_there, bytes_folded) = (evaluation.bytes_there(on), evaluation.bytes_of_parts());
        let (bytes_before, bytes_scattered) = (evaluation.bytes_before(), evaluation.bytes_scattered(on));
        let (extent, margin, wraps) = match &evaluation.cut {
            Ok(cut) => (evaluation.extent(), cut.margin, cut.wraps),
            Err(_) => (1, Margin::NONE, false),
        };
        let longest = evaluation.longest();
        let elsewhere = longest.is_some();
        let writes_there = !evaluation.is_scattered() && evaluation.made.iter().any(|made| made.is_on(on));
        let is_there = writes_there || wraps && evaluation.has_bands_on(on);
        let is_whole = margin.places() > 0 && is_there && !elsewhere;
        let dimension = evaluation.cut.as_ref().ok().map(|cut| evaluation.name(cut.dim));
        let band = if is_whole { extent } else { 1 };
        ExpressionPlan {
            dimension,
            extent,
            band,
            longest: longest.unwrap_or(extent).min(extent),
            margin,
            wraps,
            elsewhere,
            bytes_in,
            bytes_out,
            bytes_once,
            bytes_before,
            bytes_folded,
            bytes_scattered,
            bytes_there,
            is_whole,
            stages: STAGES,
            others: OtherPasses::default(),
        }
    }

    /// The same in bands that so many bytes hold.
    pub(crate) fn within(self, budget: u64) -> Result<ExpressionPlan, Error> {
        self.within_beside(&Beside { passes: vec![(self, 0)], alone: 0 }, budget)
    }

    /// The same in bands that so many bytes hold in all passes, of which it is one, beside what all bands come to.
    pub(super) fn within_beside(self, beside: &Beside, budget: u64) -> Result<ExpressionPlan, Error> {
        let passes = || beside.passes.iter().map(|(plan, _)| plan);
        let bytes = |band: usize| {
            let of_pass = |(plan, beside): &(ExpressionPlan, u128)| {
                let plan = plan.of_bands(band);
                plan.device_bytes() + plan.count() as u128 * beside
            };
            let alone = self.of_bands(band).count() as u128 * beside.alone;
            beside.passes.iter().map(of_pass).fold(alone, u128::max)
        };
        let fits = |band: usize| bytes(band) <= u128::from(budget);
        let longest = passes().map(|plan| plan.longest).min().unwrap_or(self.longest);
        let least = if passes().any(|plan| plan.is_whole) { self.extent.max(1) } else { 1 };
        let wished = passes().map(ExpressionPlan::wished).min().unwrap_or(1).max(least);
        if fits(wished) {
            return Ok(self.of_bands(wished));
        }
        // Longer bands take more memory, and of shorter ones there are more.
        let longer = |band: &usize| (*band < longest).then(|| (band + band / 8 + 1).min(longest));
        let best = std::iter::successors(Some(least), longer).min_by_key(|band| bytes(*band)).unwrap_or(least);
        if !fits(best) {
            let requested = u64::try_from(bytes(best)).unwrap_or(u64::MAX);
            let what = "memory for bands of an expression, what it reads whole, and what bands come to";
            return Err(Error::Budget { what, requested, available: budget, limit: budget });
        }
        let more = largest(wished.saturating_sub(best) + 1, |more| fits(best + more - 1)).unwrap_or(1);
        Ok(self.of_bands(best + more - 1))
    }

    /// The same in bands of this length, as even as may be.
    fn of_bands(self, band: usize) -> ExpressionPlan {
        let bands = self.extent.div_ceil(band).max(1);
        let granule = if band >= 8 * GRANULE { GRANULE } else { 1 };
        let even = self.extent.div_ceil(bands).next_multiple_of(granule);
        let plan = ExpressionPlan { band: even.min(band).max(1), ..self };
        ExpressionPlan { stages: plan.count().clamp(1, STAGES), ..plan }
    }

    /// The same in bands of just this length.
    pub(super) fn of_length(self, band: usize) -> ExpressionPlan {
        let plan = ExpressionPlan { band, ..self };
        ExpressionPlan { stages: plan.count().clamp(1, STAGES), ..plan }
    }

    /// Indices of a band where memory is no matter.
    fn wished(&self) -> usize {
        let index = self.bytes_in + self.bytes_out;
        if index == 0 {
            // Nothing crosses the link.
            return self.longest.max(1);
        }
        let bytes = index * self.extent as u128 / BANDS;
        let bytes = bytes.clamp(BAND_BYTES.start as u128, BAND_BYTES.end as u128);
        let indices = usize::try_from(bytes / index).unwrap_or(usize::MAX);
        let margins = usize::try_from(self.margin.places()).unwrap_or(usize::MAX).saturating_mul(MARGINS);
        indices.max(margins).clamp(1, self.longest.max(1))
    }

    /// Bands.
    pub fn count(&self) -> usize {
        self.extent.div_ceil(self.band)
    }

    /// The bands, in their order.
    pub(super) fn bands(&self) -> impl Iterator<Item = Band> + use<> {
        let (extent, band, margin) = (self.extent, self.band, self.margin);
        let goes_on = self.elsewhere || self.goes_on();
        (0..extent).step_by(band).map(move |begin| {
            let end = extent.min(begin.saturating_add(band));
            let (first, last) = (begin as i64 + margin.before, end as i64 + margin.after);
            let window = if goes_on { first..last } else { first.max(0)..last.min(extent as i64) };
            Band { indices: begin..end, window: Window::new(window, extent) }
        })
    }

    /// Indices of the longest window.
    pub fn window(&self) -> usize {
        let margins = usize::try_from(self.margin.places()).unwrap_or(usize::MAX);
        let window = self.band.saturating_add(margins);
        if self.elsewhere || self.goes_on() { window } else { self.extent.min(window) }
    }

    /// Indices of results that a window has.
    pub(super) fn made(&self) -> usize {
        if self.elsewhere { self.band } else { self.window() }
    }

    /// Whether windows go on beyond the ends of the dimension: the whole does not.
    fn goes_on(&self) -> bool {
        self.wraps && self.band < self.extent
    }

    /// Bytes of the GPU's memory.
    pub fn device_bytes(&self) -> u128 {
        self.bytes_once
            + self.bytes_scattered
            + self.stages as u128 * (self.window() as u128 * self.bytes_in + self.made() as u128 * self.bytes_out)
            + self.stages as u128 * (self.bytes_before + self.bytes_folded)
    }

    /// Bytes that are copied to the GPU, in all passes: margins are with both of the bands that they lie between.
    pub fn bytes_to_gpu(&self) -> u128 {
        self.own_to_gpu() + self.others.to_gpu
    }

    /// Bytes that are copied back, in all passes.
    pub fn bytes_to_host(&self) -> u128 {
        self.own_to_host() + self.others.to_host
    }

    fn own_to_gpu(&self) -> u128 {
        let indices: u128 = self.bands().map(|band| band.window.len() as u128).sum();
        self.bytes_once + indices * self.bytes_in + self.count() as u128 * self.bytes_before
    }

    fn own_to_host(&self) -> u128 {
        self.extent as u128 * self.bytes_out + self.count() as u128 * self.bytes_folded + self.bytes_scattered
    }

    /// How often all that this pass reads is read.
    pub(super) fn times(&self) -> f64 {
        let own = (self.own_to_gpu() + self.bytes_there).max(1) as f64;
        1.0 + (self.others.to_gpu + self.others.there) as f64 / own
    }

    /// What it is expected to take, all passes one after the other.
    pub fn time(&self, gpu: &Accelerator) -> ExpressionTime {
        let own = OtherPasses::of(self).time(gpu);
        let first = (self.bytes_once + self.window() as u128 * self.bytes_in) as f64 / gpu.link.to_gpu;
        let last = (self.band as u128 * self.bytes_out + self.bytes_scattered) as f64 / gpu.link.to_host;
        let others = self.others.time(gpu);
        ExpressionTime {
            compute: own.compute + others.compute,
            to_gpu: own.to_gpu + others.to_gpu,
            to_host: own.to_host + others.to_host,
            wall: own.compute.max(own.to_gpu + last).max(own.to_host + first) + others.wall,
        }
    }
}
