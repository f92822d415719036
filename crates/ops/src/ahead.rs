//! Calls known ahead: what they would run on a GPU, without one.

use crate::device::kernels;
use crate::error::Error;
use crate::feed::Operand;
use crate::fused::Core;
use crate::kernel::Unbuilt;
use crate::manifest::Manifest;
use crate::pointwise::{self, PointwiseProblem};
use crate::prefetch::{new_on_device, new_results};
use tilewright_driver::{Arch, Source};
use tilewright_expr::bind::{Binding, Place, View};
use tilewright_expr::collective::Shares;
use tilewright_expr::emit::{MOST_PARAMETER_BYTES, Room};
use tilewright_expr::explain::Explanation;
use tilewright_expr::graph::Graph;
use tilewright_expr::manifest::{self, OwnedView, PlanText};
use tilewright_expr::plan::Configuration;
use tilewright_expr::sections::Sections;

/// Host operands of more elements are taken for tensors of a GPU: so many values do not travel with a launch.
const MOST_HOST_ELEMENTS: usize = 65_536;
/// The parameter blocks that drivers take: before CUDA 12.1, and since then.
const PARAMETER_BYTES: [usize; 2] = [4096, MOST_PARAMETER_BYTES];

/// What a call runs on a GPU: its kernels can be looked at, and built, where there is none.
///
/// Tensors of more than 65,536 elements count as tensors of the GPU, wherever they are; others as what they are.
///
/// ```
/// # use tilewright_dims::dims;
/// # use tilewright_expr::In;
/// # use tilewright_ops::{Tensor, fuse};
/// # dims! { X }
/// let halve = fuse(|x: In<f32, (X,)>| (x * 0.5).store::<(X,)>());
/// let x = Tensor::<f32, (X,)>::from_vec([1 << 17], vec![1.0; 1 << 17])?;
/// let sources = halve.plan(&x)?.sources()?;
/// assert_eq!(sources.len(), 1);
/// # Ok::<(), tilewright_ops::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) name: String,
    pub(crate) graph: Graph,
    pub(crate) operands: Vec<OwnedView>,
    pub(crate) results: Vec<OwnedView>,
    /// That of the handle, instead of a choice.
    pub(crate) configuration: Option<Configuration>,
}

/// Plans are equal that have one text: they do the same with operands and results that stand alike in memory.
impl PartialEq for Plan {
    fn eq(&self, other: &Plan) -> bool {
        (&self.name, self.configuration, self.text()) == (&other.name, other.configuration, other.text())
    }
}

impl Core {
    /// A call into new tensors.
    pub(crate) fn plan_ahead(&self, operands: &[Operand<'_>]) -> Result<Plan, Error> {
        let as_on_a_gpu = |o: &'_ Operand<'_>| o.place() == Place::Host && o.len() > MOST_HOST_ELEMENTS;
        let view = |o| if as_on_a_gpu(o) { new_on_device(o.axes) } else { o.view() };
        let views: Vec<View<'_>> = operands.iter().map(view).collect();
        self.plan_of_views(&views)
    }

    /// The same for operands that are bound in this way.
    pub(crate) fn plan_of_views(&self, views: &[View<'_>]) -> Result<Plan, Error> {
        let graph = self.graph_of(true);
        let results = new_results(&Binding::new(graph, views)?)?;
        let results: Vec<View<'_>> = results.iter().map(|axes| new_on_device(axes)).collect();
        Ok(Plan::of(self.name(), graph, [views, &results], self.configuration()))
    }
}

impl Plan {
    /// The same call without operands that the expression does not read. For expressions that
    /// [read in place](Graph::reads_in_place).
    pub fn of_used_operands(&self) -> Plan {
        let (graph, used) = self.graph.of_used_operands();
        let operands = used.iter().map(|i| self.operands[*i].clone()).collect();
        Plan { graph, operands, ..self.clone() }
    }

    /// The same call under the plan's own configuration, whatever models choose: a kernel for all sizes, which stands in for others until
    /// they are built.
    pub fn of_own_configuration(&self) -> Result<Plan, Error> {
        let own = self.pointwise()?.map(|problem| problem.division().untold.into());
        Ok(Plan { configuration: self.configuration.or(own), ..self.clone() })
    }

    /// The plan of a call with these operands and results, of a handle that may have a configuration of its own.
    pub(crate) fn of(name: &str, graph: &Graph, views: [&[View<'_>]; 2], configuration: Option<Configuration>) -> Plan {
        let [operands, results] = views.map(|views| views.iter().copied().map(OwnedView::of).collect());
        Plan { name: name.to_string(), graph: graph.clone(), operands, results, configuration }
    }

    /// The expression's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a source depends on.
    pub(crate) fn text(&self) -> PlanText {
        manifest::print(&self.graph, &self.operands, &self.results)
    }

    /// The plan as text, of which a tool that does not know the expression builds the same kernels. `merge` puts several together.
    pub fn manifest(&self) -> Manifest {
        Manifest::from(self.clone())
    }

    /// The sources of all kernels that the call may want: one that fills results where places keep their first value, one that
    /// computes, and that again with more room in its parameter block where the call's small operands ask for it and the driver
    /// takes it; and the one that computes under the configurations that models choose on the GPUs that they were trained on. Under the
    /// handle's configuration alone, where it has one. None for a call whose results are empty.
    pub fn sources(&self) -> Result<Vec<Source>, Error> {
        let fills = Sections::fills(&self.graph, &views(&self.operands), &views(&self.results))?;
        let main = self.sections()?;
        let choices = main.as_ref().filter(|_| self.configuration.is_none());
        let chosen = choices.map_or_else(Vec::new, pointwise::chosen_ahead);
        let under = |config| main.clone()?.configured(config).ok();
        let configured: Vec<Sections<'_>> = chosen.into_iter().filter_map(under).collect();
        let mut sources = Vec::new();
        let all = [fills, main.clone()].into_iter().flatten().chain(configured);
        for sections in all.filter(|s| s.blocks() > 0) {
            let mut rooms = PARAMETER_BYTES.map(|most| Room::of(&sections, most)).to_vec();
            rooms.dedup();
            for room in rooms {
                let source = Unbuilt::new(&sections, room, MOST_PARAMETER_BYTES, &self.name)?.into_text();
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
        Ok(sources)
    }

    /// The launch that computes the results, as it is planned; nothing where results have no elements.
    fn planned(&self) -> Result<Option<Sections<'_>>, Error> {
        let sections = Sections::new(&self.graph, &views(&self.operands), &views(&self.results))?;
        Ok(Some(sections).filter(|s| s.blocks() > 0))
    }

    /// The same under the handle's configuration, if it has one.
    fn sections(&self) -> Result<Option<Sections<'_>>, Error> {
        match (self.planned()?, self.configuration) {
            (Some(sections), Some(config)) => Ok(Some(sections.configured(config)?)),
            (planned, _) => Ok(planned),
        }
    }

    /// The call as a model sees it, if its kernel is a pointwise one: what has configurations to choose from.
    pub fn pointwise(&self) -> Result<Option<PointwiseProblem>, Error> {
        Ok(self.planned()?.and_then(|sections| PointwiseProblem::of(&sections)))
    }

    /// What a configuration of its kernel shares out, if its threads reduce rows together, once.
    pub fn shares(&self) -> Result<Option<Shares>, Error> {
        Ok(self.planned()?.and_then(|sections| sections.shares()))
    }

    /// Compiles the kernel that computes the results under a configuration, or finds it in the cache: a call of
    /// [`Fused::configured`](crate::Fused::configured) has it then. Needs no GPU; any thread may. Refuses configurations that are not legal,
    /// and those of another kind than the kernel is of.
    pub fn compile_configured(&self, config: impl Into<Configuration>, arch: Arch) -> Result<(), Error> {
        let (views, outs) = (views(&self.operands), views(&self.results));
        let sections = Sections::new(&self.graph, &views, &outs)?.configured(config)?;
        let room = Room::of(&sections, MOST_PARAMETER_BYTES);
        let source = Unbuilt::new(&sections, room, MOST_PARAMETER_BYTES, &self.name)?.into_text();
        kernels().get(&source, arch)?;
        Ok(())
    }

    /// The CUDA source of the kernel that computes the results.
    pub fn cuda_source(&self) -> Result<String, Error> {
        let (views, outs) = (views(&self.operands), views(&self.results));
        let sections = Sections::new(&self.graph, &views, &outs)?;
        let room = Room::of(&sections, MOST_PARAMETER_BYTES);
        Ok(Unbuilt::new(&sections, room, MOST_PARAMETER_BYTES, &self.name)?.shown())
    }

    /// Bytes of memory that the blocks of the kernel that computes the results share on a GPU.
    pub(crate) fn workspace_bytes(&self) -> Result<usize, Error> {
        let Some(sections) = self.sections()? else { return Ok(0) };
        let room = Room::of(&sections, MOST_PARAMETER_BYTES);
        Ok(Unbuilt::new(&sections, room, MOST_PARAMETER_BYTES, &self.name)?.workspace_bytes(&sections))
    }

    /// What that kernel is.
    pub fn explain(&self) -> Result<Explanation, Error> {
        Ok(Explanation::new(&self.graph, &self.name, &views(&self.operands), &views(&self.results))?)
    }
}

fn views(own: &[OwnedView]) -> Vec<View<'_>> {
    own.iter().map(OwnedView::view).collect()
}
