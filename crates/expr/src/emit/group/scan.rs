//! Turns along rows that are scanned: all threads take part in each step, so that each sees what stands before its points.

use super::{Goal, Inst, Program, Writer, body};
use crate::emit::text::{binary, literal};
use crate::program::SharedScan;
use crate::scan::CHUNK;
use std::collections::BTreeSet;

/// The program for a goal, which is given the values of scans, and the scans whose values it reads.
pub(super) fn given(program: &Program, goal: Goal) -> (Program, BTreeSet<usize>) {
    let mut aimed = program.aimed(goal);
    aimed.given = program.values().filter(|v| matches!(program.inst(*v), Inst::Scan { .. })).collect();
    let live = aimed.live();
    let read = aimed.given.iter().filter(|v| live[v.0 as usize]).filter_map(|v| match program.inst(*v) {
        Inst::Scan { number, .. } => Some(usize::from(*number)),
        _ => None,
    });
    let read = read.collect();
    (aimed, read)
}

/// The scans that a goal needs, each after those that it needs itself.
pub(super) fn needed(program: &Program, goal: Goal) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    let mut left = given(program, goal).1;
    while let Some(number) = left.pop_first() {
        all.insert(number);
        left.extend(given(program, Goal::Scan(number as u16)).1.difference(&all));
    }
    all
}

impl Writer<'_> {
    /// The parameters for the values of scans: of all the thread's points, or of one.
    pub(super) fn scan_parameters(&self, read: &BTreeSet<usize>, many: bool) -> String {
        let one = |number: &usize| {
            let kind = self.tile.scans[*number].dtype.cuda();
            if many { format!(", const {kind} (&c{number})[{CHUNK}]") } else { format!(", const {kind} c{number}") }
        };
        read.iter().map(one).collect()
    }

    /// The arguments for them; `lane` is empty for all points.
    pub(super) fn scan_arguments(&self, goal: Goal, lane: &str) -> String {
        given(self.tile, goal).1.iter().map(|number| format!(", c{number}{lane}")).collect()
    }

    /// A function for what each scan takes, for all points of a thread and for one.
    pub(super) fn scan_functions(&self, out: &mut String) {
        let single = self.single();
        for (number, scan) in self.tile.scans.iter().enumerate() {
            let (goal, kind) = (Goal::Scan(number as u16), scan.dtype.cuda());
            let (program, read) = given(self.tile, goal);
            let results = self.results(scan.level);
            let more = format!(", {kind} (&x)[{CHUNK}]{results}{}", self.scan_parameters(&read, true));
            let name = format!("scan{number}");
            body::function(out, &name, self.plan, self.names, self.params, &program, Some(&more));
            if self.even() {
                continue;
            }
            let more = format!(", {kind}& x{results}{}", self.scan_parameters(&read, false));
            let (program, _) = given(self.point, goal);
            body::function(out, &format!("{name}_one"), &single, self.names, self.params, &program, Some(&more));
        }
    }

    /// The loop along a row, or a segment of it, for a goal that reads scans: turn after turn, each scan in it and then the goal
    /// itself, if there is one; `after` it what the scans come to is there.
    pub(super) fn along_scans(&mut self, needed: &BTreeSet<usize>, goal: Option<(&str, &[String])>, after: &str) {
        self.line(1, "{");
        for number in needed {
            let scan = &self.tile.scans[*number];
            let start = if self.chained() { format!("start{number}") } else { identity(scan) };
            let text = format!("{} carry{number} = {start};", scan.dtype.cuda());
            self.line(2, &text);
        }
        let last = match self.chained() {
            true => format!("(n - first < {0} ? n : first + {0})", self.group.tree.segment),
            false => "n".into(),
        };
        self.line(2, &format!("for (int from = first; from < {last}; from += {}) {{", self.group.tree.width));
        self.line(3, &format!("const int at = from + t * {CHUNK};"));
        for number in needed {
            self.scan(*number);
        }
        if let Some((many, each)) = goal {
            self.turn(many, each);
        }
        self.line(2, "}");
        if !after.is_empty() {
            self.line(2, after);
        }
        self.line(1, "}");
    }

    /// What a thread does with its points of a turn, if it has any.
    fn turn(&mut self, many: &str, each: &[String]) {
        let even = self.even();
        self.line(3, &if even { "if (at < end) {".to_string() } else { format!("if (at + {CHUNK} <= end) {{") });
        self.point_of_row(4, "at");
        self.line(4, many);
        if !even {
            self.line(3, "} else {");
            self.each(4, each);
        }
        self.line(3, "}");
    }

    /// One turn of a scan: what it takes becomes its values.
    fn scan(&mut self, number: usize) {
        let scan = self.tile.scans[number].clone();
        let (kind, identity) = (scan.dtype.cuda(), identity(&scan));
        let start = vec![identity; CHUNK as usize].join(", ");
        self.line(3, &format!("{kind} c{number}[{CHUNK}] = {{{start}}};"));
        let (coords, results, goal) = (self.coords(), self.known(scan.level), Goal::Scan(number as u16));
        let many = format!("scan{number}(p{coords}, c{number}{results}{});", self.scan_arguments(goal, ""));
        let one = |lane: u32| {
            let scans = self.scan_arguments(goal, &format!("[{lane}]"));
            format!("scan{number}_one(p{coords}, c{number}[{lane}]{results}{scans});")
        };
        let each: Vec<String> = (0..CHUNK).map(one).collect();
        self.turn(&many, &each);
        let rows = if self.group.tall { self.group.rows } else { 0 };
        let at = self.scan_scratch(scan.dtype.size());
        let operation = binary(scan.reduction.operation(), "a", "b", scan.dtype);
        let text = format!(
            "tw::scan<{}, {rows}>(c{number}, carry{number}, tw::shared_memory() + {at}, []({kind} a, {kind} b) -> {kind} \
             {{ return {operation}; }});",
            self.group.threads
        );
        self.line(3, &text);
    }

    /// Where the threads of a scan leave each other totals of `size` bytes. Scans of values of one size take turns there.
    fn scan_scratch(&mut self, size: usize) -> u32 {
        if let Some(at) = self.scan_places.get(&size) {
            return *at;
        }
        let (threads, rows) = (self.group.threads, self.group.rows);
        let warps = (threads * rows).div_ceil(32);
        let values = match (self.group.tall, threads > 32) {
            (true, _) => rows * (threads + 1) + warps,
            (false, true) => warps,
            (false, false) => 0,
        };
        let at = self.scratch(values * size as u32);
        self.scan_places.insert(size, at);
        at
    }
}

/// The value that changes no other.
pub(super) fn identity(scan: &SharedScan) -> String {
    literal(scan.reduction.identity(scan.dtype))
}
