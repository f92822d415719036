//! Which kernel serves a launch: the one that is wanted, or another that is there and computes the same until it is built.

use super::{Core, Part, lock};
use crate::device::{Gpu, kernels};
use crate::error::Error;
use crate::kernel::{Built, Unbuilt};
use crate::launches::Known;
use crate::pointwise::{self, Pointwise};
use std::sync::Arc;
use tilewright_expr::emit::Room;
use tilewright_expr::sections::Sections;

/// A kernel, and the sections that it is for, where these are others than those that were asked for.
type Serving<'a> = (Arc<Built>, Option<Sections<'a>>);

impl Core {
    /// The sections under the configuration that they get: the handle's own, or what is chosen for them.
    pub(crate) fn configured<'a>(&self, sections: Sections<'a>, gpu: &Gpu) -> Result<Sections<'a>, Error> {
        if let Some(config) = self.configuration {
            return Ok(sections.configured(config)?);
        }
        let Some(config) = pointwise::chosen_on(gpu, &sections) else { return Ok(sections) };
        // The choice is that of a class, of whose sizes some may not take it.
        let Ok(configured) = sections.clone().configured(config) else { return Ok(sections) };
        self.chose(config);
        Ok(configured)
    }

    /// The kernel for these sections. If only another one is there that computes the same, it serves until the better one is built in the
    /// background: so a new size of a batch never waits for the compiler. `settled` says whether it is the best to be had.
    pub(super) fn build<'a>(
        self: &Arc<Self>,
        sections: &Sections<'a>,
        gpu: &Gpu,
        part: (Part, bool),
        (known, settled): (&mut Known, &mut bool),
    ) -> Result<Serving<'a>, Error> {
        let most = gpu.device().parameter_bytes();
        let room = Room::of(sections, most);
        let key = self.kernel_key(sections, room, gpu, part);
        if let Some(built) = self.kernel(&key) {
            return Ok((built, None));
        }
        let unbuilt = || Unbuilt::new(sections, room, most, &self.name);
        let mut wanted = None;
        let there = match self.standing_in(sections, room, gpu, part) {
            Some(there) => there,
            None => {
                let emitted = unbuilt()?;
                let Some(there) = self.stored_as_planned(sections, (&emitted, room), gpu, part)? else {
                    let built = self.built(key, emitted, gpu)?;
                    *known = Known::Nothing(built.origin);
                    return Ok((built, None));
                };
                *known = Known::Nothing(there.0.origin);
                wanted = Some(emitted);
                there
            }
        };
        *settled = lock(&self.unbuildable).contains(&key);
        if lock(&self.under_way).insert(key.clone()) {
            let _ = self.build_behind(vec![(key, wanted.map_or_else(unbuilt, Ok)?)], gpu);
        }
        Ok(there)
    }

    /// A kernel that is there and computes the same: one with another room, which takes any operands, or one under a configuration that was
    /// chosen for other sizes.
    fn standing_in<'a>(
        &self,
        sections: &Sections<'a>,
        room: Room,
        gpu: &Gpu,
        part: (Part, bool),
    ) -> Option<Serving<'a>> {
        if let Some(built) = self.kernel(&self.kernel_key(sections, room.other(), gpu, part)) {
            return Some((built, None));
        }
        let chosen = lock(&self.chosen).clone();
        chosen.into_iter().find_map(|config| {
            let other = sections.clone().configured(config).ok()?;
            let built = self.kernel(&self.kernel_key(&other, room, gpu, part))?;
            Some((built, Some(other)))
        })
    }

    /// Where a model chose another configuration than the plan's own, and bundles and the cache have the kernel of the plan's own alone: that
    /// one, loaded. So a program whose kernels were built ahead never waits for a choice.
    fn stored_as_planned<'a>(
        &self,
        sections: &Sections<'a>,
        (wanted, room): (&Unbuilt, Room),
        gpu: &Gpu,
        part: (Part, bool),
    ) -> Result<Option<Serving<'a>>, Error> {
        // Nobody chose anything where no model knows pointwise kernels, or the handle has a configuration.
        let Some(division) = sections.division().filter(|_| !lock(&self.chosen).is_empty()) else { return Ok(None) };
        let own = sections.clone().configured(division.untold)?;
        if own.key() == sections.key() {
            return Ok(None);
        }
        let is_stored = |it: &Unbuilt| kernels().has(it.text(), gpu.device().arch());
        if is_stored(wanted) {
            return Ok(None);
        }
        let as_planned = Unbuilt::new(&own, room, gpu.device().parameter_bytes(), &self.name)?;
        if !is_stored(&as_planned) {
            return Ok(None);
        }
        let built = self.built(self.kernel_key(&own, room, gpu, part), as_planned, gpu)?;
        self.chose(division.untold);
        Ok(Some((built, Some(own))))
    }

    /// Remembers a configuration under which there are kernels.
    fn chose(&self, config: Pointwise) {
        let mut chosen = lock(&self.chosen);
        if !chosen.contains(&config) {
            chosen.push(config);
        }
    }

    /// What a kernel is known by.
    pub(crate) fn kernel_key(
        &self,
        sections: &Sections<'_>,
        room: Room,
        gpu: &Gpu,
        (part, new): (Part, bool),
    ) -> Vec<u64> {
        let mut key = sections.key();
        key.extend([room as u64, gpu.context_number(), part as u64, u64::from(new && self.fresh.is_some())]);
        key
    }

    /// The kernel of this key, if it is there.
    pub(crate) fn kernel(&self, key: &[u64]) -> Option<Arc<Built>> {
        lock(&self.built).get(key).cloned()
    }

    /// What stands in for the kernel of this key does so for good.
    pub(crate) fn give_up(&self, key: Vec<u64>) {
        lock(&self.unbuildable).insert(key);
    }

    /// Builds a kernel and keeps it. Of two threads that build one kernel the second waits inside for the first.
    pub(crate) fn built(&self, key: Vec<u64>, unbuilt: Unbuilt, gpu: &Gpu) -> Result<Arc<Built>, Error> {
        let built = Arc::new(unbuilt.build(gpu)?);
        *lock(&self.last) = Some(built.clone());
        Ok(lock(&self.built).entry(key).or_insert(built).clone())
    }
}
