//! Kernels built ahead of the calls that want them.

use crate::ahead::Plan;
use crate::device::{Device, Gpu};
use crate::error::Error;
use crate::feed::{Feeds, Operand, Results};
use crate::fused::{Core, Fused, Part};
use crate::kernel::Unbuilt;
use crate::manifest::recorder;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use tilewright_expr::Expr;
use tilewright_expr::bind::{Axis, Binding, Place, View, dense};
use tilewright_expr::emit::Room;
use tilewright_expr::sections::Sections;

/// Kernels that are being built in the background. Whoever drops it lets them be built all the same.
///
/// ```
/// # use tilewright_dims::dims;
/// # use tilewright_expr::In;
/// # use tilewright_ops::{Tensor, fuse};
/// # dims! { X }
/// let halve = fuse(|x: In<f32, (X,)>| (x * 0.5).store::<(X,)>());
/// let x = Tensor::<f32, (X,)>::from_vec([2], vec![1.0, 3.0])?;
/// let building = halve.prefetch(&x);
/// // .. other work ..
/// building.wait();
/// assert_eq!(halve.call(&x)?.to_vec()?, [0.5, 1.5]);
/// # Ok::<(), tilewright_ops::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "dropping it does not end the work; `let _ = ` says that nobody waits"]
pub struct Prefetch(Option<JoinHandle<()>>);

impl Prefetch {
    /// Whether a call finds its kernel now, or the error that it would end with is known.
    pub fn is_done(&self) -> bool {
        self.0.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until it is done.
    pub fn wait(self) {
        // A panic over there is an error of the call, which does the same work.
        self.0.map(JoinHandle::join);
    }
}

/// Kernels by their keys.
type Wanted = Vec<(Vec<u64>, Unbuilt)>;

impl Core {
    /// Builds the kernels of a call into new tensors in the background.
    fn prefetch(self: &Arc<Self>, operands: &[Operand<'_>], given: Option<&Device>) -> Prefetch {
        let wanted = self.device(operands, given.and_then(Device::as_gpu)).and_then(|gpu| match gpu {
            Some(gpu) => Ok(Some((gpu.clone(), self.wanted(operands, gpu)?))),
            None => Ok(None),
        });
        let Ok(Some((gpu, wanted))) = wanted else { return Prefetch(None) };
        self.build_behind(wanted, &gpu)
    }

    /// Builds kernels in the background.
    pub(crate) fn build_behind(self: &Arc<Self>, wanted: Wanted, gpu: &Gpu) -> Prefetch {
        let (core, gpu) = (self.clone(), gpu.clone());
        let build = move || {
            for (key, unbuilt) in wanted {
                if let Err(error) = core.built(key.clone(), unbuilt, &gpu) {
                    tracing::debug!(%error, "a kernel could not be built ahead");
                    core.give_up(key);
                }
            }
        };
        Prefetch(Builder::new().name("tilewright-prefetch".into()).spawn(build).ok())
    }

    /// The kernels that are not there yet, planned and emitted for results that are new.
    fn wanted(&self, operands: &[Operand<'_>], gpu: &Gpu) -> Result<Wanted, Error> {
        let graph = self.graph_of(true);
        let views: Vec<View<'_>> = operands.iter().map(Operand::view).collect();
        let binding = Binding::new(graph, &views)?;
        let axes = new_results(&binding)?;
        let outs: Vec<View<'_>> = axes.iter().map(|axes| new_on_device(axes)).collect();
        let fills = Sections::fills(graph, &views, &outs)?;
        let main = Sections::new(graph, &views, &outs)?;
        let main = if main.blocks() > 0 { Some(self.configured(main, gpu)?) } else { None };
        if let Some(recorder) = recorder() {
            recorder.plan(&Plan::of(self.name(), graph, [&views, &outs], self.configuration()));
        }
        let mut wanted = Vec::new();
        for (sections, part) in [(fills, Part::Fill), (main, Part::Main)] {
            let Some(sections) = sections.filter(|s| s.blocks() > 0) else { continue };
            let most = gpu.device().parameter_bytes();
            let room = Room::of(&sections, most);
            let key = self.kernel_key(&sections, room, gpu, (part, true));
            if self.kernel(&key).is_none() {
                wanted.push((key, Unbuilt::new(&sections, room, most, self.name())?));
            }
        }
        Ok(wanted)
    }
}

/// The axes of new results.
pub(crate) fn new_results(binding: &Binding<'_>) -> Result<Vec<Vec<Axis>>, Error> {
    binding.graph().results().iter().map(|r| Ok(dense(r.dims, &binding.result(r)?))).collect()
}

/// A new tensor on a GPU, as `Target::view` says it.
pub(crate) fn new_on_device(axes: &[Axis]) -> View<'_> {
    View { axes, place: Place::Device, alignment: 16, boxes: None }
}

macro_rules! prefetches {
    ($($T:ident $S:ident $arg:ident),*) => {
        impl<O: Results, $($T, $S),*> Fused<($(Expr<$T, $S>,)*), O> {
            /// Begins to build the kernel that [`call`](Self::call) wants for operands like these, and returns when it is planned.
            /// A call that comes earlier waits for it. Errors come out of the call. On the CPU there is nothing to build.
            #[allow(clippy::too_many_arguments, reason = "one argument per operand")]
            pub fn prefetch(&self, $($arg: impl Feeds<Expr<$T, $S>>),*) -> Prefetch {
                self.core().prefetch(&[$($arg.operand()),*], self.device())
            }
        }
    };
}
prefetches!(A SA a);
prefetches!(A SA a, B SB b);
prefetches!(A SA a, B SB b, C SC c);
prefetches!(A SA a, B SB b, C SC c, D SD d);
prefetches!(A SA a, B SB b, C SC c, D SD d, E SE e);
prefetches!(A SA a, B SB b, C SC c, D SD d, E SE e, F SF f);
prefetches!(A SA a, B SB b, C SC c, D SD d, E SE e, F SF f, G SG g);
prefetches!(A SA a, B SB b, C SC c, D SD d, E SE e, F SF f, G SG g, H SH h);
