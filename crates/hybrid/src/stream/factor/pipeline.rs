//! A left-looking pass, through the pipeline of all streams.
//!
//! On the device a panel is stored column by column, as cuSOLVER wants it. What comes from a source lies row by row, goes through the memory of
//! a slice, and is transposed on its way into the panel. The scratch keeps the factors column by column, so that slices, and panels that go
//! back, are whole lines of it.

use super::super::control::Control;
use super::super::engine::{Eliminator, Form};
use super::super::hints::{self, Hinted, Read};
use super::super::matmul::{Factor, Traffic};
use super::super::pipeline::{self, Back, Flow, Held};
use super::super::stages::facts;
use super::super::staging::Staging;
use super::super::turns::Stop;
use super::elimination::Feeder;
use super::memory::PanelMemory;
use super::plan::{PanelPlan, Pass};
use super::schedule::Task;
use super::written::Written;
use crate::Error;
use crate::linear::Scalar;
use crate::store::{Scratch, Sink, Source, Stored, Tile};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::ops::Range;

/// Where a panel goes.
#[derive(Clone, Copy)]
pub(super) enum Target<'a> {
    /// To the scratch: it is a part of the factors.
    Factors,
    /// To a sink: it is a part of a solution.
    Solution(&'a dyn Sink),
}

/// A pass under way.
pub(super) struct Run<'a> {
    pub(super) plan: &'a PanelPlan,
    pub(super) source: Factor<'a>,
    pub(super) scratch: &'a dyn Scratch,
    pub(super) target: Target<'a>,
    pub(super) staging: Staging,
    pub(super) watch: Watch<'a>,
    /// What goes through L with the factors.
    pub(super) carried: Option<Carried<'a>>,
    /// Panels that are in the scratch.
    pub(super) written: Written,
}

/// Further columns of a matrix that is factored.
#[derive(Clone, Copy)]
pub(super) struct Carried<'a> {
    pub(super) from: Factor<'a>,
    /// A row of it is a column of what has gone through L.
    pub(super) to: &'a dyn Scratch,
}

/// Who watches a pass that may be a part of something longer.
#[derive(Clone, Copy)]
pub(super) struct Watch<'a> {
    pub(super) control: Control<'a>,
    /// Steps before the pass.
    pub(super) before: u64,
    /// Steps of the whole.
    pub(super) steps: u64,
}

impl Watch<'_> {
    pub(super) fn check(&self, done: u64) -> Result<(), Error> {
        self.control.check(self.before + done, self.steps)
    }

    pub(super) fn tell(&self, done: u64) {
        self.control.tell(self.before + done, self.steps);
    }
}

/// What a pass found: exchanges of rows, block by block, and the diagonal of the factor.
#[derive(Clone, Debug)]
pub(super) struct Found<T> {
    pub(super) exchanges: Vec<Vec<usize>>,
    pub(super) diagonal: Vec<T>,
}

impl<T> Default for Found<T> {
    fn default() -> Found<T> {
        Found { exchanges: Vec::new(), diagonal: Vec::new() }
    }
}

/// Where the elements of a slot belong.
pub(super) struct Part {
    /// The number of their panel.
    panel: usize,
    tile: Tile,
}

impl<'a> Run<'a> {
    /// Runs the pass on a device; `known` are the exchanges of factors that solutions are made with. Whoever fails first says why.
    pub(super) fn run<T: Scalar + Stored, E: Eliminator<T>>(
        &self,
        engine: &E,
        known: &[Vec<usize>],
    ) -> Result<(Found<T>, Traffic), Error> {
        self.watch.control.unverified("a streamed factorisation", T::NAME)?;
        let buffers = |(number, elements): (usize, usize)| {
            (0..number).map(|_| engine.buffer(elements)).collect::<Result<Vec<_>, Error>>()
        };
        let [panels, slices, meets, back] = self.plan.buffers();
        let (panels, slices, meets, back) = (buffers(panels)?, buffers(slices)?, buffers(meets)?, buffers(back)?);
        // What goes back is a panel, or a band of one.
        let (kept, given) = if self.plan.factors() { (Vec::new(), panels) } else { (panels, back) };
        let given = given.into_iter().map(PanelMemory::new).collect();
        let found = pipeline::run(engine, self, self.staging, given, |feed| {
            let feeder = Feeder {
                engine,
                run: self,
                panels: kept.into_iter().map(|buffer| Held::new(engine, PanelMemory::new(buffer))).collect(),
                slices: slices.into_iter().map(|buffer| (buffer, None)).collect(),
                next: 0,
                meets: meets.into_iter().next(),
                under_way: VecDeque::new(),
                beside: None,
                finished_panels: 0,
                exchanges: Vec::new(),
                found: Found::default(),
                feed,
            };
            feeder.feed(known)
        })?;
        Ok((found, self.traffic()))
    }

    fn traffic(&self) -> Traffic {
        let bytes = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
        Traffic { to_gpu: bytes(self.plan.bytes_to_gpu()), to_host: bytes(self.plan.bytes_to_host()) }
    }

    /// What becomes this part of a panel.
    pub(super) fn loaded(&self, rows: &Range<usize>, columns: &Range<usize>) -> (From<'a>, Tile) {
        let size = self.plan.size;
        match self.carried.filter(|_| columns.start >= size) {
            Some(Carried { from, .. }) => {
                (From::Carried(from), from.stored(rows.clone(), columns.start - size..columns.end - size))
            }
            None => (From::Source(self.source), self.source.stored(rows.clone(), columns.clone())),
        }
    }

    /// Parts of a tile of the source, or of the scratch, that a slot has room for.
    pub(super) fn parts_of(&self, source: &dyn Source, tile: &Tile) -> impl Iterator<Item = Tile> + use<> {
        tile.parts(self.staging.elements, source.grain())
    }

    /// What fills slots for a task, one tile behind the other. Sources are read once; of the scratch, which is read often, stores hear nothing, as what
    /// is read next may not have been written.
    fn reads_of(&self, task: &Task) -> Vec<Read<'a, (From<'a>, Tile)>> {
        let load = match task {
            Task::Load { rows, columns, .. } => Some(self.loaded(rows, columns)),
            _ => None,
        };
        let streamed = self.plan.streamed(task).map(|tile| (From::Scratch(self.scratch), tile));
        let read = |from: From<'a>, part: Tile| {
            let heard = !matches!(from, From::Scratch(_));
            let heard = heard.then(|| (from.stored(), part.clone()));
            Read { done: heard.as_ref().map(|(_, part)| part.clone()), part: heard, piece: (from, part) }
        };
        let parts =
            |(from, tile): (From<'a>, Tile)| self.parts_of(from.stored(), &tile).map(move |part| read(from, part));
        load.into_iter().chain(streamed).flat_map(parts).collect()
    }

    /// Waits until what a task reads from the scratch is there.
    fn wait_for(&self, task: &Task) -> Result<(), Stop> {
        match self.plan.streamed(task).filter(|_| self.plan.factors()) {
            Some(tile) => self.written.wait_for(tile.rows.end.div_ceil(self.plan.panel)),
            None => Ok(()),
        }
    }

    /// cuSOLVER loses NaN on its way through LU, where a pivot beside it is a number.
    fn refuse_not_finite<T: Scalar>(&self, form: Form, values: &[T], part: &Tile) -> Result<(), Error> {
        if self.plan.pass != Pass::Lu {
            return Ok(());
        }
        let Some(at) = values.iter().position(|value| !value.is_finite()) else { return Ok(()) };
        let (along, across) = (part.rows.start + at / part.columns.len(), part.columns.start + at % part.columns.len());
        let (row, column) = if form == Form::Plain { (along, across) } else { (across, along) };
        Err(Error::NotFinite { operation: "a streamed LU factorisation", row, column })
    }

    /// What copies do not do: conjugates, and a diagonal without imaginary parts, of which Cholesky's factorisation knows nothing.
    fn adapt<T: Scalar>(&self, form: Form, values: &mut [T], piece: &Tile) {
        if !T::COMPLEX {
            return;
        }
        if form == Form::Adjoint {
            values.iter_mut().for_each(|value| *value = value.conjugate());
        }
        if self.plan.pass == Pass::Cholesky {
            make_diagonal_real(values, piece);
        }
    }
}

/// Where a slot is filled from.
#[derive(Clone, Copy)]
pub(super) enum From<'a> {
    Source(Factor<'a>),
    Carried(Factor<'a>),
    Scratch(&'a dyn Scratch),
}

impl<'a> From<'a> {
    pub(super) fn stored(self) -> &'a dyn Source {
        match self {
            From::Source(factor) | From::Carried(factor) => factor.source,
            From::Scratch(scratch) => scratch,
        }
    }

    pub(super) fn form(self) -> Form {
        match self {
            From::Source(factor) | From::Carried(factor) => factor.form,
            From::Scratch(_) => Form::Plain,
        }
    }
}

impl<'a, T: Scalar + Stored, E: Eliminator<T>> Flow<T, E> for Run<'a> {
    type Piece = Hinted<'a, (From<'a>, Tile)>;
    type Memory = PanelMemory<E::Buffer>;
    /// A panel, or a band of one: its number, and where it goes.
    type Results = (usize, Tile);
    type Part = Part;

    fn pieces(&self) -> impl Iterator<Item = Result<Self::Piece, Stop>> + Send {
        let mut ahead = hints::ahead(self.plan.tasks().flat_map(|task| self.reads_of(&task)), &self.staging);
        self.plan.tasks().flat_map(move |task| {
            let ready = self.wait_for(&task);
            let reads = if ready.is_ok() { self.reads_of(&task) } else { Vec::new() };
            let hinted = |read: Read<'a, _>| Ok(read.hinted(ahead.next().flatten(), self.staging.releases));
            ready.err().map(Err).into_iter().chain(reads.into_iter().map(hinted)).collect::<Vec<_>>()
        })
    }

    fn facts_of_piece(&self, piece: &Self::Piece) -> Value {
        facts(&piece.piece.1)
    }

    fn facts_of_part(&self, Part { panel, tile }: &Part) -> Value {
        json!({ "panel": panel, "tile": facts(tile) })
    }

    fn read(&self, piece: Self::Piece, host: &mut E::Host) -> Result<(), Error> {
        piece.read(|(from, part)| {
            let values = &mut host[..part.count()];
            T::fill(values, &mut |bytes| from.stored().read_tile(&part, bytes))?;
            match from {
                From::Source(factor) => self.refuse_not_finite(factor.form, values, &part)?,
                From::Carried(_) => {}
                From::Scratch(_) => return Ok(()),
            }
            self.adapt(from.form(), values, &part);
            Ok(())
        })
    }

    fn parts(&self, (panel, tile): Self::Results) -> impl Iterator<Item = Back<Part>> {
        let grain = match self.target {
            Target::Factors => self.scratch.grain(),
            Target::Solution(sink) => sink.grain(),
        };
        let tiles = match self.target {
            Target::Factors => {
                self.plan.split_columns(panel).map(|rows| Tile { rows, columns: tile.columns.clone() }).to_vec()
            }
            Target::Solution(_) => vec![tile],
        };
        let parts = tiles.iter().flat_map(|tile| tile.parts(self.staging.elements, grain));
        let back: Vec<_> = pipeline::backwards(0, parts).collect();
        self.written.expect(panel, back.len());
        let of = move |Back { buffer, at, elements, part: tile }| {
            let part = Part { panel, tile };
            Back { buffer, at, elements, part }
        };
        back.into_iter().map(of)
    }

    fn write(&self, Part { panel, tile }: &Part, host: &mut E::Host) -> Result<(), Error> {
        let values = &mut host[..tile.count()];
        if self.plan.pass == Pass::Cholesky {
            clear_above(values, tile);
            make_diagonal_real(values, tile);
        }
        match self.target {
            Target::Factors => match self.carried.filter(|_| tile.rows.start >= self.plan.size) {
                Some(Carried { to, .. }) => {
                    let rows = tile.rows.start - self.plan.size..tile.rows.end - self.plan.size;
                    to.write_tile(&Tile { rows, columns: tile.columns.clone() }, T::bytes(values))?;
                }
                None => self.scratch.write_tile(tile, T::bytes(values))?,
            },
            Target::Solution(sink) => sink.write_tile(tile, T::bytes(values))?,
        }
        self.written.tell(*panel);
        Ok(())
    }

    fn stop(&self) {
        self.written.stop();
    }
}

/// The elements of a piece on the diagonal of the whole lose their imaginary parts.
fn make_diagonal_real<T: Scalar>(values: &mut [T], piece: &Tile) {
    for diagonal in piece.rows.start.max(piece.columns.start)..piece.rows.end.min(piece.columns.end) {
        let at = (diagonal - piece.rows.start) * piece.columns.len() + (diagonal - piece.columns.start);
        values[at] = T::from_f64(values[at].wide().re);
    }
}

/// Zeros above the diagonal, in a piece whose rows are columns of the factor.
fn clear_above<T: Scalar>(values: &mut [T], piece: &Tile) {
    for (line, column) in values.chunks_mut(piece.columns.len().max(1)).zip(piece.rows.clone()) {
        let above = column.clamp(piece.columns.start, piece.columns.end) - piece.columns.start;
        line[..above].fill(T::ZERO);
    }
}
