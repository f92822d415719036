//! Where a thread works: the function that finds its place from its number and its block's.

use super::{ENTRY, Names, Params};
use crate::plan::{Extent, Plan};
use std::fmt::Write as _;

/// Threads of a multiprocessor if each may have 80 registers.
const ROOMY: u32 = 768;

/// What the text of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A kernel.
    Kernel,
    /// One of so many sections of a kernel, which calls it with the number of the block among the section's.
    Section(usize),
}

impl Role {
    /// The head of the function that threads begin with.
    pub(super) fn head(self, plan: &Plan) -> String {
        let threads = plan.block[0] * plan.block[1];
        // The compiler spends as many registers as so many blocks at once allow.
        let bounds = if plan.waits { format!("{threads}, {}", ROOMY / threads) } else { threads.to_string() };
        match self {
            Role::Kernel => format!(
                "extern \"C\" __global__ void __launch_bounds__({bounds}) {ENTRY}(const __grid_constant__ Params p) {{\n  \
                 tw::arch::take_turn();\n"
            ),
            Role::Section(_) => {
                "static TW_DEVICE void run(const Params& p, const unsigned long long number) {\n".into()
            }
        }
    }

    /// The number of the block, as a `kind`.
    pub(super) fn block(self, kind: &str, large: bool) -> String {
        match self {
            Role::Kernel if large => format!("blockIdx.y * ({kind})gridDim.x + blockIdx.x"),
            Role::Kernel if kind == "unsigned" => "blockIdx.x".into(),
            Role::Kernel => format!("({kind})blockIdx.x"),
            Role::Section(_) => format!("({kind})number"),
        }
    }

    /// The number of the thread along x and y.
    pub(super) fn thread(self, plan: &Plan) -> [String; 2] {
        let [x, y] = plan.block;
        match self {
            // The threads of a section stand in one row, whatever shape it gives them.
            Role::Section(_) if y > 1 => [format!("(threadIdx.x % {x})"), format!("(threadIdx.x / {x})")],
            _ => ["threadIdx.x".into(), "threadIdx.y".into()],
        }
    }
}

/// The function that finds a thread's place and calls `tile` (or `point`, where a row ends).
pub(super) fn run(source: &mut String, plan: &Plan, (names, role): (&Names, Role), params: &Params, tails: bool) {
    let n = plan.world.len();
    let tiles = plan.tiles();
    let count: Vec<String> = (0..n)
        .map(|i| match plan.world[i].class {
            Extent::Exact(_) => format!("{}u", tiles[i]),
            Extent::MultipleOf(_) => format!("p.{}", names.tiles(i)),
        })
        .collect();
    let wide = plan.large_grid() || plan.world.iter().any(|w| w.wide());
    source.push_str(&role.head(plan));
    let kind = if wide { "unsigned long long" } else { "unsigned" };
    if n > 0 {
        let _ = writeln!(source, "  {kind} block = {};", role.block(kind, wide));
    }
    let mut guards = Vec::new();
    if n == 0 && plan.block[0] > 1 {
        guards.push("threadIdx.x > 0".to_string());
    }
    let [thread_x, thread_y] = role.thread(plan);
    for i in (0..n).rev() {
        let kind = if plan.world[i].wide() { "long long" } else { "int" };
        let single = matches!(plan.world[i].class, Extent::Exact(_)) && tiles[i] == 1;
        let tile = match i {
            _ if single => "0".to_string(),
            0 => "block".to_string(),
            _ => format!("(block % {})", count[i]),
        };
        let coord = names.coord(i);
        let exact_fit = |per: i64| matches!(plan.world[i].class, Extent::Exact(e) if e % per == 0);
        let thread = match n - 1 - i {
            0 => Some((plan.block[0], thread_x.as_str())),
            1 if plan.block[1] > 1 => Some((plan.block[1], thread_y.as_str())),
            _ => None,
        };
        let place = match thread {
            Some((_, index)) if single => index.to_string(),
            Some((threads, index)) if i + 1 == n => format!("({tile} * {} + {index})", threads * plan.words),
            Some((threads, index)) => format!("({tile} * {threads} + {index})"),
            None => tile,
        };
        let times = if i == plan.lane_loop && plan.lanes > 1 { format!(" * {}", plan.lanes) } else { String::new() };
        let (text, per) = (format!("({kind}){place}{times}"), plan.tile(i));
        let _ = writeln!(source, "  const {kind} {coord} = {text};");
        if i > 0 && !single {
            let _ = writeln!(source, "  block /= {};", count[i]);
        }
        if !exact_fit(per) && (per > 1 || (i == 0 && wide)) {
            guards.push(format!("{coord} >= {}", params.world_extent(plan, names, i)));
        }
    }
    if !guards.is_empty() {
        let _ = writeln!(source, "  if ({}) return;", guards.join(" || "));
    }
    if !plan.full_words() {
        words(source, plan, names, params);
        source.push_str("}\n");
        return;
    }
    let args: String = (0..n).map(|i| format!(", {}", names.coord(i))).collect();
    match plan.world.get(plan.lane_loop) {
        Some(w) if tails => {
            let kind = if w.wide() { "long long" } else { "int" };
            let (coord, extent) = (names.coord(plan.lane_loop), params.world_extent(plan, names, plan.lane_loop));
            let each: String = (0..n)
                .map(|i| if i == plan.lane_loop { ", i".into() } else { format!(", {}", names.coord(i)) })
                .collect();
            let _ = write!(
                source,
                "  if ({coord} + {} <= {extent}) {{\n    tile(p{args});\n  }} else {{\n    \
                 for ({kind} i = {coord}; i < {extent}; ++i) point(p{each});\n  }}\n",
                plan.lanes
            );
        }
        _ => {
            let _ = writeln!(source, "  tile(p{args});");
        }
    }
    source.push_str("}\n");
}

/// Calls `tile` where a thread has all its words, else `word` for those that it has whole, and `point` for the points of the last one.
fn words(source: &mut String, plan: &Plan, names: &Names, params: &Params) {
    let last = plan.world.len() - 1;
    let kind = if plan.world[last].wide() { "long long" } else { "int" };
    let (coord, extent) = (names.coord(last), params.world_extent(plan, names, last));
    let outer: String = (0..last).map(|i| format!(", {}", names.coord(i))).collect();
    let (words, lanes, apart) = (plan.words, plan.lanes, plan.apart());
    let _ = write!(
        source,
        "  if ({extent} - {coord} >= {}) {{\n    tile(p{outer}, {coord});\n    return;\n  }}\n  \
         for (int w = 0; w < {words}; ++w) {{\n    const {kind} i = {coord} + w * {apart};\n",
        (words - 1) * apart + lanes
    );
    let _ = match plan.full_lanes() {
        true => writeln!(source, "    if (i < {extent}) word(p{outer}, i);\n  }}"),
        false => writeln!(
            source,
            "    if (i + {lanes} <= {extent}) {{\n      word(p{outer}, i);\n    }} else {{\n      \
             for ({kind} j = i; j < {extent}; ++j) point(p{outer}, j);\n    }}\n  }}"
        ),
    };
}
