//! The list of convolutions that are timed.

use std::collections::HashSet;
use tilewright_benches::convolutions::{Convolution, convolutions, named};
use tilewright_benches::suites::{cases, needs_gpu};

#[test]
fn the_list_is_what_it_says() {
    let all = convolutions().unwrap();
    let of = |set: &str| all.iter().filter(|c| c.sets.iter().any(|s| s == set)).cloned().collect::<Vec<Convolution>>();
    assert_eq!([of("table").len(), of("batch").len(), of("layers").len()], [10, 8, 40]);
    assert_eq!(all.iter().map(|c| &c.case).collect::<HashSet<_>>().len(), all.len());
    for Convolution { case, problem, padding, bias, .. } in &all {
        let [n, h, w, c] = problem.input_extents();
        let kind = if problem.group_width == 1 { "-depthwise" } else { "" };
        let [r, s] = problem.kernel;
        let name = format!("{n}x{h}x{w}x{c}{kind}-{r}x{s}{}", if *bias { "-bias" } else { "" });
        assert_eq!((*case == name, problem.output()), (true, [h, w]), "{case}: {problem:?}");
        assert_eq!(*padding, r / 2);
    }
}

#[test]
fn every_convolution_is_a_case_and_is_found_by_its_name() {
    let all = convolutions().unwrap();
    let timed: Vec<&str> = cases().into_iter().filter(|(suite, _)| *suite == "conv2d").map(|(_, case)| case).collect();
    assert_eq!(timed, all.iter().map(|it| it.case.as_str()).collect::<Vec<_>>());
    for it in all {
        assert_eq!(named(&it.case).unwrap().problem, it.problem);
        assert!(needs_gpu("conv2d", &it.case));
    }
    assert!(named("1x1").unwrap_err().to_string().contains("`1x1`"));
}
