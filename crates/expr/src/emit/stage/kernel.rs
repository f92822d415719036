//! The entry: where a block stands, what its threads fill, and what they compute.

use super::Programs;
use crate::emit::run::Role;
use crate::emit::{Names, Params};
use crate::plan::{Extent, Plan};
use crate::stage::{Margin, Stage, Staging, TileLoop};
use std::fmt::Write as _;

/// Most instructions of a fill whose turns are written one after the other, so that their loads overlap.
const SHORT: usize = 160;

/// Parameters of a function beside the coordinates: the thread's place along each loop of the tile.
pub(super) fn places(staging: &Staging, names: &Names) -> String {
    staging.tile.iter().map(|t| format!(", const int {}", names.place(t.number))).collect()
}

/// A literal that is added.
fn more(k: i64) -> String {
    match k {
        0 => String::new(),
        1.. => format!(" + {k}"),
        _ => format!(" - {}", -k),
    }
}

/// The place of turn `i` along a loop of the tile, which has so many: neighbouring turns lie along that which memory runs along.
fn turn(stage: &Stage, number: usize, sizes: &[String]) -> String {
    let fastest = if stage.across { 0 } else { sizes.len() - 1 };
    match sizes {
        [_] => "i".into(),
        _ if number == fastest => format!("i % {}", sizes[fastest]),
        _ => format!("i / {}", sizes[fastest]),
    }
}

/// Writes the entry.
pub(super) fn write(
    out: &mut String,
    (plan, staging): (&Plan, &Staging),
    (names, role): (&Names, Role),
    params: &Params,
    programs: &Programs,
) {
    let mut entry = Entry { out, plan, staging, names, role, params };
    entry.block();
    if !staging.stages.is_empty() {
        entry.inside();
    }
    for (number, [inside, _]) in programs.fills.iter().enumerate() {
        entry.fill(number, inside.len() <= SHORT);
    }
    entry.compute();
    entry.out.push_str("}\n");
}

struct Entry<'a> {
    out: &'a mut String,
    plan: &'a Plan,
    staging: &'a Staging,
    names: &'a Names,
    role: Role,
    params: &'a Params,
}

impl Entry<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "  ".repeat(depth));
    }

    fn threads(&self) -> u32 {
        self.plan.block[0] * self.plan.block[1]
    }

    fn extent(&self, t: &TileLoop) -> String {
        self.params.world_extent(self.plan, self.names, t.number)
    }

    /// Where the tile begins along a loop.
    fn tile(&self, t: &TileLoop) -> String {
        self.names.tile(t.number)
    }

    /// The block's tile, and its coordinate along each other loop.
    fn block(&mut self) {
        self.out.push_str(&self.role.head(self.plan));
        let wide = self.plan.large_grid() || self.plan.world.iter().any(|w| w.wide());
        let kind = if wide { "unsigned long long" } else { "unsigned" };
        self.line(1, &format!("{kind} block = {};", self.role.block(kind, wide)));
        let tiles = self.plan.tiles();
        for i in (0..self.plan.world.len()).rev() {
            let w = &self.plan.world[i];
            let count = match w.class {
                Extent::Exact(_) => format!("{}u", tiles[i]),
                Extent::MultipleOf(_) => format!("p.{}", self.names.tiles(i)),
            };
            let kind = if w.wide() { "long long" } else { "int" };
            let place = if i == 0 { "block".to_string() } else { format!("(block % {count})") };
            let text = match self.staging.tile_loop(i) {
                Some(t) => format!("const int {} = (int){place} * {};", self.names.tile(i), t.points_a_block()),
                None => format!("const {kind} {} = ({kind}){place};", self.names.coord(i)),
            };
            self.line(1, &text);
            if i > 0 {
                self.line(1, &format!("block /= {count};"));
            }
            if i == 0 && wide {
                let first = if self.staging.tile_loop(0).is_some() { self.names.tile(0) } else { self.names.coord(0) };
                let extent = self.params.world_extent(self.plan, self.names, 0);
                self.line(1, &format!("if ({first} >= {extent}) return;"));
            }
        }
        let ([x, y], along) = (self.role.thread(self.plan), self.plan.block[0]);
        self.line(1, &format!("const int thread_x = (int){x}, thread_y = (int){y};"));
        self.line(1, &format!("const int thread = thread_y * {along} + thread_x;"));
    }

    /// Whether no stage of the block touches a border.
    fn inside(&mut self) {
        let mut conditions = Vec::new();
        for (i, t) in self.staging.tile.iter().enumerate() {
            let margins = self.staging.stages.iter().map(|s| s.filled(&self.staging.tile, i));
            let widest = margins.reduce(Margin::and).unwrap_or(Margin::NONE);
            let tile = self.tile(t);
            conditions.push(format!("{tile} >= {}", -widest.before));
            conditions.push(format!("{tile} + {} <= {}", t.points_a_block() + widest.after, self.extent(t)));
        }
        self.line(1, &format!("const bool inside = {};", conditions.join(" && ")));
    }

    /// One stage, and the barrier behind it.
    fn fill(&mut self, number: usize, short: bool) {
        let staging = self.staging;
        let stage = &staging.stages[number];
        let sizes = staging.turns(number);
        let (count, threads) = (sizes.iter().product::<i64>(), i64::from(self.threads()));
        self.line(1, "if (inside) {");
        if short {
            self.line(2, "TW_UNROLL");
        }
        // As many turns as a literal says, so that their loads stand together.
        let (turns, rest) = ((count + threads - 1) / threads, count % threads);
        self.line(2, &format!("for (int k = 0; k < {turns}; ++k) {{"));
        self.line(3, &format!("const int i = thread + k * {threads};"));
        if rest > 0 {
            self.line(3, &format!("if (k == {} && i >= {count}) break;", turns - 1));
        }
        let sizes: Vec<String> = sizes.iter().map(i64::to_string).collect();
        for (i, t) in staging.tile.iter().enumerate() {
            let turn = turn(stage, i, &sizes);
            let vectors = i + 1 == staging.tile.len() && t.points > 1 && !stage.across;
            let times = if vectors { format!(" * {}", t.points) } else { String::new() };
            let place = self.names.place(t.number);
            self.line(3, &format!("const int {place} = {turn}{times};"));
            let start = stage.filled(&staging.tile, i).before;
            let text = format!("const int {} = {} + {place}{};", self.names.coord(t.number), self.tile(t), more(start));
            self.line(3, &text);
        }
        let arguments = self.arguments(|_| String::new());
        self.line(3, &format!("fill{number}({arguments});"));
        self.line(2, "}");
        self.line(1, "} else {");
        self.edge(number, stage, &arguments);
        self.line(1, "}");
        self.line(1, "tw::arch::sync_block(tw::Place::here());");
    }

    /// What is filled where a border may be: no more than is read, one place at a time.
    fn edge(&mut self, number: usize, stage: &Stage, arguments: &str) {
        let staging = self.staging;
        for (i, t) in staging.tile.iter().enumerate() {
            let (name, extent, tile) = (self.names.coord(t.number), self.extent(t), self.tile(t));
            let (margin, points) = (stage.margins[i], t.points_a_block());
            let (first, end) =
                (tile.clone() + &more(margin.before), format!("tw::minimum({tile} + {points}, {extent})"));
            let (first, end) = match stage.padded[i] {
                true => (first, end + &more(margin.after)),
                false => (
                    format!("tw::maximum({first}, 0)"),
                    format!("tw::minimum({tile} + {}, {extent})", points + margin.after),
                ),
            };
            self.line(2, &format!("const int first_{name} = {first}, count_{name} = {end} - first_{name};"));
        }
        let count = |t: &TileLoop| format!("count_{}", self.names.coord(t.number));
        let counts: Vec<String> = staging.tile.iter().map(count).collect();
        let (total, threads) = (counts.join(" * "), self.threads());
        self.line(2, &format!("for (int i = thread; i < {total}; i += {threads}) {{"));
        for (i, t) in staging.tile.iter().enumerate() {
            let (name, turn) = (self.names.coord(t.number), turn(stage, i, &counts));
            self.line(3, &format!("const int {name} = first_{name} + {turn};"));
            let start = stage.filled(&staging.tile, i).before;
            let text = format!("const int {} = {name} - {}{};", self.names.place(t.number), self.tile(t), more(-start));
            self.line(3, &text);
        }
        self.line(3, &format!("fill_edge{number}({arguments});"));
        self.line(2, "}");
    }

    /// A thread's coordinates and places as arguments, with `more` behind those along loops of the tile.
    fn arguments(&self, more: impl Fn(&TileLoop) -> String) -> String {
        let staging = self.staging;
        let coord = |i: usize| self.names.coord(i) + &staging.tile_loop(i).map_or_else(String::new, &more);
        let coords = (0..self.plan.world.len()).map(coord);
        let places = staging.tile.iter().map(|t| self.names.place(t.number) + &more(t));
        ["p".to_string()].into_iter().chain(coords).chain(places).collect::<Vec<_>>().join(", ")
    }

    /// Each thread's points of the tile.
    fn compute(&mut self) {
        let staging = self.staging;
        let arguments = self.arguments(|_| String::new());
        let (mut whole, mut starts, mut inner) = (Vec::new(), Vec::new(), Vec::new());
        for (i, t) in staging.tile.iter().enumerate() {
            let thread = if i + 1 == staging.tile.len() { "thread_x" } else { "thread_y" };
            let times = if t.points > 1 { format!(" * {}", t.points) } else { String::new() };
            let (place, coord) = (self.names.place(t.number), self.names.coord(t.number));
            starts.push(format!("const int {place} = {thread}{times}, {coord} = {} + {place};", self.tile(t)));
            whole.push(format!("{coord} + {} <= {}", t.points, self.extent(t)));
            let reach = staging.windows.iter().map(|s| s.margins[i]).reduce(Margin::and).unwrap_or(Margin::NONE);
            inner.push(format!("{coord} >= {}", -reach.before));
            inner.push(format!("{coord} + {} <= {}", i64::from(t.points) + reach.after, self.extent(t)));
        }
        starts.iter().for_each(|text| self.line(1, text));
        if !staging.windows.is_empty() {
            self.line(1, &format!("if ({}) {{", inner.join(" && ")));
            self.line(2, &format!("inner({arguments});"));
            self.line(2, "return;");
            self.line(1, "}");
        }
        self.line(1, &format!("if ({}) {{", whole.join(" && ")));
        self.line(2, &format!("tile({arguments});"));
        self.line(2, "return;");
        self.line(1, "}");
        let step = |t: &TileLoop| format!("step_{}", self.names.coord(t.number));
        let call = self.arguments(|t| format!(" + {}", step(t)));
        let mut lines = Vec::new();
        for t in &staging.tile {
            let (step, coord, extent) = (step(t), self.names.coord(t.number), self.extent(t));
            lines.push(format!("for (int {step} = 0; {step} < {} && {coord} + {step} < {extent}; ++{step})", t.points));
        }
        lines.push(format!("point({call});"));
        lines.iter().enumerate().for_each(|(i, text)| self.line(i + 1, text));
    }
}
