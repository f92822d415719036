//! Kernels whose threads share reductions: rows in turns, a level of reductions each, and a last turn that stores.

mod combine;
mod held;
mod place;
mod scan;
mod segments;
mod turns;

use super::run::Role;
use super::{Names, Params, body};
use crate::collective::Group;
use crate::emit::text::literal;
use crate::plan::Plan;
use crate::program::{Goal, Inst, Program, SharedReduction};
use held::Held;
use std::collections::BTreeMap;
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
    /// Where in shared memory the threads of scans meet, by the bytes of a value.
    scan_places: BTreeMap<usize, u32>,
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
    let mut writer = Writer {
        plan,
        group,
        names,
        role,
        params,
        tile,
        point,
        text,
        shared_bytes,
        held,
        scan_places: BTreeMap::new(),
    };
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
        let (outer, reduced) = self.group.split(&self.plan.world);
        let partial = self.tile.stores.iter().filter_map(|s| s.partial).any(|p| p.along >> outer.len() != 0);
        partial || self.plan.outputs.iter().flat_map(|s| &s.axes).any(|a| reduced.iter().any(|w| w.dim == a.axis.dim))
    }

    fn level(&self, level: u16) -> impl Iterator<Item = (usize, &SharedReduction)> {
        self.tile.shared.iter().enumerate().filter(move |(_, s)| s.level == level)
    }

    /// A function for each level and one that stores, each for all points of a thread and for one.
    fn functions(&self, out: &mut String) {
        let single = self.single();
        self.scan_functions(out);
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
                let more = places(true) + &self.results(level) + &self.held_parameters(turn);
                let more = more + &self.scan_parameters(&scan::given(self.tile, goal).1, true);
                let name = format!("take{level}");
                let program = self.holding(goal, turn);
                body::function(out, &name, self.plan, self.names, self.params, &program, Some(&more));
            }
            if self.whole_points() && self.even() {
                continue;
            }
            let (program, scans) = scan::given(self.point, goal);
            let more = places(false) + &self.results(level) + &self.scan_parameters(&scans, false);
            let name = format!("take{level}_one");
            body::function(out, &name, &single, self.names, self.params, &program, Some(&more));
        }
        if self.stores_rows() && self.whole_points() {
            let turn = usize::from(self.tile.levels());
            let more = self.results(u16::MAX) + &self.held_parameters(turn);
            let more = more + &self.scan_parameters(&scan::given(self.tile, Goal::Stores).1, true);
            let program = self.holding(Goal::Stores, turn);
            body::function(out, "finish", self.plan, self.names, self.params, &program, Some(&more));
        }
        if self.stores_rows() && self.whole_points() && self.even() {
            return;
        }
        let (program, scans) = scan::given(self.point, Goal::Stores);
        let more = self.results(u16::MAX) + &self.scan_parameters(&scans, false);
        body::function(out, "finish_one", &single, self.names, self.params, &program, Some(&more));
    }

    /// The parameters for the results of reductions of the levels before this one.
    fn results(&self, before: u16) -> String {
        let known = self.tile.shared.iter().enumerate().filter(|(_, s)| s.level < before);
        known.map(|(i, s)| format!(", const {} r{i}", s.dtype.cuda())).collect()
    }

    /// The arguments for them.
    fn known(&self, before: u16) -> String {
        let known = self.tile.shared.iter().enumerate().filter(|(_, s)| s.level < before);
        known.map(|(i, _)| format!(", r{i}")).collect()
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "  ".repeat(depth));
    }

    fn cut(&self) -> bool {
        self.group.segments() > 1
    }

    fn kernel(&mut self) {
        self.text.push_str(&self.role.head(self.plan));
        match () {
            _ if self.group.in_turns() => self.turns(),
            _ if self.chained() => self.chain(),
            _ => self.once(),
        }
        self.line(0, "}");
    }

    /// Each block goes along its part of a row.
    fn once(&mut self) {
        self.block();
        if self.group.passes > 1 {
            return self.passes();
        }
        self.part_of_row();
        self.declare_held();
        self.levels();
        if self.cut() {
            self.partials();
        }
        self.finish("there && t == 0");
    }

    /// Short rows: the loads of all that a thread has part in come before the first store.
    fn passes(&mut self) {
        let kinds: Vec<&str> = self.tile.shared.iter().map(|s| s.dtype.cuda()).collect();
        for (i, kind) in kinds.iter().enumerate() {
            self.line(1, &format!("{kind} all{i}[{}];", self.group.passes));
        }
        self.each_pass(|w| {
            w.levels();
            (0..kinds.len()).for_each(|i| w.line(1, &format!("all{i}[pass] = r{i};")));
        });
        self.each_pass(|w| {
            kinds.iter().enumerate().for_each(|(i, kind)| w.line(1, &format!("const {kind} r{i} = all{i}[pass];")));
            w.finish("there && t == 0");
        });
    }

    fn each_pass(&mut self, body: impl FnOnce(&mut Self)) {
        self.line(1, "TW_UNROLL");
        self.line(1, &format!("for (int pass = 0; pass < {}; ++pass) {{", self.group.passes));
        self.indented(|w| {
            w.part_of_row();
            body(w);
        });
        self.line(1, "}");
    }

    /// What `body` writes, a step to the right.
    fn indented(&mut self, body: impl FnOnce(&mut Self)) {
        let start = self.text.len();
        body(self);
        let inner: String = self.text.split_off(start).lines().map(|line| format!("  {line}\n")).collect();
        self.text.push_str(&inner);
    }

    /// A turn for each level of reductions.
    fn levels(&mut self) {
        (0..self.tile.levels()).for_each(|level| self.level_of_row(level));
    }

    /// One turn along the row for the reductions of a level, and their results.
    fn level_of_row(&mut self, level: u16) {
        let numbers: Vec<usize> = self.level(level).map(|(i, _)| i).collect();
        self.accumulate(level, &numbers);
        numbers.into_iter().for_each(|number| self.combine(number));
    }

    fn coords(&self) -> String {
        (0..self.plan.world.len()).map(|i| format!(", {}", self.names.coord(i))).collect()
    }

    /// Goes along the row for the reductions of a level.
    fn accumulate(&mut self, level: u16, numbers: &[usize]) {
        let lanes = self.lanes();
        for i in numbers {
            let s = &self.tile.shared[*i];
            let identity = literal(s.reduction.identity(s.dtype));
            let start = vec![identity; lanes as usize].join(", ");
            let text = format!("{} k{i}[{lanes}] = {{{start}}};", s.dtype.cuda());
            self.line(1, &text);
        }
        let (before, coords, goal) = (self.known(level), self.coords(), Goal::Level(level));
        let all: String = numbers.iter().map(|i| format!(", k{i}")).collect();
        let many = self.whole_points().then(|| format!("take{level}(p{coords}{all}{before}"));
        let one = |lane: &str, scans: &str| {
            let each: String = numbers.iter().map(|i| format!(", k{i}[{lane}]")).collect();
            format!("take{level}_one(p{coords}{each}{before}{scans});")
        };
        self.row((goal, usize::from(level)), many.as_deref(), &one);
    }

    /// The turn `number` along a row, for a goal: `many` is the call for all points of a thread without its last arguments, `one`
    /// that for one, given its lane and the arguments for scans.
    fn row(&mut self, (goal, number): (Goal, usize), many: Option<&str>, one: &dyn Fn(&str, &str) -> String) {
        let needed = scan::needed(self.tile, goal);
        let Some(call) = many.filter(|_| !needed.is_empty()) else {
            return self.along(number, many, &|lane| one(lane, ""));
        };
        let call = format!("{call}{});", self.scan_arguments(goal, ""));
        let each = (0..self.lanes()).map(|l| one(&l.to_string(), &self.scan_arguments(goal, &format!("[{l}]"))));
        let each: Vec<String> = each.collect();
        self.along_scans(&needed, Some((&call, &each)), "");
    }

    /// The last turn: results are stored; those that do not vary along the row by the thread for which `condition` holds.
    fn finish(&mut self, condition: &str) {
        let all: String = (0..self.tile.shared.len()).map(|i| format!(", r{i}")).collect();
        let coords = self.coords();
        if self.stores_rows() {
            let many = self.whole_points().then(|| format!("finish(p{coords}{all}"));
            let turn = usize::from(self.tile.levels());
            if self.clamped() {
                self.line(1, "if (!there) return;");
            }
            let one = |_: &str, scans: &str| format!("finish_one(p{coords}{all}{scans});");
            self.row((Goal::Stores, turn), many.as_deref(), &one);
            return;
        }
        let (outer, _) = self.group.split(&self.plan.world);
        let at: String = (0..self.plan.world.len())
            .map(|i| if i < outer.len() { format!(", {}", self.names.coord(i)) } else { ", 0".into() })
            .collect();
        self.line(1, &format!("if ({condition}) finish_one(p{at}{all});"));
    }
}
