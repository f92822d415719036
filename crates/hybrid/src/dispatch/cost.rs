//! How long an operation is expected to take on either processor.

use super::copies::{brought, call_to_gpu, delivered, fetched, passes};
use super::job::real_operations;
use super::stored::begin_of_stream;
use super::{Accelerator, At, Divisible, Job, Link, Operand, Processor, ProductExtents, Rates, Tiling, Unit};
use crate::Error;
use crate::linear::{Core, Division, Kind};
use crate::stream::bits::BitPlan;
use crate::stream::{Beside, ExpressionPlan, ExpressionTime, MatmulPlan, MatmulTime, MatvecPlan, PanelPlan, STAGES};
use std::fmt;

/// Bytes of memory that may be used, and what of them panels leave to others.
pub(crate) type Room<'a> = (u64, &'a Beside<'a>);

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

/// Bytes in a second of a streamed result that is made whole in memory whose pages are not there yet: 5 to 7e9 beside three H200.
const FRESH: f64 = 6e9;

/// Seconds until threads are awake that slept while the GPU was waited for, where that takes long, and half of it where it takes [`DOZE`]: 200 products of f32 and f64 whose left factor came from an
/// H200 took 20 us longer than others after 12 us, 45 after 20, 60 after 50 and 100 after 170, 2026-11-29.
const AWAKE: f64 = 0.1e-3;
const DOZE: f64 = 30e-6;

/// Seconds until a kernel of cuBLAS's works, and for the root of how many products a sum has. Fitted to 1300 products of operands on an H200, half of which are within 10 % of that and nine tenths
/// within 23, 2026-11-29.
const KERNEL: f64 = 1.3e-6;
const DEPTH: f64 = 0.11e-6;

/// Seconds of arithmetic, or of the memory where that is slower, and of what the memory alone binds.
fn computed(job: &Job, processor: &Processor) -> f64 {
    let arithmetic = job.flops / processor.flops.of(job.unit);
    arithmetic.max(job.bytes() as f64 / processor.memory) + job.swept / processor.memory
}

/// Seconds of computation on the CPU, when so many were waited for the GPU. Of a product as its threads share it; those of integers are not faer's.
pub(super) fn computed_on_cpu(job: &Job, rates: &Rates, waited: f64) -> f64 {
    let cpu = &rates.cpu;
    let Some((extents, element_bytes)) = job.product.filter(|_| job.unit != Unit::Integer) else {
        return computed(job, cpu);
    };
    let ProductExtents { rows, columns, depth } = extents;
    let extents = [rows, columns, depth];
    let kind = Kind { bytes: element_bytes, real: real_operations(job.element), turned: job.turned };
    let (all, alone) = (cpu.flops.of(job.unit), rates.alone.of(job.unit));
    let core = |cores: usize| Core { flops: alone.min(all / cores as f64) };
    let in_parts = match Division::of(extents, kind, rates.threads) {
        Division::Alone => return core(1).seconds(extents, kind),
        Division::Parts(parts) => Division::seconds_of(core(parts.iter().product()), extents, parts, kind),
        Division::Shared => job.flops / all,
    };
    in_parts.max(job.bytes() as f64 / cpu.memory) + cpu.start.max(AWAKE * waited / (waited + DOZE))
}

/// Seconds of computation on a GPU.
fn computed_on_gpu(job: &Job, gpu: &Processor) -> f64 {
    let begins = match job.product {
        Some((extents, _)) if extents.rows > 1 && extents.columns > 1 => KERNEL + DEPTH * (extents.depth as f64).sqrt(),
        _ => 0.0,
    };
    computed(job, gpu) + begins
}

/// Seconds in which an operand comes from a disk, or a result goes there; none where it lies elsewhere.
pub(super) fn from_disk(operand: &Operand, rates: &Rates) -> f64 {
    if operand.at == At::Disk { operand.bytes as f64 / rates.disk } else { 0.0 }
}

/// On the CPU: what lies on the GPU is copied from there first.
pub(super) fn on_cpu(job: &Job, rates: &Rates) -> Cost {
    let is_product = job.product.is_some();
    let of = |operand: &Operand, copied: fn(u64, bool, &Link) -> f64| match operand.at {
        At::Gpu => rates.gpu.as_ref().map_or(0.0, |gpu| copied(operand.bytes, is_product, &gpu.link)),
        At::Disk => from_disk(operand, rates),
        At::Pinned | At::Pageable => 0.0,
    };
    let returned = |bytes: u64, is_product: bool, link: &Link| match passes(bytes, is_product) {
        true => call_to_gpu(bytes, link) + bytes as f64 / link.to_gpu,
        false => brought(bytes, link),
    };
    let bring: f64 = job.read.iter().flatten().map(|it| of(it, fetched)).sum();
    let compute = job.cpu_rounds as f64 * computed_on_cpu(job, rates, bring);
    Cost::in_turn(compute, bring, of(&job.written, returned), rates.cpu.call)
}

/// How something goes through a GPU that has no room for all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tiles {
    /// A product, in tiles.
    Product(MatmulPlan),
    /// Products of matrices with vectors, in panels.
    Matvec(MatvecPlan),
    /// Factors, in panels.
    Factors(PanelPlan),
    /// A solution, in panels: the factors first.
    Solution {
        /// Panels that are factored.
        factors: PanelPlan,
        /// Panels that are solved for.
        solution: PanelPlan,
    },
    /// An expression, in bands.
    Expression(ExpressionPlan),
    /// A product of bits, in tiles.
    Bits(BitPlan),
}

impl Tiles {
    pub(super) fn new(
        job: &Job,
        (what, element_bytes): (Divisible, usize),
        (budget, beside): Room<'_>,
    ) -> Result<Tiles, Error> {
        let (reads_c, by_rows) = (job.read[2].is_some(), job.tiling == Tiling::ByRows);
        match what {
            Divisible::Product(extents) => {
                MatmulPlan::suited(extents, element_bytes, budget, reads_c, by_rows).map(Tiles::Product)
            }
            Divisible::Matvec(extents) => match MatvecPlan::new(extents, element_bytes, budget, STAGES) {
                // Of one that is too wide for its rows to be there, parts of rows are.
                Err(_) if extents.count == 1 => {
                    MatmulPlan::suited(extents.stacked(), element_bytes, budget, reads_c, false).map(Tiles::Product)
                }
                plan => plan.map(Tiles::Matvec),
            },
            Divisible::Lu { size, together } => {
                let plan = PanelPlan::lu_beside(size, element_bytes, budget, beside)?;
                Ok(Tiles::Factors(plan.reading(together)))
            }
            Divisible::Cholesky { size, together } => {
                let plan = PanelPlan::cholesky_beside(size, element_bytes, budget, beside)?;
                Ok(Tiles::Factors(plan.reading(together)))
            }
            Divisible::Solution { size, columns, together } => {
                let [factors, solution] = PanelPlan::lu_solution([size, columns], element_bytes, budget, beside)?;
                Ok(Tiles::Solution { factors: factors.reading(together), solution })
            }
            Divisible::Expression(plan) => plan.within(budget).map(Tiles::Expression),
            Divisible::Bits(plan) => plan.within(budget).map(Tiles::Bits),
        }
    }

    /// Bytes of the processor's memory.
    pub(super) fn bytes(&self, beside: &Beside<'_>) -> u128 {
        match self {
            Tiles::Product(plan) => plan.device_bytes(),
            Tiles::Matvec(plan) => plan.device_bytes(),
            Tiles::Factors(plan) => plan.bytes_beside(beside),
            Tiles::Solution { factors, solution } => factors.bytes_beside(beside).max(solution.bytes_beside(beside)),
            Tiles::Expression(plan) => plan.device_bytes(),
            Tiles::Bits(plan) => plan.device_bytes(),
        }
    }

    /// Products of tiles and panels, one after the other.
    fn steps(&self) -> f64 {
        match self {
            Tiles::Product(plan) => plan.counts().into_iter().map(|count| count as f64).product(),
            _ => 0.0,
        }
    }

    /// Bytes that come from a disk: of a product each factor as often as there are tiles beside it.
    fn bytes_from_disk(&self, job: &Job) -> f64 {
        let on_disk = job.read.map(|it| it.filter(|it| it.at == At::Disk));
        let all = match self {
            Tiles::Product(plan) => {
                let [down, across, _] = plan.counts();
                let times = [across, down, 1].map(|times| times as f64);
                return on_disk.iter().zip(times).map(|(it, times)| it.map_or(0.0, |it| it.bytes as f64 * times)).sum();
            }
            // Each comes once; margins and bands that come twice are little beside the rest.
            Tiles::Matvec(_) | Tiles::Expression(_) | Tiles::Bits(_) => {
                return on_disk.iter().flatten().map(|it| it.bytes as f64).sum();
            }
            Tiles::Factors(plan) => plan.bytes_to_gpu(),
            Tiles::Solution { factors, solution } => factors.bytes_to_gpu() + solution.bytes_to_gpu(),
        };
        if on_disk.iter().any(Option::is_some) { all as f64 } else { 0.0 }
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
            Tiles::Matvec(plan) => match plan.matrices {
                0 | 1 => write!(f, "{} panels of {} rows", plan.panels(), plan.rows),
                matrices => write!(f, "{} panels of {matrices} matrices", plan.panels()),
            },
            Tiles::Factors(plan) => write!(f, "{} panels of {} columns", plan.panels(), plan.panel),
            Tiles::Solution { factors, solution } => {
                let panels = |plan: &PanelPlan| (plan.panels(), plan.panel);
                let ((count, width), (solved, across)) = (panels(factors), panels(solution));
                write!(f, "{count} panels of {width} columns, and {solved} of {across} that are solved for")
            }
            Tiles::Expression(plan) => match plan.dimension {
                Some(dimension) => write!(f, "{} bands of {} along {dimension}", plan.count(), plan.band),
                None => write!(f, "one band"),
            },
            Tiles::Bits(plan) => {
                let ([down, across], [rows, columns]) = (plan.counts(), plan.tile);
                write!(f, "{down} x {across} tiles of {rows} x {columns} bits")
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
pub(super) fn on_gpu(job: &Job, rates: &Rates, room: Room<'_>) -> Option<Result<OnGpu, Error>> {
    let (budget, _) = room;
    let gpu = rates.gpu.as_ref()?;
    let device_bytes = job.device_bytes.saturating_add(beside_all(job, room));
    let whole = (device_bytes <= budget).then(|| OnGpu { device_bytes, ..at_once(job, rates, gpu) });
    let is_tiled = job.tiling != Tiling::AsNeeded && job.divisible.is_some();
    let whole = match whole {
        Some(whole) if !is_tiled => return Some(Ok(whole)),
        whole => whole.filter(|_| job.is_at_hand),
    };
    let refused = || {
        let what = "device memory for one call as a whole";
        Error::Budget { what, requested: device_bytes, available: budget, limit: budget }
    };
    // What is there already is not streamed; bands of an expression read it where it is.
    let reads_there = |what: &Divisible| matches!(what, Divisible::Expression(_));
    let is_there = || job.read.iter().flatten().chain([&job.written]).any(|it| it.at == At::Gpu);
    let divisible = job.divisible.filter(|(what, _)| reads_there(what) || !is_there());
    let streamed = divisible.ok_or_else(refused).and_then(|what| streamed(job, rates, room, what));
    Some(match (streamed, whole) {
        (Ok(streamed), Some(whole)) if streamed.cost.wall <= whole.cost.wall => Ok(streamed),
        (_, Some(whole)) => Ok(whole),
        (streamed, None) => streamed,
    })
}

/// What cuSOLVER wants beside an LU factorisation of all columns at once. Where there is twice what the rest takes, nobody is asked: it is granted as it is taken.
fn beside_all(job: &Job, (budget, beside): Room<'_>) -> u64 {
    let (Some((Divisible::Lu { size, .. } | Divisible::Solution { size, .. }, element_bytes)), true) =
        (job.divisible, (budget / 2..=budget).contains(&job.device_bytes))
    else {
        return 0;
    };
    u64::try_from(beside(&PanelPlan::lu_at_once(size, element_bytes))).unwrap_or(u64::MAX)
}

/// All of it at once.
fn at_once(job: &Job, rates: &Rates, gpu: &Accelerator) -> OnGpu {
    let link = &gpu.link;
    let brought = |operand: &Operand| match operand.at {
        At::Gpu => 0.0,
        At::Pinned => call_to_gpu(operand.bytes, link) + operand.bytes as f64 / link.to_gpu,
        At::Pageable => brought(operand.bytes, link),
        At::Disk => call_to_gpu(operand.bytes, link) + operand.bytes as f64 / rates.disk.min(link.to_gpu),
    };
    let compute = job.rounds as f64 * computed_on_gpu(job, &gpu.processor) + job.steps as f64 * LAUNCH;
    let bring = job.read.iter().flatten().map(brought).sum();
    let bytes = job.written.bytes;
    let back = match job.written.at {
        At::Gpu => 0.0,
        At::Pinned => link.call_to_host + bytes as f64 / link.to_host,
        At::Pageable => delivered(bytes, job.product.is_some(), link),
        At::Disk => link.call_to_host + bytes as f64 / rates.disk.min(link.to_host),
    };
    let cost = Cost::in_turn(compute, bring, back, gpu.processor.call);
    OnGpu { cost, tiles: None, device_bytes: job.device_bytes }
}

fn streamed(job: &Job, rates: &Rates, (budget, beside): Room<'_>, what: (Divisible, usize)) -> Result<OnGpu, Error> {
    let times_in_memory = job.times_in_memory();
    let tiles = Tiles::new(job, what, (budget / times_in_memory, beside))?;
    let Some(gpu) = &rates.gpu else { return Err(Error::NoGpu { why: "no rates of one are known".into() }) };
    let reads_c = job.read[2].is_some();
    // Halves go through as f32, which TF32 multiplies.
    let unit = if matches!(job.element, "f16" | "bf16") { Unit::Tf32 } else { job.unit };
    let of_panels = |plan: &PanelPlan| plan.time(gpu, job.unit, real_operations(job.element) * plan.flops());
    let times = match &tiles {
        Tiles::Product(plan) => vec![plan.time(gpu, unit, job.flops, reads_c)],
        Tiles::Matvec(plan) => vec![plan.time(gpu, unit, job.flops, reads_c)],
        Tiles::Factors(plan) => vec![of_panels(plan)],
        Tiles::Solution { factors, solution } => [factors, solution].map(of_panels).to_vec(),
        Tiles::Expression(plan) => {
            let ExpressionTime { compute, to_gpu, to_host, wall } = plan.time(gpu);
            vec![MatmulTime { compute, to_gpu, to_host, wall }]
        }
        Tiles::Bits(plan) => {
            let time = plan.time(&gpu.link, gpu.processor.flops.of(job.unit));
            (0..job.rounds).map(|_| time).collect()
        }
    };
    let sum = |part: fn(&MatmulTime) -> f64| times.iter().map(part).sum::<f64>();
    // A disk gives each panel as often as the GPU asks for it.
    let bring = sum(|time| time.to_gpu).max(tiles.bytes_from_disk(job) / rates.disk);
    let back = sum(|time| time.to_host).max(from_disk(&job.written, rates));
    let call = match job.tiling {
        Tiling::AsNeeded => 0.0,
        Tiling::Always | Tiling::ByRows => gpu.processor.call + begin_of_stream(job, tiles.steps()),
    };
    // What follows from factors in host memory is computed there.
    let swept = job.swept / rates.cpu.memory;
    // A product in ordinary memory is made whole before it takes its place: what is large besides takes longer than that.
    let is_new = job.product.is_some() && job.tiling != Tiling::AsNeeded && job.written.at == At::Pageable;
    let fresh = if is_new { job.written.bytes as f64 / FRESH } else { 0.0 };
    let wall = sum(|time| time.wall).max(bring).max(back) + swept + call + fresh;
    let device_bytes = u64::try_from(tiles.bytes(beside)).unwrap_or(u64::MAX).saturating_mul(times_in_memory);
    let cost = Cost { compute: sum(|time| time.compute) + swept, bring, back, call, wall };
    Ok(OnGpu { cost, tiles: Some(tiles), device_bytes })
}
