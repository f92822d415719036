//! What a tensor map refuses, with the dimension, the number and the limit.

use tilewright_headers::tensor_map::{Element, Swizzle, TensorMap};

fn refused(element: Element, sizes: &[u64], strides: &[u64], box_sizes: &[u32], swizzle: Swizzle) -> String {
    TensorMap::new(element, sizes, strides, box_sizes, swizzle).expect_err("accepted").to_string()
}

#[test]
fn each_limit_has_its_message() {
    let none = Swizzle::None;
    let cases = [
        (refused(Element::F32, &[], &[], &[], none), "a tensor map has 1 to 5 dimensions, got 0"),
        (refused(Element::F32, &[1; 6], &[16; 5], &[4; 6], none), "a tensor map has 1 to 5 dimensions, got 6"),
        (refused(Element::F32, &[8, 8], &[], &[4, 4], none), "strides: expected 1 numbers for 2 dimensions, got 0"),
        (refused(Element::F32, &[8, 8], &[32], &[4], none), "box sizes: expected 2 numbers for 2 dimensions, got 1"),
        (
            refused(Element::F32, &[8, 0], &[32], &[4, 4], none),
            "dimension 1: its size is 0, allowed is 1 to 4294967296",
        ),
        (
            refused(Element::F32, &[(1 << 32) + 1], &[], &[4], none),
            "dimension 0: its size is 4294967297, allowed is 1 to 4294967296",
        ),
        (refused(Element::U8, &[512, 8], &[512], &[16, 257], none), "dimension 1: its box is 257, allowed is 1 to 256"),
        (
            refused(Element::F16, &[9, 3, 3], &[32, 56], &[8, 1, 1], none),
            "dimension 2: its stride is 56 bytes, allowed are multiples of 16 below 2^40",
        ),
        (
            refused(Element::F16, &[9, 3], &[1 << 40], &[8, 1], none),
            "dimension 1: its stride is 1099511627776 bytes, allowed are multiples of 16 below 2^40",
        ),
        (
            refused(Element::F16, &[9], &[], &[9], none),
            "dimension 0: a row of the box has 18 bytes, allowed are multiples of 16",
        ),
        (
            refused(Element::F32, &[90], &[], &[32], Swizzle::Bytes64),
            "dimension 0: a row of the box has 128 bytes, the swizzle is of rows of 64",
        ),
        (
            refused(Element::F32, &[512, 512], &[2048], &[256, 256], none),
            "the box has 262144 bytes, a block has at most 232448 of shared memory: make it smaller along a dimension",
        ),
    ];
    for (got, expected) in cases {
        assert_eq!(got, expected);
    }
    let map = TensorMap::new(Element::F64, &[5], &[], &[2], none).unwrap();
    assert_eq!(map.check_base(8).unwrap_err().to_string(), "the tensor starts at 0x8, a multiple of 16 is needed");
    assert_eq!((map.check_base(32), map.box_bytes(), map.element_strides()), (Ok(()), 16, &[1u32][..]));
}
