//! The graph as a text: results at the left, what they are made of below, indented.

use super::intermediate::for_each_value;
use super::{names, scattered, shape};
use crate::dtype::{DType, Scalar};
use crate::graph::{Graph, NodeId, Op};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Most lines of a picture.
const MOST: usize = 80;

/// Draws the graph. What stands in several places is drawn in the first and has a number there.
pub(super) fn tree(graph: &Graph) -> String {
    let uses = uses(graph);
    let (mut text, mut lines) = (String::new(), 0);
    let mut numbers: HashMap<NodeId, usize> = HashMap::new();
    // Above each line: for every level, whether more follows there.
    let mut stack: Vec<(NodeId, Vec<bool>)> = Vec::new();
    for (title, output) in titles(graph) {
        let _ = writeln!(text, "{title}");
        stack.push((output, vec![false]));
        while let Some((node, more)) = stack.pop() {
            if lines == MOST {
                text.push_str("..\n");
                return text;
            }
            lines += 1;
            let (last, above) = more.split_last().map_or((false, &[][..]), |(l, a)| (*l, a));
            above.iter().for_each(|m| text.push_str(if *m { "│ " } else { "  " }));
            text.push_str(if last { "├ " } else { "└ " });
            if let Some(number) = numbers.get(&node) {
                let _ = writeln!(text, "#{number}");
                continue;
            }
            text.push_str(&operation(graph, node));
            let inner = !matches!(graph.node(node).op, Op::Const(_) | Op::Input { .. } | Op::Index(_));
            if inner {
                let dims = shape(graph, node).join(", ");
                let _ = write!(text, ": {} ({dims})", graph.node(node).dtype);
                if uses.get(&node).is_some_and(|n| *n > 1) {
                    numbers.insert(node, numbers.len() + 1);
                    let _ = write!(text, " #{}", numbers.len());
                }
            }
            text.push('\n');
            let mut arguments = Vec::new();
            for_each_value(graph, node, |a| arguments.push(a));
            for (i, argument) in arguments.iter().enumerate().rev() {
                let mut below = more.clone();
                below.push(i + 1 < arguments.len());
                stack.push((*argument, below));
            }
        }
    }
    text
}

/// What stands above each output.
fn titles(graph: &Graph) -> Vec<(String, NodeId)> {
    let mut titles = Vec::with_capacity(graph.outputs.len());
    for (number, result) in graph.results().into_iter().enumerate() {
        let dims = names(graph, result.dims.iter().copied()).join(", ");
        for (part, output) in result.outputs.clone().enumerate() {
            let part = if result.outputs.len() > 1 { format!(", part {part}") } else { String::new() };
            titles.extend(scattered::titles(graph, output, &format!("result {number} ({dims}){part}")));
        }
    }
    titles
}

fn uses(graph: &Graph) -> HashMap<NodeId, usize> {
    let mut uses: HashMap<NodeId, usize> = HashMap::new();
    let mut stack: Vec<NodeId> = graph.all_roots();
    while let Some(node) = stack.pop() {
        let seen = uses.entry(node).or_default();
        *seen += 1;
        if *seen == 1 {
            for_each_value(graph, node, |a| stack.push(a));
        }
    }
    uses
}

/// What a node does, in a word or two.
pub(super) fn operation(graph: &Graph, node: NodeId) -> String {
    let at = graph.node(node);
    if let Some((name, _)) = graph.made_by(node) {
        return name.to_string();
    }
    match &at.op {
        Op::Const(s) => literal(*s),
        Op::Input { operand, component } => {
            let spec = &graph.operands[usize::from(*operand)];
            let dims = shape(graph, node).join(", ");
            let part = if spec.components == 1 { String::new() } else { format!(".{component}") };
            format!("operand {operand}{part}: {} ({dims})", spec.dtype)
        }
        Op::Index(dim) => format!("coordinate {}", graph.dim_name(*dim)),
        Op::Extent(_) => "size".to_string(),
        Op::Unary(op, _) => format!("{op:?}").to_lowercase(),
        Op::Binary(op, ..) => format!("{op:?}").to_lowercase(),
        Op::Fma(..) => "multiply-add".to_string(),
        Op::Select(..) => "select".to_string(),
        Op::Cast(_) => format!("to {}", at.dtype),
        Op::Bits(_) => format!("bits as {}", at.dtype),
        Op::Guard { .. } => "guard".to_string(),
        Op::At { coords, .. } if coords.is_empty() => "repeat".to_string(),
        Op::At { coords, .. } => {
            format!("read elsewhere along {}", names(graph, coords.iter().map(|(d, _)| *d)).join(", "))
        }
        Op::Call(function, _) => function.name().to_string(),
        Op::Carry { .. } => "carried from step to step".to_string(),
        Op::Iterate { .. } => "after all steps".to_string(),
        Op::Reduce { reduction, dim, .. } => {
            format!("{} along {}", format!("{reduction:?}").to_lowercase(), graph.dim_name(*dim))
        }
        Op::Scan { reduction, dim, .. } => {
            format!("cumulative {} along {}", format!("{reduction:?}").to_lowercase(), graph.dim_name(*dim))
        }
    }
}

fn literal(s: Scalar) -> String {
    match s.dtype {
        DType::F32 => format!("{:?}", s.get::<f32>()),
        DType::F64 => format!("{:?}", s.get::<f64>()),
        DType::U64 => format!("{}", s.bits),
        _ => s.as_i64().map_or_else(String::new, |v| v.to_string()),
    }
}
