//! What is cut, into what, and what is refused.

use super::*;
use crate::dispatch::{Bound, Rates};
use crate::stream::OtherPasses;
use tilewright_expr::{Border, In};
use tilewright_ops::fuse;

const GIB: u64 = 1 << 30;

/// A store of any size that has no elements.
pub(super) struct Vast(pub(super) Extents);

impl Source for Vast {
    fn extents(&self) -> Extents {
        self.0
    }

    fn element(&self) -> Element {
        Element::F32
    }

    fn read_tile(&self, _: &Tile, _: &mut [u8]) -> Result<(), Error> {
        unreachable!("a plan reads nothing")
    }
}

impl Sink for Vast {
    fn extents(&self) -> Extents {
        self.0
    }

    fn element(&self) -> Element {
        Element::F32
    }

    fn write_tile(&self, _: &Tile, _: &[u8]) -> Result<(), Error> {
        unreachable!("a plan writes nothing")
    }

    fn commit(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

/// 32 GB in and as many back: nothing but the link counts, and it is busy both ways nearly all of the time.
#[test]
fn plans_of_the_figure() {
    let shape @ [rows, columns] = [1 << 17, 1 << 16];
    let vast = Vast(Extents::new(rows, columns));
    let six = fuse(|x: In<f32, (Y, X)>| (((x * 2.0 + 1.0).abs().sqrt() - 0.5).max(0.1) / 3.0).store::<(Y, X)>());
    let x = Array::<f32, (Y, X)>::new(&vast, shape).unwrap();
    let evaluation = Evaluation::new(&six, (&x,), &[&vast]).unwrap();
    let plan = evaluation.plan(8 * GIB).unwrap();
    assert!(plan.device_bytes() <= u128::from(2 * GIB), "{plan:?}");
    assert_eq!((plan.bytes_to_gpu(), plan.bytes_to_host()), (4 << 33, 4 << 33));
    assert_eq!(plan, evaluation.plan(64 * GIB).unwrap(), "bands do not depend on memory that is not needed");
    let time = plan.time(&Rates::h200().gpu.unwrap());
    assert_eq!(time.bound(), Bound::Bring);
    assert!(time.wall / (32.0 * 1.073_741_824 / 51.0) < 1.02, "{time:?}");
    // Less memory makes bands shorter, down to one index.
    let row = 4 * columns as u64;
    for budget in [GIB / 2, GIB / 8, 40 * row, 6 * row] {
        let less = evaluation.plan(budget).unwrap();
        assert!(less.device_bytes() <= u128::from(budget) && less.band < plan.band, "{less:?}");
        assert_eq!(less.bytes_to_gpu(), plan.bytes_to_gpu());
    }
    let error = evaluation.plan(6 * row - 1).unwrap_err();
    assert!(matches!(error, Error::Budget { requested, .. } if requested == 6 * row), "{error}");
}

#[test]
fn bands_and_windows_cover_the_whole() {
    for extent in [1, 2, 9, 64, 1000] {
        for band in [1, 3, 64, 1000] {
            for (before, after) in [(0, 0), (2, 0), (0, 5), (7, 7)] {
                let plan = ExpressionPlan {
                    dimension: Some("Y"),
                    extent,
                    band: band.min(extent),
                    longest: extent,
                    margin: tilewright_expr::stage::Margin { before: -before, after },
                    wraps: false,
                    elsewhere: false,
                    bytes_in: 1,
                    bytes_out: 1,
                    bytes_once: 0,
                    bytes_before: 0,
                    bytes_folded: 0,
                    bytes_scattered: 0,
                    bytes_there: 0,
                    is_whole: false,
                    stages: 3,
                    others: OtherPasses::default(),
                };
                let bands: Vec<_> = plan.bands().collect();
                assert_eq!(bands.len(), plan.count());
                assert_eq!(
                    bands.iter().flat_map(|band| band.indices.clone()).collect::<Vec<_>>(),
                    (0..extent).collect::<Vec<_>>()
                );
                for band in &bands {
                    let [begin, end] = [band.indices.start as i64 - before, band.indices.end as i64 + after];
                    assert_eq!(band.window, Window::new(begin.max(0)..end.min(extent as i64), extent));
                    assert!(band.window.len() <= plan.window());
                }
            }
        }
    }
}

/// Without memory for all of it, an expression that cannot be cut says why not.
#[test]
fn what_cannot_be_cut_is_refused_by_name() {
    let vast = Vast(Extents::new(1000, 1000));
    let x = Array::<f32, (Y, X)>::new(&vast, [1000, 1000]).unwrap();
    let least = 8_000_000;
    let refused = |evaluation: Evaluation<'_>, words: &[&str]| {
        assert_eq!(evaluation.plan(least).unwrap().count(), 1);
        let uncut = evaluation.cut.as_ref().unwrap_err();
        assert!(matches!(uncut, Error::Uncut { dimension: "Y", .. }), "{uncut}");
        words.iter().for_each(|word| assert!(uncut.to_string().contains(word), "{uncut}"));
        // One part of it after the other, where there is room for what lies between.
        let plan = evaluation.plan(least - 1).unwrap();
        assert!(plan.count() > 1 && plan.others.to_host >= 4_000_000, "{plan:?}");
        let error = evaluation.plan(4_000_000).unwrap_err();
        assert!(matches!(error, Error::Budget { .. } | Error::Uncut { .. }), "{error}");
    };
    let total = fuse(|x: In<f32, (Y, X)>| {
        x.cumsum::<Y>().cumsum::<X>().box_filter::<Y, X>(3, 3, Border::Wrap).store::<(Y, X)>()
    });
    refused(Evaluation::new(&total, (&x,), &[&vast]).unwrap(), &["scan"]);
    let mixed = fuse(|x: In<f32, (Y, X)>| {
        let low = x.cumsum::<Y>().cumsum::<X>().box_filter::<Y, X>(3, 3, Border::Wrap);
        low.box_filter::<Y, X>(3, 3, Border::Reflect).store::<(Y, X)>()
    });
    refused(Evaluation::new(&mixed, (&x,), &[&vast]).unwrap(), &["border", "another one does not"]);
    let turned = fuse(|x: In<f32, (X, Y)>| x.box_filter::<Y, X>(3, 1, Border::Wrap).store::<(Y, X)>());
    let y = Array::<f32, (X, Y)>::new(&vast, [1000, 1000]).unwrap();
    let of = Evaluation::new(&turned, (&y,), &[&vast]).unwrap().along::<Y>().unwrap();
    let uncut = of.cut.as_ref().unwrap_err();
    assert!(uncut.to_string().contains("operand 0"), "{uncut}");
    assert!(of.plan(least - 1).unwrap().others.to_host >= 4_000_000, "turned first: {:?}", of.plan(least - 1));
    let turned = fuse(|x: In<f32, (Y, X)>| x.box_filter::<Y, X>(3, 3, Border::Reflect).store::<(X, Y)>());
    let evaluation = Evaluation::new(&turned, (&x,), &[&vast]).unwrap();
    assert_eq!(evaluation.dimension(), Some("X"), "which is outermost there");
    let plan = evaluation.along::<Y>().unwrap().plan(least / 10).unwrap();
    assert!((plan.dimension, plan.elsewhere) == (Some("Y"), true), "bands without a margin: {plan:?}");
    // A dimension of one's own choice.
    let plain = fuse(|x: In<f32, (Y, X)>| (x + 1.0).store::<(Y, X)>());
    let evaluation = Evaluation::new(&plain, (&x,), &[&vast]).unwrap();
    assert_eq!(evaluation.dimension(), Some("Y"));
    let evaluation = evaluation.along::<X>().unwrap();
    assert_eq!(evaluation.dimension(), Some("X"));
    assert!(matches!(evaluation.along::<K>(), Err(Error::Uncut { .. })));
}

#[test]
fn what_does_not_fit_is_refused() {
    let vast = Vast(Extents::new(30, 20));
    let plain = fuse(|x: In<f32, (Y, X)>| (x + 1.0).store::<(Y, X)>());
    let misfit = Array::<f32, (Y, X)>::new(&vast, [30, 21]).unwrap_err();
    assert!(matches!(misfit, Error::Shape { expected: 600, got: 630, .. }), "{misfit}");
    assert!(matches!(Array::<f32, (Y, X)>::new(&vast, [600]), Err(Error::Shape { .. })));
    assert!(matches!(Array::<f64, (Y, X)>::new(&vast, [30, 20]), Err(Error::ElementType { .. })));
    let x = Array::<f32, (Y, X)>::new(&vast, [30, 20]).unwrap();
    assert!(matches!(Evaluation::new(&plain, (&x,), &[]), Err(Error::Shape { expected: 1, got: 0, .. })));
    let small = Vast(Extents::new(30, 19));
    assert!(matches!(Evaluation::new(&plain, (&x,), &[&small]), Err(Error::Shape { .. })));
    let both = fuse(|x: In<f32, (Y, X)>, y: In<f32, (Y, X)>| (x + y).store::<(Y, X)>());
    let other = Array::<f32, (Y, X)>::new(&vast, [20, 30]).unwrap();
    let error = Evaluation::new(&both, (&x, &other), &[&vast]).unwrap_err();
    assert!(matches!(error, Error::Expression(_)), "{error}");
    assert_eq!(error.class(), Class::User);
}
