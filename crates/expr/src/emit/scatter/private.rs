//! The entry of a kernel whose blocks let values meet in a table of their own first.

use super::{meeting, parameter};
use crate::emit::run::Role;
use crate::emit::{Names, Params, body};
use crate::plan::{Extent, Plan};
use crate::program::Program;
use crate::scatter::Private;
use std::fmt::Write as _;

/// Writes the functions of a thread's points, and the entry; gives the bytes of shared memory.
pub(in crate::emit) fn write(
    source: &mut String,
    (plan, private): (&Plan, &Private),
    (names, role): (&Names, Role),
    params: &Params,
    [tile, point]: [Option<&Program>; 2],
) -> u32 {
    let more = parameter(private.dtype);
    if let Some(tile) = tile {
        body::function(source, "tile", plan, names, params, tile, Some(&more));
    }
    if let Some(point) = point {
        let single = Plan { lanes: 1, ..plan.clone() };
        body::function(source, "point", &single, names, params, point, Some(&more));
    }
    let mut entry = Entry { source, plan, private, names, role, params };
    entry.table();
    entry.strip();
    entry.tiles(point.is_some());
    entry.result();
    entry.source.push_str("}\n");
    private.bytes() as u32
}

struct Entry<'a> {
    source: &'a mut String,
    plan: &'a Plan,
    private: &'a Private,
    names: &'a Names,
    role: Role,
    params: &'a Params,
}

impl Entry<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.source, "{}{text}", "  ".repeat(depth));
    }

    fn wide(&self) -> bool {
        self.plan.large_grid() || self.plan.world.iter().any(|w| w.wide())
    }

    /// The type that counts blocks and tiles.
    fn kind(&self) -> &'static str {
        if self.wide() { "unsigned long long" } else { "unsigned" }
    }

    /// Tiles along a loop.
    fn count(&self, i: usize) -> String {
        match self.plan.world[i].class {
            Extent::Exact(_) => format!("{}u", self.plan.tiles()[i]),
            Extent::MultipleOf(_) => format!("p.{}", self.names.tiles(i)),
        }
    }

    fn extent(&self, i: usize) -> String {
        self.params.world_extent(self.plan, self.names, i)
    }

    /// Goes along the table with all threads of the block.
    fn along_table(&mut self) {
        let (places, threads) = (self.private.places(), self.plan.block[0] * self.plan.block[1]);
        self.line(1, &format!("for (int i = thread; i < {places}; i += {threads}) {{"));
    }

    /// The table, each place of it as if no value had come.
    fn table(&mut self) {
        self.source.push_str(&self.role.head(self.plan));
        let ([x, y], along) = (self.role.thread(self.plan), self.plan.block[0]);
        self.line(1, &format!("const int thread = (int){y} * {along} + (int){x};"));
        let kind = self.private.dtype.cuda();
        self.line(1, &format!("{kind}* const table = ({kind}*)tw::shared_memory();"));
        self.along_table();
        self.line(2, &format!("table[i] = {};", self.private.identity()));
        self.line(1, "}");
        self.line(1, "__syncthreads();");
    }

    /// The block's index of each loop outside, and its strip of tiles.
    fn strip(&mut self) {
        let kind = self.kind();
        self.line(1, &format!("{kind} block = {};", self.role.block(kind, self.wide())));
        let met = self.private.outer..self.plan.world.len();
        let tiles: Vec<String> = met.map(|i| format!("({kind}){}", self.count(i))).collect();
        self.line(1, &format!("const {kind} tiles = {};", tiles.join(" * ")));
        self.line(1, &format!("const {kind} turns = ({kind})p.turns, strips = (tiles + turns - 1) / turns;"));
        self.line(1, &format!("const {kind} first = block % strips * turns;"));
        self.line(1, "block /= strips;");
        for i in (0..self.private.outer).rev() {
            let (coord, count) = (self.names.coord(i), self.count(i));
            let place = if i == 0 { "block".to_string() } else { format!("(block % {count})") };
            let kind = if self.plan.world[i].wide() { "long long" } else { "int" };
            self.line(1, &format!("const {kind} {coord} = ({kind}){place};"));
            if i > 0 {
                self.line(1, &format!("block /= {count};"));
            }
        }
        // The last row of a grid of several has blocks without work.
        if self.wide() {
            let there = if self.private.outer == 0 { "1".to_string() } else { self.extent(0) };
            self.line(1, &format!("if (block >= {there}) return;"));
        }
        self.line(1, &format!("const {kind} end = tiles - first < turns ? tiles : first + turns;"));
    }

    /// Goes along the strip. A thread without points in a tile goes on to the next.
    fn tiles(&mut self, tails: bool) {
        let (kind, n) = (self.kind(), self.plan.world.len());
        self.line(1, &format!("for ({kind} number = first; number < end; ++number) {{"));
        self.line(2, &format!("{kind} at = number;"));
        let mut inside = Vec::new();
        for i in (self.private.outer..n).rev() {
            inside.extend(self.coordinate(i));
        }
        if !inside.is_empty() {
            self.line(2, &format!("if (!({})) continue;", inside.join(" && ")));
        }
        let coords = |lane: Option<usize>| -> String {
            let coord = |i: usize| if lane == Some(i) { ", i".into() } else { format!(", {}", self.names.coord(i)) };
            (0..n).map(coord).collect()
        };
        let (whole, single) = (coords(None), coords(Some(self.plan.lane_loop)));
        if tails {
            let w = &self.plan.world[self.plan.lane_loop];
            let kind = if w.wide() { "long long" } else { "int" };
            let (coord, extent) = (self.names.coord(self.plan.lane_loop), self.extent(self.plan.lane_loop));
            self.line(2, &format!("if ({coord} + {} <= {extent}) {{", self.plan.lanes));
            self.line(3, &format!("tile(p{whole}, table);"));
            self.line(2, "} else {");
            self.line(3, &format!("for ({kind} i = {coord}; i < {extent}; ++i) point(p{single}, table);"));
            self.line(2, "}");
        } else {
            self.line(2, &format!("tile(p{whole}, table);"));
        }
        self.line(1, "}");
        self.line(1, "__syncthreads();");
    }

    /// Defines the thread's coordinate along a loop of the tile; the comparison that says whether it is one, where it may be none.
    fn coordinate(&mut self, i: usize) -> Option<String> {
        let w = self.plan.world[i];
        let [x, y] = self.role.thread(self.plan);
        let (last, kind) = (i == self.private.outer, if w.wide() { "long long" } else { "int" });
        let tile = if last { "at".to_string() } else { format!("(at % {})", self.count(i)) };
        let place = match self.plan.world.len() - 1 - i {
            0 => format!("({tile} * {} + {x})", self.plan.block[0]),
            1 if self.plan.block[1] > 1 => format!("({tile} * {} + {y})", self.plan.block[1]),
            _ => tile,
        };
        let lanes = match i == self.plan.lane_loop && self.plan.lanes > 1 {
            true => format!(" * {}", self.plan.lanes),
            false => String::new(),
        };
        let (coord, per) = (self.names.coord(i), self.plan.tile(i));
        self.line(2, &format!("const {kind} {coord} = ({kind}){place}{lanes};"));
        if !last {
            self.line(2, &format!("at /= {};", self.count(i)));
        }
        let fits = per == 1 || matches!(w.class, Extent::Exact(n) if n % per == 0);
        (!fits).then(|| format!("{coord} < {}", self.extent(i)))
    }

    /// Lets the table's values meet those of the result.
    fn result(&mut self) {
        let slot = &self.plan.outputs[0];
        let step = |a: usize| {
            let axis = &slot.axes[a];
            if axis.exact_stride { axis.axis.stride.to_string() } else { format!("p.out0_s{a}") }
        };
        let at = |dim| slot.axes.iter().position(|a| a.axis.dim == dim);
        let mut place = String::from("p.out0");
        for i in 0..self.private.outer {
            if let Some(a) = at(self.plan.world[i].dim) {
                place += &format!(" + (long long){} * {}", self.names.coord(i), step(a));
            }
        }
        for (i, axis) in self.private.table().iter().enumerate() {
            let Some(a) = at(axis.dim) else { continue };
            let rest = if axis.stride == 1 { "i".to_string() } else { format!("i / {}", axis.stride) };
            let index = if i == 0 { format!("({rest})") } else { format!("({rest} % {})", axis.extent) };
            place += &format!(" + (long long){index} * {}", step(a));
        }
        let (kind, whole) = (self.private.dtype.cuda(), slot.dtype.cuda());
        let value = if kind == whole { "value".to_string() } else { format!("({whole})value") };
        let (met, identity) = (meeting(self.private.collision, &place, &value), self.private.identity());
        self.along_table();
        self.line(2, &format!("const {kind} value = table[i];"));
        // Halves are compared as what they are computed with.
        let compared = if slot.dtype.is_half() { ["(float)value", "(float)"] } else { ["value", ""] };
        self.line(2, &format!("if ({} != {}{identity}) {met};", compared[0], compared[1]));
        self.line(1, "}");
    }
}
