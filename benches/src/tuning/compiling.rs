//! Kernels are compiled on all cores, in the order in which they are timed, while others are.

use super::grouped::{For, Grouped};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Instant;

/// The threads, and what came of their work.
#[derive(Debug)]
pub struct Compiling<C> {
    done: Receiver<(usize, C, bool)>,
    compiled: Vec<Vec<C>>,
    missing: Vec<usize>,
    next: Arc<AtomicUsize>,
    threads: Vec<JoinHandle<()>>,
}

impl<C: Copy + Debug + Send + Sync + 'static> Compiling<C> {
    /// Starts so many threads, which stop at the deadline.
    pub fn start<G: Grouped<Config = C>>(groups: &Arc<Vec<G>>, on: For, threads: usize, deadline: Instant) -> Self {
        let jobs = groups.iter().enumerate().flat_map(|(at, group)| group.configs().iter().map(move |it| (at, *it)));
        let jobs: Arc<Vec<(usize, C)>> = Arc::new(jobs.collect());
        let (sender, done) = channel();
        let next = Arc::new(AtomicUsize::new(0));
        let work = || {
            let (jobs, groups, next, sender) = (jobs.clone(), groups.clone(), next.clone(), sender.clone());
            std::thread::spawn(move || {
                while let Some((at, config)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if Instant::now() > deadline {
                        return;
                    }
                    let compiled = groups[*at].compile(*config, on);
                    if let Err(error) = &compiled {
                        eprintln!("{} {config:?}: {error}", groups[*at].name());
                    }
                    if sender.send((*at, *config, compiled.is_ok())).is_err() {
                        return;
                    }
                }
            })
        };
        let threads = (0..threads).map(|_| work()).collect();
        let missing = groups.iter().map(|group| group.configs().len()).collect();
        Self { done, compiled: groups.iter().map(|_| Vec::new()).collect(), missing, next, threads }
    }

    /// The configurations of a group that compiled: all, unless the time is over before.
    pub fn wait(&mut self, group: usize) -> Vec<C> {
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
