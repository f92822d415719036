//! What happens to panels, thing by thing: who reads and who computes go through the same list.

use super::plan::{PanelPlan, Pass};
use crate::store::Tile;
use crate::stream::engine::Divisor;
use std::ops::Range;

/// What a slice of factors does to a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sweep {
    /// Some rows of the panel are divided by the slice's triangle; what they are times the rest of the slice is taken from the others.
    Divide(Divisor),
    /// The slice times the adjoint of its rows beside the panel is taken from the panel.
    Gram,
}

/// One thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// A part of the source comes into a panel.
    Load { panel: usize, rows: Range<usize>, columns: Range<usize> },
    /// Rows of a panel are exchanged as a block of the factors was.
    Exchange { panel: usize, block: usize },
    /// A slice of factors goes by.
    Eliminate { panel: usize, columns: Range<usize>, sweep: Sweep },
    /// The panel is factored, where it is to be, and goes back.
    Finish { panel: usize },
}

impl PanelPlan {
    /// All of it, in an order in which it can happen. The next panel comes while slices are multiplied: of factors, into the place of the panel
    /// before, behind the slices that stand there; of solutions with the last slices, so that the panel whose place it takes has gone.
    pub(super) fn tasks(&self) -> impl Iterator<Item = Task> {
        let first = (self.panels() > 0).then(|| self.loads(0)).into_iter().flatten();
        first.chain((0..self.panels()).flat_map(|panel| self.tasks_of(panel)))
    }

    /// A strip of columns after the other, band by band, as the memory of a slice has room.
    fn loads(&self, panel: usize) -> impl Iterator<Item = Task> + use<> {
        let plan = *self;
        let strips = self.split_columns(panel).into_iter().flat_map(move |columns| {
            let end = columns.end;
            columns.step_by(plan.strip()).map(move |begin| begin..end.min(begin.saturating_add(plan.strip())))
        });
        strips.flat_map(move |columns| {
            let bands = plan.bands(plan.rows_of(panel), columns.len());
            bands.map(move |rows| Task::Load { panel, rows, columns: columns.clone() })
        })
    }

    /// What happens while a panel is computed.
    fn tasks_of(&self, panel: usize) -> Vec<Task> {
        let own = self.eliminations(panel);
        let next: Vec<Task> = if panel + 1 < self.panels() { self.loads(panel + 1).collect() } else { Vec::new() };
        let alone = own.len().saturating_sub(next.len());
        let mut tasks = Vec::with_capacity(own.len() + next.len() + 1);
        let mut next = next.into_iter().peekable();
        for (at, task) in own.into_iter().enumerate() {
            let met = self.met_beside(panel, &task);
            tasks.push(task);
            if self.factors() {
                tasks.extend(std::iter::from_fn(|| next.next_if(|load| self.reaches(load) <= met)));
            } else if at >= alone {
                tasks.extend(next.next());
            }
        }
        tasks.push(Task::Finish { panel });
        tasks.extend(next);
        tasks
    }

    /// So many columns of the panel before, from its first one on, nobody reads behind this: their place is free.
    fn met_beside(&self, panel: usize, task: &Task) -> usize {
        match task {
            Task::Eliminate { columns, .. } if self.is_beside(panel, columns) => {
                columns.end - self.columns_of(panel - 1).start
            }
            _ => 0,
        }
    }

    /// So many columns of a panel's memory, from its first one on, are taken once this has come.
    fn reaches(&self, load: &Task) -> usize {
        match load {
            Task::Load { panel, columns, .. } => columns.end - self.columns_of(*panel).start,
            _ => 0,
        }
    }

    fn eliminations(&self, panel: usize) -> Vec<Task> {
        let left = self.columns_of(panel).start;
        match self.pass {
            Pass::Lu => self.forward(panel, left, self.panel),
            Pass::Cholesky => {
                let blocks = (0..left).step_by(self.panel).map(|begin| begin..left.min(begin + self.panel));
                blocks
                    .flat_map(|block| self.slices(block))
                    .map(|columns| eliminate(panel, columns, Sweep::Gram))
                    .collect()
            }
            Pass::LuSolution { block } => {
                let mut tasks = self.forward(panel, self.size, block);
                tasks.extend(self.backward(panel, Divisor::Upper));
                tasks
            }
            Pass::LuBackward => self.backward(panel, Divisor::Upper).collect(),
            Pass::CholeskySolution => {
                let down = self.slices(0..self.size);
                let down = down.map(|columns| eliminate(panel, columns, Sweep::Divide(Divisor::Lower)));
                down.chain(self.backward(panel, Divisor::LowerAdjoint)).collect()
            }
        }
    }

    /// By the columns of L up to an end. Rows are exchanged block by block, as they were: so the columns of L are what they were when they
    /// were written, and nobody has to exchange rows in them.
    fn forward(&self, panel: usize, end: usize, block: usize) -> Vec<Task> {
        let mut tasks = Vec::new();
        for (number, begin) in (0..end).step_by(block).enumerate() {
            tasks.push(Task::Exchange { panel, block: number });
            let slices = self.slices(begin..end.min(begin + block));
            tasks.extend(slices.map(|columns| eliminate(panel, columns, Sweep::Divide(Divisor::UnitLower))));
        }
        tasks
    }

    fn backward(&self, panel: usize, divisor: Divisor) -> impl Iterator<Item = Task> + use<> {
        let slices: Vec<_> = self.slices(0..self.size).collect();
        slices.into_iter().rev().map(move |columns| eliminate(panel, columns, Sweep::Divide(divisor)))
    }

    fn slices(&self, columns: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let (end, width) = (columns.end, self.slice);
        columns.step_by(width).map(move |begin| begin..end.min(begin + width))
    }

    /// Whether a panel meets these columns of the factors in the memory of the panel before, which it follows.
    pub(super) fn is_beside(&self, panel: usize, columns: &Range<usize>) -> bool {
        self.factors() && columns.start / self.panel + 1 == panel
    }

    /// The rows of a slice that a panel meets.
    pub(super) fn met_rows(&self, panel: usize, columns: &Range<usize>, sweep: Sweep) -> Range<usize> {
        match sweep {
            Sweep::Divide(Divisor::Upper) => 0..columns.end,
            Sweep::Divide(_) => columns.start..self.size,
            Sweep::Gram => self.rows_of(panel),
        }
    }

    /// What of the scratch a task needs.
    pub(super) fn streamed(&self, task: &Task) -> Option<Tile> {
        let Task::Eliminate { panel, columns, sweep } = task else { return None };
        let rows = self.met_rows(*panel, columns, *sweep);
        (!self.is_beside(*panel, columns)).then(|| in_scratch(&rows, columns))
    }
}

fn eliminate(panel: usize, columns: Range<usize>, sweep: Sweep) -> Task {
    Task::Eliminate { panel, columns, sweep }
}

/// Some columns of the factors, as the scratch has them, where a row is a column of the factors.
pub(super) fn in_scratch(rows: &Range<usize>, columns: &Range<usize>) -> Tile {
    Tile { rows: columns.clone(), columns: rows.clone() }
}
