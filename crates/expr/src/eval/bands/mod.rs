//! Bands: several short rows in one block, so that an operation is called once for all of them.
//!
//! What varies along rows alone is computed first, as a block along the rows; what varies along columns alone, as one line that
//! all rows read; the rest, as a line for each row. Taps that want the same row share a line.

mod pool;
mod rows;

use super::BLOCK;
use super::schedule::Schedule;
use crate::nest::Item;
use crate::plan::Plan;
use crate::program::{Inst, Program, Store, Val};
pub(super) use rows::BandWorker;
use std::collections::BTreeSet;

/// Most rows whose own values are computed at once.
const SPAN: usize = 256;
/// Bytes of a word, which is where lines begin.
const WORD: usize = 8;

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    /// Among those that are the same for all rows.
    Uniform,
    /// A value for each row.
    Row(usize),
    /// One line for all rows.
    Column(usize),
    /// A line for each row, or for each row that a tap evaluates.
    Block(usize, Option<usize>),
    /// Lines that rows take over from each other.
    Tap(usize),
}

/// How the rows of a section are computed together.
#[derive(Debug)]
pub(super) struct Bands {
    homes: Vec<Home>,
    /// Points of a row.
    columns: usize,
    /// Values from one row of a block to the next.
    pitch: usize,
    /// Rows of a block.
    rows: usize,
    /// Values that each row has one of.
    row_values: usize,
}

impl Bands {
    /// Bands for rows that are short, and for programs without loops or anything that can fail.
    pub(super) fn new(schedule: &Schedule, plan: &Plan) -> Option<Bands> {
        let [.., row, inner] = plan.world.as_slice() else { return None };
        let columns = usize::try_from(inner.extent).ok().filter(|columns| *columns <= BLOCK)?;
        let pitch = columns.next_multiple_of(WORD);
        let program = &schedule.program;
        let values = schedule.blocks.iter().filter_map(|(item, _)| item.value());
        let widest = values.map(|v| program.dtype(v).size()).max().unwrap_or(1).max(WORD / 2);
        let rows = BLOCK * WORD / (pitch * widest).max(1);
        let apart = |store: &Store| store.partial.is_none();
        if plan.group.is_some() || rows < 2 || row.extent < 2 || !program.stored().iter().all(apart) {
            return None;
        }
        let blocks = schedule.blocks.iter().map(|(item, _)| item);
        if !schedule.rows.iter().chain(blocks).all(|item| computes(program, item)) {
            return None;
        }
        let homes = homes(schedule)?;
        Some(Bands { homes, columns, pitch, rows, row_values: schedule.rows.len() })
    }

    /// How many rows a block has.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    fn home(&self, v: Val) -> Home {
        self.homes[v.0 as usize]
    }
}

/// Whether an item is a value that is computed from others alone.
fn computes(program: &Program, item: &Item) -> bool {
    item.value().is_some_and(|v| match program.inst(v) {
        Inst::Coord(_) | Inst::Load { .. } | Inst::Unary(..) | Inst::Binary(..) | Inst::Fma(..) => true,
        Inst::Select(..) | Inst::Cast(_) | Inst::Bits(_) | Inst::Call(..) | Inst::Const(_) => true,
        Inst::Extent { .. } | Inst::Step { .. } | Inst::Reduce { .. } | Inst::Carry { .. } => false,
        Inst::Iterate { .. } | Inst::Guard { .. } | Inst::Shared(_) | Inst::Scan { .. } => false,
    })
}

/// Where each value is; nothing where one tap is evaluated from others.
fn homes(schedule: &Schedule) -> Option<Vec<Home>> {
    let program = &schedule.program;
    let mut homes = vec![Home::Uniform; program.len()];
    for (i, v) in schedule.rows.iter().filter_map(Item::value).enumerate() {
        homes[v.0 as usize] = Home::Row(i);
    }
    for v in schedule.columns.iter().flat_map(super::kept::results) {
        if let Some(slot) = schedule.slot_of[v.0 as usize] {
            homes[v.0 as usize] = Home::Column(slot);
        }
    }
    for (item, tap) in &schedule.blocks {
        let v = item.value()?;
        homes[v.0 as usize] = Home::Block(schedule.slot_of[v.0 as usize]?, *tap);
    }
    for (tap, v) in schedule.taps.values().enumerate() {
        homes[v.0 as usize] = Home::Tap(tap);
    }
    let reads_a_tap = |item: &Item| {
        let mut read = BTreeSet::new();
        super::kept::item_reads(program, item, &mut read);
        read.iter().any(|v| matches!(homes[v.0 as usize], Home::Tap(_)))
    };
    // A line is computed by any of the taps that want it: all of them come before what reads one.
    let last = schedule.blocks.iter().rposition(|(_, tap)| tap.is_some()).map_or(0, |last| last + 1);
    let apart = !schedule.blocks[..last].iter().any(|(item, _)| reads_a_tap(item));
    apart.then_some(homes)
}
