//! Plans as text: what was read is what was written, and what is wrong is refused where it stands.

mod fuzz;
mod literals;
mod round_trips;
mod wrong;

use crate::random::Case;
use crate::tensor::Stored;
use tilewright_expr::bind::{Binding, Place, View};
use tilewright_expr::emit::{MOST_PARAMETER_BYTES, Room, combine};
use tilewright_expr::graph::Graph;
use tilewright_expr::manifest::{
    FunctionText, Functions, OwnedView, PlanText, ReadPlan, functions, print, print_function, read,
};
use tilewright_expr::sections::Sections;

/// What a manifest holds of a case.
struct Pipeline {
    graph: Graph,
    operands: Vec<OwnedView>,
    results: Vec<OwnedView>,
}

impl Pipeline {
    /// A case with its layouts; `None` where sizes are known to the device alone.
    fn of(case: &Case) -> Option<Pipeline> {
        let stored: Vec<Stored> = case.operands.iter().map(|o| Stored::new(&o.tensor, &o.layout)).collect();
        let view = |(s, o): (_, &crate::random::Operand)| Stored::view(s, o.place, case.known);
        let views: Vec<View<'_>> = stored.iter().zip(&case.operands).map(view).collect();
        let sizes = Binding::new(&case.graph, &views).ok()?.results().ok()?;
        let graph_results = case.graph.results();
        let result =
            |((r, sizes), layout): ((&tilewright_expr::join::Joined<'_>, &Vec<i64>), &crate::tensor::Layout)| {
                let axes = layout.axes(r.dims, sizes);
                let alignment = layout.alignment.max(1) as u32;
                OwnedView::of(View { axes: &axes, place: Place::Device, alignment, boxes: None })
            };
        let results = graph_results.iter().zip(&sizes).zip(&case.outputs).map(result).collect();
        let operands = views.into_iter().map(OwnedView::of).collect();
        Some(Pipeline { graph: case.graph.clone(), operands, results })
    }

    fn text(&self) -> (PlanText, Vec<FunctionText>) {
        let texts = functions(&self.graph).flat_map(print_function).collect();
        (print(&self.graph, &self.operands, &self.results), texts)
    }

    /// Every source that the plan may want, or why there is none.
    fn sources(&self) -> Result<Vec<String>, String> {
        let [views, outs] = [&self.operands, &self.results]
            .map(|views: &Vec<OwnedView>| views.iter().map(OwnedView::view).collect::<Vec<View<'_>>>());
        let error = |e: tilewright_expr::Error| e.to_string();
        let fills = Sections::fills(&self.graph, &views, &outs).map_err(error)?;
        let main = Sections::new(&self.graph, &views, &outs).map_err(error)?;
        let mut sources = Vec::new();
        for sections in [fills, Some(main)].into_iter().flatten().filter(|s| s.blocks() > 0) {
            let room = Room::of(&sections, MOST_PARAMETER_BYTES);
            let kernel = combine(&sections, room, MOST_PARAMETER_BYTES).map_err(error)?;
            sources.push(kernel.source);
        }
        Ok(sources)
    }
}

impl From<ReadPlan> for Pipeline {
    fn from(plan: ReadPlan) -> Pipeline {
        Pipeline { graph: plan.graph, operands: plan.operands, results: plan.results }
    }
}

/// Reads texts; what is wrong comes back with the part's name, as messages.
fn read_texts(plan: &PlanText, texts: &[FunctionText]) -> Result<Pipeline, String> {
    let mut functions = Functions::default();
    for text in texts {
        functions.add(text).map_err(|(part, m)| format!("{}, {part:?}, {}: {}", text.id, m.at, m.message))?;
    }
    read(plan, &functions).map(Pipeline::from).map_err(|(part, m)| format!("{part:?}, {}: {}", m.at, m.message))
}

/// Prints, reads and compares: the text, the graph, the sources.
fn round_trip(name: &str, pipeline: &Pipeline) {
    let (plan, texts) = pipeline.text();
    let again = read_texts(&plan, &texts).unwrap_or_else(|e| panic!("{name}: {e}\n{plan:#?}\n{}", plan.graph));
    assert_eq!(again.text(), (plan.clone(), texts), "{name}");
    assert!(again.operands == pipeline.operands && again.results == pipeline.results, "{name}");
    assert_eq!(again.graph.outputs, pipeline.graph.outputs, "{name}");
    assert_eq!(again.graph.len(), pipeline.graph.len(), "{name}");
    let notes = |g: &Graph| (g.needs.clone(), g.equations.clone(), g.insides.clone(), g.orders.clone());
    assert_eq!(notes(&again.graph), notes(&pipeline.graph), "{name}");
    for (a, b) in again.graph.nodes().zip(pipeline.graph.nodes()) {
        assert_eq!((&a.op, a.dtype, &a.shape, a.depth), (&b.op, b.dtype, &b.shape, b.depth), "{name}");
    }
    assert_eq!(again.sources(), pipeline.sources(), "{name}");
}
