//! [`Fused`]: an expression traced once, called often.

mod building;
mod derived;

use crate::ahead::Plan;
use crate::device::{Device, Gpu};
use crate::entry::{Entries, Entry, Run};
use crate::error::Error;
use crate::feed::{Feeds, Operand, Results, Sink, Source, Target, Targets};
use crate::inlined::{Computed, Function, Functions};
use crate::kernel::{Built, Launch};
use crate::launcher::Launcher;
use crate::launches::{Known, LaunchKind};
use crate::manifest::recorder;
use crate::pointwise::Pointwise;
use crate::signature::Signature;
use derived::Derived;
use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use tilewright_expr::bind::{Binding, View};
use tilewright_expr::eval::HostKernel;
use tilewright_expr::explain::Explanation;
use tilewright_expr::graph::Graph;
use tilewright_expr::plan::Configuration;
use tilewright_expr::sections::Sections;
use tilewright_expr::{Expr, Trace, trace};

/// Traces `f` once and makes it callable: one kernel, on whichever device its operands are.
///
/// Literals inside are code; what changes from call to call is an operand, scalars too (`In<f32, ()>`).
///
/// ```
/// use tilewright_dims::dims;
/// use tilewright_expr::In;
/// use tilewright_ops::{Tensor, fuse};
/// dims! { Y, X }
/// let axpy = fuse(|a: In<f32, ()>, x: In<f32, (Y, X)>, y: In<f32, (X,)>| (x * a + y).store::<(Y, X)>());
/// let x = Tensor::<f32, (Y, X)>::from_vec([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let y = Tensor::<f32, (X,)>::from_vec([3], vec![10.0, 20.0, 30.0])?;
/// let z = axpy.call(2.0f32, &x, &y)?;
/// assert_eq!(z.to_vec()?, [12.0, 24.0, 36.0, 18.0, 30.0, 42.0]);
/// # Ok::<(), tilewright_ops::Error>(())
/// ```
pub fn fuse<A, O, F: Trace<A, O>>(f: F) -> Fused<A, O> {
    Fused { core: Arc::new(Core::new(trace(f).graph, std::any::type_name::<F>())), device: None, _types: PhantomData }
}

/// A fused expression. Clones share what was compiled.
pub struct Fused<A, O> {
    core: Arc<Core>,
    device: Option<Device>,
    _types: PhantomData<fn(A) -> O>,
}

impl<A, O> Clone for Fused<A, O> {
    fn clone(&self) -> Self {
        Fused { core: self.core.clone(), device: self.device.clone(), _types: PhantomData }
    }
}

impl<A, O> std::fmt::Debug for Fused<A, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Fused {} ({} nodes)", self.core.name, self.core.graph.len())
    }
}

impl<A, O> Fused<A, O> {
    /// The same expression, run on `device` when no tensor operand says where.
    pub fn on(&self, device: &Device) -> Self {
        Fused { device: Some(device.clone()), ..self.clone() }
    }

    /// The same expression, whose kernels have this configuration on a GPU, instead of the one that is chosen for a call. It shares no kernels
    /// with this handle. Results do not depend on it, and calls on the CPU do not look at it.
    ///
    /// A [`Pointwise`] is one of kernels whose threads share nothing, a [`Sharing`](crate::Sharing) of those whose threads reduce rows
    /// together. Calls refuse a configuration that is not legal for their sizes, and one of another kind than their kernels are of.
    pub fn configured(&self, config: impl Into<Configuration>) -> Self {
        Fused { core: Arc::new(self.core.under(config.into())), ..self.clone() }
    }

    /// What a call with operands that are bound in this way, into new tensors, runs on a GPU; needs none, and no tensors either. Errors are
    /// those of binding: numbers, dimensions, sizes.
    pub fn plan_of_views(&self, operands: &[View<'_>]) -> Result<Plan, Error> {
        self.core.plan_of_views(operands)
    }

    /// What was traced.
    pub fn graph(&self) -> &Graph {
        self.core.graph()
    }

    /// The same expression on buffers that the caller keeps. It shares the kernels of this handle.
    pub fn launcher(&self) -> Launcher {
        Launcher::of(self.core.clone())
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.core
    }

    pub(crate) fn device(&self) -> Option<&Device> {
        self.device.as_ref()
    }

    /// The kernel that was built last, if any call ran on a GPU.
    pub fn last_built(&self) -> Option<Arc<Built>> {
        lock(&self.core.last).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What all clones of a handle share.
pub(crate) struct Core {
    graph: Graph,
    /// The graph of calls into new tensors, where that is another one: those hold nothing yet.
    fresh: Option<Graph>,
    name: String,
    entries: Entries,
    epilogues: Functions<Option<Function>>,
    images: Functions<Computed>,
    derived: Derived,
    /// That of all calls, instead of a choice.
    configuration: Option<Configuration>,
    /// What was chosen so far.
    chosen: Mutex<Vec<Pointwise>>,
    built: Mutex<HashMap<Vec<u64>, Arc<Built>>>,
    /// The keys of kernels that are built in the background.
    under_way: Mutex<HashSet<Vec<u64>>>,
    /// The keys of those that could not be built.
    unbuildable: Mutex<HashSet<Vec<u64>>>,
    last: Mutex<Option<Arc<Built>>>,
}

/// Which kernel of a graph: part of what kernels are known by.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Fill,
    Main,
}

impl Core {
    pub(crate) fn new(graph: Graph, name: &str) -> Core {
        Core {
            fresh: graph.fresh(),
            graph,
            name: name.to_string(),
            entries: Entries::default(),
            epilogues: Functions::new("epilogue"),
            images: Functions::new("image"),
            derived: Derived::default(),
            configuration: None,
            chosen: Mutex::default(),
            built: Mutex::default(),
            under_way: Mutex::default(),
            unbuildable: Mutex::default(),
            last: Mutex::default(),
        }
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// That of all calls, if they have one.
    pub(crate) fn configuration(&self) -> Option<Configuration> {
        self.configuration
    }

    /// What is kept of the expression inside of kernels that are written by hand, which give it values.
    pub(crate) fn epilogues(&self) -> &Functions<Option<Function>> {
        &self.epilogues
    }

    /// And of kernels that read it.
    pub(crate) fn images(&self) -> &Functions<Computed> {
        &self.images
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The GPU of a call: where its tensors are. `None` is the host.
    pub(crate) fn device<'a>(
        &self,
        operands: &[Operand<'a>],
        given: Option<&'a Gpu>,
    ) -> Result<Option<&'a Gpu>, Error> {
        let mut found: Option<&Gpu> = None;
        for (i, operand) in operands.iter().enumerate() {
            if let Source::Gpu { gpu, .. } = operand.memory {
                match found {
                    Some(other) if !other.same(gpu) => {
                        let [got, expected] = [gpu, other].map(|g| Device::Gpu(g.clone()).to_string());
                        return Err(Error::Devices { operand: i, got, expected });
                    }
                    _ => found = Some(gpu),
                }
            }
        }
        Ok(found.or(given))
    }

    /// A call that allocates its results.
    pub(crate) fn call<O: Results>(
        self: &Arc<Self>,
        operands: &[Operand<'_>],
        given: Option<&Device>,
    ) -> Result<O::Tensors, Error> {
        let gpu = self.device(operands, given.and_then(Device::as_gpu))?;
        let signature = Signature { gpu, operands, targets: None };
        if let Some(entry) = self.entries.find(&signature) {
            entry.check(operands)?;
            let mut tensors = O::allocate(&entry.outputs, gpu)?;
            entry.execute(operands, &mut O::targets(&mut tensors, operands)?, (&self.name, [Known::Call; 2]))?;
            return Ok(tensors);
        }
        let mut tensors = O::allocate(&self.extents(operands)?, gpu)?;
        let mut targets = O::targets(&mut tensors, operands)?;
        let (entry, known) = self.plan(&signature, (&targets, true))?;
        entry.execute(operands, &mut targets, (&self.name, known))?;
        Ok(tensors)
    }

    /// A call into results that the caller has.
    pub(crate) fn call_into<O: Results>(
        self: &Arc<Self>,
        operands: &[Operand<'_>],
        tensors: &mut O::Tensors,
        given: Option<&Device>,
    ) -> Result<(), Error> {
        let mut targets = O::targets(tensors, operands)?;
        let at = targets.iter().flatten().find_map(|t| match t.memory {
            Sink::Gpu { gpu, .. } => Some(gpu),
            Sink::Host(_) => None,
        });
        let gpu = self.device(operands, at.or(given.and_then(Device::as_gpu)))?;
        for (output, target) in targets.iter().flatten().enumerate() {
            let same = match (&target.memory, gpu) {
                (Sink::Host(_), None) => true,
                (Sink::Gpu { gpu, .. }, Some(other)) => gpu.same(other),
                _ => false,
            };
            if !same {
                let got = if matches!(target.memory, Sink::Host(_)) { "the CPU (a result)" } else { "another GPU" };
                let operand = operands.len() + output;
                let expected = gpu.map_or(Device::Cpu, |g| Device::Gpu(g.clone())).to_string();
                return Err(Error::Devices { operand, got: got.into(), expected });
            }
        }
        self.run(operands, &mut targets, gpu)
    }

    /// A call whose operands and results are on one device.
    pub(crate) fn run(
        self: &Arc<Self>,
        operands: &[Operand<'_>],
        targets: &mut Targets<'_>,
        gpu: Option<&Gpu>,
    ) -> Result<(), Error> {
        let signature = Signature { gpu, operands, targets: Some(targets) };
        if let Some(entry) = self.entries.find(&signature) {
            entry.check(operands)?;
            return entry.execute(operands, targets, (&self.name, [Known::Call; 2]));
        }
        let (entry, known) = self.plan(&signature, (targets, false))?;
        entry.execute(operands, targets, (&self.name, known))
    }

    fn extents(&self, operands: &[Operand<'_>]) -> Result<Vec<Vec<i64>>, Error> {
        let views: Vec<View<'_>> = operands.iter().map(Operand::view).collect();
        let binding = Binding::new(&self.graph, &views)?;
        Ok(binding.results()?)
    }

    fn plan(
        self: &Arc<Self>,
        signature: &Signature<'_>,
        (targets, new): (&Targets<'_>, bool),
    ) -> Result<(Arc<Entry>, [Known; 2]), Error> {
        let (graph, operands) = (self.graph_of(new), signature.operands);
        let views: Vec<View<'_>> = operands.iter().map(Operand::view).collect();
        let outs: Vec<View<'_>> = targets.iter().flatten().map(Target::view).collect();
        let binding = Binding::new(graph, &views)?;
        let outputs = binding.results()?;
        let (mut known, mut settled) = ([Known::Kernel; 2], true);
        let run = match signature.gpu {
            _ if outputs.iter().all(|e| e.contains(&0)) => Run::Nothing,
            None => Run::Cpu(HostKernel::new(graph, &views, &outs)?),
            Some(gpu) => {
                let fills = Sections::fills(graph, &views, &outs)?;
                let main = Some(self.configured(Sections::new(graph, &views, &outs)?, gpu)?);
                if let Some(recorder) = recorder() {
                    recorder.plan(&Plan::of(&self.name, graph, [&views, &outs], self.configuration));
                }
                let [of_fills, of_main] = &mut known;
                let fill = self.launch(fills, gpu, (Part::Fill, new), (of_fills, &mut settled))?;
                let main = self.launch(main, gpu, (Part::Main, new), (of_main, &mut settled))?;
                Run::Gpu(Box::new([fill, main]))
            }
        };
        let entry = Entry { outputs, limits: binding.limits()?, run };
        // Results whose size is that of the boxes are planned anew on every call: the boxes' values are not in the key. So are calls
        // whose best kernel is still being built.
        let keep = settled && !binding.sized_by_boxes();
        let entry = if keep { self.entries.keep(signature, entry) } else { Arc::new(entry) };
        Ok((entry, known))
    }

    /// The graph of calls into new tensors, or into those that are there.
    pub(crate) fn graph_of(&self, new: bool) -> &Graph {
        self.fresh.as_ref().filter(|_| new).unwrap_or(&self.graph)
    }

    /// The launch of these sections, if they have any blocks.
    fn launch(
        self: &Arc<Self>,
        sections: Option<Sections<'_>>,
        gpu: &Gpu,
        part: (Part, bool),
        known: (&mut Known, &mut bool),
    ) -> Result<Option<Launch>, Error> {
        let Some(sections) = sections.filter(|s| s.blocks() > 0) else { return Ok(None) };
        let kind = match part.0 {
            Part::Fill => LaunchKind::Fill,
            Part::Main => LaunchKind::Fused,
        };
        let (built, other) = self.build(&sections, gpu, part, known)?;
        Ok(Some(Launch::new(built, gpu, other.as_ref().unwrap_or(&sections), kind)?))
    }
}

macro_rules! calls {
    ($($T:ident $S:ident $arg:ident),*) => {
        impl<O: Results, $($T, $S),*> Fused<($(Expr<$T, $S>,)*), O> {
            /// Computes the results into new tensors, on the device of the operands. From a GPU this returns as soon as the
            /// kernel is queued.
            #[allow(clippy::too_many_arguments, reason = "one argument per operand")]
            pub fn call(&self, $($arg: impl Feeds<Expr<$T, $S>>),*) -> Result<O::Tensors, Error> {
                self.core.call::<O>(&[$($arg.operand()),*], self.device.as_ref())
            }

            /// Computes the results into `results`. The fast path: with a known signature it allocates nothing.
            /// Where places are to keep what a tensor holds (`Initial::Held`, `store_where`), they keep what `results` hold.
            #[allow(clippy::too_many_arguments, reason = "one argument per operand")]
            pub fn call_into(&self, results: &mut O::Tensors, $($arg: impl Feeds<Expr<$T, $S>>),*) -> Result<(), Error> {
                self.core.call_into::<O>(&[$($arg.operand()),*], results, self.device.as_ref())
            }

            /// What a call with these operands into new tensors runs on a GPU; needs none.
            #[allow(clippy::too_many_arguments, reason = "one argument per operand")]
            pub fn plan(&self, $($arg: impl Feeds<Expr<$T, $S>>),*) -> Result<Plan, Error> {
                self.core.plan_ahead(&[$($arg.operand()),*])
            }

            /// The CUDA source of the kernel for these operands, under the configuration that the plan chooses by itself; needs no GPU.
            #[allow(clippy::too_many_arguments, reason = "one argument per operand")]
            pub fn cuda_source(&self, $($arg: impl Feeds<Expr<$T, $S>>),*) -> Result<String, Error> {
                self.plan($($arg),*)?.cuda_source()
            }

            /// What the kernel for these operands is: loops, layouts, bytes, operations, the limit that follows, and what stays in
            /// registers; needs no GPU.
            #[allow(clippy::too_many_arguments, reason = "one argument per operand")]
            pub fn explain(&self, $($arg: impl Feeds<Expr<$T, $S>>),*) -> Result<Explanation, Error> {
                self.plan($($arg),*)?.explain()
            }
        }
    };
}
calls!();
calls!(A SA a);
calls!(A SA a, B SB b);
calls!(A SA a, B SB b, C SC c);
calls!(A SA a, B SB b, C SC c, D SD d);
calls!(A SA a, B SB b, C SC c, D SD d, E SE e);
calls!(A SA a, B SB b, C SC c, D SD d, E SE e, F SF f);
calls!(A SA a, B SB b, C SC c, D SD d, E SE e, F SF f, G SG g);
calls!(A SA a, B SB b, C SC c, D SD d, E SE e, F SF f, G SG g, H SH h);
