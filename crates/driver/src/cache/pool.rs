//! Threads that compile ahead.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Mutex,
    thread,
};

use super::slots::locked;

type Job = Box<dyn FnOnce() + Send>;

/// One for the process: whatever is asked for by however many caches, no more threads than cores compile ahead.
static POOL: Mutex<Pool> = Mutex::new(Pool { jobs: VecDeque::new(), threads: 0 });

struct Pool {
    jobs: VecDeque<Job>,
    threads: usize,
}

/// Has the job done, in the order in which jobs come, by a thread that ends when there are no more. The process does not wait
/// for jobs at its end. A job that panics ends alone.
pub(super) fn run(job: Job) {
    let most = thread::available_parallelism().map_or(1, |cores| cores.get());
    {
        let mut pool = locked(&POOL);
        pool.jobs.push_back(job);
        if pool.threads >= most {
            return;
        }
        pool.threads += 1;
    }
    if let Err(error) = thread::Builder::new().name("tilewright-compile".into()).spawn(work) {
        tracing::debug!(%error, "no thread to compile ahead; compiling now");
        work();
    }
}

fn work() {
    while let Some(job) = next() {
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

/// The next job; when there is none the thread is counted out in the same moment, so that no job is left behind.
fn next() -> Option<Job> {
    let mut pool = locked(&POOL);
    let job = pool.jobs.pop_front();
    pool.threads -= usize::from(job.is_none());
    job
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
            mpsc,
        },
        time::Duration,
    };

    use super::*;

    #[test]
    fn all_jobs_are_done_by_few_threads() {
        let (sender, receiver) = mpsc::channel();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        for number in 0..100 {
            let (sender, now, most) = (sender.clone(), now.clone(), most.clone());
            run(Box::new(move || {
                most.fetch_max(1 + now.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
                thread::sleep(Duration::from_millis(1));
                now.fetch_sub(1, Ordering::SeqCst);
                sender.send(number).unwrap();
                assert!(number % 10 != 3, "some jobs panic");
            }));
        }
        let mut done: Vec<usize> = (0..100).map(|_| receiver.recv_timeout(Duration::from_secs(30)).unwrap()).collect();
        done.sort_unstable();
        assert_eq!(done, (0..100).collect::<Vec<_>>());
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
        assert!((1..=cores).contains(&most.load(Ordering::SeqCst)));
    }
}
