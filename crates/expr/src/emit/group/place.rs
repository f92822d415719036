//! Where a thread works: its row, its number among the row's threads, its part of the row.

use super::Writer;
use crate::plan::WorldDim;

/// Most values of a step of which eight are written one after the other.
const SHORT_STEP: usize = 64;

pub(super) fn integer(wide: bool) -> &'static str {
    if wide { "long long" } else { "int" }
}

impl Writer<'_> {
    /// Defines `block`, the number of the block's rows, and what all rows have in common.
    pub(super) fn block(&mut self) {
        let large = self.plan.large_grid();
        let block = match self.chained() {
            true => "tw::ticket((unsigned*)p.workspace)".into(),
            false => self.role.block(integer(large), large),
        };
        let kind = integer(self.wide_blocks());
        self.line(1, &format!("{kind} block = {block};"));
        self.lengths();
        if self.cut() {
            self.line(1, "const int segment = (int)(block % segments);");
            self.line(1, "block /= segments;");
        }
    }

    /// Defines `n`, the values of a row, and `segments`, where it has several.
    pub(super) fn lengths(&mut self) {
        let (outer, reduced) = self.group.split(&self.plan.world);
        let (first, count) = (outer.len(), integer(self.group.wide()));
        let lengths = (first..first + reduced.len()).map(|i| format!("({count}){}", self.extent(i)));
        let values = lengths.collect::<Vec<_>>().join(" * ");
        self.line(1, &format!("const {count} n = {values};"));
        if self.cut() {
            let segment = self.group.tree.segment;
            self.line(1, &format!("const int segments = (int)((n + {}) / {segment});", segment - 1));
        }
    }

    /// The thread's part of rows `block`, of segment `segment`: defines `t`, the thread's number in its row; `place`, the row's
    /// number in the block, or in one of the block's passes; the row's coordinates; and `first..end`, the block's part of the row,
    /// which is empty where there is no row.
    pub(super) fn part_of_row(&mut self) {
        let (outer, count) = (self.group.split(&self.plan.world).0.to_vec(), integer(self.group.wide()));
        if self.cut() {
            self.line(1, "const int block_of_rows = (int)block;");
        }
        let there = if self.group.tall { self.neighbouring_rows(&outer) } else { self.whole_rows(&outer) };
        self.line(1, &format!("const bool there = {};", there.as_deref().unwrap_or("true")));
        if self.cut() {
            let segment = self.group.tree.segment;
            self.line(1, &format!("const {count} first = ({count})segment * {segment};"));
            self.line(
                1,
                &format!("const {count} end = there ? (n - first < {segment} ? n : first + {segment}) : first;"),
            );
        } else {
            self.line(1, &format!("const {count} first = 0;"));
            self.line(1, &format!("const {count} end = there ? n : 0;"));
        }
    }

    /// The number of blocks that all first segments take, as text.
    pub(super) fn blocks_of_rows(&self) -> String {
        let (outer, _) = self.group.split(&self.plan.world);
        let rows = self.group.rows;
        let product = |to: usize| -> String { (0..to).map(|i| format!("(long long){} * ", self.extent(i))).collect() };
        match outer.len() {
            0 => "1ll".into(),
            n if self.group.tall => format!("{}(({} + {}) / {rows})", product(n - 1), self.extent(n - 1), rows - 1),
            n => format!("({}1 + {}) / {rows}", product(n), rows - 1),
        }
    }

    fn wide_blocks(&self) -> bool {
        self.group.wide_rows(&self.plan.world) || self.plan.large_grid()
    }

    pub(super) fn extent(&self, dim: usize) -> String {
        self.params.world_extent(self.plan, self.names, dim)
    }

    /// Neighbouring threads have neighbouring rows. Gives the condition on which there is a row.
    fn neighbouring_rows(&mut self, outer: &[WorldDim]) -> Option<String> {
        let rows = self.group.rows;
        let mut there = None;
        let [x, y] = self.role.thread(self.plan);
        self.line(1, &format!("const int t = (int){y}, place = (int){x};"));
        for (i, w) in outer.iter().enumerate().rev() {
            let (coord, kind, extent) = (self.names.coord(i), integer(w.wide()), self.extent(i));
            if there.is_none() {
                let tiles = format!("(({extent} + {}) / {rows})", rows - 1);
                self.line(1, &format!("const {kind} {coord} = ({kind})(block % {tiles} * {rows} + place);"));
                self.line(1, &format!("block /= {tiles};"));
                there = Some(format!("{coord} < {extent}"));
            } else {
                self.line(1, &format!("const {kind} {coord} = ({kind})(block % {extent});"));
                self.line(1, &format!("block /= {extent};"));
            }
        }
        there
    }

    /// Whether steps along rows are not checked, and a block may have more places than there are rows.
    pub(super) fn clamped(&self) -> bool {
        (self.held.any() || self.at_once()) && self.group.full && self.group.rows > 1
    }

    /// Whether a row is gone through once, in a few steps that are written one after the other.
    fn at_once(&self) -> bool {
        !self.group.again && self.group.steps > 0 && !self.group.tall && self.whole_points() && self.even()
    }

    /// Neighbouring threads share a row. Gives the condition on which there is one.
    fn whole_rows(&mut self, outer: &[WorldDim]) -> Option<String> {
        let (threads, rows) = (self.group.threads, self.group.rows);
        self.line(1, &format!("const int t = (int)threadIdx.x % {threads}, place = (int)threadIdx.x / {threads};"));
        let kind = integer(self.wide_blocks());
        let pass = match self.group.passes {
            1 => String::new(),
            passes => format!("pass * {} + ", rows / passes),
        };
        self.line(1, &format!("{kind} row = block * {rows} + {pass}place;"));
        for (i, w) in outer.iter().enumerate().skip(1).rev() {
            let (coord, kind, extent) = (self.names.coord(i), integer(w.wide()), self.extent(i));
            self.line(1, &format!("const {kind} {coord} = ({kind})(row % {extent});"));
            self.line(1, &format!("row /= {extent};"));
        }
        let Some(w) = outer.first() else { return Some("row == 0".into()) };
        let (coord, kind, extent) = (self.names.coord(0), integer(w.wide()), self.extent(0));
        if self.clamped() {
            // Threads without a row go along the last one, so that no step asks.
            self.line(1, &format!("const {kind} {coord} = ({kind})(row < {extent} ? row : {extent} - 1);"));
            return Some(format!("row < {extent}"));
        }
        self.line(1, &format!("const {kind} {coord} = ({kind})row;"));
        Some(format!("{coord} < {extent}"))
    }

    /// The loop along a row: `many` calls turn `turn` for all points of a thread (the call without its last arguments),
    /// `one` for one.
    pub(super) fn along(&mut self, turn: usize, many: Option<&str>, one: &dyn Fn(&str) -> String) {
        if let Some(many) = many.filter(|_| self.held.any() || self.at_once()) {
            return self.steps_of_row(turn, many);
        }
        let (lanes, width) = (self.lanes(), self.group.tree.width);
        let count = integer(self.group.wide());
        if many.is_some() && self.even() && self.short() {
            self.line(1, "TW_UNROLL_BY_8");
        }
        self.line(1, &format!("for ({count} at = first + t * {lanes}; at < end; at += {width}) {{"));
        match many {
            Some(many) if self.even() => {
                self.point_of_row(2, "at");
                self.line(2, &format!("{many});"));
            }
            _ => self.ragged(many, one),
        }
        self.line(1, "}");
    }

    /// Whether segments are so long and steps so short that several of them should have their loads under way.
    fn short(&self) -> bool {
        let steps = self.group.tree.segment / i64::from(self.group.tree.width);
        self.cut() && steps >= 8 && self.tile.values().count() <= SHORT_STEP
    }

    /// A step of a row that may end within a thread's points.
    fn ragged(&mut self, many: Option<&str>, one: &dyn Fn(&str) -> String) {
        let lanes = self.lanes();
        if let Some(many) = many {
            self.line(2, &format!("if (at + {lanes} <= end) {{"));
            self.point_of_row(3, "at");
            self.line(3, &format!("{many});"));
            self.line(3, "continue;");
            self.line(2, "}");
        }
        let each: Vec<String> = (0..lanes).map(|lane| one(&lane.to_string())).collect();
        self.each(2, &each);
    }

    /// A statement for each lane whose point is in the row: its accumulator is a register, which no loop could choose.
    pub(super) fn each(&mut self, depth: usize, statements: &[String]) {
        for (lane, statement) in statements.iter().enumerate() {
            self.line(depth, &format!("if (at + {lane} < end) {{"));
            self.point_of_row(depth + 1, &if lane == 0 { "at".to_string() } else { format!("at + {lane}") });
            self.line(depth + 1, statement);
            self.line(depth, "}");
        }
    }

    /// The coordinates of value `at` of a row.
    pub(super) fn point_of_row(&mut self, depth: usize, at: &str) {
        let (outer, reduced) = self.group.split(&self.plan.world);
        let (first, reduced) = (outer.len(), reduced.to_vec());
        let mut rest = at.to_string();
        for (i, w) in reduced.iter().enumerate().skip(1).rev() {
            let (coord, kind, extent) = (self.names.coord(first + i), integer(w.wide()), self.extent(first + i));
            self.line(depth, &format!("const {kind} {coord} = ({kind})(({rest}) % {extent});"));
            rest = format!("({rest}) / {extent}");
        }
        if let Some(w) = reduced.first() {
            let (coord, kind) = (self.names.coord(first), integer(w.wide()));
            self.line(depth, &format!("const {kind} {coord} = ({kind})({rest});"));
        }
    }
}
