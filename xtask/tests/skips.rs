//! What `cargo xtask test` says about skipped tests.

use xtask::test::summary;

#[test]
fn skips_are_counted_and_named_by_reason() {
    let lines =
        "SKIP a::b: no GPU\nSKIP c: no NVRTC: not on this machine\nSKIP d: no GPU\nSKIP a::b: no GPU\nnoise\nSKIP e\n";
    let expected = "skipped 2: no GPU: a::b, d\n\
                    skipped 1: no NVRTC: not on this machine: c\n\
                    skipped 1: no reason given: e\n";
    assert_eq!(summary(lines), expected);
}

#[test]
fn nothing_skipped_is_said_too() {
    assert_eq!(summary(""), "skipped 0\n");
}
