//! What decisions cost that are wrong.

use super::super::add;
use super::super::matmul::Real;
use super::timed::{Operands, PLACES, Took, extents, fastest};
use crate::Result;
use crate::cases::Random;
use crate::report::Report;
use crate::session::Session;
use tilewright_hybrid::dispatch::{At, Choice, Decision, ProductExtents, Rates};
use tilewright_hybrid::linear::{Gpu, Precision};
use tilewright_hybrid::{Device, Operand, Side, Target};

const POINTS: usize = 200;
/// Turns go on for so many seconds at most.
const PATIENCE: f64 = 1.0;
/// A loss above this is marked.
const TOLD: f64 = 1.1;

/// What a point of the sweep took on either side, what was expected, and which side a device chose that had tried both
/// ([`Device::learning`]).
struct Point {
    decision: Decision,
    learned: Side,
    cpu: Took,
    gpu: Took,
}

impl Point {
    /// What the chosen side took over what the better one did.
    fn loss(&self) -> f64 {
        self.loss_of(self.decision.side)
    }

    /// The same of the side that was learned.
    fn learned_loss(&self) -> f64 {
        self.loss_of(self.learned)
    }

    fn loss_of(&self, side: Side) -> f64 {
        let [chosen, other] = self.this_and_other(side).map(|side| side.0[0]);
        chosen / chosen.min(other)
    }

    fn this_and_other(&self, side: Side) -> [Took; 2] {
        if side == Side::Gpu { [self.gpu, self.cpu] } else { [self.cpu, self.gpu] }
    }

    /// Whether another measurement would say the same: the chosen side was faster in any case, or the runs of both agree.
    fn is_sure(&self) -> bool {
        let is_sure = |side| {
            let [chosen, other] = self.this_and_other(side);
            chosen.0[1] <= other.0[0] || (chosen.agrees() && other.agrees())
        };
        is_sure(self.decision.side) && is_sure(self.learned)
    }

    /// Whether both sides took between half and twice what was expected.
    fn is_as_expected(&self) -> bool {
        let gpu = self.decision.gpu.as_ref().map_or(f64::NAN, |gpu| gpu.cost.wall);
        [(self.cpu, self.decision.cpu.wall), (self.gpu, gpu)]
            .iter()
            .all(|(took, expected)| (0.5..=2.0).contains(&(took.0[0] / expected)))
    }
}

/// Measures `dispatch/sweep`: products of random extents from several places, on both sides.
pub(in super::super) fn sweep(session: &Session, case: &str, quick: bool, report: &mut Report) -> Result<()> {
    let gpu = Gpu::new(session.gpu.stream());
    // What calls learn of products, the sweep has from its beginning.
    let rates = Device::with(&gpu).measure_products()?;
    let mut random = Random::new(200);
    let mut points = Vec::new();
    for number in 0..if quick { POINTS / 20 } else { POINTS } {
        let (extents, at) = (extents(&mut random), PLACES[number % PLACES.len()]);
        let point = match number % 2 {
            0 => point::<f64>(&gpu, &rates, extents, at)?,
            _ => point::<f32>(&gpu, &rates, extents, at)?,
        };
        let ProductExtents { rows, columns, depth } = extents;
        let (cpu, gpu, learned) = (point.cpu.0[0] * 1e3, point.gpu.0[0] * 1e3, point.learned);
        let far = if point.loss().max(point.learned_loss()) > TOLD { ", FAR" } else { "" };
        let sure = if point.is_sure() { "" } else { ", left out: turns of it do not agree" };
        let decision = &point.decision;
        eprintln!(
            "{rows} {columns} {depth} {at:?}: {cpu:.3} ms on the CPU, {gpu:.3} on the GPU{far}{sure}; {decision}; learned: {learned:?}"
        );
        points.push(point);
    }
    let asked = points.len();
    points.retain(Point::is_sure);
    let count = points.len() as f64;
    let losses = || points.iter().map(Point::loss);
    let percent =
        |chosen: &dyn Fn(&Point) -> bool| 100.0 * points.iter().filter(|point| chosen(point)).count() as f64 / count;
    let figures = [
        ("mean_loss", losses().sum::<f64>() / count, "x"),
        ("worst_loss", losses().fold(1.0, f64::max), "x"),
        ("mean_loss_learned", points.iter().map(Point::learned_loss).sum::<f64>() / count, "x"),
        ("worst_loss_learned", points.iter().map(Point::learned_loss).fold(1.0, f64::max), "x"),
        ("wrong", percent(&|point| point.loss() > 1.0), "%"),
        ("on_gpu", percent(&|point| point.decision.side == Side::Gpu), "%"),
        ("within_twice", percent(&Point::is_as_expected), "%"),
        ("left_out", (asked - points.len()) as f64, "points"),
    ];
    add(report, case, &figures);
    Ok(())
}

fn point<T: Real>(gpu: &Gpu, rates: &Rates, extents: ProductExtents, at: [At; 3]) -> Result<Point> {
    let mut operands = Operands::<T>::new(gpu, extents, at)?;
    let device = Device::with(gpu).rated(*rates);
    let plan = |factors: [Operand<'_, T>; 2], c: Target<'_, T>| {
        Ok(device.plan_product(Precision::Auto, factors, T::ZERO, &c)?)
    };
    let decision = operands.with(plan)?;
    let sides = [Choice::Cpu, Choice::Gpu].map(|choice| device.clone().choosing(choice));
    let [cpu, gpu] = fastest(PATIENCE, |side| operands.multiply(&sides[side]))?;
    Ok(Point { learned: operands.learned(&device.learning())?, decision, cpu, gpu })
}
