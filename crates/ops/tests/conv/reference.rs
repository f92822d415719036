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

/// Sums under way, by the numbers of their elements.
struct Sums {
    values: Vec<f64>,
    magnitudes: Vec<f64>,
    terms: Vec<u32>,
}

impl Sums {
    fn of(extents: [usize; 4]) -> Sums {
        let len = extents.iter().product();
        Sums { values: vec![0.0; len], magnitudes: vec![0.0; len], terms: vec![0; len] }
    }

    fn add(&mut self, at: usize, a: f64, b: f64) {
        let product = a * b;
        self.values[at] += product;
        self.magnitudes[at] += product.abs();
        self.terms[at] += 1;
    }

    fn made(self, extents: [usize; 4]) -> Exact {
        let of = |values| Array4::from_shape_vec(extents, values).expect("as many sums");
        let terms = Array4::from_shape_vec(extents, self.terms).expect("as many sums");
        Exact { values: of(self.values), magnitudes: of(self.magnitudes), terms }
    }
}

/// Calls `f` with every place of the result, of the input and of the weights that meet, as numbers of elements: all that a convolution is.
fn meetings(problem: &Problem, mut f: impl FnMut(usize, usize, usize)) {
    let [images, rows, columns, channels] = problem.output_extents();
    let ([[top, _], [left, _]], [down, along]) = (problem.padding, problem.kernel);
    let mut at = 0;
    for (n, p, q) in (0..images).flat_map(|n| (0..rows).flat_map(move |p| (0..columns).map(move |q| (n, p, q)))) {
        for k in 0..channels {
            let group = k / problem.group_width * problem.group_width;
            for r in 0..down {
                let h = (p * problem.stride[0] + r * problem.dilation[0]) as i64 - top as i64;
                for s in 0..along {
                    let w = (q * problem.stride[1] + s * problem.dilation[1]) as i64 - left as i64;
                    if !(0..problem.height as i64).contains(&h) || !(0..problem.width as i64).contains(&w) {
                        continue;
                    }
                    let of_x = ((n * problem.height + h as usize) * problem.width + w as usize) * channels + group;
                    let of_w = ((k * down + r) * along + s) * problem.group_width;
                    let mut c = 0;
                    while c < problem.group_width {
                        f(at, of_x + c, of_w + c);
                        c += 1;
                    }
                }
            }
            at += 1;
        }
    }
}

fn elements(array: &Array4<f64>) -> &[f64] {
    array.as_slice().expect("without gaps")
}

/// The result of the forward pass.
pub(crate) fn forward(problem: &Problem, x: &Array4<f64>, w: &Array4<f64>, bias: Option<&Array1<f64>>) -> Exact {
    let (mut y, x, w) = (Sums::of(problem.output_extents()), elements(x), elements(w));
    meetings(problem, |at, of_x, of_w| y.add(at, x[of_x], w[of_w]));
    if let Some(bias) = bias {
        (0..y.values.len()).for_each(|at| y.add(at, bias[at % bias.len()], 1.0));
    }
    y.made(problem.output_extents())
}

/// The input's gradient.
pub(crate) fn grad_input(problem: &Problem, dy: &Array4<f64>, w: &Array4<f64>) -> Exact {
    let (mut dx, dy, w) = (Sums::of(problem.input_extents()), elements(dy), elements(w));
    meetings(problem, |of_y, at, of_w| dx.add(at, dy[of_y], w[of_w]));
    dx.made(problem.input_extents())
}

/// The weights' gradient.
pub(crate) fn grad_weight(problem: &Problem, x: &Array4<f64>, dy: &Array4<f64>) -> Exact {
    let (mut dw, x, dy) = (Sums::of(problem.weight_extents()), elements(x), elements(dy));
    meetings(problem, |of_y, of_x, at| dw.add(at, x[of_x], dy[of_y]));
    dw.made(problem.weight_extents())
}

/// The bias's gradient, with the magnitudes of what was added.
pub(crate) fn grad_bias(problem: &Problem, dy: &Array4<f64>) -> Exact {
    let extents = [1, 1, 1, problem.channels()];
    let mut db = Sums::of(extents);
    for ((_, _, _, k), dy) in dy.indexed_iter() {
        db.add(k, *dy, 1.0);
    }
    db.made(extents)
}

/// Any of the three passes, of operands in the order of that pass.
pub(crate) fn pass(pass: Pass, problem: &Problem, [a, b]: [&Array4<f64>; 2], bias: Option<&Array1<f64>>) -> Exact {
    match pass {
        Pass::Forward => forward(problem, a, b, bias),
        Pass::GradInput => grad_input(problem, a, b),
        Pass::GradWeight => grad_weight(problem, a, b),
    }
}
