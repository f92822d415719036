//! What a program consists of: values, instructions, loops.

use crate::dtype::{DType, Scalar};
use crate::extend::Function;
use crate::graph::{Binary, Unary};
use crate::reduce::Reduction;

/// What a value varies along: a bit for each world dimension, and from [`LOOPS`] on a bit for each loop.
pub type Along = u128;

/// The first bit of [`Along`] that stands for a loop.
pub const LOOPS: u32 = 16;

/// A loop within a thread: its number among those of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub u16);

impl LoopId {
    /// The loop's bit.
    pub fn bit(self) -> Along {
        1 << (u32::from(self.0) + LOOPS)
    }
}

/// Loops within a thread that have the same steps and the same surroundings are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// How many steps.
    pub extent: Val,
    /// The loops around it.
    pub outer: Along,
    /// How many reductions stand inside: one that reads the result of another is a later loop.
    pub depth: u16,
    /// 0 for reductions; iterations have a loop of their own.
    pub iteration: u32,
}

/// The result of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Val(pub u32);

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Inst {
    /// A literal.
    Const(Scalar),
    /// The coordinate along world dimension `.0`: where the thread or the loop stands.
    Coord(u8),
    /// The run-time extent of an operand's axis.
    Extent {
        /// The operand.
        operand: u16,
        /// Position among its axes.
        axis: u8,
    },
    /// One component of an operand's element.
    Load {
        /// The operand.
        operand: u16,
        /// Component of the element.
        component: u8,
        /// The coordinate along each of its axes.
        index: Box<[Val]>,
    },
    /// One operand.
    Unary(Unary, Val),
    /// Two operands.
    Binary(Binary, Val, Val),
    /// `a * b + c`, rounded once.
    Fma(Val, Val, Val),
    /// `if c { a } else { b }`.
    Select(Val, Val, Val),
    /// Saturating cast to the value's type.
    Cast(Val),
    /// The same bits.
    Bits(Val),
    /// A function that is given as text.
    Call(Function, Box<[Val]>),
    /// Clamp to `low..=high`; if that changes the value, the launch failed.
    Guard {
        /// The value.
        value: Val,
        /// Smallest legal value.
        low: Val,
        /// Largest legal value.
        high: Val,
        /// What to report: the innermost coordinate of the boxes that `value` came from; `None` for a coordinate, which is
        /// reported itself.
        index: Option<Val>,
    },
    /// The step of a loop: 0 to its extent.
    Step {
        /// The loop.
        within: LoopId,
        /// How many steps it has.
        extent: Val,
    },
    /// What a loop makes of the values of its steps, one after the other, from the identity on.
    Reduce {
        /// The loop.
        within: LoopId,
        /// How many steps it has.
        extent: Val,
        /// How.
        reduction: Reduction,
        /// The value of a step.
        value: Val,
        /// A factor of `value`, of sums: the product is not rounded before it is added.
        times: Option<Val>,
    },
    /// What a step of a loop starts from: before the first one, `start`.
    Carry {
        /// The loop.
        within: LoopId,
        /// How many steps it has.
        extent: Val,
        /// The value before the first step.
        start: Val,
        /// Tells carried values with the same start apart.
        number: u64,
    },
    /// What a carried value is after the last step.
    Iterate {
        /// The loop.
        within: LoopId,
        /// How many steps it has.
        extent: Val,
        /// The carried value.
        carry: Val,
        /// What a step makes of it.
        next: Val,
    },
    /// The result of a reduction that threads share: its number among [`Program::shared`](crate::program::Program::shared).
    Shared(u16),
    /// The value of a scan that threads share, at one of the thread's points.
    Scan {
        /// Its number among [`Program::scans`](crate::program::Program::scans).
        number: u16,
        /// Which of the thread's points.
        lane: u16,
        /// What is scanned, at each of them.
        terms: Box<[Val]>,
    },
}

/// A reduction that threads share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedReduction {
    /// How.
    pub reduction: Reduction,
    /// Of what type.
    pub dtype: DType,
    /// How many others end before it can begin.
    pub level: u16,
    /// What the thread's points give: values, or two factors of each.
    pub terms: Vec<(Val, Option<Val>)>,
}

/// A scan that threads share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedScan {
    /// How.
    pub reduction: Reduction,
    /// Of what type.
    pub dtype: DType,
    /// How many levels of shared reductions end before it can begin.
    pub level: u16,
    /// What is scanned, at each of the thread's points.
    pub terms: Box<[Val]>,
    /// What the results vary along.
    pub along: Along,
}

/// Which results a program is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// What is stored.
    Stores,
    /// What shared reductions of a level take.
    Level(u16),
    /// What a shared scan takes.
    Scan(u16),
}

impl Inst {
    /// The loop that the instruction is a result of.
    pub fn ends(&self) -> Option<LoopId> {
        match self {
            Inst::Reduce { within, .. } | Inst::Iterate { within, .. } => Some(*within),
            _ => None,
        }
    }

    /// Calls `f` with every value that the instruction reads.
    pub fn for_each_arg(&self, mut f: impl FnMut(Val)) {
        match self {
            Inst::Const(_) | Inst::Coord(_) | Inst::Extent { .. } | Inst::Shared(_) => {}
            Inst::Load { index: list, .. } | Inst::Scan { terms: list, .. } => list.iter().for_each(|v| f(*v)),
            Inst::Unary(_, a) | Inst::Cast(a) | Inst::Bits(a) => f(*a),
            Inst::Call(_, args) => args.iter().for_each(|a| f(*a)),
            Inst::Binary(_, a, b) => [*a, *b].into_iter().for_each(f),
            Inst::Fma(a, b, c) | Inst::Select(a, b, c) => [*a, *b, *c].into_iter().for_each(f),
            Inst::Guard { value, low, high, index } => [*value, *low, *high].into_iter().chain(*index).for_each(f),
            Inst::Step { extent, .. } => f(*extent),
            Inst::Carry { extent, start, .. } => [*extent, *start].into_iter().for_each(f),
            Inst::Iterate { extent, carry, next, .. } => [*extent, *carry, *next].into_iter().for_each(f),
            Inst::Reduce { extent, value, times, .. } => {
                [Some(*extent), Some(*value), *times].into_iter().flatten().for_each(f)
            }
        }
    }
}
