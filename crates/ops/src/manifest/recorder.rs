//! Recording: what a process needs on a GPU is appended to the manifest that `TILEWRIGHT_RECORD` names.
//!
//! Any number of threads and processes may record into one file. Each appends whole tables, in one write and under a lock of the file,
//! so that none stands inside another; what is there twice is read once. A process that is killed inside a write may leave a cut-off
//! table at the end of the file.

use super::kernel::OwnKernel;
use super::{functions_of, plan_text, write};
use crate::ahead::Plan;
use std::cell::Cell;
use std::collections::HashSet;
use std::fs::OpenOptions;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The environment variable that names the file.
const VARIABLE: &str = "TILEWRIGHT_RECORD";

thread_local! {
    /// Whether what this thread plans is nobody's call.
    static UNRECORDED: Cell<bool> = const { Cell::new(false) };
}

/// Does `work` on a thread of its own, of which nothing is recorded: no plan for the file, no launch of the caller.
pub(crate) fn unrecorded<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let apart = || {
        UNRECORDED.set(true);
        work()
    };
    std::thread::scope(|scope| match scope.spawn(apart).join() {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// The recorder of this process, if it records, for what this thread calls. The environment is looked at once.
pub(crate) fn recorder() -> Option<&'static Recorder> {
    if UNRECORDED.get() {
        return None;
    }
    static RECORDER: OnceLock<Option<Recorder>> = OnceLock::new();
    let of = |path: std::ffi::OsString| (!path.is_empty()).then(|| Recorder::new(Path::new(&path)));
    RECORDER.get_or_init(|| std::env::var_os(VARIABLE).and_then(of)).as_ref()
}

/// What appends tables to a file.
pub(crate) struct Recorder {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Hashes of the tables that were written.
    written: HashSet<u64>,
    /// Whether the file could not be written: that is said once.
    failed: bool,
}

impl Recorder {
    fn new(path: &Path) -> Recorder {
        Recorder { path: path.into(), state: Mutex::default() }
    }

    /// Records the plan of a call.
    pub(crate) fn plan(&self, plan: &Plan) {
        let mut tables: Vec<String> = functions_of(plan).map(|function| write::function(&function)).collect();
        tables.push(plan_text(plan));
        self.record(tables);
    }

    /// Records a user's kernel.
    pub(crate) fn kernel(&self, kernel: &OwnKernel) {
        self.record(vec![write::kernel(kernel)]);
    }

    fn record(&self, tables: Vec<String>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = |table: &String| {
            let mut hasher = DefaultHasher::new();
            table.hash(&mut hasher);
            hasher.finish()
        };
        let new: String = tables.into_iter().filter(|table| state.written.insert(hash(table))).collect();
        if new.is_empty() {
            return;
        }
        if let Err(error) = append(&self.path, &new)
            && !std::mem::replace(&mut state.failed, true)
        {
            tracing::warn!(path = %self.path.display(), %error, "plans cannot be recorded");
        }
    }
}

/// Appends tables, behind the first lines of a manifest where the file is new.
fn append(path: &Path, tables: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.lock()?;
    let text = if file.metadata()?.len() == 0 { write::head() + tables } else { tables.to_string() };
    file.write_all(text.as_bytes())?;
    file.unlock()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Manifest, Tensor, fuse};
    use tilewright_dims::dims;
    use tilewright_expr::In;
    use tilewright_expr::extend::scalar_fn;

    dims! { X }

    #[scalar_fn]
    fn twice_and_one(x: f32) -> f32 {
        x * 2.0 + 1.0
    }

    fn plans() -> Vec<Plan> {
        let of = |n: usize| {
            let x = Tensor::<f32, (X,)>::from_vec([n], vec![0.0; n]).unwrap();
            let all = [
                fuse(|x: In<f32, (X,)>| (x + 1.0).store::<(X,)>()).plan(&x),
                fuse(|x: In<f32, (X,)>| (twice_and_one::of(x)).store::<(X,)>()).plan(&x),
            ];
            all.map(Result::unwrap)
        };
        (1..9).map(|n| n * 100_000).flat_map(of).collect()
    }

    /// Each of several recorders stands for a process, and is used by several threads.
    #[test]
    fn several_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kernels.toml");
        let recorders = [(); 4].map(|()| Recorder::new(&path));
        let plans = plans();
        std::thread::scope(|scope| {
            for (number, recorder) in recorders.iter().flat_map(|r| [r, r]).enumerate() {
                let plans = &plans;
                scope.spawn(move || {
                    let mut turned = plans.clone();
                    turned.rotate_left(number * 3 % plans.len());
                    turned.iter().chain(plans).for_each(|plan| recorder.plan(plan));
                });
            }
        });
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("[[plan]]").count(), 4 * plans.len(), "each recorder writes each plan once");
        assert_eq!(text.matches("schema = ").count(), 1);
        let manifest = Manifest::read(&path).unwrap();
        assert_eq!(manifest.plans().len(), plans.len());
        assert!(plans.iter().all(|plan| manifest.plans().contains(plan)));
    }

    /// A file that cannot be written costs nothing but the records.
    #[test]
    fn a_folder_that_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = Recorder::new(&folder.path().join("absent").join("kernels.toml"));
        plans().iter().for_each(|plan| recorder.plan(plan));
        assert!(recorder.state.lock().unwrap().failed);
    }
}
