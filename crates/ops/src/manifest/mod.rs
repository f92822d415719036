//! Manifests: files of plans and of users' kernels, which a bundle is built from.
//!
//! A program prints the plans of its calls, or records them while it runs; a tool that knows none of its types reads the file and
//! emits the same sources. docs/build-ptx.md has the syntax.
//!
//! The file is TOML, read by the `toml` crate, of which the parser alone is compiled: three seconds of one core. So there is no feature
//! to switch it off, and no second form of this crate to test.

mod kernel;
mod place;
mod read;
mod recorder;
mod write;

use crate::ahead::Plan;
use crate::error::Error;
pub(crate) use kernel::OwnKernel;
pub(crate) use recorder::{recorder, unrecorded};
use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use tilewright_driver::Source;
use tilewright_expr::manifest::{FunctionText, functions, print_function};

/// Plans and users' kernels, each once, in the order in which they came.
///
/// ```
/// # use tilewright_dims::dims;
/// # use tilewright_expr::In;
/// # use tilewright_ops::{Manifest, Tensor, fuse};
/// # dims! { X }
/// let halve = fuse(|x: In<f32, (X,)>| (x * 0.5).store::<(X,)>());
/// let x = Tensor::<f32, (X,)>::from_vec([1 << 17], vec![1.0; 1 << 17])?;
/// let plan = halve.plan(&x)?;
/// let text = plan.manifest().to_string();
/// let read = Manifest::parse(&text, "kernels.toml")?;
/// assert_eq!(read.plans(), [plan.clone()]);
/// assert_eq!(read.sources()?, plan.sources()?);
/// # Ok::<(), tilewright_ops::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    plans: Vec<Plan>,
    kernels: Vec<OwnKernel>,
    /// The texts of all of them.
    texts: HashSet<String>,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// [`Error::ManifestFile`] if the file cannot be read; else those of [`Manifest::parse`], with its path.
    pub fn read(path: impl AsRef<Path>) -> Result<Manifest, Error> {
        read::file(path.as_ref())
    }

    /// Reads a manifest from its text; `name` is what messages call it.
    ///
    /// # Errors
    /// [`tilewright_expr::Error::Manifest`], with line and column: what is no TOML, has another schema, names what there is not, or
    /// does not fit together.
    pub fn parse(text: &str, name: &str) -> Result<Manifest, Error> {
        read::text(text, name)
    }

    /// The plans.
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }

    /// Adds a plan, unless it is there.
    pub fn add(&mut self, plan: Plan) {
        if self.texts.insert(plan_text(&plan)) {
            self.plans.push(plan);
        }
    }

    fn add_kernel(&mut self, kernel: OwnKernel) {
        if self.texts.insert(write::kernel(&kernel)) {
            self.kernels.push(kernel);
        }
    }

    /// Adds everything of another manifest that is not there.
    pub fn merge(&mut self, other: Manifest) {
        other.plans.into_iter().for_each(|plan| self.add(plan));
        other.kernels.into_iter().for_each(|kernel| self.add_kernel(kernel));
    }

    /// The sources of all plans, then those of all kernels, each once: of equal ones the first, whatever they are called.
    ///
    /// # Errors
    /// [`Error::Plan`] for what cannot be planned or emitted; what cannot be read as a kernel.
    pub fn sources(&self) -> Result<Vec<Source>, Error> {
        let mut sources = Vec::new();
        for plan in &self.plans {
            let named = |cause| Error::Plan { name: plan.name().into(), cause: Box::new(cause) };
            sources.extend(plan.sources().map_err(named)?);
        }
        for kernel in &self.kernels {
            sources.push(kernel.source()?);
        }
        let mut known = HashSet::new();
        sources.retain(|s| known.insert((s.text.clone(), s.options.clone(), s.target)));
        Ok(sources)
    }
}

impl From<Plan> for Manifest {
    fn from(plan: Plan) -> Manifest {
        let mut manifest = Manifest::default();
        manifest.add(plan);
        manifest
    }
}

/// The text, which [`Manifest::parse`] reads.
impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&write::head())?;
        let mut known = HashSet::new();
        for function in self.plans.iter().flat_map(functions_of) {
            if known.insert(function.id.clone()) {
                f.write_str(&write::function(&function))?;
            }
        }
        self.plans.iter().try_for_each(|plan| f.write_str(&plan_text(plan)))?;
        self.kernels.iter().try_for_each(|kernel| f.write_str(&write::kernel(kernel)))
    }
}

/// The functions that a plan calls, callees first.
fn functions_of(plan: &Plan) -> impl Iterator<Item = FunctionText> + '_ {
    functions(&plan.graph).flat_map(print_function)
}

fn plan_text(plan: &Plan) -> String {
    write::plan(plan.name(), &plan.text(), plan.configuration)
}
