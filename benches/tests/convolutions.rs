//! The list of convolutions that are timed.

use std::collections::HashSet;
use tilewright_benches::convolutions::{Convolution, convolutions, named};
use tilewright_benches::suites::{cases, needs_gpu};
use tilewright_ops::conv::Precision;

#[test]
fn the_list_is_what_it_says() {
    let all = convolutions().unwrap();
    let of = |set: &str| all.iter().filter(|c| c.sets.iter().any(|s| s == set)).cloned().collect::<Vec<Convolution>>();
    assert_eq!([of("table").len(), of("batch").len(), of("layers").len(), of("combinations").len()], [10, 8, 40, 25]);
    assert_eq!(all.iter().map(|c| &c.case).collect::<HashSet<_>>().len(), all.len());
    for Convolution { case, problem, padding, bias, .. } in &all {
        let [n, h, w, c] = problem.input_extents();
        let kind = match problem.group_width {
            1 => "-depthwise".to_owned(),
            8 => String::new(),
            width => format!("-width-{width}"),
        };
        let ([r, k], [stride, _], [dilation, _]) = (problem.kernel, problem.stride, problem.dilation);
        let step = |what: &str, step: usize| if step > 1 { format!("-{what}-{step}") } else { String::new() };
        let precision = match problem.precision {
            Precision::F16 => "",
            Precision::Bf16 => "-bf16",
            Precision::F32 => "-tf32",
        };
        let bias = if *bias { "-bias" } else { "" };
        let (stride, dilation) = (step("stride", stride), step("dilation", dilation));
        assert_eq!(*case, format!("{n}x{h}x{w}x{c}{kind}-{r}x{k}{bias}{stride}{dilation}{precision}"));
        assert_eq!(*padding, problem.dilation[0] * (r / 2), "{case}");
        assert_eq!(problem.output(), [h, w].map(|side| side.div_ceil(problem.stride[0])), "{case}");
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
