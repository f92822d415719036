//! A product of matrices in tiles, through the pipeline: bands of panels of both factors to the device, tiles of the result back.

use super::brought::{Brought, fill};
use super::control::Control;
use super::direct::Direct;
use super::engine::{Form, Multiplication, Multiplier, Queue};
use super::hints::{self, Hinted, Part, Read};
use super::matmul_plan::{MatmulPlan, STAGES};
use super::pipeline::{self, Back, Feed, Flow};
use super::stages::facts;
use super::staging::{Load, Staging};
use super::strips::{Turn, turns};
use super::turns::Stop;
use super::verify::ReadBack;
use crate::Error;
use crate::dispatch::{self, ProductExtents};
use crate::linear::Scalar;
use crate::store::{Extents, Sink, Source, Stored, Tile};
use serde_json::{Value, json};
use std::ops::Range;

/// A factor of a product: a source, and how it enters.
#[derive(Clone, Copy)]
pub struct Factor<'a> {
    /// The stored matrix.
    pub source: &'a dyn Source,
    /// How it enters.
    pub form: Form,
}

/// `alpha * a * b + beta * c`.
#[derive(Clone, Copy)]
pub struct Product<'a, T> {
    /// The first factor.
    pub a: Factor<'a>,
    /// The second.
    pub b: Factor<'a>,
    /// What is added, times `beta`; never read where `beta` is 0.
    pub c: Option<&'a dyn Source>,
    /// A number.
    pub alpha: T,
    /// Another.
    pub beta: T,
}

/// Bytes that were copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// To the device.
    pub to_gpu: u64,
    /// Back.
    pub to_host: u64,
}

impl Traffic {
    /// Both.
    pub(crate) fn and(self, other: Traffic) -> Traffic {
        Traffic { to_gpu: self.to_gpu + other.to_gpu, to_host: self.to_host + other.to_host }
    }
}

impl Factor<'_> {
    /// The tile of the stored matrix that is this part of the factor.
    pub(super) fn stored(&self, rows: Range<usize>, columns: Range<usize>) -> Tile {
        match self.form {
            Form::Plain => Tile { rows, columns },
            Form::Transposed | Form::Adjoint => Tile { rows: columns, columns: rows },
        }
    }
}

/// Runs a product on a device, tile by tile, into a sink, which is not committed. Whoever fails first says why.
pub(super) fn run<T: Scalar + Stored, E: Multiplier<T>>(
    engine: &E,
    plan: &MatmulPlan,
    product: &Product<'_, T>,
    sink: &dyn Sink,
    staging: Staging,
    control: Control<'_>,
) -> Result<Traffic, Error> {
    let checked = control.verify.map(|verify| Ok::<_, Error>((verify, ReadBack::of(sink)?))).transpose()?;
    let direct = Direct::of(engine);
    let plan = &in_pieces(plan, product, direct);
    let run = Run { plan, product, sink, staging, control, direct };
    let [rows, columns] = plan.tile;
    let panel = || Ok::<_, Error>([engine.buffer(rows * plan.panel)?, engine.buffer(plan.panel * columns)?]);
    let mut panels = (0..plan.stages).map(|_| panel()).collect::<Result<Vec<_>, _>>()?;
    let tile = |_| Ok::<_, Error>([engine.buffer(rows * columns)?]);
    let tiles = (0..plan.results()).map(tile).collect::<Result<Vec<_>, _>>()?;
    pipeline::run(engine, &run, staging, tiles, |feed| run.feed(engine, &mut panels, feed))?;
    if let Some((verify, result)) = checked {
        let go_on = || control.check(run.steps(), run.steps());
        dispatch::checked(verify.check_with(product, plan.extents.rows, engine.entering(), &result, &go_on)?);
    }
    Ok(run.traffic())
}

/// The plan in pieces of its panels, unless the engine reads whole ones itself and pieces would have to go through slots, and unless a source reads more
/// than a piece at once in any case, such as a chunk of a Zarr array.
fn in_pieces<T>(plan: &MatmulPlan, product: &Product<'_, T>, direct: Direct) -> MatmulPlan {
    let are_direct = |plan: &MatmulPlan| {
        let [a, b, _] = plan.tiles();
        [(product.a, a), (product.b, b)]
            .map(|(Factor { source, form }, tile)| direct.from(source, form.stored(tile)[1]).is_some())
    };
    let pieces = plan.in_pieces();
    let grains = [(product.a, 1), (product.b, 0)].map(|(Factor { source, form }, depth)| {
        let grain = source.grain();
        form.stored([grain.rows, grain.columns])[depth]
    });
    if grains.iter().any(|grain| *grain > pieces.panel && *grain <= plan.panel) {
        return *plan;
    }
    if are_direct(&pieces) == are_direct(plan) { pieces } else { *plan }
}

impl<T: Scalar + Stored> Product<'_, T> {
    /// What goes through slots, of tiles of both factors and of the result.
    pub(super) fn load(&self, [a, b, c]: [[usize; 2]; 3], sink: &dyn Sink, direct: Direct) -> Load {
        let element = size_of::<T>();
        let of = |source: &dyn Source, tile: [usize; 2]| {
            direct.from(source, tile[1]).is_none().then(|| (source.grain(), tile))
        };
        let through = [
            of(self.a.source, self.a.form.stored(a)),
            of(self.b.source, self.b.form.stored(b)),
            self.c.and_then(|source| of(source, c)),
            direct.to(sink, c[1]).is_none().then(|| (sink.grain(), c)),
        ];
        let read = [Some(self.a.source), Some(self.b.source), self.c];
        let whole = |extents: Extents| extents.rows as u128 * extents.columns as u128 * element as u128;
        let staged = read.iter().zip(&through).filter(|(_, through)| through.is_some()).filter_map(|(read, _)| *read);
        let back = through[3].map_or(0, |_| whole(sink.extents()));
        let bytes = [staged.map(|it| whole(it.extents())).sum(), back];
        let load = Load { granule: element, bytes, ..Load::default() };
        let load = read.into_iter().flatten().fold(load, Load::reading);
        through.into_iter().flatten().fold(load, |load, (grain, [rows, columns])| {
            let most = rows as u128 * columns as u128 * element as u128;
            Load { most: load.most.max(most), ..load.with_grain(grain, columns, element) }
        })
    }
}

/// A product under way.
struct Run<'a, T> {
    plan: &'a MatmulPlan,
    product: &'a Product<'a, T>,
    sink: &'a dyn Sink,
    staging: Staging,
    control: Control<'a>,
    direct: Direct,
}

/// Rows of a tile of the result that are finished together, and where they begin in its memory.
struct Strip {
    tile: Tile,
    at: usize,
}

impl Strip {
    fn of(tile: &Tile, rows: Range<usize>) -> Strip {
        let begin = tile.rows.start;
        let of = Tile { rows: begin + rows.start..begin + rows.end, columns: tile.columns.clone() };
        Strip { tile: of, at: rows.start * tile.columns.len() }
    }
}

impl<'a, T: Scalar + Stored> Run<'a, T> {
    /// The tiles of the result, in their order.
    fn tiles(&self) -> impl Iterator<Item = Tile> {
        let ProductExtents { rows, columns, .. } = self.plan.extents;
        Extents::new(rows, columns).tiles(Extents::new(self.plan.tile[0], self.plan.tile[1]))
    }

    /// The parts of the depth that are added up, in their order: none where nothing of the factors enters.
    fn panels(&self) -> impl Iterator<Item = Range<usize>> {
        let depth = if self.product.alpha == T::ZERO { 0 } else { self.plan.extents.depth };
        (0..depth).step_by(self.plan.panel).map(move |begin| begin..(begin + self.plan.panel).min(depth))
    }

    /// What is added to a tile, where there is something to add.
    fn added(&self, tile: &Tile) -> Option<Brought<'a>> {
        let source = self.product.c.filter(|_| self.product.beta != T::ZERO)?;
        Some(Brought::of(self.direct, source, tile.clone(), self.plan.tile[1], !self.is_shared(source)))
    }

    /// What a panel of a tile is made of.
    fn pieces(&self, tile: &Tile, panel: &Range<usize>) -> [Brought<'a>; 2] {
        let (Product { a, b, .. }, [rows, columns]) = (self.product, self.plan.tile);
        let brought = |factor: &Factor<'a>, tile: Tile, of_all: [usize; 2], is_last: bool| {
            let (source, columns) = (factor.source, factor.form.stored(of_all)[1]);
            Brought::of(self.direct, source, tile, columns, is_last && !self.is_shared(source))
        };
        // Tiles go row by row: rows of `a` are read for each tile beside another, columns of `b` again for each row of tiles.
        let ProductExtents { rows: all_rows, columns: all_columns, .. } = self.plan.extents;
        [
            brought(
                a,
                a.stored(tile.rows.clone(), panel.clone()),
                [rows, self.plan.panel],
                tile.columns.end == all_columns,
            ),
            brought(
                b,
                b.stored(panel.clone(), tile.columns.clone()),
                [self.plan.panel, columns],
                tile.rows.end == all_rows,
            ),
        ]
    }

    fn is_shared(&self, source: &dyn Source) -> bool {
        let Product { a, b, c, .. } = self.product;
        hints::is_shared(source, [Some(a.source), Some(b.source), *c].into_iter().flatten())
    }

    fn steps(&self) -> u64 {
        (self.tiles().count() * self.panels().count().max(1)) as u64
    }

    /// All that is brought, tile by tile as it is stored.
    fn tiles_brought(&self) -> impl Iterator<Item = Brought<'a>> {
        self.tiles().flat_map(move |tile| {
            let added = self.added(&tile);
            added.into_iter().chain(self.panels().flat_map(move |panel| self.pieces(&tile, &panel)))
        })
    }

    /// The parts of it that go through slots.
    fn reads(&self) -> impl Iterator<Item = Read<'a, Part<'a>>> {
        self.tiles_brought().flat_map(|brought| brought.reads(self.staging.elements))
    }

    /// Keeps the device busy.
    fn feed<E: Multiplier<T>>(
        &self,
        engine: &E,
        panels: &mut [[E::Buffer; 2]],
        feed: &mut Feed<'_, T, E, Self>,
    ) -> Result<(), Stop> {
        let steps = self.steps();
        // Behind the last product that read a stage's panels.
        let mut read: Vec<Option<E::Mark>> = panels.iter().map(|_| None).collect();
        let (mut done, mut stage) = (0, 0);
        // Where no panel is multiplied, what is added still is by beta.
        let alone = self.panels().next().is_none().then_some(0..0);
        let depths: Vec<_> = self.panels().chain(alone).collect();
        let last = self.tiles().last();
        for tile in self.tiles() {
            let added = self.added(&tile);
            let mut c = feed.take_for(if added.is_some() { Queue::In } else { Queue::Compute })?;
            if let Some(added) = added {
                added.bring(feed, self.staging.elements, &mut c[0])?;
                engine.wait(Queue::Compute, &engine.mark(Queue::In)?)?;
            }
            let in_strips = last.as_ref() == Some(&tile) && self.sink.grain().rows <= 1;
            let mut strips = Vec::new();
            // Strips behind the first wait for all panels that are there together: no more of those than hide the strips' way back.
            let together = panels.len().min(STAGES);
            for Turn { rows, panel, is_first, is_last } in turns(tile.rows.len(), depths.len(), together, in_strips) {
                let (stage, depth) = ((stage + panel) % panels.len(), &depths[panel]);
                if is_first {
                    self.control.check(done, steps)?;
                    if !depth.is_empty() {
                        read[stage].as_ref().map_or(Ok(()), |read| engine.wait(Queue::In, read))?;
                        self.bring_panel(feed, self.pieces(&tile, depth), &mut panels[stage])?;
                        engine.wait(Queue::Compute, &engine.mark(Queue::In)?)?;
                    }
                }
                let beta = if panel == 0 { self.product.beta } else { T::ONE };
                let what = self.multiplication(&tile, &rows, depth.len(), beta);
                let facts =
                    || json!({ "tile": facts(&tile), "rows": format!("{rows:?}"), "panel": format!("{depth:?}") });
                feed.compute(facts, || engine.multiply(&what, panels[stage].each_ref(), &mut c[0]))?;
                read[stage] = Some(engine.mark(Queue::Compute)?);
                if is_first {
                    done += 1;
                    self.control.tell(done, steps);
                }
                if is_last {
                    strips.push((Strip::of(&tile, rows), engine.mark(Queue::Compute)?));
                }
            }
            stage = (stage + depths.len()) % panels.len();
            feed.give_one_by_one(strips, c)?;
        }
        Ok(())
    }

    /// Has what a panel is made of come: first what the engine reads itself, while slots are filled with the rest.
    fn bring_panel<E: Multiplier<T>>(
        &self,
        feed: &mut Feed<'_, T, E, Self>,
        pieces: [Brought<'a>; 2],
        to: &mut [E::Buffer; 2],
    ) -> Result<(), Stop> {
        let (itself, through): (Vec<_>, Vec<_>) =
            pieces.iter().zip(to.iter_mut()).partition(|(piece, _)| piece.direct.is_some());
        itself.into_iter().chain(through).try_for_each(|(piece, to)| piece.bring(feed, self.staging.elements, to))
    }

    fn multiplication(&self, tile: &Tile, part: &Range<usize>, depth: usize, beta: T) -> Multiplication<T> {
        let Product { a, b, alpha, .. } = *self.product;
        let (rows, columns, first, part) = (tile.rows.len(), tile.columns.len(), part.start, part.len());
        Multiplication { rows, first, part, count: 1, columns, depth, forms: [a.form, b.form], alpha, beta }
    }

    /// What a whole run copies.
    fn traffic(&self) -> Traffic {
        let bytes = |elements: usize| elements as u64 * self.plan.element_bytes as u64;
        let mut traffic = Traffic::default();
        for tile in self.tiles() {
            let c = bytes(tile.count());
            traffic.to_host += c;
            traffic.to_gpu += if self.added(&tile).is_some() { c } else { 0 };
            for panel in self.panels() {
                traffic.to_gpu += self.pieces(&tile, &panel).iter().map(|piece| bytes(piece.tile.count())).sum::<u64>();
            }
        }
        traffic
    }
}

impl<'a, T: Scalar + Stored, E: Multiplier<T>> Flow<T, E> for Run<'a, T> {
    type Piece = Hinted<'a, Part<'a>>;
    type Memory = [E::Buffer; 1];
    type Results = Strip;
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

    fn land(&self, engine: &E, [c]: &[E::Buffer; 1], Strip { tile, at }: &Strip) -> Result<Vec<Tile>, Error> {
        let landed = self.direct.land(engine, (c, *at), (self.sink, tile, self.plan.tile[1]))?;
        Ok(landed.then(|| tile.clone()).into_iter().collect())
    }

    fn landed(&self, tile: &Tile) {
        self.direct.to(self.sink, self.plan.tile[1]).into_iter().for_each(|sink| sink.landed(tile));
    }

    fn parts(&self, Strip { tile, at }: Strip) -> impl Iterator<Item = Back<Tile>> {
        let is_staged = self.direct.to(self.sink, self.plan.tile[1]).is_none();
        let parts = is_staged.then(|| tile.parts(self.staging.elements, self.sink.grain()));
        pipeline::backwards(at, parts.into_iter().flatten())
    }

    fn write(&self, part: &Tile, host: &mut E::Host) -> Result<(), Error> {
        self.sink.write_tile(part, T::bytes(&host[..part.count()]))
    }
}
