//! Kernels whose threads share reductions: rows in turns, a level of reductions each, and a last turn that stores.

use super::run::Role;
use super::{Names, Params, body};
use crate::collective::{Group, PARTIALS};
use crate::emit::text::{binary, literal};
use crate::plan::Plan;
use crate::program::{Along, Goal, Inst, LOOPS, Program, SharedReduction, Val};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

/// Bytes of shared memory that answer whether a block is the last.
const ANSWER: u32 = 16;

/// Everything that the text is made from.
struct Writer<'a> {
    plan: &'a Plan,
    group: &'a Group,
    names: &'a Names,
    role: Role,
    params: &'a Params,
    /// The thread's points at once, and one of them.
    tile: &'a Program,
    point: &'a Program,
    text: String,
    shared_bytes: u32,
    /// What the threads keep from turn to turn.
    held: Held,
}

/// Most 32-bit registers of a thread for what it keeps of its row.
const KEPT: usize = 128;

/// Values that one turn computes and a later one needs again: for each turn what it is given, and what it keeps.
#[derive(Default)]
struct Held {
    given: Vec<BTreeSet<Val>>,
    kept: Vec<BTreeSet<Val>>,
}

impl Held {
    /// What is worth keeping; nothing if the threads have no room for it.
    fn new(plan: &Plan, group: &Group, program: &Program) -> Held {
        let turns = usize::from(program.levels()) + 1;
        let along = (plan.world.len() - group.loops..plan.world.len()).fold(0, |bits: Along, i| bits | 1 << i);
        let world = (1 << LOOPS) - 1;
        let mut held = Held { given: vec![BTreeSet::new(); turns], kept: vec![BTreeSet::new(); turns] };
        let mut turn_of: HashMap<Val, usize> = HashMap::new();
        for turn in 0..turns {
            let goal = if turn + 1 == turns { Goal::Stores } else { Goal::Level(turn as u16) };
            let aimed = program.aimed(goal);
            let mut stack: Vec<Val> =
                aimed.stored().iter().flat_map(|s| s.index.iter().copied().chain([s.value])).collect();
            stack.extend(aimed.taken().flat_map(|(_, s)| &s.terms).flat_map(|(a, b)| [Some(*a), *b]).flatten());
            let mut seen: BTreeSet<Val> = BTreeSet::new();
            while let Some(v) = stack.pop() {
                if !seen.insert(v) {
                    continue;
                }
                let inst = program.inst(v);
                let plain = matches!(inst, Inst::Const(_) | Inst::Coord(_) | Inst::Extent { .. } | Inst::Shared(_));
                let varies = program.varies(v);
                let of_row = !plain && varies & along != 0 && varies & !world == 0;
                match turn_of.get(&v).filter(|t| **t < turn && of_row) {
                    Some(before) => {
                        held.given[turn].insert(v);
                        held.kept[*before].insert(v);
                    }
                    None => {
                        turn_of.entry(v).or_insert(turn);
                        inst.for_each_arg(|a| stack.push(a));
                    }
                }
            }
        }
        let words = |v: &Val| program.dtype(*v).size().div_ceil(4);
        let alive = |turn: usize| -> usize {
            let needed: BTreeSet<&Val> = held.given[turn + 1..].iter().flatten().collect();
            held.kept[..=turn].iter().flatten().filter(|v| needed.contains(v)).map(words).sum()
        };
        let most = (0..turns - 1).map(alive).max().unwrap_or(0);
        if most * group.steps as usize > KEPT { Held::default() } else { held }
    }

    fn any(&self) -> bool {
        self.kept.iter().any(|k| !k.is_empty())
    }

    fn of(list: &[BTreeSet<Val>], turn: usize) -> impl Iterator<Item = Val> {
        list.get(turn).into_iter().flatten().copied()
    }
}

/// Writes everything below the head; gives the bytes of shared memory.
pub(super) fn write(
    source: &mut String,
    plan: &Plan,
    group: &Group,
    (names, role): (&Names, Role),
    params: &Params,
    [tile, point]: [&Program; 2],
) -> u32 {
    let (text, shared_bytes, held) = (String::new(), ANSWER, Held::default());
    let mut writer = Writer { plan, group, names, role, params, tile, point, text, shared_bytes, held };
    if group.steps > 0 && !group.tall && writer.whole_points() && writer.even() {
        writer.held = Held::new(plan, group, tile);
    }
    writer.functions(source);
    writer.kernel();
    source.push_str(&writer.text);
    writer.shared_bytes
}

impl Writer<'_> {
    fn lanes(&self) -> u32 {
        self.plan.lanes
    }

    fn single(&self) -> Plan {
        Plan { lanes: 1, ..self.plan.clone() }
    }

    fn whole_points(&self) -> bool {
        let (_, reduced) = self.group.split(&self.plan.world);
        self.lanes() > 1 && (reduced.len() == 1 || self.even())
    }

    /// Whether rows end where a thread's points do.
    fn even(&self) -> bool {
        let (_, reduced) = self.group.split(&self.plan.world);
        reduced.last().is_some_and(|w| w.class.divides(self.lanes()))
    }

    /// Whether results vary along the reduced loops, so that a last turn goes along them.
    fn stores_rows(&self) -> bool {
        let (_, reduced) = self.group.split(&self.plan.world);
        self.plan.outputs.iter().flat_map(|s| &s.axes).any(|a| reduced.iter().any(|w| w.dim == a.axis.dim))
    }

    fn level(&self, level: u16) -> impl Iterator<Item = (usize, &SharedReduction)> {
        self.tile.shared.iter().enumerate().filter(move |(_, s)| s.level == level)
    }

    /// A function for each level and one that stores, each for all points of a thread and for one.
    fn functions(&self, out: &mut String) {
        let single = self.single();
        let results = |before: u16| -> String {
            let known = self.tile.shared.iter().enumerate().filter(|(_, s)| s.level < before);
            known.map(|(i, s)| format!(", const {} r{i}", s.dtype.cuda())).collect()
        };
        for level in 0..self.tile.levels() {
            let places = |many: bool| -> String {
                let place = |(i, s): (usize, &SharedReduction)| match many {
                    true => format!(", {} (&k{i})[{}]", s.dtype.cuda(), self.lanes()),
                    false => format!(", {}& k{i}", s.dtype.cuda()),
                };
                self.level(level).map(place).collect()
            };
            let goal = Goal::Level(level);
            if self.whole_points() {
                let turn = usize::from(level);
                let more = places(true) + &results(level) + &self.held_parameters(turn);
                let name = format!("take{level}");
                let program = self.holding(goal, turn);
                body::function(out, &name, self.plan, self.names, self.params, &program, Some(&more));
            }
            if self.whole_points() && self.even() {
                continue;
            }
            let more = places(false) + &results(level);
            let name = format!("take{level}_one");
            body::function(out, &name, &single, self.names, self.params, &self.point.aimed(goal), Some(&more));
        }
        let more = results(u16::MAX);
        if self.stores_rows() && self.whole_points() {
            let turn = usize::from(self.tile.levels());
            let more = results(u16::MAX) + &self.held_parameters(turn);
            let program = self.holding(Goal::Stores, turn);
            body::function(out, "finish", self.plan, self.names, self.params, &program, Some(&more));
        }
        if self.stores_rows() && self.whole_points() && self.even() {
            return;
        }
        let point = self.point.aimed(Goal::Stores);
        body::function(out, "finish_one", &single, self.names, self.params, &point, Some(&more));
    }

    /// The program of a turn, with what it is given and what it keeps.
    fn holding(&self, goal: Goal, turn: usize) -> Program {
        let mut program = self.tile.aimed(goal);
        program.given = Held::of(&self.held.given, turn).collect();
        program.kept = Held::of(&self.held.kept, turn).collect();
        program
    }

    fn held_parameters(&self, turn: usize) -> String {
        let kind = |v: Val| self.tile.dtype(v).cuda();
        let given = Held::of(&self.held.given, turn).map(|v| format!(", const {} h{}", kind(v), v.0));
        let kept = Held::of(&self.held.kept, turn).map(|v| format!(", {}& h{}", kind(v), v.0));
        given.chain(kept).collect()
    }

    /// What a turn is called with, at step `k`.
    fn held_arguments(&self, turn: usize) -> String {
        let all = Held::of(&self.held.given, turn).chain(Held::of(&self.held.kept, turn));
        all.map(|v| format!(", h{}[k]", v.0)).collect()
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(depth));
    }

    fn cut(&self) -> bool {
        self.group.segments() > 1
    }

    fn kernel(&mut self) {
        self.text.push_str(&self.role.head(self.plan));
        self.place();
        for v in self.held.kept.iter().flatten().copied().collect::<BTreeSet<_>>() {
            let text = format!("{} h{}[{}];", self.tile.dtype(v).cuda(), v.0, self.group.steps);
            self.line(1, &text);
        }
        for level in 0..self.tile.levels() {
            let numbers: Vec<usize> = self.level(level).map(|(i, _)| i).collect();
            self.accumulate(level, &numbers);
            for number in numbers {
                self.combine(number);
            }
        }
        if self.cut() {
            self.partials();
        }
        self.finish();
        self.line(0, "}");
    }

    /// Where the thread works: its row, its number among the row's threads, the part of the row.
    fn place(&mut self) {
        let (outer, reduced) = self.group.split(&self.plan.world);
        let (first, threads, rows) = (outer.len(), self.group.threads, self.group.rows);
        let kind = if self.group.wide_rows(&self.plan.world) || self.plan.large_grid() { "long long" } else { "int" };
        let large = self.plan.large_grid();
        let block = self.role.block(if large { "long long" } else { "int" }, large);
        let extent = |i: usize| self.params.world_extent(self.plan, self.names, i);
        let n = (first..first + reduced.len()).map(extent).collect::<Vec<_>>();
        let count = if self.group.wide() { "long long" } else { "int" };
        let n = n.iter().map(|n| format!("({count}){n}")).collect::<Vec<_>>().join(" * ");
        let mut lines = vec![format!("{kind} block = {block};"), format!("const {count} n = {n};")];
        if self.cut() {
            let segment = self.group.tree.segment;
            lines.push(format!("const int segments = (int)((n + {}) / {segment});", segment - 1));
            lines.push("const int segment = (int)(block % segments);".into());
            lines.push("block /= segments;".into());
            lines.push("const int block_of_rows = (int)block;".into());
        }
        let mut conditions = Vec::new();
        let mut outer_lines = Vec::new();
        if self.group.tall {
            let [x, y] = self.role.thread(self.plan);
            lines.push(format!("const int t = (int){y}, place = (int){x};"));
            for i in (0..first).rev() {
                let (coord, wide) = (self.names.coord(i), if outer[i].wide() { "long long" } else { "int" });
                if i + 1 == first {
                    let tiles = format!("(({} + {}) / {rows})", extent(i), rows - 1);
                    outer_lines.push(format!("const {wide} {coord} = ({wide})(block % {tiles} * {rows} + place);"));
                    outer_lines.push(format!("block /= {tiles};"));
                    conditions.push(format!("{coord} < {}", extent(i)));
                } else {
                    outer_lines.push(format!("const {wide} {coord} = ({wide})(block % {});", extent(i)));
                    outer_lines.push(format!("block /= {};", extent(i)));
                }
            }
        } else {
            lines.push(format!("const int t = (int)threadIdx.x % {threads}, place = (int)threadIdx.x / {threads};"));
            lines.push(format!("{kind} row = block * {rows} + place;"));
            for i in (0..first).rev() {
                let (coord, wide) = (self.names.coord(i), if outer[i].wide() { "long long" } else { "int" });
                if i == 0 {
                    outer_lines.push(format!("const {wide} {coord} = ({wide})row;"));
                    conditions.push(format!("{coord} < {}", extent(i)));
                } else {
                    outer_lines.push(format!("const {wide} {coord} = ({wide})(row % {});", extent(i)));
                    outer_lines.push(format!("row /= {};", extent(i)));
                }
            }
            if first == 0 {
                conditions.push("row == 0".into());
            }
        }
        lines.extend(outer_lines);
        let there = if conditions.is_empty() { "true".to_string() } else { conditions.join(" && ") };
        lines.push(format!("const bool there = {there};"));
        if self.cut() {
            let segment = self.group.tree.segment;
            lines.push(format!("const {count} first = ({count})segment * {segment};"));
            lines.push(format!("const {count} end = there ? (n - first < {segment} ? n : first + {segment}) : first;"));
        } else {
            lines.push(format!("const {count} first = 0;"));
            lines.push(format!("const {count} end = there ? n : 0;"));
        }
        lines.iter().for_each(|l| self.line(1, l));
    }

    /// The loop along a row: `many` for all points of a thread, `one` for one.
    fn along(&mut self, many: Option<&str>, one: &dyn Fn(&str) -> String) {
        let (outer, reduced) = self.group.split(&self.plan.world);
        let (first, reduced) = (outer.len(), reduced.to_vec());
        let (lanes, width) = (self.lanes(), self.group.tree.width);
        let count = if self.group.wide() { "long long" } else { "int" };
        if self.held.any() {
            self.line(1, "TW_UNROLL");
            self.line(1, &format!("for (int k = 0; k < {}; ++k) {{", self.group.steps));
            self.line(2, &format!("const {count} at = first + t * {lanes} + k * {width};"));
            self.line(2, "if (at >= end) continue;");
        } else {
            self.line(1, &format!("for ({count} at = first + t * {lanes}; at < end; at += {width}) {{"));
        }
        let decode = |this: &mut Self, depth: usize, at: &str| {
            let mut rest = at.to_string();
            for i in (first..first + reduced.len()).rev() {
                let coord = this.names.coord(i);
                let kind = if reduced[i - first].wide() { "long long" } else { "int" };
                let extent = this.params.world_extent(this.plan, this.names, i);
                match i == first {
                    true => this.line(depth, &format!("const {kind} {coord} = ({kind})({rest});")),
                    false => {
                        this.line(depth, &format!("const {kind} {coord} = ({kind})(({rest}) % {extent});"));
                        rest = format!("({rest}) / {extent}");
                    }
                }
            }
        };
        if let Some(many) = many.filter(|_| self.even()) {
            decode(self, 2, "at");
            self.line(2, many);
            self.line(1, "}");
            return;
        }
        if let Some(many) = many {
            self.line(2, &format!("if (at + {lanes} <= end) {{"));
            decode(self, 3, "at");
            self.line(3, many);
            self.line(3, "continue;");
            self.line(2, "}");
        }
        for lane in 0..lanes {
            self.line(2, &format!("if (at + {lane} < end) {{"));
            decode(self, 3, &if lane == 0 { "at".to_string() } else { format!("at + {lane}") });
            let text = one(&lane.to_string());
            self.line(3, &text);
            self.line(2, "}");
        }
        self.line(1, "}");
    }

    fn coords(&self) -> String {
        (0..self.plan.world.len()).map(|i| format!(", {}", self.names.coord(i))).collect()
    }

    /// One turn along the row for the reductions of a level.
    fn accumulate(&mut self, level: u16, numbers: &[usize]) {
        let lanes = self.lanes();
        for i in numbers {
            let s = &self.tile.shared[*i];
            let identity = literal(s.reduction.identity(s.dtype));
            let start = vec![identity; lanes as usize].join(", ");
            let text = format!("{} k{i}[{lanes}] = {{{start}}};", s.dtype.cuda());
            self.line(1, &text);
        }
        let before: String = self
            .tile
            .shared
            .iter()
            .enumerate()
            .filter(|(_, s)| s.level < level)
            .map(|(i, _)| format!(", r{i}"))
            .collect();
        let coords = self.coords();
        let all: String = numbers.iter().map(|i| format!(", k{i}")).collect();
        let held = self.held_arguments(usize::from(level));
        let many = self.whole_points().then(|| format!("take{level}(p{coords}{all}{before}{held});"));
        let one = |lane: &str| {
            let each: String = numbers.iter().map(|i| format!(", k{i}[{lane}]")).collect();
            format!("take{level}_one(p{coords}{each}{before});")
        };
        self.along(many.as_deref(), &one);
    }

    /// The threads' accumulators become one value, `r`, which all threads of the row have.
    fn combine(&mut self, number: usize) {
        let s = self.tile.shared[number].clone();
        let kind = s.dtype.cuda();
        let op = |a: &str, b: &str| binary(s.reduction.operation(), a, b, s.dtype);
        let mut names: Vec<String> = (0..self.lanes()).map(|v| format!("k{number}[{v}]")).collect();
        // Each step overwrites the first of a pair, so that no expression grows long.
        let mut step = 1;
        while step < names.len() {
            for v in (0..names.len()).step_by(2 * step) {
                let text = format!("{} = {};", names[v], op(&names[v], &names[v + step]));
                self.line(1, &text);
            }
            step *= 2;
        }
        let r = format!("r{number}");
        self.line(1, &format!("{kind} {r} = {};", names.swap_remove(0)));
        if self.group.tall {
            self.combine_tall(&r, kind, self.group.threads, &op)
        } else {
            self.combine_lanes(&r, kind, &op)
        }
    }

    fn combine_lanes(&mut self, r: &str, kind: &str, op: &dyn Fn(&str, &str) -> String) {
        let threads = self.group.threads;
        let mut flip = 1;
        while flip < threads.min(32) {
            self.line(1, &format!("{r} = {};", op(r, &format!("tw::neighbour({r}, {flip})"))));
            flip *= 2;
        }
        if threads <= 32 {
            return;
        }
        let (warps, at) = (threads / 32, self.scratch(8 * 8));
        self.line(1, "{");
        self.line(2, &format!("{kind}* const warps = ({kind}*)(tw::shared_memory() + {at});"));
        self.line(2, &format!("if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = {r};"));
        self.line(2, "tw::arch::sync_block(tw::Place::here());");
        self.line(2, &format!("{r} = warps[place * {warps} + (int)threadIdx.x % {warps}];"));
        let mut flip = 1;
        while flip < warps {
            self.line(2, &format!("{r} = {};", op(r, &format!("tw::neighbour({r}, {flip})"))));
            flip *= 2;
        }
        self.line(1, "}");
    }

    /// Neighbouring threads have neighbouring rows: the values of a row meet in shared memory.
    fn combine_tall(&mut self, r: &str, kind: &str, threads: u32, op: &dyn Fn(&str, &str) -> String) {
        if threads == 1 {
            return;
        }
        let rows = self.group.rows;
        let at = self.scratch(rows * threads * 8);
        self.line(1, "{");
        self.line(2, &format!("{kind}* const all = ({kind}*)(tw::shared_memory() + {at});"));
        self.line(2, &format!("if (t < {threads}) all[t * {rows} + place] = {r};"));
        self.line(2, "tw::arch::sync_block(tw::Place::here());");
        self.line(2, &format!("for (int step = 1; step < {threads}; step *= 2) {{"));
        self.line(3, &format!("if (t < {threads} && t % (2 * step) == 0) {{"));
        let (a, b) = (format!("all[t * {rows} + place]"), format!("all[(t + step) * {rows} + place]"));
        self.line(4, &format!("{a} = {};", op(&a, &b)));
        self.line(3, "}");
        self.line(3, "tw::arch::sync_block(tw::Place::here());");
        self.line(2, "}");
        self.line(2, &format!("{r} = all[place];"));
        self.line(1, "}");
    }

    fn scratch(&mut self, bytes: u32) -> u32 {
        let at = self.shared_bytes;
        self.shared_bytes += bytes.next_multiple_of(16);
        at
    }

    /// Segments' results wait for the block that comes last, which reduces them.
    fn partials(&mut self) {
        let count = self.tile.shared.len();
        let rows = self.group.rows;
        let counters = super::COUNTER_BYTES;
        let row = format!("((long long)block_of_rows * {rows} + place)");
        self.line(
            1,
            &format!("unsigned char* const results = p.workspace + {counters} + {row} * segments * {};", 8 * count),
        );
        for number in 0..count {
            let kind = self.tile.shared[number].dtype.cuda();
            let place = format!("results + ((long long)segment * {count} + {number}) * 8");
            self.line(1, &format!("if (t == 0) *({kind}*)({place}) = r{number};"));
        }
        self.line(1, "if (!tw::last_to_come((unsigned*)p.workspace + block_of_rows, (unsigned)segments)) return;");
        for number in 0..count {
            let s = self.tile.shared[number].clone();
            let (kind, r) = (s.dtype.cuda(), format!("r{number}"));
            let op = |a: &str, b: &str| binary(s.reduction.operation(), a, b, s.dtype);
            self.line(1, &format!("{r} = {};", literal(s.reduction.identity(s.dtype))));
            let lane = if self.group.tall { "t" } else { "t % 32" };
            let place = format!("results + ((long long)s * {count} + {number}) * 8");
            self.line(1, &format!("for (int s = {lane}; {lane} < {PARTIALS} && s < segments; s += {PARTIALS}) {{"));
            self.line(2, &format!("{r} = {};", op(&r, &format!("tw::partial<{kind}>({place})"))));
            self.line(1, "}");
            if self.group.tall {
                self.combine_tall(&r, kind, PARTIALS as u32, &op);
                continue;
            }
            let mut flip = 1;
            while flip < PARTIALS as u32 {
                self.line(1, &format!("{r} = {};", op(&r, &format!("tw::neighbour({r}, {flip})"))));
                flip *= 2;
            }
        }
    }

    /// The last turn: results are stored.
    fn finish(&mut self) {
        let all: String = (0..self.tile.shared.len()).map(|i| format!(", r{i}")).collect();
        let coords = self.coords();
        if self.stores_rows() {
            let held = self.held_arguments(usize::from(self.tile.levels()));
            let many = self.whole_points().then(|| format!("finish(p{coords}{all}{held});"));
            self.along(many.as_deref(), &|_| format!("finish_one(p{coords}{all});"));
            return;
        }
        let (outer, _) = self.group.split(&self.plan.world);
        let at: String = (0..self.plan.world.len())
            .map(|i| if i < outer.len() { format!(", {}", self.names.coord(i)) } else { ", 0".into() })
            .collect();
        self.line(1, &format!("if (there && t == 0) finish_one(p{at}{all});"));
    }
}
