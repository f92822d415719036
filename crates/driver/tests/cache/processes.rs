//! Many processes on one folder, some of them killed.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::{Duration, Instant, SystemTime},
};

use tilewright_driver::{CacheFolder, KernelCache, Origin};

use super::{ARCH, compiled, entries, is_disk_hit, source};
use crate::child;

#[test]
fn thirty_two_processes() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("kernels");
    let spawn = |_| {
        let mut command = child::command("crowd");
        command.env("FOLDER", &folder).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..32).map(spawn).collect();
    children.into_iter().for_each(|child| child::check(&child.wait_with_output().unwrap()));
    assert_eq!(entries(&folder).len(), 12, "one file for each kernel, no temporary ones");
}

pub(crate) fn child_crowd() {
    let folder = PathBuf::from(child::argument("FOLDER"));
    for round in 0..3 {
        for kernel in 0..12 {
            let text = format!("kernel {kernel}");
            if round > 0 {
                assert!(is_disk_hit(&folder, &text, 40_000 + kernel), "{text} was there and is whole");
            }
            KernelCache::open(&folder).put(&source(&text), compiled(&text, 40_000 + kernel));
        }
    }
}

/// Kernels that the processes below fight for.
const KERNELS: usize = 50;
/// Less than those have together, so that they are evicted all the time too.
const LIMIT: u64 = 600_000;
/// A child whose parent is gone ends by itself.
const LONGEST: Duration = Duration::from_secs(60);
const SIGKILL: i32 = 9;

/// Pseudo-random numbers below `bound`.
fn random(state: &mut u64, bound: usize) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state % bound as u64) as usize
}

#[test]
fn killed_at_random() {
    let root = tempfile::tempdir().unwrap();
    let (folder, stop) = (root.path().join("kernels"), root.path().join("stop"));
    let spawn = |number: usize| {
        let mut command = child::command("hammer");
        command.env("FOLDER", &folder).env("STOP", &stop).env("SEED", (number + 1).to_string());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut children: Vec<Child> = (0..16).map(spawn).collect();
    let (mut state, mut killed) = (0x9e37_79b9_7f4a_7c15, 0);
    let until = Instant::now() + Duration::from_secs(3);
    // At least some, however busy the machine is.
    while Instant::now() < until || killed < 12 {
        std::thread::sleep(Duration::from_millis(5 + random(&mut state, 40) as u64));
        let victim = random(&mut state, children.len());
        let mut victim = std::mem::replace(&mut children[victim], spawn(16 + killed));
        victim.kill().unwrap();
        let output = victim.wait_with_output().unwrap();
        if output.status.signal() != Some(SIGKILL) {
            child::check(&output);
        }
        killed += 1;
    }
    fs::write(&stop, "").unwrap();
    children.into_iter().for_each(|child| child::check(&child.wait_with_output().unwrap()));
    after_the_killing(&folder);
}

/// Every entry that is left is whole, and what killed writers left goes when it is old.
fn after_the_killing(path: &Path) {
    let folder = CacheFolder::open(path).unwrap();
    let statistics = folder.statistics().unwrap();
    assert!((1..=KERNELS as u64).contains(&statistics.entries) && statistics.unusable == 0, "{statistics:?}");
    assert_eq!(entries(path).len() as u64, statistics.entries + statistics.temporaries, "nothing else lies here");
    let cache = KernelCache::open(path);
    let found = (0..KERNELS).filter(|number| read_is_right(&cache, *number)).count();
    assert_eq!(found as u64, statistics.entries);
    let old = SystemTime::now() - Duration::from_secs(2 * 3600);
    for file in entries(path).iter().filter(|file| file.extension().is_some_and(|extension| extension == "tmp")) {
        fs::File::open(file).unwrap().set_modified(old).unwrap();
    }
    folder.evict().unwrap();
    assert_eq!(folder.statistics().unwrap().temporaries, 0);
}

/// Whether the folder has this kernel, which must be this one.
fn read_is_right(cache: &KernelCache, number: usize) -> bool {
    let text = format!("kernel {number}");
    let Some((found, origin)) = cache.find(&source(&text), ARCH) else { return false };
    assert_eq!((&*found, origin), (&compiled(&text, 20_000 + number), Origin::Disk));
    true
}

pub(crate) fn child_hammer() {
    let (folder, stop) = (PathBuf::from(child::argument("FOLDER")), PathBuf::from(child::argument("STOP")));
    let seed: u64 = child::argument("SEED").parse().unwrap();
    let one = |thread: u64| {
        let mut state = (seed << 8) + thread + 1;
        let open = || KernelCache::in_folder(CacheFolder::open(&folder).unwrap().with_limit(Some(LIMIT)));
        // One that puts all the time, so that it evicts; and one made anew for each read, so that it reads the disk.
        let (writer, begin) = (open(), Instant::now());
        while !stop.exists() && begin.elapsed() < LONGEST {
            // Without a pause 128 threads would keep their parent from killing.
            std::thread::sleep(Duration::from_micros(random(&mut state, 20_000) as u64));
            let number = random(&mut state, KERNELS);
            if random(&mut state, 3) == 0 {
                let text = format!("kernel {number}");
                writer.put(&source(&text), compiled(&text, 20_000 + number));
            } else {
                read_is_right(&open(), number);
            }
        }
        let counted = writer.statistics();
        assert_eq!((counted.dropped_writes, counted.unusable), (0, 0));
    };
    std::thread::scope(|scope| (0..8).for_each(|thread| drop(scope.spawn(move || one(thread)))));
}
