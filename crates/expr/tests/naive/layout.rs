//! How tensors of the tests stand in memory.

use crate::random::Rng;
use tilewright_expr::bind::Axis;

/// How a tensor stands in memory.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The tensor's dimensions from the outermost in memory to the innermost.
    pub order: Vec<usize>,
    /// Elements from one innermost index to the next.
    pub step: i64,
    /// Elements left free after each run of the axis, in the order of `order`.
    pub pad: Vec<i64>,
    /// Which dimensions run backwards through memory.
    pub backwards: Vec<bool>,
    /// The address of the element at coordinates 0 is a multiple of this many bytes, and of no higher power of two below 16.
    pub alignment: usize,
}

impl Layout {
    pub fn dense(rank: usize) -> Layout {
        Layout { order: (0..rank).collect(), step: 1, pad: vec![0; rank], backwards: vec![false; rank], alignment: 16 }
    }

    /// Any order, padded rows, a view with a stride, dimensions backwards, an unaligned base.
    pub fn random(rng: &mut Rng, rank: usize) -> Layout {
        let mut layout = Layout::dense(rank);
        if rng.chance(0.4) {
            rng.shuffle(&mut layout.order);
        }
        if rng.chance(0.4) {
            let pads = [0, 0, 0, 1, 2, 4, 5, 8];
            layout.pad.iter_mut().for_each(|p| *p = rng.pick(&pads));
        }
        if rng.chance(0.1) {
            layout.step = rng.range(2, 4);
        }
        // Drawn aside, so that everything else stays what it was for a seed.
        let mut aside = Rng::new(rng.clone().next());
        if aside.chance(0.2) {
            layout.backwards.iter_mut().for_each(|b| *b = aside.chance(0.5));
        }
        layout.alignment = rng.pick(&[1, 2, 4, 8, 16, 16, 16]);
        layout
    }

    /// The axes in memory order.
    pub fn axes(&self, dims: &[u64], shape: &[i64]) -> Vec<Axis> {
        let mut stride = self.step;
        let mut axes: Vec<Axis> = Vec::new();
        for (place, dim) in self.order.iter().enumerate().rev() {
            let step = if self.backwards[*dim] { -stride } else { stride };
            axes.push(Axis { dim: dims[*dim], extent: shape[*dim], stride: step });
            stride = stride * shape[*dim].max(1) + self.pad[place];
        }
        axes.reverse();
        axes
    }
}
