//! Kernels are compiled on all cores, in the order in which they are timed, while others are.

use super::plan::{Choice, Group};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Instant;
use tilewright_ops::Gpu;
use tilewright_ops::conv::{Multiprocessor, Pass, Problem};

/// What is compiled: group, problem, pass, configuration.
type Job = (usize, Problem, Pass, Choice);

/// The threads, and what came of their work.
#[derive(Debug)]
pub struct Compiling {
    done: Receiver<(usize, Choice, bool)>,
    compiled: Vec<Vec<Choice>>,
    missing: Vec<usize>,
    next: Arc<AtomicUsize>,
    threads: Vec<JoinHandle<()>>,
}

impl Compiling {
    /// Starts so many threads, which stop at the deadline.
    pub fn start(groups: &[Group], gpu: &Gpu, threads: usize, deadline: Instant) -> Self {
        let jobs: Arc<Vec<Job>> = Arc::new(
            groups
                .iter()
                .enumerate()
                .flat_map(|(at, group)| group.configs.iter().map(move |it| (at, group.problem, group.pass, *it)))
                .collect(),
        );
        let (sender, done) = channel();
        let next = Arc::new(AtomicUsize::new(0));
        let (arch, sm) = (gpu.device().arch(), Multiprocessor::of(gpu));
        let work = || {
            let (jobs, next, sender) = (jobs.clone(), next.clone(), sender.clone());
            std::thread::spawn(move || {
                while let Some((group, problem, pass, config)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if Instant::now() > deadline {
                        return;
                    }
                    let compiled = config.compile(problem, *pass, sm, arch);
                    if let Err(error) = &compiled {
                        eprintln!("{problem:?} {config:?}: {error}");
                    }
                    if sender.send((*group, *config, compiled.is_ok())).is_err() {
                        return;
                    }
                }
            })
        };
        let threads = (0..threads).map(|_| work()).collect();
        let missing = groups.iter().map(|group| group.configs.len()).collect();
        Self { done, compiled: vec![Vec::new(); groups.len()], missing, next, threads }
    }

    /// The configurations of a group that compiled: all, unless the time is over before.
    pub fn wait(&mut self, group: usize) -> Vec<Choice> {
        while self.missing[group] > 0 {
            // The threads' ends of the channel are gone when the last of them stops.
            let Ok((of, config, sound)) = self.done.recv() else { break };
            self.missing[of] -= 1;
            if sound {
                self.compiled[of].push(config);
            }
        }
        std::mem::take(&mut self.compiled[group])
    }

    /// Ends the threads, each after what it compiles.
    pub fn stop(self) {
        self.next.store(usize::MAX / 2, Ordering::Relaxed);
        drop(self.done);
        self.threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}
