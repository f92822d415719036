//! The evaluator's ways to the same bits: values of a row, computed one at a time by the functions that fold literals, and
//! blocks of values, computed by vectorised loops.

use crate::random::Rng;
use crate::tensor::{Layout, Stored, Tensor, evaluate};
use tilewright_expr::DType;
use tilewright_expr::dtype::Scalar;
use tilewright_expr::graph::{Binary, Graph, NodeId, OperandSpec, Output, Size, Unary};

const Y: u64 = 7;
const X: u64 = 9;

const UNARY: [Unary; 10] = {
    use Unary::*;
    [Neg, Abs, Sqrt, Floor, Ceil, Trunc, Round, Not, CountOnes, LeadingZeros]
};
const BINARY: [Binary; 18] = {
    use Binary::*;
    [Add, Sub, Mul, Div, Rem, Min, Max, And, Or, Xor, Shl, Shr, Lt, Le, Gt, Ge, Eq, Ne]
};

/// Whether there is such an operation: complements, shifts and the like are of integers and `bool`.
fn defined(dtype: DType, op: Binary) -> bool {
    !dtype.is_float() || !matches!(op, Binary::And | Binary::Or | Binary::Xor | Binary::Shl | Binary::Shr)
}

/// Every operation on three operands over Y of this type.
pub(crate) fn all(graph: &mut Graph, [a, b, c]: [NodeId; 3]) -> Vec<NodeId> {
    let dtype = graph.node(a).dtype;
    let unary = UNARY
        .iter()
        .filter(|op| !dtype.is_float() || !matches!(op, Unary::Not | Unary::CountOnes | Unary::LeadingZeros));
    let mut nodes: Vec<NodeId> = unary.map(|op| graph.unary(*op, a)).collect();
    nodes.extend(BINARY.iter().filter(|op| defined(dtype, **op)).map(|op| graph.binary(*op, a, b)));
    nodes.extend(DType::ALL.iter().map(|to| graph.cast(a, *to)));
    if dtype.is_float() {
        nodes.push(graph.fma(a, b, c));
    }
    let less = graph.binary(Binary::Lt, a, b);
    nodes.push(graph.select(less, b, c));
    nodes
}

#[test]
fn rows_blocks_and_literals_agree() {
    for dtype in DType::ALL {
        let mut rng = Rng::new(dtype as u64);
        let n = 2 * 1024 + 77;
        let inputs: Vec<Tensor> = (0..3).map(|_| rng.tensor(dtype, &[Y], &[n])).collect();
        let stored: Vec<Stored> = inputs.iter().map(|t| Stored::new(t, &Layout::dense(1))).collect();
        let mut graph = Graph::default();
        let operands = [(); 3].map(|()| {
            let number = graph.operand(OperandSpec { dtype, components: 1, dims: [Y].into() });
            graph.input(number, 0)
        });
        let nodes = all(&mut graph, operands);
        // Blocks: Y is the inner dimension.
        let mut blocks = graph.clone();
        blocks.outputs = nodes.iter().map(|n| Output { node: *n, dims: [Y].into() }).collect();
        let dense = vec![Layout::dense(1); nodes.len()];
        let (blocks, _) = evaluate(&blocks, &stored, &dense, true, 0).unwrap_or_else(|e| panic!("{e}"));
        // Rows: X is the inner dimension, and nothing varies along it.
        let repeated: Vec<NodeId> = nodes.iter().map(|n| graph.at(*n, &[], &[(X, Size::Const(2))])).collect();
        graph.outputs = repeated.iter().map(|n| Output { node: *n, dims: [Y, X].into() }).collect();
        let dense = vec![Layout::dense(2); nodes.len()];
        let (rows, _) = evaluate(&graph, &stored, &dense, true, 1).unwrap_or_else(|e| panic!("{e}"));
        for (i, (block, row)) in blocks.iter().zip(&rows).enumerate() {
            let every_other = Tensor {
                dims: vec![Y],
                shape: vec![n],
                bits: row.bits.iter().step_by(2).copied().collect(),
                ..row.clone()
            };
            assert!(block.same(&every_other), "{dtype}, operation {i}: {}", block.difference(&every_other));
        }
        literals(dtype, &inputs, &blocks, &[0, 1, 2, 3, 5, 8, 13, 1024, 2124]);
    }
}

/// The same at some points, everything being a literal.
fn literals(dtype: DType, inputs: &[Tensor], expected: &[Tensor], points: &[usize]) {
    for at in points {
        let mut graph = Graph::default();
        let operands = [0, 1, 2].map(|i| graph.constant(Scalar { dtype, bits: inputs[i].bits[*at] }));
        let nodes = all(&mut graph, operands);
        graph.outputs = nodes.iter().map(|n| Output { node: *n, dims: [].into() }).collect();
        let dense = vec![Layout::dense(0); nodes.len()];
        let (folded, _) = evaluate(&graph, &[], &dense, true, 0).unwrap_or_else(|e| panic!("{e}"));
        for (i, (a, b)) in folded.iter().zip(expected).enumerate() {
            let b = Tensor { dims: Vec::new(), shape: Vec::new(), bits: vec![b.bits[*at]], ..b.clone() };
            assert!(a.same(&b), "{dtype}, operation {i}, point {at}: {}", a.difference(&b));
        }
    }
}
