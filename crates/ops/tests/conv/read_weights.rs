//! Expressions as input and as result's gradient of the weights' gradient, on the host model.

use super::compare::{Operands, POISON, compare};
use super::computed::{Parts, Source};
use super::problems::{chosen, problems};
use super::rows::{AMPERE, HOPPER, NONE, accuracy};
use super::weights::{gradient, random_with};
use crate::support::Random;
use tilewright_headers::host_model::{HostModel, KernelSource, Schedule, skip};
use tilewright_ops::conv::{Multiprocessor, Pass, Precision, Problem, WeightConfig, weight_kernels_with};

/// Images of a problem, number `i`: of the input, of the gradient, or of both, of which one may be infinite.
fn images(problem: &Problem, i: usize) -> ([Option<Source>; 2], Operands) {
    let seed = i as u64;
    let mut operands = Operands::not_finite(problem, seed);
    let mixed = |extents| Source::Mixed(Parts::random(extents, seed));
    let planes = |extents, values: &[f32]| Source::Planes { extents, values: values.to_vec() };
    let (x, dy) = (problem.input_extents(), problem.output_extents());
    let images = match i % 4 {
        0 => [Some(mixed(x)), None],
        1 => [None, Some(mixed(dy))],
        2 => [Some(planes(x, &operands.x)), Some(mixed(dy))],
        _ => [Some(mixed(x)), Some(planes(dy, &operands.dy))],
    };
    for (values, image) in [&mut operands.x, &mut operands.dy].into_iter().zip(&images) {
        if let Some(image) = image {
            *values = image.stand_in(problem.precision);
        }
    }
    (images, operands)
}

fn right(name: &str, problems: &[Problem], sm: Multiprocessor) {
    if HostModel::compiler().is_none() {
        return skip(name, "no C++ compiler");
    }
    let mut r = Random(105);
    let cases: Vec<_> = problems
        .iter()
        .enumerate()
        .map(|(i, problem)| {
            let (images, operands) = images(problem, i);
            let functions = images.map(|image| image.map(|image| image.function(problem.precision)));
            let inlined = [&functions[0], &functions[1]].map(|it| it.as_ref().map(|function| &function.inlined));
            let (config, kernels) = random_with(&mut r, problem, sm, inlined);
            let eight = WeightConfig { slots: 8, ..config };
            let of_eight = || weight_kernels_with(problem, eight, sm, inlined).ok().map(|kernels| (eight, kernels));
            let made = (i % 2 == 1).then(of_eight).flatten().unwrap_or((config, kernels));
            (problem, operands, functions, made)
        })
        .collect();
    let texts =
        cases.iter().flat_map(|(.., (_, (multiplying, adding)))| [Some(multiplying), adding.as_ref()]).flatten();
    let sources: Vec<_> = texts.map(|kernel| KernelSource { name: kernel.entry, text: &kernel.text }).collect();
    let model = HostModel::compile(&sources).unwrap_or_else(|error| panic!("{error}"));
    let mut number = 0;
    for (seed, (problem, operands, functions, (config, kernels))) in cases.iter().enumerate() {
        let parameters =
            [0, 1].map(|i| functions[i].as_ref().map_or_else(|| NONE[i].to_vec(), |function| function.parameters()));
        let exact = operands.exact(Pass::GradWeight);
        // What stands where an image would is not to be read.
        let mut without = operands.clone();
        for (values, function) in [&mut without.x, &mut without.dy].into_iter().zip(functions) {
            if function.is_some() {
                values.fill(POISON);
            }
        }
        for schedule in [Schedule::Forward, Schedule::Backward, Schedule::Shuffled(seed as u64)] {
            let got = gradient((&model, number), kernels, schedule, &without, [&parameters[0], &parameters[1]]);
            let what = format!("{config:?}, {schedule:?}, {problem:?}");
            compare(&what, Precision::F32, accuracy(problem.precision), &got, &exact);
        }
        number += 1 + usize::from(kernels.1.is_some());
    }
}

#[test]
fn beside_the_copy_engine() {
    right("read_weights::beside_the_copy_engine", &[chosen(), problems(113, 12)].concat(), HOPPER);
}

#[test]
fn by_threads_alone() {
    right("read_weights::by_threads_alone", &problems(114, 12), AMPERE);
}
