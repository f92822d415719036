//! What is built ahead by default.

#[path = "../../../expr/tests/operations/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    reason = "what names rows and their absence is for the tests of expr"
)]
mod operations;
mod patterns;
mod pipelines;
mod reductions;
mod special;
mod table;

use rayon::prelude::*;
use std::collections::HashSet;
use tilewright_driver::{Keys, Source, TargetKind};
use tilewright_expr::DType;
use tilewright_ops::{Error, Item, Plan, Tensor};

/// A part of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum Suite {
    /// Operations and functions that take each element by itself: every one, of every element type.
    Functions,
    /// Sums, extremes, means, norms and scans along rows, columns and everything.
    Reductions,
    /// What reads neighbours and other places: filters, resizes, warps, colour spaces, transposition.
    Patterns,
    /// Whole pipelines: crops for a classifier, batches, frames of video.
    Pipelines,
}

impl Suite {
    /// All of them.
    pub const ALL: [Suite; 4] = [Suite::Functions, Suite::Reductions, Suite::Patterns, Suite::Pipelines];
}

/// Adds kernels of a suite.
type Part = Box<dyn Fn(&mut Entries) -> Result<(), Error> + Send + Sync>;

impl Suite {
    /// Its kernels, in parts that need nothing of each other.
    fn parts(self) -> Vec<Part> {
        let table = |dtypes: &[DType]| {
            let one = |dtype: &DType| -> Part {
                let dtype = *dtype;
                Box::new(move |entries| table::add(entries, self, dtype))
            };
            dtypes.iter().map(one).collect::<Vec<Part>>()
        };
        let more: Part = match self {
            Suite::Functions => Box::new(special::add),
            Suite::Reductions => Box::new(reductions::add),
            Suite::Patterns => Box::new(patterns::add),
            Suite::Pipelines => Box::new(pipelines::add),
        };
        let mut parts = match self {
            Suite::Functions => table(&DType::ALL),
            Suite::Patterns => table(&table::PICTURES),
            Suite::Reductions | Suite::Pipelines => Vec::new(),
        };
        parts.push(more);
        parts
    }
}

/// A kernel to be built.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The part that it belongs to; `None` for what a manifest names.
    pub suite: Option<Suite>,
    /// The operation or the pipeline: what its budget is found by.
    pub operation: String,
    /// Which of its kernels.
    pub variant: String,
    /// What the compiler is given.
    pub source: Source,
}

impl Entry {
    /// What it is called in tables.
    pub fn name(&self) -> String {
        format!("{} {}", self.operation, self.variant).trim_end().to_owned()
    }
}

/// Kernels to be built, each once.
#[derive(Debug, Default)]
pub struct Entries {
    list: Vec<Entry>,
    keys: HashSet<(Keys, TargetKind)>,
}

impl Entries {
    /// The kernels of these suites. All cores trace and print.
    pub fn standard(suites: &[Suite]) -> Result<Entries, Error> {
        let parts: Vec<Part> = suites.iter().flat_map(|suite| suite.parts()).collect();
        let each = parts.par_iter().map(|part| {
            let mut entries = Entries::default();
            part(&mut entries).map(|()| entries.list)
        });
        let mut all = Entries::default();
        each.collect::<Result<Vec<_>, Error>>()?.into_iter().flatten().for_each(|entry| all.add(entry));
        Ok(all)
    }

    /// All of them, in order.
    pub fn list(&self) -> &[Entry] {
        &self.list
    }

    /// Adds the kernels of a call, for all sizes: what models would choose for these, made up as they are, is for few others. Several are
    /// numbered.
    pub fn plan(&mut self, suite: Suite, (operation, variant): (&str, &str), plan: &Plan) -> Result<(), Error> {
        let sources = plan.of_own_configuration()?.sources()?;
        let several = sources.len() > 1;
        for (number, source) in sources.into_iter().enumerate() {
            let variant = if several { format!("{variant} #{}", number + 1) } else { variant.to_string() };
            self.add(Entry { suite: Some(suite), operation: operation.to_string(), variant, source });
        }
        Ok(())
    }

    /// Adds a kernel, unless it is there under another name.
    pub fn add(&mut self, entry: Entry) {
        if self.keys.insert((entry.source.keys(), entry.source.target)) {
            self.list.push(entry);
        }
    }
}

/// Elements of a tensor that counts as one of a GPU, every other one too: more than travel with a launch.
const MANY: usize = 1 << 18;

/// A tensor of zeros.
fn zeros<T: Item, L: tilewright_dims::Dims, const N: usize>(extents: [usize; N]) -> Result<Tensor<T, L>, Error> {
    Tensor::from_vec(extents, vec![T::default(); extents.iter().product()])
}
