//! How rows (or columns) of what is read meet those of what is written: the numbers that a kernel needs along one axis.

use super::problem::{Pass, Problem};

/// One axis of a convolution as the kernel goes along it.
///
/// The axis falls apart into `phases` of written places that share no read ones. Within a phase, read place `j` and written place `o`
/// (both counted from where a block begins) meet at tap `up * j + shift - down * o`. Where a stride and a dilation are equal
/// they cancel; where they are not, at most one of `up`, `down` and `phases` is 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Meeting {
    /// Places that are read, and that are written.
    pub(crate) read: usize,
    pub(crate) written: usize,
    pub(crate) taps: usize,
    pub(crate) up: usize,
    pub(crate) down: usize,
    pub(crate) shift: usize,
    pub(crate) phases: usize,
    /// From one read place to the next one of a phase.
    pub(crate) pitch: usize,
    /// From a phase's first read place to the next phase's.
    pub(crate) phase_pitch: usize,
    /// The first read place of the first written one, in phase 0.
    pub(crate) origin: isize,
    /// The only phase that meets anything, where a stride leaves out what the other one would read.
    pub(crate) live_phase: Option<usize>,
    /// Padding in front, between taps, strides, as they were asked for.
    dilation: usize,
    stride: usize,
    front: isize,
    transposed: bool,
}

impl Meeting {
    /// Along axis 0 (rows) or 1 (columns).
    pub(crate) fn of(problem: &Problem, axis: usize, pass: Pass) -> Meeting {
        let (input, output) = ([problem.height, problem.width][axis], problem.output()[axis]);
        let (taps, stride, dilation) = (problem.kernel[axis], problem.stride[axis], problem.dilation[axis]);
        let transposed = pass == Pass::GradInput;
        let pad = problem.padding[axis][0] as isize;
        let front = if transposed { (dilation * (taps - 1)) as isize - pad } else { pad };
        let (read, written) = if transposed { (output, input) } else { (input, output) };
        let plain = Meeting {
            read,
            written,
            taps,
            up: 1,
            down: 1,
            shift: 0,
            phases: 1,
            pitch: 1,
            phase_pitch: 0,
            origin: -front,
            live_phase: None,
            dilation,
            stride,
            front,
            transposed,
        };
        let odd = front.rem_euclid(2);
        match (transposed, stride, dilation) {
            (_, 1, 1) => plain,
            (_, 1, _) => Meeting { phases: 2, pitch: 2, phase_pitch: 1, ..plain },
            (false, _, 1) => Meeting { down: 2, ..plain },
            (false, ..) => Meeting { pitch: 2, ..plain },
            (true, _, 1) => Meeting { up: 2, shift: odd as usize, origin: (odd - front) / 2, ..plain },
            (true, ..) => Meeting { phases: 2, live_phase: Some(odd as usize), origin: (odd - front) / 2, ..plain },
        }
    }

    /// Written places of the longest phase.
    pub(crate) fn phase_len(&self) -> usize {
        self.written.div_ceil(self.phases)
    }

    /// The same axis without phases: taps stand `spread` apart, and the places between are read for nothing.
    pub(crate) fn across(&self) -> Across {
        if self.transposed {
            let shift = self.front.rem_euclid(self.stride as isize);
            let origin = (shift - self.front) / self.stride as isize;
            Across { up: self.stride, down: 1, spread: self.dilation, shift: shift as usize, origin }
        } else {
            Across { up: 1, down: self.stride, spread: self.dilation, shift: 0, origin: -self.front }
        }
    }
}

/// Columns: written place `q` of a block and tap `s` meet at read place `(down * q + spread * s - shift) / up`, if that is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Across {
    pub(crate) up: usize,
    pub(crate) down: usize,
    pub(crate) spread: usize,
    pub(crate) shift: usize,
    pub(crate) origin: isize,
}

impl Across {
    /// Read places that so many written ones need.
    pub(crate) fn reach(&self, columns: usize, taps: usize) -> usize {
        ((columns - 1) * self.down + (taps - 1) * self.spread).saturating_sub(self.shift) / self.up + 1
    }
}
