//! Scanned rows that are cut: each block leaves the total of its segment, and finds what stands before it in those of others.

use super::scan::{identity, needed};
use super::{Goal, Writer};
use crate::collective::PARTIALS;
use crate::emit::COUNTER_BYTES;
use crate::emit::text::binary;

/// Counters before those of segments: blocks that have begun, and blocks that have ended.
const HEAD: u32 = 2;

impl Writer<'_> {
    /// Whether rows that are scanned are cut.
    pub(super) fn chained(&self) -> bool {
        self.cut() && self.group.scans
    }

    /// The block goes along its segment once what stands before it is known.
    pub(super) fn chain(&mut self) {
        self.block();
        self.part_of_row();
        self.starts();
        self.levels();
        self.finish("there && t == 0");
        self.leave();
    }

    /// Defines for each scan `start`, what stands before the block's segment. The totals of a scan need the values, and so the
    /// starts, of the scans that it reads.
    fn starts(&mut self) {
        let (count, threads, rows) = (self.tile.scans.len(), self.group.threads, self.group.rows);
        self.line(1, "const int thread = tw::arch::thread_of_block();");
        let row = format!("((long long)block_of_rows * {rows} + thread / {threads})");
        self.line(
            1,
            &format!("unsigned char* const totals = p.workspace + {COUNTER_BYTES} + {row} * segments * {};", 8 * count),
        );
        self.line(1, &format!("unsigned* const flags = (unsigned*)p.workspace + {HEAD} + block_of_rows * segments;"));
        for (stage, number) in needed(self.tile, Goal::Stores).into_iter().enumerate() {
            let scan = self.tile.scans[number].clone();
            let kind = scan.dtype.cuda();
            self.line(1, &format!("{kind} start{number} = {};", identity(&scan)));
            let mut read = needed(self.tile, Goal::Scan(number as u16));
            read.insert(number);
            let place = |s: &str| format!("totals + ((long long){s} * {count} + {number}) * 8");
            self.along_scans(
                &read,
                None,
                &format!("if (thread % {threads} == 0) *({kind}*)({}) = carry{number};", place("segment")),
            );
            self.line(1, &format!("tw::publish(flags + segment, {}u);", stage + 1));
            self.line(1, &format!("tw::wait_for(flags, segment, {}u);", stage + 1));
            let start = format!("start{number}");
            let op = |b: &str| binary(scan.reduction.operation(), &start, b, scan.dtype);
            self.line(1, &format!("for (int s = thread % {PARTIALS}; s < segment; s += {PARTIALS}) {{"));
            self.line(2, &format!("{start} = {};", op(&format!("tw::partial<{kind}>({})", place("s")))));
            self.line(1, "}");
            let mut flip = 1;
            while flip < PARTIALS {
                self.line(1, &format!("{start} = {};", op(&format!("tw::neighbour({start}, {flip})"))));
                flip *= 2;
            }
        }
    }

    /// The end of a block, of which the last one clears what blocks have left each other.
    fn leave(&mut self) {
        let (outer, _) = self.group.split(&self.plan.world);
        let per = self.group.rows;
        let mut extents: Vec<String> = (0..outer.len()).map(|i| format!("(long long){}", self.extent(i))).collect();
        let tiled: Vec<String> =
            if self.group.tall { extents.pop().into_iter().collect() } else { std::mem::take(&mut extents) };
        let tiled = if tiled.is_empty() { "1".into() } else { tiled.join(" * ") };
        extents.push(format!("(({tiled} + {}) / {per})", per - 1));
        let blocks = format!("(unsigned)({} * segments)", extents.join(" * "));
        self.line(1, &format!("tw::leave((unsigned*)p.workspace, {blocks});"));
    }
}
