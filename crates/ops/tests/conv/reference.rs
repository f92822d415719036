//! What convolutions are, in f64 and straight from the definition: slow, and independent of everything that is tested.

use ndarray::{Array1, Array4};
use tilewright_ops::conv::{Pass, Problem};

/// A result with what its error is judged by.
pub(crate) struct Exact {
    /// The sums.
    pub(crate) values: Array4<f64>,
    /// The sums of the products' magnitudes.
    pub(crate) magnitudes: Array4<f64>,
    /// How many products each has.
    pub(crate) terms: Array4<u32>,
}

impl Exact {
    fn zeros(extents: [usize; 4]) -> Exact {
        Exact { values: Array4::zeros(extents), magnitudes: Array4::zeros(extents), terms: Array4::zeros(extents) }
    }

    fn add(&mut self, at: [usize; 4], a: f64, b: f64) {
        self.values[at] += a * b;
        self.magnitudes[at] += (a * b).abs();
        self.terms[at] += 1;
    }
}

/// Calls `f` with every place of the result, of the input and of the weights that meet: all that a convolution is.
fn meetings(problem: &Problem, mut f: impl FnMut([usize; 4], [usize; 4], [usize; 4])) {
    let [images, rows, columns, channels] = problem.output_extents();
    let [[top, _], [left, _]] = problem.padding;
    for (n, p, q, k) in (0..images).flat_map(|n| {
        (0..rows).flat_map(move |p| (0..columns).flat_map(move |q| (0..channels).map(move |k| (n, p, q, k))))
    }) {
        for r in 0..problem.kernel[0] {
            let h = (p * problem.stride[0] + r * problem.dilation[0]) as i64 - top as i64;
            for s in 0..problem.kernel[1] {
                let w = (q * problem.stride[1] + s * problem.dilation[1]) as i64 - left as i64;
                if !(0..problem.height as i64).contains(&h) || !(0..problem.width as i64).contains(&w) {
                    continue;
                }
                let group = k / problem.group_width * problem.group_width;
                for c in 0..problem.group_width {
                    f([n, p, q, k], [n, h as usize, w as usize, group + c], [k, r, s, c]);
                }
            }
        }
    }
}

/// The result of the forward pass.
pub(crate) fn forward(problem: &Problem, x: &Array4<f64>, w: &Array4<f64>, bias: Option<&Array1<f64>>) -> Exact {
    let mut y = Exact::zeros(problem.output_extents());
    meetings(problem, |at, of_x, of_w| y.add(at, x[of_x], w[of_w]));
    if let Some(bias) = bias {
        for ([n, p, q, k], _) in y.values.clone().indexed_iter().map(|((n, p, q, k), v)| ([n, p, q, k], v)) {
            y.add([n, p, q, k], bias[k], 1.0);
        }
    }
    y
}

/// The input's gradient.
pub(crate) fn grad_input(problem: &Problem, dy: &Array4<f64>, w: &Array4<f64>) -> Exact {
    let mut dx = Exact::zeros(problem.input_extents());
    meetings(problem, |of_y, at, of_w| dx.add(at, dy[of_y], w[of_w]));
    dx
}

/// The weights' gradient.
pub(crate) fn grad_weight(problem: &Problem, x: &Array4<f64>, dy: &Array4<f64>) -> Exact {
    let mut dw = Exact::zeros(problem.weight_extents());
    meetings(problem, |of_y, of_x, at| dw.add(at, x[of_x], dy[of_y]));
    dw
}

/// The bias's gradient, with the magnitudes of what was added.
pub(crate) fn grad_bias(problem: &Problem, dy: &Array4<f64>) -> Exact {
    let mut db = Exact::zeros([1, 1, 1, problem.channels()]);
    for ((_, _, _, k), dy) in dy.indexed_iter() {
        db.add([0, 0, 0, k], *dy, 1.0);
    }
    db
}

/// Any of the three passes, of operands in the order of that pass.
pub(crate) fn pass(pass: Pass, problem: &Problem, [a, b]: [&Array4<f64>; 2], bias: Option<&Array1<f64>>) -> Exact {
    match pass {
        Pass::Forward => forward(problem, a, b, bias),
        Pass::GradInput => grad_input(problem, a, b),
        Pass::GradWeight => grad_weight(problem, a, b),
    }
}
