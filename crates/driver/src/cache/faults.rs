//! Every step on the file system that a cache takes fails, at each place, with each error that file systems have for it.

use std::{
    collections::HashSet,
    io,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use rustix::io::Errno;

use super::{Bundle, CacheFolder, KernelCache, Statistics};
use crate::{Arch, Compiled, Source, TargetKind, folder::Step};

const ARCH: Arch = Arch::new(1, 0);
const ERRORS: [Errno; 12] = [
    Errno::NOENT,
    Errno::ACCESS,
    Errno::PERM,
    Errno::STALE,
    Errno::BUSY,
    Errno::IO,
    Errno::NOSPC,
    Errno::DQUOT,
    Errno::ROFS,
    Errno::MFILE,
    Errno::NOMEM,
    Errno::TIMEDOUT,
];

fn source(number: usize) -> Source {
    Source { text: format!("kernel {number}"), ..Source::default() }
}

fn kernel(number: usize) -> Compiled {
    Compiled {
        name: String::new(),
        arch: ARCH,
        target: TargetKind::Plain,
        compiler: (13, 0),
        kernels: vec![],
        log: String::new(),
        image: vec![number as u8; 1000],
    }
}

/// A cache on this folder whose steps end as `fault` says.
fn cache(path: &Path, limit: u64, fault: impl Fn(Step) -> io::Result<()> + Send + Sync + 'static) -> KernelCache {
    let mut folder = CacheFolder::open(path).unwrap().with_limit(Some(limit));
    folder.folder.fault = Some(Box::new(fault));
    KernelCache::in_folder(folder)
}

fn sound(path: &Path) -> KernelCache {
    cache(path, u64::MAX, |_| Ok(()))
}

/// Reads two kernels, writes three, evicts, and lists: with each right kernel or none.
fn work(cache: &KernelCache) {
    for number in 0..2 {
        if let Some((found, _)) = cache.find(&source(number), ARCH) {
            assert_eq!(*found, kernel(number));
        }
    }
    (2..5).for_each(|number| cache.put(&source(number), kernel(number)));
    for number in 2..5 {
        let (found, _) = cache.get(&source(number), ARCH).expect("what this process has it does not lose");
        assert_eq!(*found, kernel(number));
    }
    let folder = cache.0.folder.as_ref().unwrap();
    let _ = (folder.evict(), folder.statistics(), folder.is_empty());
    let _ = folder.pack(folder.path().with_extension("twb"), &mut |_| {});
    let _ = folder.clear(&mut |_, _| {});
}

/// A folder with two kernels that were used days ago, and something that a killed process left.
fn fill(path: &Path) {
    let cache = sound(path);
    let old = SystemTime::now() - Duration::from_secs(72 * 3600);
    (0..2).for_each(|number| cache.put(&source(number), kernel(number)));
    std::fs::write(path.join(".1-2.tmp"), "half").unwrap();
    for entry in std::fs::read_dir(path).unwrap() {
        std::fs::File::open(entry.unwrap().path()).unwrap().set_modified(old).unwrap();
    }
}

#[test]
fn each_error_at_each_step() {
    let root = tempfile::tempdir().unwrap();
    let steps = count_steps(&root.path().join("counted"));
    assert!(steps > 40, "{steps}");
    for nth in 0..steps {
        // All errors at all steps would be the same test many times: what a step does with one does not depend on its place.
        for error in ERRORS.into_iter().skip(nth % 3).step_by(3) {
            let path = root.path().join(format!("{nth} {error:?}"));
            fill(&path);
            let count = AtomicUsize::new(0);
            let once = move |_| match count.fetch_add(1, Ordering::Relaxed) == nth {
                true => Err(error.into()),
                false => Ok(()),
            };
            work(&cache(&path, 3000, once));
            after(&path);
        }
    }
}

/// How many steps the work has; all kinds are among them.
fn count_steps(path: &Path) -> usize {
    fill(path);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = {
        let seen = seen.clone();
        move |step| {
            seen.lock().unwrap().push(step);
            Ok(())
        }
    };
    work(&cache(path, 3000, note));
    let seen = seen.lock().unwrap();
    use Step::*;
    let kinds: HashSet<Step> = [Open, Stat, Read, Touch, Create, Write, Rename, Remove, List, Lock].into();
    assert_eq!(seen.iter().copied().collect::<HashSet<_>>(), kinds);
    seen.len()
}

/// What is left can be used, or is missed: no kernel is another, and a sound process goes on.
fn after(path: &Path) {
    let cache = sound(path);
    for number in 0..5 {
        if let Some((found, _)) = cache.find(&source(number), ARCH) {
            assert_eq!(*found, kernel(number));
        }
        cache.put(&source(number), kernel(number));
    }
    let folder = CacheFolder::open(path).unwrap();
    let statistics = folder.statistics().unwrap();
    assert_eq!((statistics.entries, statistics.unusable), (5, 0));
}

#[test]
fn each_kind_of_step_failing_for_good() {
    use Step::*;
    for error in ERRORS {
        for kind in [Open, Stat, Read, Touch, Create, Write, Rename, Remove, List, Lock] {
            let root = tempfile::tempdir().unwrap();
            let path = root.path().join("kernels");
            fill(&path);
            let cache = cache(&path, 3000, move |step| if step == kind { Err(error.into()) } else { Ok(()) });
            work(&cache);
            let counted = cache.statistics();
            let absent = error == Errno::NOENT;
            let unreadable = if matches!(kind, Open | Stat | Read) { 2 } else { 0 };
            let expected = Statistics {
                disk: 2 - unreadable,
                misses: unreadable,
                unusable: if absent { 0 } else { unreadable },
                memory: 3,
                dropped_writes: if matches!(kind, Create | Write | Rename) { 3 } else { 0 },
                evictions: counted.evictions,
                ..Statistics::default()
            };
            assert_eq!(counted, expected, "{kind:?} {error:?}");
            after(&path);
        }
    }
}

#[test]
fn a_failed_write_leaves_nothing() {
    for kind in [Step::Write, Step::Rename] {
        let root = tempfile::tempdir().unwrap();
        let full = move |step| if step == kind { Err(Errno::NOSPC.into()) } else { Ok(()) };
        let cache = cache(root.path(), u64::MAX, full);
        cache.put(&source(0), kernel(0));
        assert_eq!(cache.statistics().dropped_writes, 1);
        let left: Vec<_> = std::fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| name == ".evict"), "{left:?}");
    }
}

#[test]
fn an_entry_that_is_cut_while_it_is_read() {
    let root = tempfile::tempdir().unwrap();
    sound(root.path()).put(&source(0), kernel(0));
    let file = root.path().join(super::entry::file_name(&source(0).key(ARCH)));
    let cut = {
        let file = file.clone();
        move |step| match step {
            // Between the look at its size and the read.
            Step::Read => std::fs::File::options().write(true).open(&file)?.set_len(100),
            _ => Ok(()),
        }
    };
    let cache = cache(root.path(), u64::MAX, cut);
    assert!(cache.find(&source(0), ARCH).is_none());
    assert_eq!(cache.statistics().unusable, 1);
}

#[test]
fn each_step_of_writing_a_bundle() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("kernels.twb");
    let kernels = |from| (from..from + 3).map(|number| (source(number).key(ARCH), kernel(number)));
    let left = || std::fs::read_dir(root.path()).unwrap().count();
    let seen = Mutex::new(Vec::new());
    Bundle::write_in(&path, kernels(0), &|step| {
        seen.lock().unwrap().push(step);
        Ok(())
    })
    .unwrap();
    let seen = seen.into_inner().unwrap();
    use Step::*;
    assert_eq!(seen.iter().copied().collect::<HashSet<_>>(), [List, Create, Write, Sync, Read, Rename].into());
    for (nth, error) in (0..seen.len()).flat_map(|nth| ERRORS.map(|error| (nth, error))) {
        let count = AtomicUsize::new(0);
        let written =
            Bundle::write_in(&path, kernels(nth + 1), &|_| match count.fetch_add(1, Ordering::Relaxed) == nth {
                true => Err(error.into()),
                false => Ok(()),
            });
        // What cannot be listed is not cleaned; all else leaves the old bundle.
        assert_eq!(written.is_ok(), seen[nth] == List, "{:?} {error:?}", seen[nth]);
        let bundle = Bundle::open(&path).unwrap();
        bundle.check().unwrap();
        assert!(
            kernels(if written.is_ok() { nth + 1 } else { 0 }).all(|(key, kernel)| bundle.get(&key) == Some(kernel))
        );
        assert_eq!(left(), 1, "nothing half-written stays");
        Bundle::write(&path, kernels(0)).unwrap();
    }
    // What cannot be removed either is left, and is no bundle's name.
    let never = |step| if matches!(step, Sync | Remove) { Err(Errno::IO.into()) } else { Ok(()) };
    assert!(Bundle::write_in(&path, kernels(5), &never).is_err());
    assert_eq!((left(), Bundle::open(&path).unwrap().len()), (2, 3));
}

#[test]
fn a_panic_in_the_background_keeps_nobody_waiting() {
    let root = tempfile::tempdir().unwrap();
    sound(root.path()).put(&source(0), kernel(0));
    let first = AtomicUsize::new(0);
    let cache = cache(root.path(), u64::MAX, move |step| {
        assert!(step != Step::Open || first.fetch_add(1, Ordering::SeqCst) > 0, "on purpose");
        Ok(())
    });
    assert_eq!(*cache.prefetch(source(0), ARCH).wait().unwrap().0, kernel(0));
}

#[test]
fn hosts_that_count_processes_alike() {
    let root = tempfile::tempdir().unwrap();
    // This process writes as three hosts at once, under the names that those give to its number.
    let host = |name: &str| {
        let mut folder = CacheFolder::open(root.path()).unwrap();
        folder.folder.host = name.into();
        KernelCache::in_folder(folder)
    };
    let hosts = [host("a"), host("b"), host("a")];
    std::thread::scope(|scope| {
        for cache in &hosts {
            scope.spawn(|| (0..200).for_each(|round| cache.put(&source(round % 3), kernel(round % 3))));
        }
    });
    assert!(hosts.iter().all(|host| host.statistics().dropped_writes == 0));
    let statistics = CacheFolder::open(root.path()).unwrap().statistics().unwrap();
    assert_eq!((statistics.entries, statistics.unusable, statistics.temporaries), (3, 0, 0));
}
