//! How long an operation is expected to take on either processor.

use super::job::real_operations;
use super::{At, Divisible, Job, Link, Operand, Processor, Rates};
use crate::Error;
use crate::linear::SHARED;
use crate::stream::transfer::LARGE;
use crate::stream::{MatmulPlan, MatmulTime, PanelPlan, STAGES};
use std::fmt;

/// What a time is spent with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Seconds of computation.
    pub compute: f64,
    /// Seconds of copies to the processor.
    pub bring: f64,
    /// Seconds of copies back.
    pub back: f64,
    /// Seconds that calls cost besides.
    pub call: f64,
    /// Seconds from begin to end.
    pub wall: f64,
}

/// What the longest part of a time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bound {
    /// Computation, or the processor's own memory.
    Compute,
    /// Copies of operands to it.
    Bring,
    /// Copies of results back.
    Back,
    /// What every call costs.
    Call,
}

impl Cost {
    /// What the longest part is.
    pub fn bound(&self) -> Bound {
        let parts = [(self.bring, Bound::Bring), (self.back, Bound::Back), (self.call, Bound::Call)];
        let longer = |longest: (f64, Bound), part: (f64, Bound)| if part.0 > longest.0 { part } else { longest };
        parts.into_iter().fold((self.compute, Bound::Compute), longer).1
    }

    fn in_turn(compute: f64, bring: f64, back: f64, call: f64) -> Cost {
        Cost { compute, bring, back, call, wall: compute + bring + back + call }
    }
}

/// Seconds from one launch to the next of kernels that wait for one another: 2.6 us on an H200, 2026-11-20.
const LAUNCH: f64 = 2.6e-6;

/// Seconds of a copy between the processors besides its bytes, somebody waiting for it: 8 to 12 us on an H200, 2026-11-23.
const COPY: f64 = 10e-6;

/// Seconds in which slots are page-locked for a large operand.
const LOCK: f64 = 10e-3;

/// The part of the rate of the CPU's memory at which threads fill slots: 18 to 21 GB/s beside an H200, whose host has 200, 2026-11-23.
const STAGED: f64 = 0.1;

/// Seconds of a copy between ordinary memory and the GPU: of what is large through slots ([`crate::linear::DeviceMat::upload`]).
fn pageable(bytes: u64, rates: &Rates, link: &Link) -> f64 {
    if bytes < LARGE as u64 {
        return COPY + bytes as f64 / link.pageable;
    }
    let staged = (STAGED * rates.cpu.memory).clamp(link.pageable, link.to_gpu.max(link.pageable));
    COPY + LOCK + bytes as f64 / staged
}

/// What is left of the rate of pageable memory where results come back: the caller's pages are not there yet, or in no cache. 4 to 6 GB/s of 15
/// for results of 1 to 4 MB beside an H200, 2026-11-24.
const BACK: f64 = 0.4;

/// Seconds of a copy of a result from the GPU into ordinary memory.
fn back_to_pageable(bytes: u64, rates: &Rates, link: &Link) -> f64 {
    match bytes < LARGE as u64 {
        true => COPY + bytes as f64 / (BACK * link.pageable),
        false => pageable(bytes, rates, link),
    }
}

/// Seconds until all cores work on a product, where they share it.
fn start(job: &Job, cpu: &Processor) -> f64 {
    match job.divisible {
        Some((Divisible::Product(_), _)) if job.flops >= SHARED => cpu.start,
        _ => 0.0,
    }
}

/// Seconds of arithmetic, or of the memory where that is slower, and of what the memory alone binds.
fn computed(job: &Job, processor: &Processor) -> f64 {
    let arithmetic = job.flops / processor.flops.of(job.unit);
    arithmetic.max(job.bytes() as f64 / processor.memory) + job.swept / processor.memory
}

/// On the CPU: what lies on the GPU is copied from there first.
pub(super) fn on_cpu(job: &Job, rates: &Rates) -> Cost {
    let cpu = &rates.cpu;
    let compute = computed(job, cpu) + start(job, cpu);
    let of = |operand: &Operand| match operand.at {
        At::Gpu => rates.gpu.as_ref().map_or(COPY, |gpu| pageable(operand.bytes, rates, &gpu.link)),
        At::Disk => operand.bytes as f64 / rates.disk,
        At::Pinned | At::Pageable => 0.0,
    };
    Cost::in_turn(compute, job.read.iter().flatten().map(of).sum(), of(&job.written), cpu.call)
}

/// How something goes through a GPU that has no room for all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tiles {
    /// A product, in tiles.
    Product(MatmulPlan),
    /// A solution, in panels: the factors first.
    Solution {
        /// Panels that are factored.
        factors: PanelPlan,
        /// Panels that are solved for.
        solution: PanelPlan,
    },
}

impl Tiles {
    fn new(what: Divisible, element_bytes: usize, budget: u64) -> Result<Tiles, Error> {
        match what {
            Divisible::Product(extents) => MatmulPlan::new(extents, element_bytes, budget, STAGES).map(Tiles::Product),
            Divisible::Solution { size, columns } => {
                let factors = PanelPlan::lu(size, element_bytes, budget)?;
                Ok(Tiles::Solution { factors, solution: factors.solution(columns, budget)? })
            }
        }
    }

    fn device_bytes(&self) -> u128 {
        match self {
            Tiles::Product(plan) => plan.device_bytes(),
            Tiles::Solution { factors, solution } => factors.device_bytes().max(solution.device_bytes()),
        }
    }

    fn bytes_to_gpu(&self, reads_c: bool) -> u128 {
        match self {
            Tiles::Product(plan) => plan.bytes_to_gpu(reads_c),
            Tiles::Solution { factors, solution } => factors.bytes_to_gpu() + solution.bytes_to_gpu(),
        }
    }
}

impl fmt::Display for Tiles {
    /// As `2 x 2 tiles of 16384 x 16384, 32 panels of 1024`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tiles::Product(plan) => {
                let ([down, across, panels], [rows, columns]) = (plan.counts(), plan.tile);
                write!(f, "{down} x {across} tiles of {rows} x {columns}, {panels} panels of {}", plan.panel)
            }
            Tiles::Solution { factors, solution } => {
                let panels = |plan: &PanelPlan| (plan.panels(), plan.panel);
                let ((count, width), (solved, across)) = (panels(factors), panels(solution));
                write!(f, "{count} panels of {width} columns, and {solved} of {across} that are solved for")
            }
        }
    }
}

/// How it would run on the GPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnGpu {
    /// What it is expected to take.
    pub cost: Cost,
    /// The tiles in which it is streamed, where the operands do not fit into its memory at once.
    pub tiles: Option<Tiles>,
    /// Bytes of its memory.
    pub device_bytes: u64,
}

/// On the GPU, of whose memory so much may be used; nothing where there is no GPU. Refuses what neither fits nor can be streamed.
pub(super) fn on_gpu(job: &Job, rates: &Rates, budget: u64) -> Option<Result<OnGpu, Error>> {
    let gpu = rates.gpu.as_ref()?;
    let operands = || job.read.iter().flatten().chain([&job.written]);
    let new = job.device_bytes;
    let is_there = |at: At| operands().any(|it| it.at == at);
    if new > budget {
        let refused = || {
            let what = "device memory for one call as a whole";
            Error::Budget { what, requested: new, available: budget, limit: budget }
        };
        // What is there already is not streamed.
        let divisible = job.divisible.filter(|_| !is_there(At::Gpu));
        return Some(divisible.ok_or_else(refused).and_then(|what| streamed(job, rates, budget, what)));
    }
    let of = |operand: &Operand, pinned: f64| match operand.at {
        At::Gpu => 0.0,
        At::Pinned => COPY + operand.bytes as f64 / pinned,
        At::Pageable => pageable(operand.bytes, rates, &gpu.link),
        At::Disk => COPY + operand.bytes as f64 / rates.disk.min(pinned),
    };
    let compute = computed(job, &gpu.processor) + job.steps as f64 * LAUNCH;
    let bring = job.read.iter().flatten().map(|it| of(it, gpu.link.to_gpu)).sum();
    let back = match job.written.at {
        At::Pageable => back_to_pageable(job.written.bytes, rates, &gpu.link),
        _ => of(&job.written, gpu.link.to_host),
    };
    let cost = Cost::in_turn(compute, bring, back, gpu.processor.call);
    Some(Ok(OnGpu { cost, tiles: None, device_bytes: new }))
}

fn streamed(job: &Job, rates: &Rates, budget: u64, (what, element_bytes): (Divisible, usize)) -> Result<OnGpu, Error> {
    let tiles = Tiles::new(what, element_bytes, budget)?;
    let Some(gpu) = &rates.gpu else { return Err(Error::NoGpu { why: "no rates of one are known".into() }) };
    let from_disk = job.read.iter().flatten().any(|it| it.at == At::Disk);
    let reads_c = job.read[2].is_some();
    let times = match &tiles {
        Tiles::Product(plan) => vec![plan.time(gpu, job.unit, job.flops, reads_c)],
        Tiles::Solution { factors, solution } => [factors, solution]
            .map(|plan| plan.time(gpu, job.unit, real_operations(job.element) * plan.flops()))
            .to_vec(),
    };
    let sum = |part: fn(&MatmulTime) -> f64| times.iter().map(part).sum::<f64>();
    // A disk gives each panel as often as the GPU asks for it.
    let disk = if from_disk { tiles.bytes_to_gpu(reads_c) as f64 / rates.disk } else { 0.0 };
    let bring = sum(|time| time.to_gpu).max(disk);
    let wall = sum(|time| time.wall).max(bring);
    let device_bytes = u64::try_from(tiles.device_bytes()).unwrap_or(u64::MAX);
    let cost = Cost { compute: sum(|time| time.compute), bring, back: sum(|time| time.to_host), call: 0.0, wall };
    Ok(OnGpu { cost, tiles: Some(tiles), device_bytes })
}
