//! The computations of the suite `fuse` on small data, against loops by hand; and that their kernels compile.

use crate::kernels::{H200, has_nvrtc};
use std::collections::HashSet;
use tilewright_benches::cases::{C, FRAME, H, N, Random, U, W, X, Y, colours, crops, stored_crops};
use tilewright_benches::kernels::Stepwise;
use tilewright_benches::pipelines::{
    FACTOR, Given, Pipeline, SUMMAND, additions, both, frames, gauss5, horizontal, multiplications, normalised,
    normalised_f64, pairs_of, row, vertical, video,
};
use tilewright_benches::suites::{cases, cpu_crops, fuse, needs_gpu};
use tilewright_driver::{Source, compile};
use tilewright_expr::{Filter, f16};
use tilewright_headers::headers_for;
use tilewright_ops::Tensor;

fn same(got: &[f32], expected: impl Iterator<Item = f32>) {
    let expected: Vec<f32> = expected.collect();
    assert_eq!(got.len(), expected.len());
    for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
        assert_eq!(got.to_bits(), expected.to_bits(), "at {i}: {got}, expected {expected}");
    }
}

#[test]
fn cases_are_distinct_and_can_be_named() {
    let all = cases();
    let names: HashSet<String> = all.iter().map(|(suite, case)| format!("{suite}/{case}")).collect();
    assert_eq!(names.len(), all.len());
    assert!(
        needs_gpu("fuse", "vertical/500")
            && !needs_gpu("bundle", "file")
            && all.contains(&("fuse", "vertical/500"))
            && all.contains(&("cpu", "crops150"))
    );
    // Every number in a name is one, and 500 operations divide into kernels.
    for case in fuse::CASES {
        let Some((kind, rest)) = case.split_once('/') else { continue };
        if kind == "type" {
            assert!(rest.contains("-f"), "{case}");
            continue;
        }
        let number: usize = rest.parse().unwrap();
        assert!(number > 0 && (kind != "per_kernel" || 500 % number == 0), "{case}");
        // The kernels of single operations take four elements a thread.
        assert!(kind != "size" || number.is_multiple_of(4), "{case}");
    }
}

#[test]
fn pairs_over_pictures_and_batches() {
    let mut random = Random::new(1);
    for n in [1, 2, 7, 50] {
        let pixels = random.pixels(5 * 13);
        let expected = || pixels.iter().map(|x| pairs_of(f32::from(*x), n));
        let picture = Tensor::<u8, (Y, X)>::from_vec([5, 13], pixels.clone()).unwrap();
        same(&vertical(n).call(&picture).unwrap().to_vec().unwrap(), expected());
        let batch = Tensor::<u8, (N, Y, X)>::from_vec([1, 5, 13], pixels.clone()).unwrap();
        same(&both(n).call(&batch).unwrap().to_vec().unwrap(), expected());
        let line = Tensor::<u8, (X,)>::from_vec([65], pixels.clone()).unwrap();
        same(&row(n).call(&line).unwrap().to_vec().unwrap(), expected());
    }
}

#[test]
fn a_long_chain_still_depends_on_its_input() {
    let values: Vec<f32> = (0..=255u8).map(|x| pairs_of(f32::from(x), 10_000)).collect();
    assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
    assert!(values.iter().all(|x| x.abs() < 300.0));
    assert_ne!(pairs_of(200.0, 499).to_bits(), pairs_of(200.0, 500).to_bits());
}

#[test]
fn parameters_of_each_picture() {
    let mut random = Random::new(2);
    let (count, height, width) = (7, 3, 11);
    let len = height * width;
    let pixels = random.pixels(count * len);
    let each: [Vec<f32>; 3] = [(); 3].map(|()| random.floats(count).into_iter().map(|x| 2.0 + x).collect());
    let tensors = each.each_ref().map(|values| Tensor::<f32, (N,)>::from_vec([count], values.clone()).unwrap());
    let batch = Tensor::<u8, (N, Y, X)>::from_vec([count, height, width], pixels.clone()).unwrap();
    let got = horizontal().call(&batch, &tensors[0], &tensors[1], &tensors[2]).unwrap().to_vec().unwrap();
    let [mul, sub, div] = &each;
    // The product and the difference round once together.
    let expected = pixels.iter().enumerate().map(|(i, x)| {
        let picture = i / len;
        f32::from(*x).mul_add(mul[picture], -sub[picture]) / div[picture]
    });
    same(&got, expected);
}

#[test]
fn rows_of_all_element_types() {
    let mut random = Random::new(3);
    let floats = random.floats(101);
    let line = Tensor::<f32, (X,)>::from_vec([101], floats.clone()).unwrap();
    let added = floats.iter().map(|x| (0..21).fold(*x, |x, _| x + SUMMAND));
    same(&additions(21).call(&line).unwrap().to_vec().unwrap(), added);
    let multiplied = floats.iter().map(|x| (0..20).fold(*x, |x, _| x * FACTOR));
    same(&multiplications(20).call(&line).unwrap().to_vec().unwrap(), multiplied);

    let signed: Vec<i16> = (0..101).map(|_| random.bits() as i16).collect();
    let tensor = Tensor::<i16, (X,)>::from_vec([101], signed.clone()).unwrap();
    let got = normalised::<i16>().call(&tensor).unwrap().to_vec().unwrap();
    same(&got, signed.iter().map(|x| f32::from(*x).mul_add(0.3, -1.0) / 3.2));
    let got = normalised_f64::<i16>().call(&tensor).unwrap().to_vec().unwrap();
    assert_eq!(got, signed.iter().map(|x| f64::from(*x).mul_add(0.3, -1.0) / 3.2).collect::<Vec<_>>());
}

#[test]
fn frames_are_resized_and_planar() {
    let (height, width) = (20, 30);
    let pixels = Random::new(4).pixels(2 * height * width * 3);
    let tensor = Tensor::<u8, (N, Y, X, C)>::from_vec([2, height, width, 3], pixels.clone()).unwrap();
    let [mul, sub, div] = colours().unwrap();
    let got = frames(Filter::Linear, 10, 10).call(&tensor, &mul, &sub, &div).unwrap().to_vec().unwrap();
    let at = |n, y, x, c| f32::from(pixels[((n * height + y) * width + x) * 3 + c]);
    let (mul_there, sub_there, div_there) = (mul.clone(), sub.clone(), div.clone());
    let (mul, sub, div) = (mul.to_vec().unwrap(), sub.to_vec().unwrap(), div.to_vec().unwrap());
    for (i, got) in got.iter().enumerate() {
        let (n, c, y, x) = (i / 300, i / 100 % 3, i / 10 % 10, i % 10);
        // Centres at halves: two rows and three columns make a result, its column is the middle one.
        let value = (at(n, 2 * y, 3 * x + 1, c) + at(n, 2 * y + 1, 3 * x + 1, c)) / 2.0;
        let expected = (value * mul[c] - sub[c]) / div[c];
        assert!((got - expected).abs() < 1e-4, "at {i}: {got}, expected {expected}");
    }
    let got = frames(Filter::Area, 10, 10).call(&tensor, &mul_there, &sub_there, &div_there).unwrap().to_vec().unwrap();
    for (i, got) in got.iter().enumerate() {
        let (n, c, y, x) = (i / 300, i / 100 % 3, i / 10 % 10, i % 10);
        let sum: f32 = (0..6).map(|k| at(n, 2 * y + k / 3, 3 * x + k % 3, c)).sum();
        let expected = (sum / 6.0 * mul[c] - sub[c]) / div[c];
        assert!((got - expected).abs() < 1e-4, "by area, at {i}: {got}, expected {expected}");
    }
}

#[test]
fn crops_in_halves_are_those_in_singles_rounded() {
    let mut random = Random::new(7);
    let (picture, boxes) = (random.picture([150, 200, 3]).unwrap(), random.boxes(2, [150, 200, 3]).unwrap());
    let [mul, sub, div] = colours().unwrap();
    let single = crops().call(&picture, &boxes, &mul, &sub, &div).unwrap().to_vec().unwrap();
    let half = stored_crops::<f16>().call(&picture, &boxes, &mul, &sub, &div).unwrap().to_vec().unwrap();
    same(&half.into_iter().map(f32::from).collect::<Vec<_>>(), single.into_iter().map(|x| f32::from(f16::from_f32(x))));
}

#[test]
fn a_frame_of_one_colour_stays_one() {
    // Limited range: 16 to 235 of luma, chroma around 128.
    let luma = Tensor::<u8, (Y, X)>::from_vec([12, 18], vec![126; 12 * 18]).unwrap();
    let chroma = Tensor::<u8, (H, W, U)>::from_vec([6, 9, 2], vec![128; 6 * 9 * 2]).unwrap();
    let [mul, sub, div] = colours().unwrap();
    let got = video(5, 7).call(&luma, &chroma, &mul, &sub, &div).unwrap().to_vec().unwrap();
    let grey = (126.0 - 16.0) / (235.0 - 16.0);
    let (sub, div) = (sub.to_vec().unwrap(), div.to_vec().unwrap());
    for (i, got) in got.iter().enumerate() {
        let expected = (grey - sub[i / 35]) / div[i / 35];
        assert!((f32::from(*got) - expected).abs() < 2e-3, "at {i}: {got}, expected {expected}");
    }
}

#[test]
fn a_filter_over_neighbours() {
    let (height, width) = (9, 11);
    let values = Random::new(8).floats(height * width);
    let picture = Tensor::<f32, (Y, X)>::from_vec([height, width], values.clone()).unwrap();
    let got = gauss5().call(&picture).unwrap().to_vec().unwrap();
    let weights = [1.0, 4.0, 6.0, 4.0, 1.0].map(|w: f64| w / 16.0);
    let at = |y: usize, x: usize| {
        let inside = |i: usize, n: usize| i.saturating_sub(2).min(n - 1);
        f64::from(values[inside(y, height) * width + inside(x, width)])
    };
    for (i, got) in got.iter().enumerate() {
        let taps = (0..25).map(|k| weights[k / 5] * weights[k % 5] * at(i / width + k / 5, i % width + k % 5));
        let expected: f64 = taps.sum();
        assert!((f64::from(*got) - expected).abs() < 1e-6, "at {i}: {got}, expected {expected}");
    }
}

#[test]
fn crops_by_hand_are_those_that_are_fused() {
    let mut random = Random::new(5);
    let (picture, boxes) = (random.picture(FRAME).unwrap(), random.boxes(3, FRAME).unwrap());
    let [mul, sub, div] = colours().unwrap();
    let fused = crops().call(&picture, &boxes, &mul, &sub, &div).unwrap().to_vec().unwrap();
    let frame = image::RgbImage::from_raw(3840, 2160, picture.to_vec().unwrap()).unwrap();
    let constants = [mul, sub, div].map(|constant| constant.to_vec().unwrap());
    let by_hand = cpu_crops::by_hand(&frame, &boxes.to_vec().unwrap(), &constants).unwrap();
    let most = fused.iter().zip(&by_hand).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(most > 0.0 && most <= 0.55 / 255.0 / 0.224, "{most}");
}

#[test]
fn random_pipelines_differ_and_run() {
    let given = Given::new().unwrap();
    let mut sources = HashSet::new();
    for seed in 0..fuse::compile::PIPELINES {
        let pipeline = Pipeline::random(seed);
        assert!(sources.insert(pipeline.source(&given).unwrap()), "seed {seed} is there already");
        // The same seed is the same pipeline.
        assert_eq!(Pipeline::random(seed).source(&given).unwrap(), pipeline.source(&given).unwrap());
        if seed < 10 {
            let got = pipeline.call(&given).unwrap().to_vec().unwrap();
            assert!(got.iter().filter(|x| x.is_finite()).count() > got.len() / 2, "seed {seed}");
        }
    }
}

#[test]
fn kernels_compile() {
    if !has_nvrtc("benches fuse::kernels_compile") {
        return;
    }
    let source = |name: &str, text: String| {
        let headers = headers_for(&text).into_iter().map(|(name, text)| (name.to_owned(), text.into()));
        Source { name: name.to_owned(), headers: headers.collect(), text, ..Source::default() }
    };
    let picture = Tensor::<u8, (Y, X)>::from_vec([300, 300], Random::new(6).pixels(90_000)).unwrap();
    compile(&source("vertical", vertical(500).cuda_source(&picture).unwrap()), H200).unwrap();
    assert_eq!(compile(&Stepwise::source(), H200).unwrap().kernels.len(), 3);
    let given = Given::new().unwrap();
    for seed in 0..4 {
        compile(&source("random", Pipeline::random(seed).source(&given).unwrap()), H200).unwrap();
    }
}
