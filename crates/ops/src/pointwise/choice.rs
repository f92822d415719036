//! Which configuration a launch gets: the model's choice among all legal ones, where it is worth a kernel of its own.

use super::operation::{NAME, work};
use super::problem::PointwiseProblem;
use crate::device::Gpu;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use tilewright_expr::plan::Pointwise;
use tilewright_expr::sections::Sections;
use tilewright_perf::{DeviceFacts, Model, Models};

/// How much of the time that is expected of the plan's own configuration another one has to save, as a part of it: what is closer is within
/// the model's error, and not worth compiling another kernel for.
pub const WORTH: f32 = 0.04;

/// How many microseconds it has to save as well: launches of a few microseconds differ by more from one to the next.
pub const WORTH_US: f32 = 0.3;

/// How much longer than the fastest a configuration may be expected to take, as a part of that, and count as equally fast.
const CLOSE: f32 = 0.02;

/// The models of this operation, at first those that are part of the library: none where none was trained, or where they cannot be read,
/// which a test excludes.
static MODELS: LazyLock<RwLock<Arc<Models>>> =
    LazyLock::new(|| RwLock::new(Arc::new(Models::shipped_of(NAME).unwrap_or_default())));

fn models() -> Arc<Models> {
    MODELS.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Reads the models that are part of the library, unless that was done.
pub(crate) fn load() {
    LazyLock::force(&MODELS);
}

/// Has the choices of this process go by these models instead of those that are part of the library: models of a GPU's own measurements, or
/// none, for which every kernel has its plan's own configuration. Calls that were planned before keep what they have.
pub fn choose_by(models: Models) {
    *MODELS.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(models);
}

/// The configuration of a launch on a GPU. `None` where there is nothing to choose.
pub(crate) fn chosen_on(gpu: &Gpu, sections: &Sections<'_>) -> Option<Pointwise> {
    let models = models();
    if models.is_empty() {
        return None;
    }
    chosen(&models, sections, &gpu.facts())
}

/// The configurations that a launch gets on the GPUs that models were trained on: what is worth building ahead, beside the plan's own.
pub(crate) fn chosen_ahead(sections: &Sections<'_>) -> Vec<Pointwise> {
    let models = models();
    let devices = models.iter().flat_map(Model::devices);
    let mut all: Vec<Pointwise> = devices.filter_map(|device| chosen(&models, sections, device)).collect();
    all.dedup();
    all
}

/// The configuration of a launch by the model of the nearest architecture. `None` where no model knows the operation, where the launch has
/// no configuration, and where the model refuses what it is asked about.
fn chosen(models: &Models, sections: &Sections<'_>, device: &DeviceFacts) -> Option<Pointwise> {
    let model = models.nearest(NAME, device.architecture).ok()?;
    PointwiseProblem::of(sections)?.chosen(model, device)
}

impl PointwiseProblem {
    /// The configuration that a model takes for all problems of this one's [class](PointwiseProblem::class): the plan's own, unless the fastest
    /// to expect saves [`WORTH`] of its time and [`WORTH_US`]; then, of those that are expected to take hardly longer than the fastest, the one
    /// that differs least from the plan's own, so that classes share kernels. What takes hardly longer than an empty launch has the plan's own
    /// without a ranking. `None` where the model refuses what it is asked about.
    pub fn chosen(&self, model: &Model, device: &DeviceFacts) -> Option<Pointwise> {
        let class = self.class();
        let candidates = class.division().configurations();
        let ranked = |count| model.rank(device, count, |index| work(&class, candidates[index])).ok();
        // Most calls are small: they are not worth ranking.
        if ranked(1)?.best().microseconds < device.launch_floor_us as f32 + WORTH_US {
            return Some(candidates[0]);
        }
        let ranking = ranked(candidates.len())?;
        let (best, own) = (ranking.best(), ranking.all().iter().find(|it| it.index == 0)?);
        if own.microseconds - best.microseconds < (WORTH * own.microseconds).max(WORTH_US) {
            return Some(candidates[0]);
        }
        let close = ranking.all().iter().take_while(|it| it.microseconds <= (1.0 + CLOSE) * best.microseconds);
        close.map(|it| candidates[it.index as usize]).min_by_key(|it| difference(*it, candidates[0]))
    }
}

/// How far a configuration is from another one, lanes counting most.
fn difference(a: Pointwise, b: Pointwise) -> [u32; 3] {
    [(a.lanes, b.lanes), (a.words, b.words), (a.threads, b.threads)].map(|(a, b)| a.ilog2().abs_diff(b.ilog2()))
}
