//! The stages of a stream in the traces that are kept. While none is, nothing is measured, and there is nothing here.

use super::engine::{Engine, Queue};
use crate::Error;
use crate::dispatch::{Stage, is_recorded, thread_number};
use crate::store::Tile;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::ops::DerefMut;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is kept of a run.
pub(super) struct Stages<'a, T, E: Engine<T>> {
    engine: &'a E,
    /// Whose stream it is, and what it did so far; `None` while nobody keeps a trace.
    kept: Option<(u64, Mutex<Kept<E::Mark>>)>,
    element: PhantomData<fn() -> T>,
}

struct Kept<M> {
    /// A mark whose time is known: others are so much later.
    origin: (M, Instant),
    /// What the device does between two marks.
    spans: Vec<(Stage, [M; 2], Value)>,
    /// What was read and is not copied yet, by its number.
    read: BTreeMap<usize, Value>,
}

impl<'a, T, E: Engine<T>> Stages<'a, T, E> {
    pub(super) fn begin(engine: &'a E) -> Result<Self, Error> {
        let origin = if is_recorded() { engine.origin()? } else { None };
        let kept = |origin| (thread_number(), Mutex::new(Kept { origin, spans: Vec::new(), read: BTreeMap::new() }));
        Ok(Stages { engine, kept: origin.map(kept), element: PhantomData })
    }

    fn kept<R>(&self, of: impl FnOnce(&mut Kept<E::Mark>) -> R) -> Option<R> {
        let (_, kept) = self.kept.as_ref()?;
        Some(of(&mut kept.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Does what fills a slot or empties one, on one of the threads that do. Copies that use the slot are no part of what it takes.
    pub(super) fn on_the_host<R>(
        &self,
        (stage, worker): (Stage, usize),
        facts: impl FnOnce() -> Value,
        host: &mut E::Host,
        work: impl FnOnce(&mut E::Host) -> R,
    ) -> R {
        let Some((thread, _)) = &self.kept else { return work(host) };
        // Looking into it waits.
        let _ = host.deref_mut();
        let (facts, begin) = (facts(), Instant::now());
        let done = work(host);
        stage.took((*thread, worker), begin, begin.elapsed(), &facts);
        done
    }

    /// Keeps what a piece is, for its copy.
    pub(super) fn piece(&self, number: usize, facts: impl FnOnce() -> Value) -> Value {
        let kept = |kept: &mut Kept<E::Mark>| kept.read.entry(number).insert_entry(facts()).get().clone();
        self.kept(kept).unwrap_or_default()
    }

    /// Queues the copy of that piece.
    pub(super) fn copies_in(&self, number: usize, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        self.on_the_device(Stage::CopyIn, |()| self.kept(|kept| kept.read.remove(&number)).flatten(), work)
    }

    /// Queues something that the device does; it is kept if there is something to say of it.
    pub(super) fn on_the_device<R, X: From<Error>>(
        &self,
        stage: Stage,
        facts: impl FnOnce(&R) -> Option<Value>,
        work: impl FnOnce() -> Result<R, X>,
    ) -> Result<R, X> {
        if self.kept.is_none() {
            return work();
        }
        let queue = match stage {
            Stage::Read | Stage::CopyIn => Queue::In,
            Stage::Compute => Queue::Compute,
            Stage::CopyBack | Stage::Write => Queue::Out,
        };
        let begin = self.engine.timed_mark(queue)?;
        let done = work()?;
        let end = self.engine.timed_mark(queue)?;
        if let Some(facts) = facts(&done) {
            self.kept(|kept| kept.spans.push((stage, [begin, end], facts)));
        }
        Ok(done)
    }

    /// Puts what the device did into the traces, when all of it is done.
    pub(super) fn end(&self) -> Result<(), Error> {
        let Some((thread, kept)) = &self.kept else { return Ok(()) };
        let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (origin, at) = &kept.origin;
        for (stage, marks, facts) in &kept.spans {
            let [begin, end] = marks.each_ref().map(|mark| self.engine.since(origin, mark));
            let (begin, end): (Duration, Duration) = (begin?, end?);
            stage.took((*thread, 0), *at + begin, end.saturating_sub(begin), facts);
        }
        Ok(())
    }
}

/// What a bar says of a tile.
pub(super) fn facts(Tile { rows, columns }: &Tile) -> Value {
    json!({ "rows": format!("{rows:?}"), "columns": format!("{columns:?}") })
}
