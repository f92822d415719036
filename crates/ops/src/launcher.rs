//! Expressions on buffers that the caller keeps: for those who decide themselves what lies where on a GPU.

use crate::device::Gpu;
use crate::error::Error;
use crate::feed::{MAX_OUTPUTS, Operand, Sink, Source, Target, Targets};
use crate::fused::Core;
use std::sync::Arc;
use tilewright_driver::{DeviceBuffer, DeviceBytes, DeviceRoom};
use tilewright_expr::Error as ExprError;
use tilewright_expr::bind::{Axis, View};
use tilewright_expr::graph::Graph;

/// An expression that is launched on buffers. Clones share what was compiled.
#[derive(Clone)]
pub struct Launcher {
    core: Arc<Core>,
}

/// What a launch is given as an operand.
pub enum Given<'a> {
    /// Elements in a buffer of the GPU's stream, the lowest one at its begin.
    Buffer(&'a DeviceBuffer<u8>, &'a [Axis]),
    /// Elements in memory of the GPU that anybody has, of any stream, the lowest one at a byte of it.
    There(DeviceBytes<'a>, usize, &'a [Axis]),
    /// Something else, as of [`Feeds::operand`](crate::Feeds::operand): a number, which travels with the launch.
    Value(Operand<'a>),
}

/// Where a launch writes a result.
#[derive(Debug)]
pub struct Taken<'a> {
    /// Memory of the GPU, of any stream.
    pub room: DeviceRoom<'a>,
    /// At which byte of it the lowest element is.
    pub at: usize,
    /// Its axes.
    pub axes: &'a [Axis],
}

impl Launcher {
    /// A graph that is launched under a name.
    pub fn new(graph: Graph, name: &str) -> Launcher {
        Launcher::of(Arc::new(Core::new(graph, name)))
    }

    pub(crate) fn of(core: Arc<Core>) -> Launcher {
        Launcher { core }
    }

    /// What is computed.
    pub fn graph(&self) -> &Graph {
        self.core.graph()
    }

    /// The expression's name.
    pub fn name(&self) -> &str {
        self.core.name()
    }

    /// Queues the kernel on the GPU's stream. Whoever uses the memory on other streams puts these in order with it.
    ///
    /// Errors: those of binding; [`Error::Reach`] for memory that is too short, [`Error::OtherStream`] for a buffer of another stream, and
    /// [`Error::OtherGpu`] for memory of another GPU.
    pub fn launch(&self, gpu: &Gpu, operands: &[Given<'_>], results: &mut [Taken<'_>]) -> Result<(), Error> {
        let graph = self.graph();
        count("operands", graph.operands.len(), operands.len())?;
        let joined = graph.results();
        count("outputs", joined.len().min(MAX_OUTPUTS), results.len())?;
        let mut given = Vec::with_capacity(operands.len());
        for (number, (operand, spec)) in operands.iter().zip(&graph.operands).enumerate() {
            let element = spec.dtype.size() * usize::from(spec.components);
            given.push(match operand {
                Given::Buffer(buffer, axes) => {
                    let what = || format!("operand {number}");
                    if buffer.stream().handle() != gpu.stream().handle() {
                        return Err(Error::OtherStream { what: what() });
                    }
                    let address = address(gpu, (buffer.device_bytes(), 0), axes, element, what)?;
                    Operand { axes, memory: Source::Gpu { address, gpu } }
                }
                Given::There(bytes, at, axes) => {
                    let address = address(gpu, (*bytes, *at), axes, element, || format!("operand {number}"))?;
                    Operand { axes, memory: Source::Gpu { address, gpu } }
                }
                Given::Value(value) => *value,
            });
        }
        let mut targets: Targets<'_> = [const { None }; MAX_OUTPUTS];
        for (number, ((target, taken), result)) in targets.iter_mut().zip(results).zip(&joined).enumerate() {
            let element = graph.node(graph.outputs[result.outputs.start].node).dtype.size();
            let what = || format!("result {number}");
            let address = address(gpu, (taken.room.bytes(), taken.at), taken.axes, element, what)?;
            *target = Some(Target { axes: taken.axes, memory: Sink::Gpu { address, gpu } });
        }
        self.core.run(&given, &mut targets, Some(gpu))
    }
}

/// The address of the element whose coordinates are all 0, in memory that has, from a byte on, all that the axes reach.
fn address(
    gpu: &Gpu,
    (memory, at): (DeviceBytes<'_>, usize),
    axes: &[Axis],
    element: usize,
    what: impl Fn() -> String,
) -> Result<u64, Error> {
    let (own, other) = (gpu.device().ordinal(), memory.device().ordinal());
    if own != other {
        return Err(Error::OtherGpu { what: what(), expected: own, got: other });
    }
    let bytes = |elements: i64| u64::try_from(elements).unwrap_or(u64::MAX).saturating_mul(element as u64);
    let (expected, got) = (bytes(View::reach(axes)), memory.len().saturating_sub(at) as u64);
    if expected > got {
        return Err(Error::Reach { what: what(), expected, got });
    }
    Ok(memory.device_ptr() + at as u64 + bytes(View::origin(axes)))
}

fn count(what: &'static str, expected: usize, got: usize) -> Result<(), Error> {
    if expected == got { Ok(()) } else { Err(ExprError::Count { what, expected, got }.into()) }
}

impl std::fmt::Debug for Launcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Launcher of {} ({} nodes)", self.name(), self.graph().len())
    }
}

impl std::fmt::Debug for Given<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Given::Buffer(buffer, axes) => write!(f, "{buffer:?} with {axes:?}"),
            Given::There(bytes, at, axes) => write!(f, "{bytes:?} from byte {at} on with {axes:?}"),
            Given::Value(_) => f.write_str("a value"),
        }
    }
}
