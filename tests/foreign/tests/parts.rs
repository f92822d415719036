//! Each part alone: the bits of a plain loop.

use crate::Random;
use tilewright::extend::Apply;
use tilewright::prelude::*;
use tilewright_foreign::bits::PackedBits;
use tilewright_foreign::noise::below;
use tilewright_foreign::peaks::Peaks;
use tilewright_foreign::raw10::Raw10;
use tilewright_foreign::{B, M, N, X, Y};

#[test]
fn a_read() -> Result<(), tilewright::Error> {
    // A row ends within a group of four.
    let (rows, width) = (7, 10);
    let bytes = Random(1).bytes(rows * 15);
    let frame = Tensor::<u8, (Y, B)>::from_vec([rows, 15], bytes.clone())?;
    let read = fuse(move |frame: In<u8, (Y, B)>| frame.read(Raw10 { width }).store::<(Y, X)>());
    let mut expected = Vec::new();
    for row in bytes.chunks(15) {
        for x in 0..width {
            let group = &row[x / 4 * 5..][..5];
            expected.push(u16::from(group[x % 4]) * 4 + u16::from(group[4] >> (x % 4 * 2)) % 4);
        }
    }
    assert_eq!(read.call(&frame)?.to_vec()?, expected);
    Ok(())
}

#[test]
fn a_function() -> Result<(), tilewright::Error> {
    let mut random = Random(2);
    let seeds: Vec<u32> = (0..3000).map(|_| random.below(1 << 32) as u32).collect();
    // 0xc0000000 throws a quarter of all hashes away.
    let bounds = vec![0, 1, 7, 0xc000_0000, u32::MAX];
    let x = Tensor::<u32, (X,)>::from_vec([seeds.len()], seeds.clone())?;
    let n = Tensor::<u32, (N,)>::from_vec([bounds.len()], bounds.clone())?;
    let fused = fuse(|x: In<u32, (X,)>, n: In<u32, (N,)>| below::of(x, n).store::<(N, X)>());
    let expected: Vec<u32> = bounds.iter().flat_map(|n| seeds.iter().map(|x| below(*x, *n))).collect();
    assert_eq!(fused.call(&x, &n)?.to_vec()?, expected);
    assert!(bounds.iter().zip(expected.chunks(3000)).all(|(n, row)| row.iter().all(|v| v < n || *n == 0)));
    Ok(())
}

#[test]
fn a_pattern() -> Result<(), tilewright::Error> {
    let (n, rows, width) = (2, 9, 11);
    let mut random = Random(3);
    let values: Vec<f32> = (0..n * rows * width).map(|_| random.below(20) as f32 - 5.0).collect();
    let pictures = Tensor::<f32, (N, Y, X)>::from_vec([n, rows, width], values.clone())?;
    // In another order of dimensions, so that no neighbour lies where the loop below has it.
    let peaks = fuse(|x: In<f32, (N, Y, X)>| x.apply(Peaks).store::<(X, N, Y)>());
    let at = |n: usize, y: usize, x: usize| values[(n * rows + y) * width + x];
    let mut expected = Vec::new();
    for x in 0..width {
        for n in 0..n {
            for y in 0..rows {
                let around = [
                    at(n, y, x.saturating_sub(1)),
                    at(n, y, (x + 1).min(width - 1)),
                    at(n, y.saturating_sub(1), x),
                    at(n, (y + 1).min(rows - 1), x),
                ];
                let value = at(n, y, x);
                expected.push(if around.iter().all(|a| value > *a) { value } else { 0.0 });
            }
        }
    }
    assert!(expected.iter().filter(|v| **v != 0.0).count() > 10, "there are peaks");
    assert_eq!(peaks.call(&pictures)?.to_vec()?, expected);
    Ok(())
}

#[test]
fn a_write() -> Result<(), tilewright::Error> {
    let (rows, width) = (5, 13);
    let values: Vec<bool> = Random(4).bytes(2 * rows * width).iter().map(|b| *b > 99).collect();
    let mask = Tensor::<bool, (N, Y, X)>::from_vec([2, rows, width], values.clone())?;
    let packed = fuse(move |mask: In<bool, (N, Y, X)>| mask.write(PackedBits { width }));
    let mut expected = Vec::new();
    for row in values.chunks(width) {
        for byte in row.chunks(8) {
            expected.push(byte.iter().enumerate().map(|(i, bit)| u8::from(*bit) << i).sum::<u8>());
        }
    }
    let bits = packed.call(&mask)?;
    assert_eq!((bits.extent::<M>(), bits.to_vec()?), (2, expected));
    Ok(())
}
