//! Scans and reductions along the dimension: passes before.

use super::*;

/// What stands before a band is an operand more for each scan; scans one inside the other need passes one before the other.
#[test]
fn scans_are_cut_with_what_stands_before_a_band() {
    let length = |_, _| 100;
    let t = trace(|a: In<f32, (Y, X)>| (a.cumsum::<Y>() + a.cumsum::<X>()).store::<(Y, X)>());
    let passes = t.graph.cut_scans(Y::ID, 4, length).unwrap();
    assert_eq!(passes.cut.shares, [band(0, 0), Share::Before]);
    let graph = passes.cut.graph.unwrap();
    assert_eq!((graph.operands.len(), passes.cut.numbers), (2, Numbers::None), "nothing counts");
    // Sums of f32 are carried in f64.
    assert_eq!((&graph.operands[1].dims[..], graph.operands[1].dtype), (&[X::ID][..], DType::F64));
    let totals = &passes.totals[0];
    assert!(totals.before.len() == 1 && totals.parts.totals.is_empty() && ![Y::ID, X::ID].contains(&totals.bands));
    let t = trace(|a: In<f32, (Y,)>| a.cumsum::<Y>().cummax::<Y>().store::<(Y,)>());
    let passes = t.graph.cut_scans(Y::ID, 4, length).unwrap();
    assert_eq!(passes.cut.shares, [band(0, 0), Share::Before, Share::Before]);
    assert!(passes.totals[0].parts.totals[0].parts.totals.is_empty());
    let t = trace(|a: In<f32, (Y,)>| a.store::<(Y,)>());
    assert!(matches!(t.graph.cut_scans(Y::ID, 4, length), Err(Uncut::Scanned)));
    // Beside the point, from there on: the first value that is needed stands one before the band.
    let t = trace(|a: In<f32, (Y, X)>| a.cumsum::<Y>().box_filter::<Y, X>(3, 3, Border::Reflect).store::<(Y, X)>());
    let passes = t.graph.cut_scans(Y::ID, 4, length).unwrap();
    assert_eq!((&passes.cut.shares[..], passes.cut.numbers), (&[band(1, 1), Share::Before][..], Numbers::Within));
    assert_eq!(passes.totals[0].parts.cut.margin, Margin { before: -1, after: 0 });
    let t = trace(|a: In<f32, (Y, X)>| a.cumsum::<Y>().box_filter::<Y, X>(3, 3, Border::Wrap).store::<(Y, X)>());
    assert!(matches!(t.graph.cut_scans(Y::ID, 4, length), Err(Uncut::Scanned)));
}

/// More scans than a launch has results are found in more passes; products of floats are refused: what bands come to may overflow where the whole does not.
#[test]
fn many_scans_and_scans_of_products() {
    let t = trace(|a: In<f32, (Y, X)>| {
        let (sums, ends) = (a.cumsum::<Y>() + a.abs().cumsum::<Y>(), a.cummax::<Y>() + a.cummin::<Y>());
        (sums + ends + (a * a).cumsum::<Y>()).store::<(Y, X)>()
    });
    let passes = t.graph.cut_scans(Y::ID, 4, |_, _| 100).unwrap();
    assert_eq!(passes.totals.iter().map(|totals| totals.before.len()).collect::<Vec<_>>(), [4, 1]);
    assert!(t.graph.cut_scans(Y::ID, 5, |_, _| 100).is_ok());
    let t = trace(|a: In<f32, (Y, X)>| a.cumprod::<Y>().store::<(Y, X)>());
    assert_eq!(t.graph.cut_scans(Y::ID, 4, |_, _| 100).unwrap_err(), Uncut::Products);
    let t = trace(|a: In<f32, (Y, X)>| a.cumprod::<Y>().sum::<(Y, X)>().store::<()>());
    assert_eq!(t.graph.fold(Y::ID, 4, |_, _| 100).unwrap_err(), Uncut::Products);
    let t = trace(|a: In<i32, (Y, X)>| a.cumprod::<Y>().store::<(Y, X)>());
    assert!(t.graph.cut_scans(Y::ID, 4, |_, _| 100).is_ok());
}

/// As many reductions at once as are asked for; the others are left to the rest, with a dimension of its own for each pass.
#[test]
fn reductions_are_folded_some_at_a_time() {
    let t = trace(|a: In<f32, (Y,)>| (a.sum::<Y>() + a.minimum::<Y>() + a.maximum::<Y>()).store::<()>());
    let first = t.graph.fold(Y::ID, 2, |_, _| 100).unwrap();
    assert_eq!((first.parts.cut.graph.unwrap().outputs.len(), first.kept), (2, vec![0]));
    let second = first.rest.fold(Y::ID, 2, |_, _| 100).unwrap();
    assert_eq!(second.parts.cut.graph.unwrap().outputs.len(), 1);
    assert_ne!(first.bands, second.bands, "there may be other bands then");
    assert_eq!(second.kept, [1, 2], "what the first two are");
    // A sum with a margin counts its own band only, and an operand that it does not read is not there.
    let t = trace(|a: In<f32, (Y, X)>, b: In<f32, (Y, X)>| {
        let low = a.box_filter::<Y, X>(3, 1, Border::Wrap);
        (low.sum::<(Y, X)>() * a + b).store::<(Y, X)>()
    });
    let folded = t.graph.fold(Y::ID, 4, |_, _| 100).unwrap();
    let cut = folded.parts.cut;
    assert_eq!((cut.numbers, cut.wraps, cut.graph.unwrap().operands.len()), (Numbers::Within, true, 3));
    assert_eq!((cut.shares, folded.parts.kept), (vec![band(1, 1)], vec![0]));
    let t = trace(|a: In<f32, (K, X)>, b: In<f32, (Y, X)>| {
        (a.sum::<(K, X)>() + (b * coordinate::<Y>().to::<f32>()).sum::<(Y, X)>()).store::<()>()
    });
    let folded = t.graph.fold(Y::ID, 4, |_, _| 100).unwrap();
    let cut = folded.parts.cut;
    assert_eq!((cut.numbers, cut.graph.unwrap().operands.len()), (Numbers::Window, 3));
    assert_eq!((cut.shares, folded.parts.kept, folded.kept), (vec![band(0, 0)], vec![1], vec![0]));
}
