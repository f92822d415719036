//! What a plan asks of its outputs: their sizes, places of their own, one length a dimension.

use crate::bind::{Axis, Binding, View, check_dims};
use crate::error::Error;
use crate::graph::{DimId, Graph};

/// Checks the outputs of one plan.
pub(super) fn outputs(graph: &Graph, binding: &Binding<'_>, outputs: &[View<'_>]) -> Result<(), Error> {
    if outputs.len() != graph.outputs.len() {
        return Err(Error::Count { what: "outputs", expected: graph.outputs.len(), got: outputs.len() });
    }
    for (i, (view, output)) in outputs.iter().zip(&graph.outputs).enumerate() {
        check_output(graph, i, view, (&output.dims, &binding.output(i)?))?;
    }
    refuse_disagreement(graph, outputs)?;
    refuse_empty_loops(graph, outputs)
}

/// Checks that output `number` has these dimensions and sizes, and a place for each of its points.
pub(crate) fn check_output(
    graph: &Graph,
    number: usize,
    view: &View<'_>,
    (dims, sizes): (&[DimId], &[i64]),
) -> Result<(), Error> {
    check_dims(graph, format_args!("output {number}"), view, ("stores", dims))?;
    for (dim, expected) in dims.iter().zip(sizes) {
        let got = view.extent(*dim).unwrap_or(0);
        if got != *expected {
            return Err(Error::Output { output: number, dim: graph.dim_name(*dim), got, expected: *expected });
        }
    }
    let mut by_stride: Vec<&Axis> = view.axes.iter().filter(|a| a.extent > 1).collect();
    by_stride.sort_unstable_by_key(|a| a.stride.abs());
    let mut reach = 0;
    for a in by_stride {
        if a.stride.abs() <= reach {
            return Err(Error::Overlap { output: number, dim: graph.dim_name(a.dim), stride: a.stride });
        }
        reach += (a.extent - 1) * a.stride.abs();
    }
    Ok(())
}

/// A dimension is one loop, whichever output has it.
fn refuse_disagreement(graph: &Graph, outputs: &[View<'_>]) -> Result<(), Error> {
    let axes = || outputs.iter().enumerate().flat_map(|(i, o)| o.axes.iter().map(move |a| (i, a)));
    for (i, a) in axes() {
        if let Some((j, b)) = axes().find(|(_, b)| b.dim == a.dim && b.extent != a.extent) {
            let (of_a, of_b) = (format!("output {i}"), format!("output {j}"));
            return Err(Error::Extent { dim: graph.dim_name(a.dim), of_a, a: a.extent, of_b, b: b.extent });
        }
    }
    Ok(())
}

/// An empty dimension computes nothing at all, so every output must have it or be empty itself.
fn refuse_empty_loops(graph: &Graph, outputs: &[View<'_>]) -> Result<(), Error> {
    for empty in outputs.iter().flat_map(|o| o.axes).filter(|a| a.extent == 0) {
        if let Some(output) = outputs.iter().position(|o| o.axes.iter().all(|a| a.extent != 0)) {
            return Err(Error::EmptyLoop { dim: graph.dim_name(empty.dim), output });
        }
    }
    Ok(())
}
