//! In which order the layers are asked, and which code serves which device.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{Bundle, KernelCache, Miss, Origin, slots::locked};
use crate::{
    Arch, Compiled, Key, Keys, Source, Target, TargetKind,
    source::{OLDEST_COMPILER, environment_flags},
};

/// What is asked for.
pub(super) struct Wanted<'a> {
    pub(super) source: &'a Source,
    pub(super) arch: Arch,
    /// That of the exact target, under which memory and folder keep it.
    pub(super) key: Key,
    keys: Keys,
}

impl<'a> Wanted<'a> {
    pub(super) fn of(source: &'a Source, arch: Arch) -> Self {
        let keys = source.keys();
        Self { source, arch, keys, key: keys.of(Target::new(source.target, arch)) }
    }
}

/// Code that the driver did not take, by key and hash: it is not offered again.
#[derive(Default)]
pub(super) struct Refused {
    any: AtomicBool,
    images: Mutex<HashSet<(Key, [u8; 32])>>,
}

impl Refused {
    pub(super) fn add(&self, key: Key, compiled: &Compiled) {
        locked(&self.images).insert((key, *blake3::hash(&compiled.image).as_bytes()));
        self.any.store(true, Ordering::Release);
    }

    fn has(&self, key: Key, compiled: &Compiled) -> bool {
        // Hardly ever is something refused, so hardly ever an image is hashed once more.
        self.any.load(Ordering::Acquire)
            && locked(&self.images).contains(&(key, *blake3::hash(&compiled.image).as_bytes()))
    }
}

impl KernelCache {
    /// From the bundles or the folder: code for exactly this device first, wherever it is; then, before text for the driver's
    /// compiler, what was compiled for a lesser device of the same generation.
    pub(super) fn stored(&self, wanted: &Wanted<'_>) -> Option<(Arc<Compiled>, Origin)> {
        let bundles = self.usable_bundles();
        let mut targets: Vec<Target> = Vec::new();
        for target in bundles.iter().flat_map(Bundle::targets).filter(|target| serves(wanted, **target)) {
            if !targets.contains(target) {
                targets.push(*target);
            }
        }
        let (mut code, mut text): (Vec<_>, Vec<_>) =
            targets.into_iter().partition(|target| comes_early(wanted, *target));
        let bundled = |targets: &mut Vec<Target>| {
            targets.sort_unstable_by_key(|target| std::cmp::Reverse(target.arch));
            targets.iter().find_map(|target| self.bundled(&bundles, wanted, *target))
        };
        let found = bundled(&mut code).or_else(|| self.on_disk(wanted)).or_else(|| bundled(&mut text));
        self.0.counters.misses.add(u64::from(found.is_none()));
        found
    }

    /// What all bundles have, earlier ones first, for one target.
    fn bundled(&self, bundles: &[Bundle], wanted: &Wanted<'_>, target: Target) -> Option<(Arc<Compiled>, Origin)> {
        let key = wanted.keys.of(target);
        let found = bundles.iter().find_map(|bundle| self.usable(bundle.read(&key), wanted, target))?;
        tracing::debug!(name = wanted.source.name, %target, "from a bundle");
        Some((Arc::new(found), Origin::Bundle))
    }

    fn on_disk(&self, wanted: &Wanted<'_>) -> Option<(Arc<Compiled>, Origin)> {
        let found = self.0.folder.as_ref()?.get(&wanted.key);
        let target = Target::new(wanted.source.target, wanted.arch);
        Some((Arc::new(self.usable(found, wanted, target)?), Origin::Disk))
    }

    /// Counts what was there and is of no use.
    fn usable(&self, found: Result<Compiled, Miss>, wanted: &Wanted<'_>, target: Target) -> Option<Compiled> {
        let reason = match found {
            Ok(found) if found.built_for() != target => "for another target".to_owned(),
            Ok(found) if found.compiler < OLDEST_COMPILER => "of an old compiler".to_owned(),
            // Counted when it was.
            Ok(found) if self.0.refused.has(wanted.key, &found) => return None,
            Ok(found) => return Some(found),
            Err(Miss::Absent) => return None,
            Err(Miss::Unusable(reason)) => reason,
        };
        tracing::debug!(name = wanted.source.name, reason, "an unusable cache entry");
        self.0.counters.unusable.add(1);
        None
    }

    /// Built ahead means built without NVRTC's flags from the environment: while they are set there are no bundles.
    pub(super) fn usable_bundles(&self) -> Vec<Bundle> {
        match environment_flags() {
            Some(_) => Vec::new(),
            None => self.0.bundles.read().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// Whether a device takes what was compiled for this target, in place of what is wanted.
fn serves(wanted: &Wanted<'_>, target: Target) -> bool {
    let (arch, same_generation) = (wanted.arch, target.arch.major == wanted.arch.major);
    match (wanted.source.target, target.kind) {
        (TargetKind::Plain, TargetKind::Plain) => same_generation && target.arch.minor <= arch.minor,
        (TargetKind::Plain | TargetKind::Portable, TargetKind::Portable) => target.arch <= arch,
        (TargetKind::ArchSpecific, TargetKind::ArchSpecific) => target.arch == arch,
        _ => false,
    }
}

/// Whether this comes before the folder: machine code, and what was asked for literally.
fn comes_early(wanted: &Wanted<'_>, target: Target) -> bool {
    target.kind != TargetKind::Portable || target == Target::new(wanted.source.target, wanted.arch)
}
