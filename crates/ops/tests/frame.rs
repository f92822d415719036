//! Frames in one allocation, against places counted by hand.

use tilewright_dims::dims;
use tilewright_ops::{Error, Tensor};

dims! { N, Y, X, H, W, U }

/// `rows` x `pitch` elements that number themselves, of which `width` columns belong to the picture.
fn frame(rows: usize, width: usize, pitch: usize) -> Tensor<u16, (Y, X)> {
    let values = (0..rows * pitch).map(|i| i as u16).collect();
    Tensor::<u16, (Y, X)>::from_vec([rows, pitch], values).unwrap().narrow::<X>(0, width).unwrap()
}

#[test]
fn luma_and_interleaved_chroma() {
    let (luma, chroma) = frame(6, 8, 10).luma_and_chroma::<(H, W, U)>().unwrap();
    assert_eq!((luma.extents(), chroma.extents()), (vec![4, 8], vec![2, 4, 2]));
    let expected: Vec<u16> = (4..6).flat_map(|y| (0..8).map(move |x| y * 10 + x)).collect();
    assert_eq!(chroma.to_vec().unwrap(), expected);
    assert_eq!(luma.to_vec().unwrap()[8..16], [10, 11, 12, 13, 14, 15, 16, 17]);

    let (luma, chroma) = frame(6, 8, 10).luma_and_chroma::<(Y, W, U)>().unwrap();
    assert_eq!((luma.extents(), chroma.extents()), (vec![3, 8], vec![3, 4, 2]));
    assert_eq!(chroma.to_vec().unwrap()[..3], [30, 31, 32]);

    let (luma, chroma) = frame(6, 4, 4).luma_and_chroma::<(Y, X, U)>().unwrap();
    assert_eq!((luma.extents(), chroma.extents()), (vec![2, 4], vec![2, 4, 2]));
    assert_eq!(chroma.to_vec().unwrap(), (8..24).collect::<Vec<u16>>());
}

#[test]
fn three_planes() {
    let (luma, u, v) = frame(6, 8, 8).three_planes::<(H, W)>().unwrap();
    assert_eq!(luma.to_vec().unwrap(), (0..32).collect::<Vec<u16>>());
    assert_eq!(u.to_vec().unwrap(), (32..40).collect::<Vec<u16>>());
    assert_eq!(v.to_vec().unwrap(), (40..48).collect::<Vec<u16>>());
    let (_, u, v) = frame(6, 6, 8).three_planes::<(H, W)>().unwrap();
    assert_eq!(u.to_vec().unwrap(), [32, 33, 34, 36, 37, 38]);
    assert_eq!(v.to_vec().unwrap(), [40, 41, 42, 44, 45, 46]);
    let (_, _, v) = frame(6, 6, 6).three_planes::<(Y, X)>().unwrap();
    assert_eq!(v.to_vec().unwrap(), (24..36).collect::<Vec<u16>>());
}

#[test]
fn batches_and_devices() {
    let values: Vec<u8> = (0..96).collect();
    let frames = Tensor::<u8, (N, Y, X)>::from_vec([2, 6, 8], values).unwrap();
    let (luma, chroma) = frames.luma_and_chroma::<(N, H, W, U)>().unwrap();
    assert_eq!((luma.extents(), chroma.extents()), (vec![2, 4, 8], vec![2, 2, 4, 2]));
    let second = chroma.narrow::<N>(1, 1).unwrap().to_vec().unwrap();
    assert_eq!(second, (80..96).collect::<Vec<u8>>());
}

#[test]
fn sizes_that_are_no_frame() {
    let refused =
        |rows, width, pitch| frame(rows, width, pitch).luma_and_chroma::<(H, W, U)>().unwrap_err().to_string();
    assert_eq!(refused(7, 8, 8), "dimension `Y` of a frame with such chroma must be a multiple of 3 long, it is 7");
    assert_eq!(refused(6, 7, 8), "dimension `X` of a frame with such chroma must be a multiple of 2 long, it is 7");
    let error = frame(6, 6, 7).three_planes::<(H, W)>().unwrap_err();
    assert!(matches!(error, Error::Pitch { dim: "Y", pitch: 7 }), "{error}");
}
