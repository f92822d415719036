//! The end of a turn: threads' accumulators become one value of the row, and segments' values one of all blocks.

use super::Writer;
use crate::collective::PARTIALS;
use crate::emit::COUNTER_BYTES;
use crate::emit::text::{binary, literal};

impl Writer<'_> {
    /// The threads' accumulators become one value, `r`, which all threads of the row have.
    pub(super) fn combine(&mut self, number: usize) {
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
        let (warps, at) = (threads / 32, self.scratch(8 * (self.plan.block[0] / 32)));
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

    /// Room in shared memory; gives where it begins.
    pub(super) fn scratch(&mut self, bytes: u32) -> u32 {
        let at = self.shared_bytes;
        self.shared_bytes += bytes.next_multiple_of(16);
        at
    }

    /// Segments' results wait for the block that comes last, which reduces them.
    pub(super) fn partials(&mut self) {
        let all = 0..self.tile.shared.len();
        self.row_results();
        self.write_results(all.clone());
        self.line(1, "if (!tw::last_to_come((unsigned*)p.workspace + block_of_rows, (unsigned)segments)) return;");
        self.gather(all);
    }

    /// Defines where the results of a row's segments are.
    pub(super) fn row_results(&mut self) {
        let (count, rows) = (self.tile.shared.len(), self.group.rows);
        let row = format!("((long long)block_of_rows * {rows} + place)");
        self.line(
            1,
            &format!(
                "unsigned char* const results = p.workspace + {COUNTER_BYTES} + {row} * segments * {};",
                8 * count
            ),
        );
    }

    /// Writes the segment's results.
    pub(super) fn write_results(&mut self, numbers: impl IntoIterator<Item = usize>) {
        let count = self.tile.shared.len();
        for number in numbers {
            let kind = self.tile.shared[number].dtype.cuda();
            let place = format!("results + ((long long)segment * {count} + {number}) * 8");
            self.line(1, &format!("if (t == 0) *({kind}*)({place}) = r{number};"));
        }
    }

    /// Reduces the results of all segments of the row: all threads of the row have them then.
    pub(super) fn gather(&mut self, numbers: impl IntoIterator<Item = usize>) {
        let count = self.tile.shared.len();
        for number in numbers {
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
}
