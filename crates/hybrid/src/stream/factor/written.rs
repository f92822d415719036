//! Which panels are in the scratch, so that they can be read.

use super::super::turns::Stop;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Panels are written part by part, in any order.
#[derive(Default)]
pub(super) struct Written {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// So many panels, the first ones, are written.
    panels: usize,
    /// Parts of later ones that are not written yet.
    open: BTreeMap<usize, usize>,
    is_stopped: bool,
}

impl Written {
    /// So many parts of a panel are going to be written.
    pub(super) fn expect(&self, panel: usize, parts: usize) {
        *self.state().open.entry(panel).or_default() += parts;
    }

    /// One of them is.
    pub(super) fn tell(&self, panel: usize) {
        let mut state = self.state();
        if let Some(parts) = state.open.get_mut(&panel) {
            *parts -= 1;
        }
        let mut next = state.panels;
        while state.open.get(&next) == Some(&0) {
            state.open.remove(&next);
            next += 1;
        }
        state.panels = next;
        self.changed.notify_all();
    }

    /// Nothing more will be written.
    pub(super) fn stop(&self) {
        self.state().is_stopped = true;
        self.changed.notify_all();
    }

    /// Waits until so many panels are written.
    pub(super) fn wait_for(&self, panels: usize) -> Result<(), Stop> {
        let waits = |state: &mut State| state.panels < panels && !state.is_stopped;
        let state = self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
        if state.panels < panels { Err(Stop::Elsewhere) } else { Ok(()) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_are_there_once_all_of_their_parts_are_and_those_before() {
        let written = Written::default();
        let has = |panels: usize| {
            let state = written.state();
            state.panels == panels
        };
        written.expect(0, 2);
        written.expect(1, 1);
        written.tell(0);
        written.tell(1);
        assert!(has(0));
        written.tell(0);
        assert!(has(2) && written.wait_for(2).is_ok());
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| written.wait_for(3).is_err());
            written.stop();
            assert!(waits.join().unwrap());
        });
        assert!(written.wait_for(2).is_ok());
    }
}
