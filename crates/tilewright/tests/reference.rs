//! The slow truth: the pipeline in `f64`, a pixel at a time, written from its definition.

use ndarray::{Array3, Array4};
use tilewright::{Centres, Rect};

/// Numbers that look like chance (a 64-bit linear congruential generator).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }

    /// From 0 to `end`, which is left out.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }
}

/// A picture over (rows, columns, colours), red first.
pub(crate) fn picture(height: usize, width: usize, seed: u64) -> Array3<u8> {
    let mut chance = Chance(seed);
    Array3::from_shape_simple_fn((height, width, 3), || (chance.next() >> 8) as u8)
}

/// Boxes of all sizes inside a picture; the first ones are the corner cases.
pub(crate) fn boxes(n: usize, height: usize, width: usize, seed: u64) -> Vec<Rect> {
    let (h, w) = (height as i32, width as i32);
    let mut boxes = vec![
        Rect::new(0, 0, w, h),
        Rect::new(0, 0, 1, 1),
        Rect::new(w - 1, h - 1, 1, 1),
        Rect::new(w - 7, 0, 7, h),
        Rect::new(0, h - 5, w, 5),
        Rect::new(w / 2, h / 3, 3, 11),
        Rect::new(w - 1, 0, 1, h),
    ];
    let mut chance = Chance(seed);
    boxes.resize_with(n.max(boxes.len()), || {
        let (x, y) = (chance.below(width), chance.below(height));
        let (wide, high) = (1 + chance.below(width - x), 1 + chance.below(height - y));
        Rect::new(x as i32, y as i32, wide as i32, high as i32)
    });
    boxes.truncate(n);
    boxes
}

/// How a batch is computed: its rows, columns and convention, and the constants, blue first as in the batch.
pub(crate) struct Recipe {
    pub(crate) size: (usize, usize),
    pub(crate) centres: Centres,
    pub(crate) mul: [f32; 3],
    pub(crate) sub: [f32; 3],
    pub(crate) div: [f32; 3],
}

impl Recipe {
    /// ImageNet's constants.
    pub(crate) fn new(size: (usize, usize), centres: Centres) -> Self {
        let (mul, sub, div) = ([1.0 / 255.0, 1.0 / 200.0, 1.0 / 300.0], [0.406, 0.456, 0.485], [0.225, 0.224, 0.229]);
        Recipe { size, centres, mul, sub, div }
    }
}

/// The batch over (crops, channels, rows, columns).
pub(crate) fn batch(picture: &Array3<u8>, boxes: &[Rect], recipe: &Recipe) -> Array4<f64> {
    let (height, width) = recipe.size;
    Array4::from_shape_fn((boxes.len(), 3, height, width), |(n, c, y, x)| {
        let rect = boxes[n];
        let (top, bottom, down) = neighbours(y, rect.height, height, recipe.centres);
        let (left, right, across) = neighbours(x, rect.width, width, recipe.centres);
        let pixel =
            |row: usize, column: usize| f64::from(picture[[rect.y as usize + row, rect.x as usize + column, 2 - c]]);
        let above = pixel(top, left) * (1.0 - across) + pixel(top, right) * across;
        let below = pixel(bottom, left) * (1.0 - across) + pixel(bottom, right) * across;
        let value = above * (1.0 - down) + below * down;
        (value * f64::from(recipe.mul[c]) - f64::from(recipe.sub[c])) / f64::from(recipe.div[c])
    })
}

/// The two source pixels of sample `to` of `samples`, and the weight of the second.
fn neighbours(to: usize, pixels: i32, samples: usize, centres: Centres) -> (usize, usize, f64) {
    let scale = f64::from(pixels) / samples as f64;
    let at = match centres {
        Centres::Half => ((to as f64 + 0.5) * scale - 0.5).max(0.0),
        Centres::Corner => to as f64 * scale,
    };
    let last = pixels as usize - 1;
    let first = (at.floor() as usize).min(last);
    (first, (first + 1).min(last), at - at.floor())
}
