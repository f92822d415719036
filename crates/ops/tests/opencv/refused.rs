//! What filters refuse: each error names the dimension, the size, the limit.

use tilewright_expr::Expr;
use tilewright_ops::opencv::*;
use tilewright_ops::{Tensor, fuse};

fn refusal(f: impl Fn(MatC1<u8>) -> MatC1<u8>) -> String {
    let a = Tensor::<u8, (Y, X)>::from_vec([5, 6], vec![7; 30]).expect("30 bytes");
    let lines = fuse(|a: MatC1<u8>| f(a).store::<(Y, X)>());
    lines.call(&a).err().map(|e| e.to_string()).unwrap_or_default()
}

#[test]
fn sizes_and_anchors() {
    let ones = [[1.0; 3]; 3];
    let mask = get_structuring_element(MORPH_RECT, Size(3, 3), Point(-1, -1));
    let refused: [(String, &[&str]); 9] = [
        (refusal(|a| gaussian_blur(a, Size(4, 3), 1.0, 1.0, BORDER_DEFAULT)), &["`X`", "4", "odd"]),
        (refusal(|a| gaussian_blur(a, Size(3, 3), f64::NAN, 1.0, BORDER_DEFAULT)), &["`X`", "NaN"]),
        (refusal(|a| blur(a, Size(40, 3), Point(0, 0), BORDER_DEFAULT)), &["`X`", "40", "31"]),
        (refusal(|a| blur(a, Size(0, 3), Point(-1, -1), BORDER_DEFAULT)), &["`X`", "0"]),
        (refusal(|a| filter_2d(a, ones, Point(3, -1), 0.0, BORDER_DEFAULT)), &["`X`", "3"]),
        (refusal(|a| filter_2d(a, ones, Point(-1, -2), 0.0, BORDER_DEFAULT)), &["`Y`", "3"]),
        (refusal(|a| sobel(a, 1, 0, 4, 1.0, 0.0, BORDER_DEFAULT)), &["4"]),
        (refusal(|a| median_blur(a, 9)), &["`Y`", "9", "7"]),
        (refusal(|a| erode(a, &mask, Point(0, 3), 1, BORDER_CONSTANT)), &["`Y`", "3"]),
    ];
    for (i, (message, words)) in refused.iter().enumerate() {
        assert!(!message.is_empty() && words.iter().all(|w| message.contains(w)), "case {i}: {message:?}");
    }
}

/// A window larger than the picture, one pixel, and none at all.
#[test]
fn small_pictures() {
    for (rows, columns) in [(1, 1), (1, 3), (0, 4)] {
        let a = Tensor::<u8, (Y, X)>::from_vec([rows, columns], vec![9; rows * columns]).expect("as many bytes");
        let lines = fuse(|a: MatC1<u8>| {
            let blurred: Expr<u8, _> = gaussian_blur(a, Size(5, 5), 1.0, 0.0, BORDER_DEFAULT);
            median_blur(blurred, 3).store::<(Y, X)>()
        });
        assert_eq!(lines.call(&a).and_then(|b| b.to_vec()).expect("legal"), vec![9; rows * columns]);
    }
}
