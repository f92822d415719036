//! What `cargo xtask check-nvptx64` reads from PTX, and what it refuses.

use xtask::check_nvptx64::{check, instructions};

const PTX: &str = "\
.visible .entry typed(
\t.param .u64 typed_param_0
)
{
\t.reg .b32 %r<3>;
// %bb.0:
\tld.param.b64 %rd1, [typed_param_0];
\tshl.b32 %r1, %r2, 3; // a comment
\tand.b32 %r1, %r1, 7;
\tst.global.b32 [%rd1], %r1;
\tret;

}
.visible .entry by_hand()
{
\tret;
}
";

#[test]
fn instructions_of_a_kernel() {
    let typed = instructions(PTX, "typed").unwrap();
    assert_eq!(typed.len(), 5, "{typed:?}");
    assert_eq!(typed[0], "ld.param.b64 %rd1, [<kernel>_param_0];");
    assert_eq!(typed[1], "shl.b32 %r1, %r2, 3;");
    assert_eq!(instructions(PTX, "by_hand").unwrap(), ["ret;"]);
    assert!(instructions(PTX, "none").is_err());
}

#[test]
fn other_code_and_ways_to_a_panic_are_refused() {
    let typed = instructions(PTX, "typed").unwrap();
    check(&typed, &typed).unwrap();
    assert!(check(&typed, &typed[1..]).unwrap_err().to_string().contains("5 instructions typed, 4 by hand"));
    let without_shift: Vec<String> = typed.iter().filter(|line| !line.starts_with("shl")).cloned().collect();
    assert!(check(&without_shift, &without_shift).unwrap_err().to_string().contains("shl.b32"));
    let mut panics = typed.clone();
    panics.push("call panic, ();".to_owned());
    assert!(check(&panics, &panics).unwrap_err().to_string().contains("call"));
}
