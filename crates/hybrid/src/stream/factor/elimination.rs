//! What the device does for each task.

use super::super::engine::{Divisor, Eliminator, Engine, Finish, Form, Queue};
use super::super::pipeline::{Feed, Held};
use super::super::turns::Stop;
use super::memory::{PanelMemory, Standing};
use super::pipeline::{Found, Run};
use super::plan::Pass;
use super::schedule::{Sweep, Task, in_scratch};
use crate::Error;
use crate::dispatch::Stage;
use crate::linear::Scalar;
use crate::store::{Source, Stored, Tile};
use serde_json::json;
use std::collections::VecDeque;
use std::ops::Range;
use tilewright_driver::blas::Layout;

/// A panel, or a band of one, on the device.
type Panel<'e, T, E> = Held<'e, T, E, PanelMemory<<E as Engine<T>>::Buffer>>;

/// Keeps the device busy.
pub(super) struct Feeder<'f, 'r, 'e, T: Scalar + Stored, E: Eliminator<T>> {
    pub(super) engine: &'e E,
    pub(super) run: &'f Run<'r>,
    /// Panels that nothing is in, where they do not go back themselves.
    pub(super) panels: VecDeque<Panel<'e, T, E>>,
    /// The memory of slices, with what read it last.
    pub(super) slices: Vec<(E::Buffer, Option<E::Mark>)>,
    /// Which of them is filled next.
    pub(super) next: usize,
    /// The rows of a panel that a slice meets.
    pub(super) meets: Option<E::Buffer>,
    /// Panels that are computed or come.
    pub(super) under_way: VecDeque<Panel<'e, T, E>>,
    /// The panel of factors that was finished last, until its memory is that of the next one.
    pub(super) beside: Option<PanelMemory<E::Buffer>>,
    pub(super) finished_panels: usize,
    /// Exchanges of blocks, as the device knows them.
    pub(super) exchanges: Vec<E::Exchanges>,
    pub(super) found: Found<T>,
    pub(super) feed: &'f mut Feed<'e, T, E, Run<'r>>,
}

impl<T: Scalar + Stored, E: Eliminator<T>> Feeder<'_, '_, '_, T, E> {
    /// All of it. All memory goes with this, once nothing uses it.
    pub(super) fn feed(mut self, known: &[Vec<usize>]) -> Result<Found<T>, Stop> {
        let (engine, plan, watch) = (self.engine, self.run.plan, self.run.watch);
        let _finish = Finish::at_the_end(engine);
        self.exchanges = known.iter().map(|rows| engine.exchanges(rows)).collect::<Result<_, _>>()?;
        for (done, task) in plan.tasks().enumerate() {
            watch.check(done as u64)?;
            match &task {
                Task::Load { panel, rows, columns } => self.load(*panel, rows, columns)?,
                Task::Exchange { panel, block } => {
                    self.compute("exchange rows", *panel, |own| own.exchange(*panel, *block))?;
                }
                Task::Eliminate { panel, columns, sweep } => self.eliminate(*panel, columns, *sweep)?,
                Task::Finish { panel } => self.finish(*panel)?,
            }
            watch.tell(done as u64 + 1);
        }
        Ok(std::mem::take(&mut self.found))
    }

    /// Something that is computed for a panel, as a trace has it.
    fn compute<R>(
        &mut self,
        does: &'static str,
        panel: usize,
        work: impl FnOnce(&mut Self) -> Result<R, Stop>,
    ) -> Result<R, Stop> {
        let stages = self.feed.stages();
        stages.on_the_device(Stage::Compute, |_| Some(json!({ "does": does, "panel": panel })), || work(self))
    }

    /// Has a tile come into the memory of a slice, which the device then finds full.
    fn bring(&mut self, source: &dyn Source, tile: &Tile) -> Result<usize, Stop> {
        let (engine, at) = (self.engine, self.next());
        let (slice, read) = &mut self.slices[at];
        if let Some(read) = read {
            engine.wait(Queue::In, read)?;
        }
        let mut brought = 0;
        for part in self.run.parts_of(source, tile) {
            self.feed.bring(part.count(), slice, brought)?;
            brought += part.count();
        }
        engine.wait(Queue::Compute, &engine.mark(Queue::In)?)?;
        Ok(at)
    }

    fn next(&mut self) -> usize {
        let next = self.next;
        self.next = (next + 1) % self.slices.len();
        next
    }

    /// The memory of a slice is free, once what is queued has read it.
    fn leave(&mut self, slice: usize) -> Result<(), Error> {
        self.slices[slice].1 = Some(self.engine.mark(Queue::Compute)?);
        Ok(())
    }

    fn load(&mut self, panel: usize, rows: &Range<usize>, columns: &Range<usize>) -> Result<(), Stop> {
        if self.place(panel) == self.under_way.len() {
            self.open()?;
        }
        let (from, tile) = self.run.loaded(rows, columns);
        let band = self.bring(from.stored(), &tile)?;
        let part = self.run.plan.standing(panel).part(rows, columns);
        // What lies row by row is, column by column, the transposed matrix.
        let stored = Layout::dense(tile.columns.len(), tile.rows.len());
        let form = if from.form() == Form::Plain { Form::Transposed } else { Form::Plain };
        let place = self.place(panel);
        self.compute("load", panel, |own| {
            let target = of(&mut own.under_way, place)?;
            Ok::<_, Stop>(own.engine.copy(form, (&own.slices[band].0, stored), (target, part))?)
        })?;
        Ok(self.leave(band)?)
    }

    /// Finds memory for the next panel.
    fn open(&mut self) -> Result<(), Stop> {
        if let Some(buffer) = self.panels.pop_front() {
            self.under_way.push_back(buffer);
            return Ok(());
        }
        let memory = self.feed.take_for(Queue::Compute)?;
        self.beside.take_if(|beside| beside.is(&memory));
        self.under_way.push_back(memory);
        Ok(())
    }

    /// Where a panel stands among those under way.
    fn place(&self, panel: usize) -> usize {
        panel - self.finished_panels
    }

    fn exchange(&mut self, panel: usize, block: usize) -> Result<(), Stop> {
        let plan = self.run.plan;
        let width = if let Pass::LuSolution { block } = plan.pass { block } else { plan.panel };
        let (part, place) = (self.part(panel, &(block * width..plan.size)), self.place(panel));
        let exchanges = self.exchanges.get(block).ok_or(Stop::Elsewhere)?;
        Ok(self.engine.exchange(exchanges, (of(&mut self.under_way, place)?, part))?)
    }

    fn eliminate(&mut self, panel: usize, columns: &Range<usize>, sweep: Sweep) -> Result<(), Stop> {
        let plan = self.run.plan;
        let rows = plan.met_rows(panel, columns, sweep);
        let beside = plan.is_beside(panel, columns);
        let (standing, slice) = if beside {
            (plan.standing(panel - 1), None)
        } else {
            let tile = in_scratch(&rows, columns);
            (Standing::new(&rows, columns.start), Some(self.bring(self.run.scratch, &tile)?))
        };
        self.compute("eliminate", panel, |own| own.meet(panel, (columns, &rows), sweep, (standing, slice)))?;
        slice.map_or(Ok(()), |slice| Ok(self.leave(slice)?))
    }

    /// A panel meets a slice of factors: in memory of its own, or where the panel before stands. Rows that are divided meet the rest of the slice in
    /// memory of their own, since a product reads nothing of what it writes.
    fn meet(
        &mut self,
        panel: usize,
        (columns, rows): (&Range<usize>, &Range<usize>),
        sweep: Sweep,
        (standing, slice): (Standing, Option<usize>),
    ) -> Result<(), Stop> {
        let (engine, plan) = (self.engine, self.run.plan);
        let own = plan.columns_of(panel);
        let of_panel = |rows: &Range<usize>| plan.standing(panel).part(rows, &own);
        // The one that is computed, and one that comes, perhaps in the place of what is met.
        let (first, next) = self.under_way.make_contiguous().split_first_mut().ok_or(Stop::Elsewhere)?;
        let slice = match slice {
            Some(slice) => &self.slices[slice].0,
            None => self.beside.as_ref().or(next.first().map(|panel| &**panel)).ok_or(Stop::Elsewhere)?.buffer(),
        };
        let buffer = first.get_mut().ok_or(Stop::Elsewhere)?;
        let divisor = match sweep {
            Sweep::Gram => {
                let factors = [(slice, standing.part(rows, columns)), (slice, standing.part(&own, columns))];
                return Ok(engine.subtract([Form::Plain, Form::Adjoint], factors, (buffer, of_panel(rows)))?);
            }
            Sweep::Divide(divisor) => divisor,
        };
        let others = if divisor == Divisor::Upper { 0..columns.start } else { columns.end..rows.end };
        let (triangle, rest) = ((slice, standing.part(columns, columns)), (slice, standing.part(&others, columns)));
        let (of_own, of_others) = (of_panel(columns), of_panel(&others));
        let dense = Layout::dense(columns.len(), own.len());
        let meets = self.meets.as_mut().ok_or(Stop::Elsewhere)?;
        if divisor == Divisor::LowerAdjoint {
            engine.copy(Form::Plain, (buffer, of_own), (meets, dense))?;
            if !others.is_empty() {
                engine.subtract([Form::Adjoint, Form::Plain], [rest, (buffer, of_others)], (meets, dense))?;
            }
            engine.divide(divisor, triangle, (meets, dense))?;
            return Ok(engine.copy(Form::Plain, (meets, dense), (buffer, of_own))?);
        }
        engine.divide(divisor, triangle, (buffer, of_own))?;
        if !others.is_empty() {
            engine.copy(Form::Plain, (buffer, of_own), (meets, dense))?;
            engine.subtract([Form::Plain; 2], [rest, (meets, dense)], (buffer, of_others))?;
        }
        Ok(())
    }

    fn finish(&mut self, panel: usize) -> Result<(), Stop> {
        match self.run.plan.pass {
            Pass::Lu => self.compute("factor", panel, |own| own.factor_lu(panel))?,
            Pass::Cholesky => self.compute("factor", panel, |own| own.factor_cholesky(panel))?,
            Pass::LuSolution { .. } | Pass::LuBackward | Pass::CholeskySolution => return self.give_solution(panel),
        }
        let buffer = self.under_way.pop_front().ok_or(Stop::Elsewhere)?;
        self.finished_panels += 1;
        self.beside = Some(buffer.clone());
        let tile = in_scratch(&self.run.plan.rows_of(panel), &self.run.plan.columns_of(panel));
        self.feed.give((panel, tile), buffer)
    }

    fn factor_lu(&mut self, panel: usize) -> Result<(), Stop> {
        let (engine, plan) = (self.engine, self.run.plan);
        let [factored, carried] = plan.split_columns(panel);
        let (standing, place) = (plan.standing(panel), self.place(panel));
        let rows = factored.start..plan.size;
        let buffer = of(&mut self.under_way, place)?;
        let pivoted = engine.lu((buffer, standing.part(&rows, &factored)))?;
        let exchanges = engine.exchanges(&pivoted.rows)?;
        self.found.exchanges.push(pivoted.rows);
        self.found.diagonal.extend(pivoted.diagonal);
        if !carried.is_empty() {
            // In memory of their own: what is divided and what by are no parts of the same.
            let (meets, part) = (self.meets.as_mut().ok_or(Stop::Elsewhere)?, standing.part(&rows, &carried));
            let dense = Layout::dense(rows.len(), carried.len());
            engine.exchange(&exchanges, (buffer, part))?;
            engine.copy(Form::Plain, (buffer, part), (meets, dense))?;
            engine.divide(Divisor::UnitLower, (buffer, standing.part(&rows, &factored)), (meets, dense))?;
            engine.copy(Form::Plain, (meets, dense), (buffer, part))?;
        }
        self.exchanges.push(exchanges);
        Ok(())
    }

    /// By slices of the panel's own columns: the memory of a slice holds each, while the columns behind it learn of it.
    fn factor_cholesky(&mut self, panel: usize) -> Result<(), Stop> {
        let (engine, plan) = (self.engine, self.run.plan);
        let (all, standing) = (plan.columns_of(panel), plan.standing(panel));
        let place = self.place(panel);
        for begin in all.clone().step_by(plan.slice) {
            let own = begin..all.end.min(begin + plan.slice);
            let square = standing.part(&own, &own);
            let refused = |order: usize| Error::NotPositiveDefinite { order: own.start + order, size: plan.size };
            let diagonal = engine.cholesky((of(&mut self.under_way, place)?, square))?.map_err(refused)?;
            let positive = |value: &T| value.modulus() > 0.0;
            diagonal.iter().position(|value| !positive(value)).map_or(Ok(()), |at| Err(refused(at + 1)))?;
            let below = own.end..plan.size;
            if below.is_empty() {
                continue;
            }
            let at = self.next();
            let (buffer, slice) = (of(&mut self.under_way, place)?, &mut self.slices[at].0);
            let (of_below, dense) = (standing.part(&below, &own), Layout::dense(below.len(), own.len()));
            engine.copy(Form::Plain, (buffer, of_below), (slice, dense))?;
            engine.divide_by_adjoint((buffer, square), (slice, dense))?;
            engine.copy(Form::Plain, (slice, dense), (buffer, of_below))?;
            let behind = own.end..all.end;
            if !behind.is_empty() {
                let factors = [(&*slice, dense), (&*slice, Layout { rows: behind.len(), ..dense })];
                engine.subtract([Form::Plain, Form::Adjoint], factors, (buffer, standing.part(&below, &behind)))?;
            }
            self.leave(at)?;
        }
        Ok(())
    }

    /// A solution goes to its sink row by row: band by band it is transposed into memory of its own.
    fn give_solution(&mut self, panel: usize) -> Result<(), Stop> {
        let (engine, plan, place) = (self.engine, self.run.plan, self.place(panel));
        let columns = plan.columns_of(panel);
        for rows in plan.bands(plan.rows_of(panel), columns.len()) {
            let mut band = self.feed.take_for(Queue::Compute)?;
            let part = self.part(panel, &rows);
            let dense = Layout::dense(columns.len(), rows.len());
            self.compute("turn", panel, |own| {
                let target = (band.get_mut().ok_or(Stop::Elsewhere)?, dense);
                Ok::<_, Stop>(engine.copy(Form::Transposed, (of(&mut own.under_way, place)?, part), target)?)
            })?;
            self.feed.give((panel, Tile { rows, columns: columns.clone() }), band)?;
        }
        let buffer = self.under_way.pop_front().ok_or(Stop::Elsewhere)?;
        self.finished_panels += 1;
        self.panels.push_back(buffer);
        Ok(())
    }

    /// Where rows of a panel lie in its memory.
    fn part(&self, panel: usize, rows: &Range<usize>) -> Layout {
        self.run.plan.standing(panel).part(rows, &self.run.plan.columns_of(panel))
    }
}

fn of<'p, T: Scalar, E: Eliminator<T>>(
    under_way: &'p mut VecDeque<Panel<'_, T, E>>,
    place: usize,
) -> Result<&'p mut E::Buffer, Stop> {
    under_way.get_mut(place).and_then(|panel| panel.get_mut()).ok_or(Stop::Elsewhere)
}
