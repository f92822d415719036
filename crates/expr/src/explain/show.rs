//! The explanation as a page.

use super::{Bound, Explanation, Intermediate, LAUNCH_SECONDS, LoopSize, SectionLoops};
use crate::bind::Place;
use crate::plan::Extent;
use std::fmt;

/// Most intermediate values that are listed; the largest come first.
const LISTED: usize = 8;

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_sections = match self.sections.len() {
            1 => String::new(),
            n => format!(" in {n} sections"),
        };
        writeln!(f, "{}: one kernel{in_sections}, {} points", self.name, grouped(self.points))?;
        for (number, section) in self.sections.iter().enumerate() {
            if self.sections.len() > 1 {
                let results: Vec<String> = section.results.iter().map(|r| format!("result {r}")).collect();
                let (what, points) = (format!("section {number}"), grouped(section.points));
                writeln!(f, "{what:<13}{}, {points} points", results.join(", "))?;
            }
            section.threads(f)?;
        }
        for (what, list) in [("operand", &self.operands), ("result", &self.results)] {
            for (i, bound) in list.iter().enumerate() {
                writeln!(f, "{:<13}{bound}", format!("{what} {i}"))?;
            }
        }
        for result in &self.filled {
            writeln!(f, "{:<13}a launch gives result {result} its initial value", "before")?;
        }
        self.costs(f)?;
        self.saved(f)?;
        write!(f, "graph\n{}", self.tree)
    }
}

impl SectionLoops {
    fn threads(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let loops: Vec<String> = self.loops.iter().map(ToString::to_string).collect();
        writeln!(f, "{:<13}{}", "loops", if loops.is_empty() { "none".into() } else { loops.join(", ") })?;
        for (dim, n) in &self.registers {
            writeln!(f, "{:<13}{dim} = {n}", "in registers")?;
        }
        let (lanes, along) = self.lanes;
        let lanes = if lanes == 1 { "1 point".into() } else { format!("{lanes} points along {along}") };
        let ([x, y], blocks) = (self.block, grouped(self.blocks.max(0) as u64));
        writeln!(f, "{:<13}{lanes} each, {x} x {y} in a block, {blocks} blocks", "threads")?;
        for kept in &self.kept {
            writeln!(f, "{:<13}{kept}", "kept")?;
        }
        if let Some(scatters) = &self.scatters {
            writeln!(f, "{:<13}{scatters}", "scattered")?;
        }
        let Some(s) = &self.shared else { return Ok(()) };
        let segments = if s.segments == 1 { String::new() } else { format!(" in {} segments", s.segments) };
        let (what, again) = (if s.scans { "scanned" } else { "reduced" }, s.again && !s.scans);
        let again = if again { ", gone through again" } else { "" };
        let (rows, values) = (grouped(s.rows as u64), grouped(s.values as u64));
        let plural = if s.rows == 1 { "row" } else { "rows" };
        write!(f, "{:<13}{rows} {plural} of {values} values{segments}{again}; ", what)?;
        writeln!(f, "{} threads a row, {} rows a block, a tree {} wide", s.threads_a_row, s.rows_a_block, s.tree_width)
    }
}

impl Explanation {
    fn costs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (read, written) = (self.bytes_read(), self.bytes_written());
        writeln!(f, "{:<13}{} bytes read, {} written", "memory", grouped(read), grouped(written))?;
        let o = &self.operations;
        let (each, float, integer) = (self.operations_a_point(), grouped(o.float), grouped(o.integer));
        let open = if o.open_loops { "; loops whose length the device computes count as one step" } else { "" };
        write!(f, "{:<13}{} ({each:.1} a point): {float} of floats, ", "operations", grouped(o.total()))?;
        writeln!(f, "{integer} of integers and coordinates{open}")?;
        let (limit, us) = (self.limit(), 1e6);
        let by = if limit.is_memory() { "memory" } else { "arithmetic" };
        let (memory, arithmetic) = (limit.memory_seconds * us, limit.arithmetic_seconds * us);
        let launch = LAUNCH_SECONDS * us;
        write!(f, "{:<13}H200: {:.1} us, by {by} ", "limit", limit.seconds() * us)?;
        writeln!(
            f,
            "(launch {launch:.1} us; memory {memory:.1} us at 4.25 TB/s; arithmetic {arithmetic:.1} us at 33.4 T/s)"
        )
    }

    fn saved(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, n) = (grouped(self.bytes_not_written()), self.intermediates.len());
        writeln!(f, "{:<13}{bytes} bytes in {n} values that a kernel for each operation would store", "not written")?;
        let mut largest: Vec<&Intermediate> = self.intermediates.iter().collect();
        largest.sort_by_key(|i| std::cmp::Reverse(i.bytes));
        for i in largest.iter().take(LISTED) {
            let size = i.bytes.map_or_else(|| "size known to the device alone".into(), grouped);
            writeln!(f, "{:<13}{size:>14}  {}: {} ({})", "", i.operation, i.dtype, i.dims.join(", "))?;
        }
        if n > LISTED {
            writeln!(f, "{:<13}{:>14}  and {} smaller ones", "", "", n - LISTED)?;
        }
        Ok(())
    }
}

impl fmt::Display for LoopSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dim, extent, reduced, .. } = self;
        let reduced = if *reduced { ", reduced" } else { "" };
        match self.known {
            Extent::Exact(n) => write!(f, "{dim} = {n} (exact{reduced})"),
            Extent::MultipleOf(1) => write!(f, "{dim} = {extent} (run-time{reduced})"),
            Extent::MultipleOf(m) => write!(f, "{dim} = {extent} (run-time, a multiple of {m}{reduced})"),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let element =
            if self.components == 1 { self.dtype.to_string() } else { format!("{} x {}", self.components, self.dtype) };
        let sizes: Vec<String> = self.axes.iter().map(|a| format!("{} = {}", a.dim, a.extent)).collect();
        let layout = if self.dense {
            "dense".to_string()
        } else {
            let strides: Vec<String> = self.axes.iter().map(|a| a.stride.to_string()).collect();
            format!("strides ({})", strides.join(", "))
        };
        let place = match self.place {
            Place::Host => "sent with the launch".to_string(),
            Place::Device => format!("on the device, aligned to {}", self.alignment),
        };
        let widths: Vec<String> = self.access_bytes.iter().map(ToString::to_string).collect();
        let access = match widths.split_last() {
            None => "not accessed".to_string(),
            Some((last, [])) => format!("{last}-byte accesses"),
            Some((last, rest)) => format!("accesses of {} and {last} bytes", rest.join(", ")),
        };
        write!(f, "{element} ({}), {layout}, {place}; {access}, {} bytes", sizes.join(", "), grouped(self.bytes))
    }
}

/// A number with a comma after every three digits.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    text
}
