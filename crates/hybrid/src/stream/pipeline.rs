//! What all streams go through: memory is filled, copied, computed with, copied back and emptied at the same time.
//!
//! *Readers* fill slots of host memory, each one of its own. The caller's thread *feeds* the device: it takes the slots in order, queues their
//! copies, and what is computed behind them. One thread queues the copies back, and *writers* end them, each a slot of its own. Memory goes
//! round: who is done with it hands it back, and looking into host memory waits for its copy. So nobody waits for more than the next
//! thing to do, and no thread for others at every slot.

use super::engine::{Engine, Finish, Queue};
pub(super) use super::flow::{Back, Flow, backwards};
use super::stages::{Stages, facts};
use super::staging::Staging;
use super::turns::{InTurn, Shared, Stop, Turns, filled_with};
use crate::Error;
use crate::dispatch::Stage;
use crate::raw::from_now_on_past_caches;
use crate::store::Tile;
use serde_json::Value;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, ScopedJoinHandle};
use tilewright_driver::{PinnedBytes, PinnedRows};

/// Memory of the device that work which is queued may use: when it is dropped, all of that is waited for.
pub(super) struct Held<'a, T, E: Engine<T>, M> {
    memory: M,
    engine: &'a E,
    element: PhantomData<fn() -> T>,
}

impl<'a, T, E: Engine<T>, M> Held<'a, T, E, M> {
    pub(super) fn new(engine: &'a E, memory: M) -> Self {
        Held { memory, engine, element: PhantomData }
    }
}

impl<T, E: Engine<T>, M> Deref for Held<'_, T, E, M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.memory
    }
}

impl<T, E: Engine<T>, M> DerefMut for Held<'_, T, E, M> {
    fn deref_mut(&mut self) -> &mut M {
        &mut self.memory
    }
}

impl<T, E: Engine<T>, M> Drop for Held<'_, T, E, M> {
    fn drop(&mut self) {
        self.engine.finish();
    }
}

/// Results in one memory, each computed behind its mark.
struct Computed<'a, T, E: Engine<T>, F: Flow<T, E>> {
    results: Vec<(F::Results, E::Mark)>,
    memory: Held<'a, T, E, F::Memory>,
}

/// Memory that is free, once the copies behind the mark have left it.
type Free<'a, T, E, F> = (Held<'a, T, E, <F as Flow<T, E>>::Memory>, Option<<E as Engine<T>>::Mark>);

/// Results in host memory, or on their way there.
struct Landing<H, P> {
    host: H,
    part: P,
}

type Landings<T, E, F> = Shared<Landing<<E as Engine<T>>::Host, <F as Flow<T, E>>::Part>>;

/// The feeder's ends of a pipeline.
pub(super) struct Feed<'a, T, E: Engine<T>, F: Flow<T, E>> {
    engine: &'a E,
    stages: Arc<Stages<'a, T, E>>,
    /// Pieces that were copied.
    brought: usize,
    filled: InTurn<E::Host>,
    emptied: Sender<E::Host>,
    free: Receiver<Free<'a, T, E, F>>,
    computed: Sender<Computed<'a, T, E, F>>,
    writers: Arc<Landings<T, E, F>>,
}

impl<'a, T, E: Engine<T>, F: Flow<T, E>> Feed<'a, T, E, F> {
    /// Queues the copy of the next slot, of so many elements, to a place in a buffer.
    pub(super) fn bring(&mut self, elements: usize, to: &mut E::Buffer, at: usize) -> Result<(), Stop> {
        if self.writers.has_failed() {
            return Err(Stop::Elsewhere);
        }
        let host = self.filled.next()?;
        self.stages.copies_in(self.brought, || self.engine.bring(&host, elements, to, at))?;
        self.brought += 1;
        Ok(self.emptied.send(host)?)
    }

    /// Queues a copy of the rows of a tile, which need no slot, to an element of a buffer and those behind it.
    pub(super) fn bring_rows(
        &mut self,
        rows: (PinnedBytes<'_>, &PinnedRows),
        tile: &Tile,
        (to, at): (&mut E::Buffer, usize),
    ) -> Result<(), Stop> {
        if self.writers.has_failed() {
            return Err(Stop::Elsewhere);
        }
        let bring = || self.engine.bring_rows(rows, to, at);
        Ok(self.stages.on_the_device(Stage::CopyIn, |()| Some(facts(tile)), bring)?)
    }

    /// Queues something that is computed.
    pub(super) fn compute<R, X: From<Error>>(
        &self,
        facts: impl FnOnce() -> Value,
        work: impl FnOnce() -> Result<R, X>,
    ) -> Result<R, X> {
        self.stages.on_the_device(Stage::Compute, |_| Some(facts()), work)
    }

    /// The same for who cannot spare this meanwhile.
    pub(super) fn stages(&self) -> Arc<Stages<'a, T, E>> {
        self.stages.clone()
    }

    /// Memory for results, with what has to be waited for before something else is written there.
    pub(super) fn take(&self) -> Result<Free<'a, T, E, F>, Stop> {
        Ok(self.free.recv()?)
    }

    /// The same; a queue waits for it.
    pub(super) fn take_for(&self, queue: Queue) -> Result<Held<'a, T, E, F::Memory>, Stop> {
        let (memory, left) = self.take()?;
        left.map_or(Ok(()), |left| self.engine.wait(queue, &left))?;
        Ok(memory)
    }

    /// Has results, which are queued, go back.
    pub(super) fn give(&self, results: F::Results, memory: Held<'a, T, E, F::Memory>) -> Result<(), Stop> {
        let done = self.engine.mark(Queue::Compute)?;
        self.give_one_by_one(vec![(results, done)], memory)
    }

    /// The same of several in one memory, each as soon as its mark has come to pass.
    pub(super) fn give_one_by_one(
        &self,
        results: Vec<(F::Results, E::Mark)>,
        memory: Held<'a, T, E, F::Memory>,
    ) -> Result<(), Stop> {
        Ok(self.computed.send(Computed { results, memory })?)
    }
}

/// Runs it all. Memory that `feed` computes with is not used any more when this returns. Whoever fails first says why.
pub(super) fn run<'e, T, E: Engine<T>, F: Flow<T, E>, R>(
    engine: &'e E,
    flow: &F,
    staging: Staging,
    results: Vec<F::Memory>,
    feed: impl FnOnce(&mut Feed<'e, T, E, F>) -> Result<R, Stop>,
) -> Result<R, Error> {
    let threads = staging.threads.max(1);
    let host = || engine.host(staging.elements, staging.is_locked);
    let first = |slots: usize| (slots > 0).then(host).transpose();
    let (emptied, to_fill) = filled_with(first(staging.slots)?);
    let numbered = flow.pieces().enumerate().map(|(number, piece)| piece.map(|piece| (number, piece)));
    let (readers, filled) = Turns::new(numbered, to_fill);
    // Who asks for a piece where nothing goes through slots does not wait for ever.
    let readers = (staging.slots > 0).then_some(readers);
    let (landed, hosts) = filled_with(first(staging.slots_back)?);
    let (given_back, free) = filled_with(results.into_iter().map(|memory| (Held::new(engine, memory), None)));
    let (computed, to_take_back) = channel();
    let (landing, to_write) = channel();
    let writers: Arc<Landings<T, E, F>> = Arc::new(Shared::new(to_write));
    let stages = Arc::new(Stages::begin(engine)?);
    let _finish = Finish::at_the_end(engine);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        // The other slots, while the first ones are in use.
        let ways = [(staging.slots, emptied.clone()), (staging.slots_back, landed.clone())];
        let has_others = staging.slots.max(staging.slots_back) > 1;
        let locking = has_others.then(|| scope.spawn(|| lock_others(ways, &is_over, host)));
        for worker in 0..threads.min(staging.slots) {
            let (Some(readers), stages) = (&readers, stages.clone()) else { break };
            scope.spawn(move || {
                if staging.is_locked {
                    from_now_on_past_caches();
                }
                readers.take_part(|(number, piece), host| {
                    let facts = stages.piece(number, || flow.facts_of_piece(&piece));
                    stages.on_the_host((Stage::Read, worker), || facts, host, |host| flow.read(piece, host))
                });
            });
        }
        let writing: Vec<_> = (0..threads.min(staging.slots_back))
            .map(|worker| {
                let (landed, writers, stages) = (landed.clone(), writers.clone(), stages.clone());
                scope.spawn(move || {
                    if staging.is_locked {
                        from_now_on_past_caches();
                    }
                    write(flow, &writers, &landed, (&stages, worker))
                })
            })
            .collect();
        drop(landed);
        let of_copies = stages.clone();
        let taking = scope.spawn(move || {
            let under_way = UnderWay { stop: Some(&|| flow.stop()) };
            let mut landed = Vec::new();
            let ends =
                TakingBack { engine, stages: of_copies, computed: to_take_back, free: given_back, hosts, landing };
            Stop::into_result(under_way.ended(ends.run(flow, &mut landed))).map(|()| landed)
        });
        let mut ends = Feed { engine, stages: stages.clone(), brought: 0, filled, emptied, free, computed, writers };
        let fed = UnderWay { stop: Some(&|| flow.stop()) }.ended(feed(&mut ends));
        // The others end when nothing more can come.
        is_over.store(true, Ordering::Relaxed);
        drop(ends);
        let landed = joined(taking);
        let written = writing.into_iter().chain(locking).map(joined).fold(Ok(()), Result::and);
        let others = landed.and_then(|landed| written.map(|()| landed));
        match fed {
            Err(Stop::Here(error)) => Err(error),
            Err(Stop::Elsewhere) => {
                Err(others.err().unwrap_or_else(|| unreachable!("a thread that ends early says why, or panics")))
            }
            Ok(found) => {
                let landed = others?;
                engine.outcome()?;
                stages.end()?;
                landed.iter().for_each(|part| flow.landed(part));
                Ok(found)
            }
        }
    })
}

/// Has all slots made but the first of each way, in turns, until nobody wants any more.
fn lock_others<H>(
    ways: [(usize, Sender<H>); 2],
    is_over: &AtomicBool,
    host: impl Fn() -> Result<H, Error>,
) -> Result<(), Error> {
    let most = ways.iter().map(|(slots, _)| *slots).max().unwrap_or(0);
    for number in 1..most {
        for (_, way) in ways.iter().filter(|(slots, _)| number < *slots) {
            if is_over.load(Ordering::Relaxed) || way.send(host()?).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn joined<R>(thread: ScopedJoinHandle<'_, R>) -> R {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A thread under way: if it ends early, or panics, nobody waits for what it would have done.
struct UnderWay<'a> {
    stop: Option<&'a dyn Fn()>,
}

impl UnderWay<'_> {
    fn ended<R, X>(mut self, result: Result<R, X>) -> Result<R, X> {
        if result.is_ok() {
            self.stop = None;
        }
        result
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(stop) = self.stop {
            stop();
        }
    }
}

/// The ends of who queues copies back.
struct TakingBack<'a, T, E: Engine<T>, F: Flow<T, E>> {
    engine: &'a E,
    stages: Arc<Stages<'a, T, E>>,
    computed: Receiver<Computed<'a, T, E, F>>,
    free: Sender<Free<'a, T, E, F>>,
    hosts: Receiver<E::Host>,
    landing: Sender<Landing<E::Host, F::Part>>,
}

impl<T, E: Engine<T>, F: Flow<T, E>> TakingBack<'_, T, E, F> {
    /// Queues copies until no more results come. What needs no slot is collected.
    fn run(self, flow: &F, landed: &mut Vec<F::Part>) -> Result<(), Stop> {
        let engine = self.engine;
        while let Ok(Computed { results, memory }) = self.computed.recv() {
            for (results, done) in results {
                engine.wait(Queue::Out, &done)?;
                // Of what lands together the first is named.
                let first = |parts: &Vec<F::Part>| parts.first().map(|part| flow.facts_of_part(part));
                let land = || flow.land(engine, &memory, &results);
                landed.extend(self.stages.on_the_device(Stage::CopyBack, first, land)?);
                for Back { buffer, at, elements, part } in flow.parts(results) {
                    let mut host = self.hosts.recv()?;
                    let back = || engine.take_back(&memory.as_ref()[buffer], at, elements, &mut host);
                    self.stages.on_the_device(Stage::CopyBack, |()| Some(flow.facts_of_part(&part)), back)?;
                    self.landing.send(Landing { host, part })?;
                }
            }
            let left = engine.mark(Queue::Out)?;
            // Nobody takes the last ones.
            let _ = self.free.send((memory, Some(left)));
        }
        Ok(())
    }
}

/// Writes what has come back.
fn write<T, E: Engine<T>, F: Flow<T, E>>(
    flow: &F,
    writers: &Landings<T, E, F>,
    landed: &Sender<E::Host>,
    (stages, worker): (&Stages<'_, T, E>, usize),
) -> Result<(), Error> {
    let under_way = UnderWay { stop: Some(&|| flow.stop()) };
    let end = |Landing { host, part }: &mut Landing<E::Host, F::Part>| {
        let facts = || flow.facts_of_part(part);
        let written = stages.on_the_host((Stage::Write, worker), facts, host, |host| flow.write(part, host));
        written.inspect_err(|_| flow.stop())
    };
    under_way.ended(writers.take_part(end, |landing| {
        // Nobody takes it behind the last results.
        let _ = landed.send(landing.host);
    }))
}
