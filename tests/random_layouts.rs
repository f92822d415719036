//! Random layouts, folded, padded, swizzled: the same offsets in Rust and in CUDA C++, on the host model and on a GPU.

use crate::runner::{Kernel, everywhere, read, written};
use std::fmt::Write as _;
use tilewright_driver::TargetKind;
use tilewright_headers::layout::{Layout, declare_dims};

const LAYOUTS: usize = 96;
const POINTS: usize = 64;

/// Offsets of a point in four ways: of a sum, of one in another order, by a rebased cursor, by a step; and whether it lies inside.
const CHECK: &str = r#"
struct Params { const int* points; int* results; };
template <class L> TW_NOINLINE void check(const Params& p) {
  using A = tw::Tensor<const int, L>;
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = p.points[4 * at], j = p.points[4 * at + 1], k = p.points[4 * at + 2], n = p.points[4 * at + 3];
  int* const r = p.results + 5 * at;
  const A a{p.points};
  const auto none = I(0) + J(0) + K(0) + N(0);
  r[0] = A::offset(I(i) + J(j) + K(k) + N(n));
  r[1] = A::offset(K(k - 7) - J(3) + N(n) + I(i) + K(7) + J(j + 3));
  r[2] = a.at(none + I(i)).at(none + K(k % 8) + J(j)).rebase().at(none + tw::Fold<K, 8>(k / 8) + N(n)).offset();
  auto cursor = a.at(none + K(1) + J(j)).rebase().at(none);
  cursor.step(N(n) + I(i) + K(k - 1));
  r[3] = cursor.offset();
  r[4] = cursor.in_range();
}
"#;

/// Pseudo-random choices.
struct Random(u64);

impl Random {
    fn below(&mut self, end: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as i64) % end
    }

    /// A layout as it is written: each dimension cut into factors, or into what a map leaves of it, the axes shuffled, some padded.
    fn layout(&mut self) -> String {
        let swizzled = self.below(3) == 0;
        let mut axes: Vec<(String, i64)> = Vec::new();
        for dim in ["I", "J", "K"] {
            let start = match (swizzled, dim) {
                (true, "I" | "K") => 16,
                _ => 1,
            };
            let sizes: Vec<i64> = (0..1 + self.below(3)).map(|_| 1 + self.below(4)).collect();
            let mut fold = start;
            for (place, size) in sizes.iter().enumerate() {
                let sign = if place + 1 < sizes.len() { "%" } else { ": " };
                // An axis of one step, with a coarser one behind it, is that one.
                if *size > 1 || place + 1 == sizes.len() {
                    let name = if fold == 1 { dim.to_owned() } else { format!("{dim}/{fold}") };
                    axes.push((format!("{name}{sign}{size}"), *size));
                }
                fold *= size;
            }
        }
        let mut maps = String::new();
        if self.below(3) == 0 {
            maps += ["index(N -> [K/8: 2, I: 16])", "index(N -> [I: 3, J: 5])", "index(N -> [J/2: 2, K: 3, J%2])"]
                [self.below(3) as usize];
            maps.insert_str(0, " via ");
        }
        if swizzled {
            axes.push(("CELL: 32".into(), 32));
            if self.below(2) == 0 {
                axes.push(("K%8".into(), 8));
            }
            maps += &format!(" via checkerboard({}: I%16, K/8%2 -> CELL)", [2, 4, 8][self.below(3) as usize]);
        }
        for last in (1..axes.len()).rev() {
            axes.swap(last, self.below(last as i64 + 1) as usize);
        }
        let mut next = 1;
        let mut written: Vec<String> = Vec::new();
        for (axis, size) in axes.iter().rev() {
            let stride = next + self.below(3) * self.below(2);
            written.insert(0, format!("{axis} => {stride}"));
            next = stride * size;
        }
        format!("[{}]{maps}", written.join(", "))
    }
}

#[test]
fn offsets_agree() {
    let mut random = Random(1);
    let layouts: Vec<Layout> = (0..LAYOUTS)
        .map(|_| {
            let text = random.layout();
            text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
        })
        .collect();
    assert!(layouts.iter().filter(|layout| !layout.maps().is_empty()).count() > LAYOUTS / 3);
    let mut text = format!("#include \"tilewright/layout.cuh\"\n{}{CHECK}", declare_dims(["I", "J", "K", "N", "CELL"]));
    text += "extern \"C\" __global__ void offsets(const __grid_constant__ Params p) {\n  switch (blockIdx.x) {\n";
    for (number, layout) in layouts.iter().enumerate() {
        let _ =
            writeln!(text, "    case {number}: return check<{}>(p);", layout.cuda().unwrap_or_else(|e| panic!("{e}")));
    }
    text += "  }\n}\n";

    let points: Vec<i32> = (0..LAYOUTS * POINTS * 4).map(|_| (random.below(130) - 30) as i32).collect();
    let (grid, block, target) = ([LAYOUTS as u32, 1, 1], [POINTS as u32, 1, 1], TargetKind::Plain);
    let kernel = Kernel { name: "random_layouts", text: &text, entry: "offsets", grid, block, shared_bytes: 0, target };
    everywhere(&kernel, &[read(&points), written::<i32>(LAYOUTS * POINTS * 5)], |outputs, place| {
        let results = outputs.get::<i32>(0);
        for (at, (point, got)) in points.chunks(4).zip(results.chunks(5)).enumerate() {
            let layout = &layouts[at / POINTS];
            let coords: Vec<(&str, i64)> =
                ["I", "J", "K", "N"].into_iter().zip(point.iter().map(|v| i64::from(*v))).collect();
            let expected = layout.offset(&coords).unwrap_or_else(|e| panic!("{e}")) as i32;
            let inside = i32::from(layout.checked_offset(&coords).is_ok());
            assert_eq!(got, [expected, expected, expected, expected, inside], "{place}: {layout:?} at {point:?}");
        }
    });
}
