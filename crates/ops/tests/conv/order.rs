//! The order of additions: that which the documentation states, whatever the number of threads.

use super::compare::{Operands, POISON, result_extents, rounded};
use super::on_cpu;
use super::problems::{chosen, problems};
use crate::support::assert_same;
use tilewright_ops::conv::{Pass, Problem};

/// The place of the input that a tap meets, in one direction.
fn met(problem: &Problem, direction: usize, place: usize, tap: usize) -> Option<usize> {
    let at = place * problem.stride[direction] + tap * problem.dilation[direction];
    at.checked_sub(problem.padding[direction][0]).filter(|at| *at < [problem.height, problem.width][direction])
}

fn index(extents: [usize; 4], at: [usize; 4]) -> usize {
    extents.iter().zip(at).fold(0, |index, (extent, at)| index * extent + at)
}

/// The forward pass: one sum, from 0 on, over rows of taps, columns of taps, channels; then the bias; then one rounding.
fn forward(operands: &Operands) -> Vec<f32> {
    let p = &operands.problem;
    let [images, rows, columns, channels] = p.output_extents();
    let mut y = Vec::new();
    for place in 0..images * rows * columns * channels {
        let (k, q) = (place % channels, place / channels % columns);
        let (row, n) = (place / channels / columns % rows, place / channels / columns / rows);
        let mut sum = 0.0f32;
        for (r, s) in (0..p.kernel[0]).flat_map(|r| (0..p.kernel[1]).map(move |s| (r, s))) {
            let (Some(h), Some(w)) = (met(p, 0, row, r), met(p, 1, q, s)) else { continue };
            for c in 0..p.group_width {
                let of_x = [n, h, w, k / p.group_width * p.group_width + c];
                let x = operands.x[index(p.input_extents(), of_x)];
                sum = x.mul_add(operands.w[index(p.weight_extents(), [k, r, s, c])], sum);
            }
        }
        y.push(rounded(p.precision, operands.bias.as_ref().map_or(sum, |bias| sum + bias[k])));
    }
    y
}

/// The input's gradient: one sum, from 0 on, over rows of taps, columns of taps, channels of the result; then one rounding.
fn grad_input(operands: &Operands) -> Vec<f32> {
    let p = &operands.problem;
    let ([images, height, width, channels], [rows, columns]) = (p.input_extents(), p.output());
    let mut dx = Vec::new();
    for place in 0..images * height * width * channels {
        let (channel, w) = (place % channels, place / channels % width);
        let (h, n) = (place / channels / width % height, place / channels / width / height);
        let (group, c) = (channel / p.group_width * p.group_width, channel % p.group_width);
        let mut sum = 0.0f32;
        for (r, s) in (0..p.kernel[0]).flat_map(|r| (0..p.kernel[1]).map(move |s| (r, s))) {
            let row = (0..rows).find(|row| met(p, 0, *row, r) == Some(h));
            let column = (0..columns).find(|q| met(p, 1, *q, s) == Some(w));
            let (Some(row), Some(q)) = (row, column) else { continue };
            for k in group..group + p.group_width {
                let dy = operands.dy[index(p.output_extents(), [n, row, q, k])];
                sum = dy.mul_add(operands.w[index(p.weight_extents(), [k, r, s, c])], sum);
            }
        }
        dx.push(rounded(p.precision, sum));
    }
    dx
}

/// The weights' gradient: a sum along each row, rows added in up to 16 parts, parts added.
fn grad_weight(operands: &Operands) -> Vec<f32> {
    let p = &operands.problem;
    let ([_, rows, columns, _], all) = (p.output_extents(), p.images * p.output()[0]);
    let parts = all.clamp(1, 16);
    let weight = |[k, r, s, c]: [usize; 4]| {
        let part = |part: usize| {
            let mut sum = 0.0f32;
            for number in part * all / parts..(part + 1) * all / parts {
                let (n, row) = (number / rows, number % rows);
                let mut along = 0.0f32;
                for q in 0..columns {
                    let (Some(h), Some(w)) = (met(p, 0, row, r), met(p, 1, q, s)) else { continue };
                    let x = operands.x[index(p.input_extents(), [n, h, w, k / p.group_width * p.group_width + c])];
                    along = x.mul_add(operands.dy[index(p.output_extents(), [n, row, q, k])], along);
                }
                sum += along;
            }
            sum
        };
        (1..parts).fold(part(0), |sum, number| sum + part(number))
    };
    let [filters, taps_down, taps_along, width] = p.weight_extents();
    let mut dw = Vec::new();
    for place in 0..filters * taps_down * taps_along * width {
        let (c, s) = (place % width, place / width % taps_along);
        let (r, k) = (place / width / taps_along % taps_down, place / width / taps_along / taps_down);
        dw.push(weight([k, r, s, c]));
    }
    dw
}

fn computed(pass: Pass, operands: &Operands) -> Vec<f32> {
    let mut out = vec![POISON; result_extents(&operands.problem, pass).iter().product()];
    on_cpu(pass, operands, &mut out);
    out
}

#[test]
fn sums_are_made_in_the_stated_order() {
    for (i, problem) in chosen().iter().chain(&problems(76, 24)).enumerate() {
        let operands = Operands::random(problem, i as u64);
        assert_same(&format!("{problem:?}"), &computed(Pass::Forward, &operands), &forward(&operands));
        assert_same(&format!("{problem:?}"), &computed(Pass::GradInput, &operands), &grad_input(&operands));
        assert_same(&format!("{problem:?}"), &computed(Pass::GradWeight, &operands), &grad_weight(&operands));
    }
}

#[test]
fn threads_change_no_bit() {
    for (i, problem) in chosen().iter().enumerate() {
        let operands = Operands::random(problem, i as u64);
        for pass in Pass::ALL {
            let [one, five] = [1, 5].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| computed(pass, &operands))
            });
            assert_same(&format!("{pass:?} of {problem:?}"), &one, &five);
        }
    }
}
