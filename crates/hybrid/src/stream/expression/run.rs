//! An expression in bands on a device, through the pipeline.

use super::evaluation::{Evaluation, Fed, Made, On};
use super::plan::ExpressionPlan;
use super::window::Band;
use crate::Error;
use crate::store::Tile;
use crate::stream::control::Control;
use crate::stream::direct::Direct;
use crate::stream::engine::{Engine, Queue};
use crate::stream::hints::{self, Hinted, Part, Read};
use crate::stream::matmul::Traffic;
use crate::stream::pipeline::{self, Back, Feed, Flow};
use crate::stream::stages::facts;
use crate::stream::staging::Staging;
use crate::stream::turns::Stop;
use serde_json::{Value, json};

/// What computes windows in the memory of a device.
pub(super) trait Compute<E: Engine<u8>>: Sync {
    /// Queues ([`Queue::Compute`]) the expression on the window of a band.
    fn evaluate(
        &self,
        engine: &E,
        band: &Band,
        operands: &[&E::Buffer],
        results: &mut [E::Buffer],
    ) -> Result<(), Error>;

    /// What went wrong in what was queued, when all of it is done.
    fn outcome(&self) -> Result<(), Error>;
}

/// Runs an expression on a device, band by band, into sinks, which are not committed. Whoever fails first says why.
pub(super) fn run<E: Engine<u8>, C: Compute<E>>(
    engine: &E,
    compute: &C,
    (evaluation, plan, on): (&Evaluation<'_>, &ExpressionPlan, On),
    staging: Staging,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    control.unverified("evaluate", "an expression")?;
    let run = Run { compute, evaluation, plan, on, staging, control, direct: Direct::of(engine) };
    let mut operands = run.operands(engine)?;
    let memories = if evaluation.is_scattered() { 1 } else { plan.stages };
    let results = (0..memories).map(|_| run.results(engine)).collect::<Result<Vec<_>, Error>>()?;
    pipeline::run(engine, &run, staging, results, |feed| run.feed(engine, &mut operands, feed))?;
    compute.outcome()?;
    Ok(run.traffic())
}

/// An expression under way.
struct Run<'a, C> {
    compute: &'a C,
    evaluation: &'a Evaluation<'a>,
    plan: &'a ExpressionPlan,
    on: On,
    staging: Staging,
    control: Control<'a>,
    direct: Direct,
}

/// Memory of the device for operands: what is brought once, and a stage for each window under way; by the operands' numbers.
struct Operands<E: Engine<u8>> {
    once: Vec<Option<E::Buffer>>,
    stages: Vec<Vec<Option<E::Buffer>>>,
}

impl<'a, C: Sync> Run<'a, C> {
    fn operands<E: Engine<u8>>(&self, engine: &E) -> Result<Operands<E>, Error> {
        let (evaluation, window) = (self.evaluation, self.plan.window());
        let mut once: Vec<Option<E::Buffer>> = evaluation.fed.iter().map(|_| None).collect();
        for (number, fed) in evaluation.brought_whole(self.on) {
            once[number] = Some(engine.buffer(fed.shape.bytes())?);
        }
        let stage = |_| {
            let mut stage: Vec<Option<E::Buffer>> = evaluation.fed.iter().map(|_| None).collect();
            for (number, fed) in evaluation.banded(self.on) {
                stage[number] = Some(engine.buffer(evaluation.bytes_in(&fed.shape, window))?);
            }
            Ok(stage)
        };
        Ok(Operands { once, stages: (0..self.plan.stages).map(stage).collect::<Result<_, Error>>()? })
    }

    fn results<E: Engine<u8>>(&self, engine: &E) -> Result<Vec<E::Buffer>, Error> {
        let bytes = |made: &Made<'_>| self.evaluation.bytes_made(made, self.plan.made());
        self.evaluation.brought_back(self.on).map(|(_, made)| engine.buffer(bytes(made))).collect()
    }

    /// Elements that a slot has room for.
    fn slot(&self, element_bytes: usize) -> usize {
        self.staging.elements / element_bytes
    }

    /// A tile of an operand in parts that fit a slot.
    fn parts_of(&self, fed: &'a Fed<'a>, tile: &Tile) -> impl Iterator<Item = Tile> + use<C> {
        tile.parts(self.slot(fed.shape.element_bytes()), fed.source().grain())
    }

    /// What is brought before the first window.
    fn pieces_once(&self) -> impl Iterator<Item = (usize, &'a Fed<'a>, Tile)> + use<'a, C> {
        self.evaluation.brought_whole(self.on).map(|(number, fed)| (number, fed, fed.shape.whole()))
    }

    /// What is brought for a window, and to which byte of its memory.
    fn pieces_of(&self, band: &Band) -> impl Iterator<Item = (usize, &'a Fed<'a>, (Tile, usize))> {
        self.evaluation.banded(self.on).flat_map(|(number, fed)| {
            let pieces = self.evaluation.pieces(number, self.plan, band).into_iter();
            pieces.map(move |piece| (number, fed, piece))
        })
    }

    /// All that goes through slots.
    fn reads(&self) -> impl Iterator<Item = Read<'a, Part<'a>>> {
        let evaluation = self.evaluation;
        let once = self.pieces_once().map(|(_, fed, tile)| (fed, tile, None));
        let nexts = self.plan.bands().skip(1).map(Some).chain([None]);
        let of_bands = self.plan.bands().zip(nexts).flat_map(move |(band, next)| {
            let again = |number: usize, fed: &Fed<'_>| {
                let next = next.as_ref().map(|next| evaluation.window_of(number, next));
                let again = evaluation.window_of(number, &band).again(next.as_ref())?;
                Some(evaluation.tile(&fed.shape, &again))
            };
            self.pieces_of(&band).map(|(number, fed, (tile, _))| (fed, tile, again(number, fed))).collect::<Vec<_>>()
        });
        let staged = move |fed: &Fed<'_>| self.direct.from(fed.source(), self.columns(fed)).is_none();
        once.chain(of_bands).filter(move |(fed, ..)| staged(fed)).flat_map(move |(fed, tile, again)| {
            let shared = evaluation.is_shared(fed);
            self.parts_of(fed, &tile).map(move |part| {
                // Windows with a margin begin where the one before has not ended.
                let done = again.as_ref().map_or(Some(part.clone()), |again| part.beside(again));
                Read::of(fed.source(), part, done.filter(|_| !shared))
            })
        })
    }

    /// Keeps the device busy.
    fn feed<E: Engine<u8>>(
        &self,
        engine: &E,
        operands: &mut Operands<E>,
        feed: &mut Feed<'_, u8, E, Self>,
    ) -> Result<(), Stop>
    where
        C: Compute<E>,
    {
        let steps = self.plan.count() as u64;
        self.control.check(0, steps)?;
        for (number, fed, tile) in self.pieces_once() {
            self.bring(feed, (fed, &tile), (&mut operands.once[number], 0))?;
        }
        // Behind the last kernel that read a stage's windows.
        let mut read: Vec<Option<E::Mark>> = operands.stages.iter().map(|_| None).collect();
        let mut whole = None;
        for (number, band) in self.plan.bands().enumerate() {
            let (done, stage) = (number as u64, number % operands.stages.len());
            self.control.check(done, steps)?;
            if let Some(read) = &read[stage] {
                engine.wait(Queue::In, read)?;
            }
            for (number, fed, (tile, at)) in self.pieces_of(&band) {
                self.bring(feed, (fed, &tile), (&mut operands.stages[stage][number], at))?;
            }
            let mut buffers = whole.take().map_or_else(|| feed.take_for(Queue::Compute), Ok)?;
            engine.wait(Queue::Compute, &engine.mark(Queue::In)?)?;
            let all = operands.once.iter().zip(&operands.stages[stage]);
            let all: Vec<&E::Buffer> = all.filter_map(|(once, window)| once.as_ref().or(window.as_ref())).collect();
            let facts = || json!({ "band": number, "window": format!("{:?}", band.window) });
            feed.compute(facts, || self.compute.evaluate(engine, &band, &all, &mut buffers))?;
            read[stage] = Some(engine.mark(Queue::Compute)?);
            // What bands are scattered into goes back behind the last one.
            match self.evaluation.is_scattered() && done + 1 < steps {
                true => whole = Some(buffers),
                false => feed.give(band, buffers)?,
            }
            self.control.tell(done + 1, steps);
        }
        Ok(())
    }

    /// Has a tile come into the memory for it from a byte on, if it has any, in parts as they were read.
    fn bring<E: Engine<u8>>(
        &self,
        feed: &mut Feed<'_, u8, E, Self>,
        (fed, tile): (&'a Fed<'a>, &Tile),
        (to, mut at): (&mut Option<E::Buffer>, usize),
    ) -> Result<(), Stop>
    where
        C: Compute<E>,
    {
        let Some(to) = to else { return Ok(()) };
        if let Some(locked) = self.direct.from(fed.source(), self.columns(fed)) {
            return feed.bring_rows((locked.bytes, &locked.rows(tile)), tile, (to, at));
        }
        for part in self.parts_of(fed, tile) {
            let bytes = part.count() * fed.shape.element_bytes();
            feed.bring(bytes, to, at)?;
            at += bytes;
        }
        Ok(())
    }

    /// Columns of a whole window's tile of an operand.
    fn columns(&self, fed: &Fed<'_>) -> usize {
        self.evaluation.columns_of(fed, self.plan)
    }

    /// Columns of a whole band's tile of a result.
    fn columns_made(&self, made: &Made<'_>) -> usize {
        self.evaluation.columns_made(made, self.plan)
    }

    /// Where what is made of a band begins in the memory of its window, in bytes, and which tile it is.
    fn result(&self, made: &Made<'_>, band: &Band) -> (usize, Tile) {
        let (bytes, tile) = self.evaluation.part(made, self.plan, band);
        (bytes.start, tile)
    }

    /// What a whole run copies.
    fn traffic(&self) -> Traffic {
        let [to_gpu, to_host] =
            [self.plan.bytes_to_gpu(), self.plan.bytes_to_host()].map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX));
        Traffic { to_gpu, to_host }
    }
}

impl<'a, E: Engine<u8>, C: Compute<E>> Flow<u8, E> for Run<'a, C> {
    type Piece = Hinted<'a, Part<'a>>;
    type Memory = Vec<E::Buffer>;
    type Results = Band;
    /// Of which result.
    type Part = (usize, Tile);

    fn pieces(&self) -> impl Iterator<Item = Result<Self::Piece, Stop>> + Send {
        hints::hinted(self.reads(), self.reads(), &self.staging).map(Ok)
    }

    fn facts_of_piece(&self, piece: &Self::Piece) -> Value {
        facts(&piece.piece.1)
    }

    fn facts_of_part(&self, (_, tile): &Self::Part) -> Value {
        facts(tile)
    }

    fn read(&self, piece: Self::Piece, host: &mut E::Host) -> Result<(), Error> {
        piece.read(|(source, part)| {
            let bytes = part.count() * source.element().bytes();
            source.read_tile(&part, &mut host[..bytes])
        })
    }

    fn land(&self, engine: &E, buffers: &Vec<E::Buffer>, band: &Band) -> Result<Vec<Self::Part>, Error> {
        let there = self.evaluation.made.iter().enumerate().filter(|(_, made)| made.is_on(self.on));
        let mut landed: Vec<_> = there.map(|(number, made)| (number, self.result(made, band).1)).collect();
        for ((number, made), buffer) in self.evaluation.brought_back(self.on).zip(buffers) {
            let (at, tile) = self.result(made, band);
            if self.direct.land(engine, (buffer, at), (made.sink(), &tile, self.columns_made(made)))? {
                landed.push((number, tile));
            }
        }
        Ok(landed)
    }

    fn landed(&self, (result, tile): &Self::Part) {
        let made = &self.evaluation.made[*result];
        if let Some(there) = made.goal.resident().filter(|_| made.is_on(self.on)) {
            return there.landed(tile);
        }
        self.direct.to(made.sink(), self.columns_made(made)).into_iter().for_each(|sink| sink.landed(tile));
    }

    fn parts(&self, band: Band) -> impl Iterator<Item = Back<Self::Part>> {
        let is_staged = |made: &Made<'_>| self.direct.to(made.sink(), self.columns_made(made)).is_none();
        let made = self.evaluation.brought_back(self.on).enumerate().filter(move |(_, (_, made))| is_staged(made));
        made.flat_map(move |(buffer, (result, made))| {
            let element = made.shape.element_bytes();
            let (begin, tile) = self.result(made, &band);
            let back = pipeline::backwards(0, tile.parts(self.slot(element), made.sink().grain()));
            back.map(move |Back { at, elements, part, .. }| Back {
                buffer,
                at: begin + at * element,
                elements: elements * element,
                part: (result, part),
            })
        })
    }

    fn write(&self, (result, part): &Self::Part, host: &mut E::Host) -> Result<(), Error> {
        let made = &self.evaluation.made[*result];
        made.sink().write_tile(part, &host[..part.count() * made.shape.element_bytes()])
    }
}
