//! Explanations of random graphs: none fails, and what they say agrees with the plan and the emitted text.

use crate::random::case;
use crate::tensor::{Stored, poison};
use tilewright_expr::bind::{Binding, Place, View};
use tilewright_expr::emit::{MOST_PARAMETER_BYTES, Room, combine};
use tilewright_expr::explain::{Bound, Explanation};
use tilewright_expr::sections::Sections;

const SEEDS: u64 = 400;

#[test]
fn random_graphs() {
    let mut seen = [0; 3];
    for seed in 0..SEEDS {
        let case = case(seed);
        let inputs: Vec<Stored> = case.operands.iter().map(|o| Stored::new(&o.tensor, &o.layout)).collect();
        let view = |(s, o): (_, &crate::random::Operand)| Stored::view(s, o.place, case.known);
        let views: Vec<View<'_>> = inputs.iter().zip(&case.operands).map(view).collect();
        let Ok(binding) = Binding::new(&case.graph, &views) else { continue };
        let outputs: Result<Vec<Stored>, _> = case
            .outputs
            .iter()
            .enumerate()
            .map(|(i, layout)| {
                let (output, shape) = (&case.graph.outputs[i], binding.output(i)?);
                let dtype = case.graph.node(output.node).dtype;
                Ok::<_, tilewright_expr::Error>(Stored::poisoned(dtype, &output.dims, &shape, layout, poison(dtype, 0)))
            })
            .collect();
        let Ok(outputs) = outputs else { continue };
        let outs: Vec<View<'_>> = outputs.iter().map(|s| s.view(Place::Device, false)).collect();
        let Ok(sections) = Sections::new(&case.graph, &views, &outs) else { continue };
        let explained = Explanation::new(&case.graph, "random", &views, &outs);
        let (e, source) = match (explained, combine(&sections, Room::Small, MOST_PARAMETER_BYTES)) {
            (Ok(e), Ok(kernel)) => (e, kernel.source),
            // What cannot be a kernel cannot be explained as one.
            (Err(a), Err(b)) if a == b => continue,
            (a, b) => panic!("{seed}: {:?} against {:?}", a.err(), b.err()),
        };
        let elements = |v: &View<'_>| v.axes.iter().map(|a| a.extent as u64).product::<u64>();
        for (bound, view) in e.operands.iter().zip(&views) {
            let whole = elements(view) * bound.dtype.size() as u64 * u64::from(bound.components);
            assert!(bound.bytes <= whole, "{seed}: {} of {whole} bytes", bound.bytes);
        }
        for (bound, view) in e.results.iter().zip(&outs) {
            assert_eq!(bound.bytes, elements(view) * bound.dtype.size() as u64, "{seed}");
            assert!(bound.bytes == 0 || !bound.access_bytes.is_empty(), "{seed}: nothing is stored");
        }
        let (total, instructions) = (e.operations.total(), e.operations.instructions);
        assert!(instructions <= total && total <= 2 * instructions, "{seed}: {instructions} of {total}");
        assert_eq!(
            (e.grid, e.block, e.sections.len()),
            (sections.grid(), sections.block(), sections.list.len()),
            "{seed}"
        );
        let shared = e.sections.iter().any(|s| s.shared.is_some());
        assert_eq!(shared, sections.list.iter().any(|s| s.plan.group.is_some()), "{seed}");
        let wide = |list: &[Bound], place| list.iter().any(|b| b.place == place && b.access_bytes.contains(&16));
        let kinds = [
            (wide(&e.operands, Place::Device), "*(const uint4*)"),
            (wide(&e.results, Place::Device), "((uint4*)"),
            (shared, "collective.cuh"),
        ];
        for ((said, text), seen) in kinds.into_iter().zip(&mut seen) {
            assert!(!said || source.contains(text), "{seed}: {text} in\n{source}");
            *seen += u64::from(said);
        }
        let page = e.to_string();
        assert!(page.contains("\ngraph\nresult 0"), "{seed}: {page}");
    }
    assert!(seen.iter().all(|n| *n > 1), "{seen:?}");
}
