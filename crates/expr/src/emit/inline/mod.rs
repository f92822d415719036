//! Expressions inside of kernels that are written by hand: a function of a point instead of a kernel.
//!
//! A kernel that computes something else, a convolution say, has a value in a register and hands it to an expression before it
//! stores it; or it reads its input not from a tensor but from an expression. What is *given* is an operand that the kernel passes;
//! every other operand is read as in a kernel of ours, by the same statements, so the bits are the same.

mod ahead;
mod packing;
mod refused;
mod text;

pub use refused::Refusal;
pub use text::Inlined;

use crate::bind::{Axis, Binding, Place, View, dense};
use crate::collective::Shared;
use crate::error::Error;
use crate::graph::{DimId, Graph};
use crate::plan::Plan;

/// Numbers of neighbouring points that a function may have at once.
const LANES: [u32; 4] = [1, 2, 4, 8];

/// What a kernel says of the places at which it calls a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller<'a> {
    /// The dimensions of its points with their names and sizes, outermost first: the order of the function's coordinates.
    pub points: &'a [(DimId, &'static str, i64)],
    /// The operand whose value it passes.
    pub given: Option<u16>,
    /// Neighbouring points along the innermost dimension that it has at once where a row is long enough: 1, 2, 4 or 8.
    pub lanes: u32,
    /// Whether it is compiled for these sizes alone: strides that follow from them are literals, and other sizes are another function.
    pub sized: bool,
    /// Bytes of its parameters for operands in host memory of any size; what finds no room goes through a device buffer.
    pub room: usize,
}

/// The plan of a function: what it knows of operands when it is compiled.
///
/// ```
/// use tilewright_dims::{Dims, dims};
/// use tilewright_expr::bind::{Place, View, dense};
/// use tilewright_expr::emit::{Caller, Inline};
/// use tilewright_expr::{In, f16, trace};
///
/// dims! { H, W, K }
///
/// // What becomes of the sums of a convolution, which has them in registers.
/// let t = trace(|sum: In<f32, (H, W, K)>, bias: In<f32, (K,)>| (sum + bias).max(0.0).to::<f16>().store::<(H, W, K)>());
/// let points: Vec<_> = (0..3).map(|i| (<(H, W, K)>::IDS[i], <(H, W, K)>::NAMES[i], [56, 56, 128][i])).collect();
/// let axes = dense(<(K,)>::IDS, &[128]);
/// let bias = View { axes: &axes, place: Place::Device, alignment: 16, boxes: None };
/// let caller = Caller { points: &points, given: Some(0), lanes: 4, sized: false, room: 0 };
/// let inline = Inline::new(&t.graph, &[bias], &caller)?;
/// let text = inline.emit(&t.graph, "epilogue")?;
/// assert!(text.source.contains("struct TW_ALIGN(16) epilogue_Params {\n  const float* in1;\n};"));
/// // One point, and four of them, whose biases are one load.
/// let head = "epilogue(const epilogue_Params& p, const int i_Z, const int i_Y, const int i_X";
/// assert!(text.source.contains(&format!("tw::f16 {head}, const float given)")));
/// assert!(text.source.contains(&format!("void {head}, const float (&given)[4], tw::f16 (&made)[4])")));
/// assert_eq!(text.source.matches("*(const uint4*)").count(), 1);
/// # Ok::<(), tilewright_expr::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Inline {
    plan: Plan,
    given: Option<u16>,
    room: usize,
}

impl Inline {
    /// Plans the function of a graph with one result. `views` has every operand but the given one, in their order.
    ///
    /// # Errors
    /// A [`Refusal`] of what no point can compute by itself, and what [`Binding::new`] finds.
    pub fn new(graph: &Graph, views: &[View<'_>], caller: &Caller<'_>) -> Result<Inline, Error> {
        graph.check()?;
        refused::check(graph, caller)?;
        let (dims, extents): (Vec<DimId>, Vec<i64>) = caller.points.iter().map(|(d, _, n)| (*d, *n)).unzip();
        let axes: Vec<Axis> = dense(&dims, &extents);
        let points = View { axes: &axes, place: Place::Device, alignment: 16, boxes: None };
        let mut views = views.to_vec();
        if let Some(given) = caller.given {
            views.insert(usize::from(given).min(views.len()), points);
        }
        if let Some(shared) = Shared::find(graph, &Binding::new(graph, &views)?)? {
            return Err(refused::shared(graph, &shared).into());
        }
        let plan = Plan::inline(graph, &views, &points, (caller.given, caller.lanes, caller.sized))?;
        Ok(Inline { plan, given: caller.given, room: caller.room })
    }

    /// Everything that the text depends on beside the graph and the function's name.
    pub fn key(&self) -> Vec<u64> {
        let mut key = vec![self.given.map_or(0, |i| u64::from(i) + 1), self.room as u64];
        key.extend(self.plan.key());
        key
    }
}
