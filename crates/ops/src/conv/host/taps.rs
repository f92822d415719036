//! Which places of a source meet which taps, in one direction: of rows, or of columns.

use crate::conv::problem::Problem;

/// A direction of a convolution, or of its transpose, which goes from the result's places to the input's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction {
    /// Places of the input.
    input: usize,
    /// Places of the result.
    output: usize,
    pub(super) taps: usize,
    before: usize,
    stride: usize,
    dilation: usize,
    transposed: bool,
}

/// Places that meet the same taps, one after the other.
#[derive(Debug)]
pub(super) struct Run {
    /// The first place.
    pub(super) first: usize,
    /// Places from one to the next.
    pub(super) step: usize,
    /// How many there are.
    pub(super) count: usize,
    /// Places of the source from one to the next.
    pub(super) source_step: usize,
    /// Each tap with the source's place that the first one meets there.
    pub(super) taps: Vec<(usize, usize)>,
}

impl Direction {
    /// Rows (0) or columns (1) of the forward pass.
    pub(super) fn forward(problem: &Problem, direction: usize) -> Direction {
        Direction {
            input: [problem.height, problem.width][direction],
            output: problem.output()[direction],
            taps: problem.kernel[direction],
            before: problem.padding[direction][0],
            stride: problem.stride[direction],
            dilation: problem.dilation[direction],
            transposed: false,
        }
    }

    /// The way back: from places of the result to those of the input.
    pub(super) fn transposed(self) -> Direction {
        Direction { transposed: true, ..self }
    }

    /// Places that are computed.
    pub(super) fn places(&self) -> usize {
        if self.transposed { self.input } else { self.output }
    }

    /// Places that are read.
    pub(super) fn sources(&self) -> usize {
        if self.transposed { self.output } else { self.input }
    }

    /// From the first source that a place meets to behind the last, at most.
    pub(super) fn window(&self) -> usize {
        (self.taps - 1) * self.dilation + 1
    }

    /// The source that `place` meets at `tap`; none where padding stands, or nothing was computed.
    pub(super) fn source(&self, place: usize, tap: usize) -> Option<usize> {
        let shift = tap * self.dilation;
        let source = if self.transposed {
            let along = (place + self.before).checked_sub(shift)?;
            along.is_multiple_of(self.stride).then(|| along / self.stride)?
        } else {
            (place * self.stride + shift).checked_sub(self.before)?
        };
        (source < self.sources()).then_some(source)
    }

    /// Each tap with the source that `place` meets there.
    pub(super) fn met(&self, place: usize) -> Vec<(usize, usize)> {
        (0..self.taps).filter_map(|tap| Some((tap, self.source(place, tap)?))).collect()
    }

    /// All places, as few runs as there are.
    pub(super) fn runs(&self) -> Vec<Run> {
        let (step, source_step) = if self.transposed { (self.stride, 1) } else { (1, self.stride) };
        let mut runs: Vec<Run> = Vec::new();
        for residue in 0..step {
            let mut open: Option<Run> = None;
            for place in (residue..self.places()).step_by(step) {
                let taps = self.met(place);
                match &mut open {
                    Some(run) if run.taps.iter().map(|(tap, _)| tap).eq(taps.iter().map(|(tap, _)| tap)) => {
                        run.count += 1
                    }
                    _ => runs.extend(open.replace(Run { first: place, step, count: 1, source_step, taps })),
                }
            }
            runs.extend(open);
        }
        runs
    }
}
