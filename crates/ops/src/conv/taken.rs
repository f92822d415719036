//! [`Taken`]: the kernel of a forward pass or of an input's gradient, with its configuration: tensor cores multiply, or lanes.

use super::candidates::MODELS;
use super::choice;
use super::config::Config;
use super::config_error::ConfigError;
use super::depthwise::plan::DepthwisePlan;
use super::depthwise::{DepthwiseConfig, preferred};
use super::ends::{Ends, Fusing, Reading};
use super::error::ConvError;
use super::gpu::pass_file;
use super::kernel_text::KernelText;
use super::multiprocessor::Multiprocessor;
use super::problem::{Pass, Problem};
use super::row_kernel::row_kernel_with;
use super::row_plan::RowConfig;
use super::row_timing::refined_between;
use super::weight_gpu::compile_grad_weight;
use super::weight_operation::WeightOperation;
use super::weight_plan::WeightConfig;
use super::weight_timing::refined_to_read;
use crate::device::Gpu;
use crate::error::Error;
use tilewright_driver::Arch;
use tilewright_perf::{DeviceFacts, Models};

/// A configuration of one of two kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Taken {
    Rows(RowConfig),
    Lanes(DepthwiseConfig),
}

impl Taken {
    /// What [`Config::auto`] takes between such ends.
    pub(super) fn chosen(
        models: &Models,
        (problem, pass, ends): (&Problem, Pass, Ends),
        sm: Multiprocessor,
        device: &DeviceFacts,
    ) -> Taken {
        let lanes = preferred(problem, pass, ends, sm, device).first().copied();
        lanes.map_or_else(|| Taken::Rows(choice::chosen(models, problem, pass, ends, sm, device)), Taken::Lanes)
    }

    /// As [`Taken::chosen`], on a GPU.
    pub(super) fn on(gpu: &Gpu, problem: &Problem, pass: Pass, ends: Ends) -> Taken {
        Taken::chosen(&MODELS, (problem, pass, ends), Multiprocessor::of(gpu), &gpu.facts())
    }

    /// So many of the choice to time on a GPU, the first of all first. Where lanes multiply the last is the row kernel's.
    pub(super) fn to_time(gpu: &Gpu, count: usize, problem: &Problem, pass: Pass, ends: Ends) -> Vec<Taken> {
        let (sm, device) = (Multiprocessor::of(gpu), gpu.facts());
        let mut lanes = preferred(problem, pass, ends, sm, &device);
        let of_rows = if lanes.is_empty() { count } else { 1 };
        let rows = choice::to_time(of_rows, &MODELS, problem, pass, ends, sm, &device);
        lanes.truncate(count - of_rows);
        lanes.into_iter().map(Taken::Lanes).chain(rows.into_iter().map(Taken::Rows)).collect()
    }

    /// The kernel's text. Refuses what does not fit the problem.
    pub(super) fn kernel(
        self,
        (problem, pass): (&Problem, Pass),
        sm: Multiprocessor,
        bias: bool,
        fusing: Fusing<'_>,
    ) -> Result<KernelText, ConfigError> {
        match self {
            Taken::Rows(config) => row_kernel_with(problem, pass, config, sm, bias, fusing),
            Taken::Lanes(config) => DepthwisePlan::between(*problem, pass, config, sm, fusing.ends())?.kernel(bias),
        }
    }

    fn spelled_out(self) -> KernelConfig {
        match self {
            Taken::Rows(config) => KernelConfig::Rows(config),
            Taken::Lanes(config) => KernelConfig::Depthwise(config),
        }
    }
}

/// The configuration of a kernel of convolutions, spelled out: what [`Config::rows`], [`Config::depthwise`] and [`Config::weights`] ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelConfig {
    /// Of the forward pass and the input's gradient, on tensor cores.
    Rows(RowConfig),
    /// Of these passes of depthwise convolutions, where lanes multiply.
    Depthwise(DepthwiseConfig),
    /// Of the weights' gradient.
    Weights(WeightConfig),
}

impl KernelConfig {
    /// What [`Config::auto`] takes for a pass on such a multiprocessor of such a device, by these models: for operands and results that are stored, in
    /// the type of the problem. Needs no GPU.
    pub fn chosen(
        models: &Models,
        problem: &Problem,
        pass: Pass,
        sm: Multiprocessor,
        device: &DeviceFacts,
    ) -> KernelConfig {
        match pass {
            Pass::GradWeight => KernelConfig::Weights(WeightOperation::chosen(models, problem, sm, device)),
            _ => Taken::chosen(models, (problem, pass, Ends::stored(problem.precision)), sm, device).spelled_out(),
        }
    }

    /// As [`KernelConfig::chosen`], by the models of the library, on a GPU.
    pub fn on(gpu: &Gpu, problem: &Problem, pass: Pass) -> KernelConfig {
        KernelConfig::chosen(&MODELS, problem, pass, Multiprocessor::of(gpu), &gpu.facts())
    }

    /// What [`Config::refined`] takes on a GPU for such a call without bias: it is timed unless it is remembered. Fails where timing does, but for lack of
    /// memory.
    pub fn refined(gpu: &Gpu, problem: &Problem, pass: Pass) -> Result<KernelConfig, Error> {
        Ok(match pass {
            Pass::GradWeight => KernelConfig::Weights(refined_to_read(gpu, problem, [Reading::Stored; 2])?),
            _ => refined_between(gpu, problem, pass, (Ends::stored(problem.precision), false))?.spelled_out(),
        })
    }

    /// Compiles the kernels of a pass without bias, or finds them in the cache: a later call has them. Needs no GPU; any thread may. Refuses what does not
    /// fit the problem, and another pass.
    pub fn compile(self, problem: &Problem, pass: Pass, sm: Multiprocessor, arch: Arch) -> Result<(), Error> {
        Config::from(self).check_kind(pass)?;
        let taken = match self {
            KernelConfig::Rows(config) => Taken::Rows(config),
            KernelConfig::Depthwise(config) => Taken::Lanes(config),
            KernelConfig::Weights(config) => return compile_grad_weight(problem, config, sm, arch),
        };
        let kernel = taken.kernel((problem, pass), sm, false, Fusing::nothing(problem.precision));
        kernel.map_err(ConvError::from)?.source(pass_file(pass)).compile(arch).map(drop)
    }
}

impl From<KernelConfig> for Config {
    fn from(config: KernelConfig) -> Config {
        match config {
            KernelConfig::Rows(config) => Config::rows(config),
            KernelConfig::Depthwise(config) => Config::depthwise(config),
            KernelConfig::Weights(config) => Config::weights(config),
        }
    }
}
