//! The measured computations and their data.

use std::collections::HashSet;
use tilewright_benches::cases::{FRAME, Random, chain, chain_of};
use tilewright_benches::clock::median;

#[test]
fn boxes_are_distinct_and_inside() {
    let boxes = Random::new(1).boxes(2000, FRAME).unwrap().to_vec().unwrap();
    assert_eq!(boxes.iter().collect::<HashSet<_>>().len(), 2000);
    for b in &boxes {
        assert!(b.x >= 0 && b.y >= 0 && b.x + b.width <= 3840 && b.y + b.height <= 2160, "{b}");
    }
    // Every part of the frame is met.
    let quarters: HashSet<_> = boxes.iter().map(|b| (b.x > 1890, b.y > 1020)).collect();
    assert_eq!(quarters.len(), 4);
}

#[test]
fn random_numbers_fill_their_range() {
    let values = Random::new(2).floats(10_000);
    assert!(values.iter().all(|v| (-1.0..1.0).contains(v)));
    let mean = values.iter().sum::<f32>() / 10_000.0;
    assert!(mean.abs() < 0.05, "{mean}");
    let pixels = Random::new(2).picture([13, 7, 3]).unwrap().to_vec().unwrap();
    assert!(pixels.len() == 273 && pixels.iter().collect::<HashSet<_>>().len() > 100);
}

#[test]
fn the_chain_is_what_it_is_compared_with() {
    let x = Random::new(3).line(1001).unwrap();
    let got = chain().call(&x).unwrap().to_vec().unwrap();
    for (x, y) in x.to_vec().unwrap().into_iter().zip(got) {
        assert_eq!(y.to_bits(), chain_of(x).to_bits());
        assert!(y.abs() < 16.0);
    }
}

#[test]
fn medians() {
    assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    assert!(median(Vec::new()).is_nan());
}
