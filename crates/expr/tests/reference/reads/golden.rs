//! Results of OpenCV: `golden/opencv.py` says how they were made.

use super::*;
use std::collections::HashMap;
use tilewright_expr::{Affine, Perspective, Sampling};

pub(super) struct Golden(HashMap<&'static str, Vec<ArrayD<f64>>>);

impl Golden {
    pub(super) fn read() -> Golden {
        let mut arrays: HashMap<&str, Vec<ArrayD<f64>>> = HashMap::new();
        let mut lines = include_str!("../../golden/opencv.txt").lines().skip(1);
        while let (Some(head), Some(values)) = (lines.next(), lines.next()) {
            let [name, height, width] = head.split(' ').collect::<Vec<_>>()[..] else { panic!("{head}") };
            let shape = [height, width].map(|n| n.parse().expect("a size")).to_vec();
            let values = values.split(' ').map(|v| v.parse().expect("a number")).collect();
            arrays.entry(name).or_default().push(ArrayD::from_shape_vec(shape, values).expect("as many values"));
        }
        Golden(arrays)
    }

    pub(super) fn all(&self, name: &str) -> &[ArrayD<f64>] {
        self.0.get(name).unwrap_or_else(|| panic!("{name} is in the file"))
    }

    pub(super) fn floats(&self, name: &str) -> Tensor {
        Tensor::of(<(Y, X)>::IDS, &self.all(name)[0].mapv(|v| v as f32))
    }

    fn map(&self, name: &str) -> Tensor {
        let values: Vec<f32> = self.all(name)[0].iter().map(|v| *v as f32).collect();
        Tensor::maps(&[], &[], values.len(), &values)
    }
}

pub(super) const NAMES: [&str; 5] = ["constant", "replicate", "reflect", "reflect101", "wrap"];

fn filters() -> impl Iterator<Item = (&'static str, Filter)> {
    ["nearest", "linear", "cubic", "lanczos4"].into_iter().zip(FILTERS)
}

#[test]
fn resizes() {
    let golden = Golden::read();
    let (picture, octets) = (golden.floats("picture"), golden.all("octets")[0].mapv(|v| v as u8));
    let octets = Tensor::of(<(Y, X)>::IDS, &octets);
    let nearest = Filter::Nearest.at(Centres::Corner);
    let others = filters().skip(1).map(|(name, filter)| (name, filter.at(Centres::Half)));
    let exact = ("nearest_exact", Filter::Nearest.at(Centres::Half));
    for (name, sampling) in others.chain([("nearest", nearest), exact]) {
        let pairs = golden.all(&format!("resize.{name}")).iter().zip(golden.all(&format!("resize_octets.{name}")));
        for (expected, rounded) in pairs {
            let (h, w) = (expected.shape()[0], expected.shape()[1]);
            let what = format!("{name} to {h}x{w}");
            let t = trace(|p: In<f32, (Y, X)>| p.resize_with::<Y, X>(h, w, sampling).store::<(Y, X)>());
            near::<f32>(&evaluate_every_way(&t.graph, &[&picture])[0], expected, 2e-4, &what);
            // OpenCV computes these in fixed point.
            let t = trace(|p: In<u8, (Y, X)>| p.resize_with::<Y, X>(h, w, sampling).to::<u8>().store::<(Y, X)>());
            let most = if sampling.filter == Filter::Nearest { 0.0 } else { 1.0 };
            near::<u8>(&evaluate_every_way(&t.graph, &[&octets])[0], rounded, most, &what);
        }
    }
    for expected in golden.all("resize.area") {
        let (h, w) = (expected.shape()[0], expected.shape()[1]);
        let t = trace(|p: In<f32, (Y, X)>| p.resize_with::<Y, X>(h, w, Filter::Area).store::<(Y, X)>());
        near::<f32>(&evaluate_every_way(&t.graph, &[&picture])[0], expected, 2e-4, &format!("area to {h}x{w}"));
    }
    assert_eq!(Sampling::default(), Filter::Linear.at(Centres::Half));
}

#[test]
fn paddings() {
    let golden = Golden::read();
    let small = golden.floats("small");
    for (name, border) in NAMES.into_iter().zip(borders(3.5f32)) {
        let t = trace(|p: In<f32, (Y, X)>| p.pad::<Y>(8, 10, border).pad::<X>(9, 14, border).store::<(Y, X)>());
        let expected = &golden.all(&format!("pad.{name}"))[0];
        near::<f32>(&evaluate_every_way(&t.graph, &[&small])[0], expected, 1e-4, name);
    }
}

#[test]
fn warps() {
    let golden = Golden::read();
    let picture = golden.floats("picture");
    let (rows, columns) = (golden.floats("rows"), golden.floats("columns"));
    let (affine, perspective) = (golden.map("affine"), golden.map("perspective"));
    for (filter_name, filter) in filters() {
        for (border_name, border) in NAMES.into_iter().zip(borders(40.25f32)) {
            let what = |kind: &str| format!("{kind}.{filter_name}.{border_name}");
            let check = |kind: &str, graph: &tilewright_expr::graph::Graph, inputs: &[&Tensor]| {
                let expected = &golden.all(&what(kind))[0];
                near::<f32>(&evaluate_every_way(graph, inputs)[0], expected, 5e-4, &what(kind));
            };
            let t = trace(|p: In<f32, (Y, X)>, v: In<f32, (Y, X)>, u: In<f32, (Y, X)>| {
                p.remap::<Y, X, _, _>(v, u, filter, border).store::<(Y, X)>()
            });
            check("remap", &t.graph, &[&picture, &rows, &columns]);
            let t = trace(|p: In<f32, (Y, X)>, m: In<Affine, ()>| {
                p.warp_affine::<Y, X, _>(m, 6, 8, filter, border).store::<(Y, X)>()
            });
            check("affine", &t.graph, &[&picture, &affine]);
            if !matches!(filter, Filter::Linear | Filter::Cubic) {
                continue;
            }
            let t = trace(|p: In<f32, (Y, X)>, m: In<Perspective, ()>| {
                p.warp_perspective::<Y, X, _>(m, 5, 6, filter, border).store::<(Y, X)>()
            });
            check("perspective", &t.graph, &[&picture, &perspective]);
        }
    }
}
