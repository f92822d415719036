//! Typed dimensions cost nothing: the same instructions as index arithmetic by hand, on the host and in kernels.

use crate::runner::{Arg, Kernel, everywhere, read, written};
use std::cell::RefCell;
use tilewright_driver::{TargetKind, toolkit};
use tilewright_headers::host_model::skip;
use tilewright_tests::cost::kernels::{TWINS, cost, expanded};
use tilewright_tests::cost::offsets::{Compiled, functions};

#[test]
fn offsets_on_the_host() {
    let Some(compiled) = Compiled::new() else { return skip("zero_cost::offsets_on_the_host", "no rustc") };
    let compiled = compiled.unwrap();
    let (typed, by_hand) = (compiled.typed().unwrap(), compiled.by_hand().unwrap());
    assert_eq!(typed.len(), 6, "{typed:?}");
    assert!(typed.keys().eq(by_hand.keys()), "{typed:?}\n{by_hand:?}");
    for (name, typed) in &typed {
        let by_hand = &by_hand[name];
        let (left, right) = (typed.join("\n  "), by_hand.join("\n  "));
        assert!(typed == by_hand, "{name}, typed:\n  {left}\nby hand:\n  {right}");
    }
}

#[test]
fn assembly_is_read() {
    let text = "\t.text\n\t.globl\ta\na:\n\t.cfi_startproc\n\tjs\t.LBB4_2\n# %bb.1:\n\tincl\t%eax\n.LBB4_2:\n\tretq\n\
                .Lfunc_end4:\n\t.size\ta, 1\nb:\n\tretq\n";
    let all = functions(text);
    assert_eq!(all["a"], ["js\t.LBB_2", "incl\t%eax", ".LBB_2:", "retq"]);
    assert_eq!(all["b"], ["retq"]);
}

#[test]
fn instructions_and_registers_of_kernels() {
    if toolkit::nvrtc().is_err() {
        return skip("zero_cost::instructions_and_registers_of_kernels", "no NVRTC");
    }
    let mut dearer = Vec::new();
    for twins in TWINS {
        let typed = cost(twins.name, twins.typed).unwrap_or_else(|e| panic!("{e}"));
        let by_hand = cost(twins.name, twins.by_hand).unwrap_or_else(|e| panic!("{e}"));
        eprintln!("{}: typed {typed:?}, by hand {by_hand:?}", twins.name);
        assert!(by_hand.instructions > 8 && by_hand.registers > 4, "{}: {by_hand:?} is not credible", twins.name);
        let registers = f64::from(typed.registers) <= 1.02 * f64::from(by_hand.registers);
        if typed.instructions != by_hand.instructions || !registers {
            dearer.push(format!("{}: typed {typed:?}, by hand {by_hand:?}", twins.name));
        }
        assert_eq!((typed.spilled, by_hand.spilled), (0, 0), "{}", twins.name);
    }
    assert!(dearer.is_empty(), "{}", dearer.join("\n"));
}

#[test]
fn twins_compute_the_same() {
    let mut state = 7u32;
    let mut random = |low: i32, high: i32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        low + (state >> 8) as i32 % (high - low)
    };
    let x: Vec<f32> = (0..6400).map(|_| random(-1000, 1000) as f32 / 8.0).collect();
    // Y, then X, some of them outside of 48 x 40.
    let places: Vec<i32> = (0..512).map(|number| random(-5, if number < 256 { 53 } else { 45 })).collect();
    for (name, grid, block, shared_bytes, results) in [
        ("copy", [32, 1, 1], [128, 1, 1], 0, 4096),
        ("transpose", [3, 2, 1], [32, 8, 1], 4224, 6144),
        ("stencil", [1, 1, 1], [64, 1, 1], 0, 4096),
        ("gather", [4, 1, 1], [64, 1, 1], 0, 768),
        ("matmul", [1, 1, 1], [16, 16, 1], 2048, 256),
        ("reduce", [16, 1, 1], [32, 1, 1], 0, 16),
    ] {
        let twins = TWINS.iter().find(|twins| twins.name == name).unwrap();
        let args: [Arg; 3] = [read(&x), read(&places), written::<f32>(results)];
        let first: RefCell<Option<Vec<f32>>> = RefCell::new(None);
        for text in [twins.by_hand, twins.typed] {
            let (text, target) = (expanded(text), TargetKind::Plain);
            let kernel = Kernel { name, text: &text, entry: name, grid, block, shared_bytes, target };
            everywhere(&kernel, &args, |outputs, place| {
                let got = outputs.get::<f32>(0);
                assert!(got.iter().all(|value| value.is_finite()), "{place}: something is not written");
                let mut first = first.borrow_mut();
                let expected = first.get_or_insert_with(|| got.clone());
                assert_eq!(&got, expected, "{place}");
            });
        }
    }
}
