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
    /// Rows of the source come into a panel.
    Load { panel: usize, rows: Range<usize> },
    /// Rows of a panel are exchanged as a block of the factors was.
    Exchange { panel: usize, block: usize },
    /// A slice of factors goes by.
    Eliminate { panel: usize, columns: Range<usize>, sweep: Sweep },
    /// The panel is factored, where it is to be, and goes back.
    Finish { panel: usize },
}

impl PanelPlan {
    /// All of it, in an order in which it can happen. The next panel comes with the last slices that the one before meets: while they are
    /// multiplied, and late, so that the panel whose place it takes has gone.
    pub(super) fn tasks(&self) -> impl Iterator<Item = Task> {
        let first = (self.panels() > 0).then(|| self.loads(0)).into_iter().flatten();
        first.chain((0..self.panels()).flat_map(|panel| self.tasks_of(panel)))
    }

    fn loads(&self, panel: usize) -> impl Iterator<Item = Task> + use<> {
        self.bands_of(panel).map(move |rows| Task::Load { panel, rows })
    }

    /// What happens while a panel is computed.
    fn tasks_of(&self, panel: usize) -> Vec<Task> {
        let own = self.eliminations(panel);
        let mut next = (panel + 1 < self.panels()).then(|| self.loads(panel + 1)).into_iter().flatten();
        let bands = if panel + 1 < self.panels() { self.bands_of(panel + 1).count() } else { 0 };
        let alone = own.len().saturating_sub(bands);
        let mut tasks = Vec::with_capacity(own.len() + bands + 1);
        for (at, task) in own.into_iter().enumerate() {
            tasks.push(task);
            tasks.extend(if at >= alone { next.next() } else { None });
        }
        tasks.push(Task::Finish { panel });
        tasks.extend(next);
        tasks
    }

    fn eliminations(&self, panel: usize) -> Vec<Task> {
        let left = self.columns_of(panel).start;
        match self.pass {
            Pass::Lu => self.forward(panel, left, self.panel),
            Pass::Cholesky => self.slices(0..left).map(|columns| eliminate(panel, columns, Sweep::Gram)).collect(),
            Pass::LuSolution { block } => {
                let mut tasks = self.forward(panel, self.size, block);
                tasks.extend(self.backward(panel, Divisor::Upper));
                tasks
            }
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

    /// What of the scratch, where a row is a column of the factors, a task needs.
    pub(super) fn streamed(&self, task: &Task) -> Option<Tile> {
        let Task::Eliminate { panel, columns, sweep } = task else { return None };
        let rows = match sweep {
            Sweep::Divide(Divisor::Upper) => 0..columns.end,
            Sweep::Divide(_) => columns.start..self.size,
            Sweep::Gram => self.rows_of(*panel),
        };
        Some(Tile { rows: columns.clone(), columns: rows })
    }
}

fn eliminate(panel: usize, columns: Range<usize>, sweep: Sweep) -> Task {
    Task::Eliminate { panel, columns, sweep }
}
