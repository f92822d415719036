//! Long rows that are gone through again: blocks take segments of them, turn after turn, and wait for each other in between.

use super::{ANSWER, Writer};

impl Writer<'_> {
    /// The turns of all segments: one for each level, and one that stores.
    pub(super) fn turns(&mut self) {
        self.lengths();
        let units = format!("const long long units = {} * segments;", self.blocks_of_rows());
        self.line(1, &units);
        self.line(1, "unsigned* const counters = (unsigned*)p.workspace;");
        let levels = self.tile.levels();
        for level in 0..levels {
            self.each_unit(|w| {
                w.known_before(level);
                w.level_of_row(level);
                let numbers: Vec<usize> = w.level(level).map(|(i, _)| i).collect();
                w.write_results(numbers);
            });
            self.wait(level + 1);
        }
        self.each_unit(|w| {
            w.known_before(levels);
            w.finish("there && segment == 0 && t == 0");
        });
        if self.group.together() {
            self.line(1, "tw::part(counters);");
        }
    }

    /// A loop over the block's units, each a segment of rows. All use the same shared memory.
    fn each_unit(&mut self, body: impl FnOnce(&mut Self)) {
        let range = match self.group.together() {
            true => "long long unit = blockIdx.x; unit < units; unit += gridDim.x".to_string(),
            // The section has a block for each first segment.
            false => {
                let number = self.role.block("long long", true);
                format!("long long unit = {number} * segments, last = unit + segments; unit < last; ++unit")
            }
        };
        self.line(1, &format!("for ({range}) {{"));
        let most = std::mem::replace(&mut self.shared_bytes, ANSWER);
        self.indented(|w| {
            w.line(1, "long long block = unit / segments;");
            w.line(1, "const int segment = (int)(unit % segments);");
            w.part_of_row();
            w.row_results();
            body(w);
            w.line(1, "tw::arch::sync_block(tw::Place::here());");
        });
        self.shared_bytes = self.shared_bytes.max(most);
        self.line(1, "}");
    }

    /// The results of the levels before, which all segments of the row have part in.
    fn known_before(&mut self, level: u16) {
        for earlier in 0..level {
            let numbers: Vec<usize> = self.level(earlier).map(|(i, _)| i).collect();
            for number in &numbers {
                let text = format!("{} r{number};", self.tile.shared[*number].dtype.cuda());
                self.line(1, &text);
            }
            self.gather(numbers);
        }
    }

    /// Waits until every segment's results of the turn are there.
    fn wait(&mut self, turn: u16) {
        if self.group.together() {
            self.line(1, &format!("tw::meet(counters, {turn}u);"));
        } else {
            self.line(1, "__threadfence();");
            self.line(1, "tw::arch::sync_block(tw::Place::here());");
        }
    }
}
