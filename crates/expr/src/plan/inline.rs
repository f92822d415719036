//! The plan of a function that a kernel calls at points of its own: what is known of operands, and no loops.

use super::{Extent, Plan, Slot};
use crate::bind::View;
use crate::error::Error;
use crate::graph::Graph;

impl Plan {
    /// Plans a function of `lanes` neighbouring points of `points`, of whose operands `given` is no memory; `sized` if it is for these sizes
    /// alone. Sizes are checked.
    pub(crate) fn inline(
        graph: &Graph,
        views: &[View<'_>],
        points: &View<'_>,
        (given, lanes, sized): (Option<u16>, u32, bool),
    ) -> Result<Plan, Error> {
        let mut plan = Plan::unscheduled(graph, views, &[*points])?;
        plan.pack_host_operands();
        (plan.lanes, plan.lane_loop) = (lanes, plan.world.len().saturating_sub(1));
        plan.know(graph);
        // Where a row ends is the kernel's business.
        for w in plan.world.iter_mut().filter(|w| !matches!(w.class, Extent::Exact(_))) {
            w.class = if sized { Extent::Exact(w.extent) } else { Extent::MultipleOf(1) };
        }
        if sized {
            plan.know_strides(graph);
        }
        plan.align();
        let given = given.and_then(|i| plan.inputs.get_mut(usize::from(i)));
        given.into_iter().chain(&mut plan.outputs).for_each(forget_memory);
        Ok(plan)
    }
}

/// Leaves of a slot what is known of its sizes.
fn forget_memory(slot: &mut Slot) {
    slot.alignment = 16;
    for a in &mut slot.axes {
        (a.axis.stride, a.exact_stride) = (0, true);
    }
}
