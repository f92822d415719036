//! Products of matrices with vectors through the pipeline: panels of the matrices to the device, each once, vectors with them, results back.

use super::brought::{Brought, fill};
use super::control::Control;
use super::direct::Direct;
use super::engine::{Engine, Multiplication, Multiplier, Queue};
use super::hints::{self, Hinted, Part, Read};
use super::matmul::{Factor, Product, Traffic};
use super::matvec_plan::{MatvecPlan, Panel};
use super::pipeline::{self, Back, Feed, Flow};
use super::stages::facts;
use super::staging::Staging;
use super::turns::Stop;
use super::verify::ReadBack;
use crate::Error;
use crate::dispatch;
use crate::linear::Scalar;
use crate::store::{Sink, Source, Stored, Tile};
use serde_json::Value;

/// Runs the products of a batch on a device, panel by panel, into a sink, which is not committed. Whoever fails first says why.
pub(super) fn run<T: Scalar + Stored, E: Multiplier<T>>(
    engine: &E,
    plan: &MatvecPlan,
    product: &Product<'_, T>,
    sink: &dyn Sink,
    staging: Staging,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let checked = control.verify.map(|verify| Ok::<_, Error>((verify, ReadBack::of(sink)?))).transpose()?;
    let run = Run { plan, product, sink, staging, control, direct: Direct::of(engine) };
    let ([a, x, y], [panels, vectors, results]) = (plan.tiles(), plan.buffers());
    let mut panels = stages(engine, panels, a[0] * a[1])?;
    let mut vectors = stages(engine, vectors, x[0])?;
    let results = (0..results).map(|_| Ok::<_, Error>([engine.buffer(y[0])?])).collect::<Result<Vec<_>, _>>()?;
    pipeline::run(engine, &run, staging, results, |feed| run.feed(engine, [&mut panels, &mut vectors], feed))?;
    if let Some((verify, result)) = checked {
        let go_on = || control.check(run.steps(), run.steps());
        dispatch::checked(verify.check_with(product, plan.extents.rows, engine.entering(), &result, &go_on)?);
    }
    Ok(run.traffic())
}

/// Memory of the device that is written again and again, each time behind the last product that read it.
struct Stage<T, E: Engine<T>> {
    buffer: E::Buffer,
    read: Option<E::Mark>,
}

fn stages<T, E: Engine<T>>(engine: &E, count: usize, elements: usize) -> Result<Vec<Stage<T, E>>, Error> {
    (0..count).map(|_| Ok(Stage { buffer: engine.buffer(elements)?, read: None })).collect()
}

/// Products under way.
struct Run<'a, T> {
    plan: &'a MatvecPlan,
    product: &'a Product<'a, T>,
    sink: &'a dyn Sink,
    staging: Staging,
    control: Control<'a>,
    direct: Direct,
}

impl<'a, T: Scalar + Stored> Run<'a, T> {
    fn steps(&self) -> u64 {
        self.plan.panels() as u64
    }

    /// Whether anything of the factors enters.
    fn multiplies(&self) -> bool {
        self.product.alpha != T::ZERO && self.plan.extents.columns > 0
    }

    /// What is added to a panel's results, where there is something to add.
    fn added(&self, panel: &Panel) -> Option<Brought<'a>> {
        let source = self.product.c.filter(|_| self.product.beta != T::ZERO)?;
        Some(Brought::of(self.direct, source, panel.column(), 1, !self.is_shared(source)))
    }

    /// The rows of a panel.
    fn matrices(&self, panel: &Panel) -> Option<Brought<'a>> {
        let columns = 0..self.plan.extents.columns;
        self.factor(&self.product.a, self.product.a.stored(panel.below.clone(), columns), self.plan.tiles()[0])
    }

    /// The vectors of its matrices, if it is the first panel of these.
    fn vectors(&self, panel: &Panel) -> Option<Brought<'a>> {
        let x = &self.product.b;
        self.factor(x, x.stored(panel.vectors.clone(), 0..1), self.plan.tiles()[1]).filter(|_| panel.rows.start == 0)
    }

    fn factor(&self, factor: &Factor<'a>, tile: Tile, of_all: [usize; 2]) -> Option<Brought<'a>> {
        let (source, columns) = (factor.source, factor.form.stored(of_all)[1]);
        let brought = Brought::of(self.direct, source, tile, columns, !self.is_shared(source));
        self.multiplies().then_some(brought)
    }

    fn is_shared(&self, source: &dyn Source) -> bool {
        let Product { a, b, c, .. } = self.product;
        hints::is_shared(source, [Some(a.source), Some(b.source), *c].into_iter().flatten())
    }

    /// All that is brought, panel by panel.
    fn brought(&self) -> impl Iterator<Item = Brought<'a>> {
        self.plan.each().flat_map(move |panel| {
            [self.added(&panel), self.vectors(&panel), self.matrices(&panel)].into_iter().flatten()
        })
    }

    fn reads(&self) -> impl Iterator<Item = Read<'a, Part<'a>>> {
        self.brought().flat_map(|brought| brought.reads(self.staging.elements))
    }

    /// Keeps the device busy.
    fn feed<E: Multiplier<T>>(
        &self,
        engine: &E,
        [panels, vectors]: [&mut [Stage<T, E>]; 2],
        feed: &mut Feed<'_, T, E, Self>,
    ) -> Result<(), Stop> {
        let steps = self.steps();
        for (number, panel) in self.plan.each().enumerate() {
            self.control.check(number as u64, steps)?;
            let added = self.added(&panel);
            let mut y = feed.take_for(if added.is_some() { Queue::In } else { Queue::Compute })?;
            if let Some(added) = added {
                added.bring(feed, self.staging.elements, &mut y[0])?;
            }
            let x = &mut vectors[panel.matrices.start / self.plan.matrices.max(1) % vectors.len()];
            let a = &mut panels[number % panels.len()];
            for (brought, to) in [(self.vectors(&panel), &mut *x), (self.matrices(&panel), &mut *a)] {
                let Some(brought) = brought else { continue };
                to.read.as_ref().map_or(Ok(()), |read| engine.wait(Queue::In, read))?;
                brought.bring(feed, self.staging.elements, &mut to.buffer)?;
            }
            engine.wait(Queue::Compute, &engine.mark(Queue::In)?)?;
            let (what, factors) = (self.multiplication(&panel), [&a.buffer, &x.buffer]);
            feed.compute(|| facts(&panel.column()), || engine.multiply(&what, factors, &mut y[0]))?;
            (a.read, x.read) = (Some(engine.mark(Queue::Compute)?), Some(engine.mark(Queue::Compute)?));
            feed.give(panel, y)?;
            self.control.tell(number as u64 + 1, steps);
        }
        Ok(())
    }

    fn multiplication(&self, panel: &Panel) -> Multiplication<T> {
        let (Product { a, b, alpha, beta, .. }, rows) = (*self.product, panel.below.len());
        let whole = Multiplication {
            rows,
            first: 0,
            part: rows,
            count: 1,
            columns: 1,
            depth: 0,
            forms: [a.form, b.form],
            alpha,
            beta,
        };
        match self.multiplies() {
            true => {
                let (part, count, depth) = (panel.rows.len(), panel.matrices.len(), self.plan.extents.columns);
                Multiplication { part, count, depth, ..whole }
            }
            false => whole,
        }
    }

    /// What a whole run copies.
    fn traffic(&self) -> Traffic {
        let bytes = |elements: usize| elements as u64 * self.plan.element_bytes as u64;
        let to_gpu = self.brought().map(|brought| bytes(brought.tile.count())).sum();
        Traffic { to_gpu, to_host: self.plan.each().map(|panel| bytes(panel.below.len())).sum() }
    }
}

impl<'a, T: Scalar + Stored, E: Multiplier<T>> Flow<T, E> for Run<'a, T> {
    type Piece = Hinted<'a, Part<'a>>;
    type Memory = [E::Buffer; 1];
    type Results = Panel;
    type Part = Tile;

    fn pieces(&self) -> impl Iterator<Item = Result<Self::Piece, Stop>> + Send {
        hints::hinted(self.reads(), self.reads(), &self.staging).map(Ok)
    }

    fn facts_of_piece(&self, piece: &Self::Piece) -> Value {
        facts(&piece.piece.1)
    }

    fn facts_of_part(&self, tile: &Tile) -> Value {
        facts(tile)
    }

    fn read(&self, piece: Self::Piece, host: &mut E::Host) -> Result<(), Error> {
        piece.read(|part| fill(part, host))
    }

    fn land(&self, engine: &E, [y]: &[E::Buffer; 1], panel: &Panel) -> Result<Vec<Tile>, Error> {
        let landed = self.direct.land(engine, (y, 0), (self.sink, &panel.column(), 1))?;
        Ok(landed.then(|| panel.column()).into_iter().collect())
    }

    fn landed(&self, tile: &Tile) {
        self.direct.to(self.sink, 1).into_iter().for_each(|sink| sink.landed(tile));
    }

    fn parts(&self, panel: Panel) -> impl Iterator<Item = Back<Tile>> {
        let is_staged = self.direct.to(self.sink, 1).is_none();
        let parts = is_staged.then(|| panel.column().parts(self.staging.elements, self.sink.grain()));
        pipeline::backwards(0, parts.into_iter().flatten())
    }

    fn write(&self, part: &Tile, host: &mut E::Host) -> Result<(), Error> {
        self.sink.write_tile(part, T::bytes(&host[..part.count()]))
    }
}
