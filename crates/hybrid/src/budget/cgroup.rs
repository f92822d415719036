//! Limits of control groups, versions 1 and 2, where a machine has either or both.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::Level;

/// Version 1 says "no limit" by a number near 2^63.
const UNLIMITED: u64 = 1 << 62;

/// The files in which a version keeps its numbers.
struct Version {
    limits: &'static [&'static str],
    usage: &'static str,
    /// In `memory.stat`: pages that cache files which nobody has used of late.
    idle_cache: &'static str,
}

const V2: Version =
    Version { limits: &["memory.max", "memory.high"], usage: "memory.current", idle_cache: "inactive_file" };
const V1: Version =
    Version { limits: &["memory.limit_in_bytes"], usage: "memory.usage_in_bytes", idle_cache: "total_inactive_file" };

/// What each limited group leaves, from this process's own groups up to the outermost that are visible.
pub(super) fn levels(root: &Path) -> Vec<Level> {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let (groups, mounts) = (read("proc/self/cgroup"), read("proc/self/mountinfo"));
    let mut found = Vec::new();
    for line in groups.lines() {
        // `number:controllers:path`, where version 2 has number 0 and no controllers.
        let mut fields = line.splitn(3, ':');
        let (Some(number), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let version = match (number, controllers) {
            ("0", "") => V2,
            (_, controllers) if controllers.split(',').any(|one| one == "memory") => V1,
            _ => continue,
        };
        let kind = if number == "0" { Kind::V2 } else { Kind::V1 };
        if let Some(mount) = mounts.lines().find_map(|line| Mount::parse(line, kind)) {
            found.extend(mount.folders(root, path).iter().filter_map(|folder| version.level(folder)));
        }
    }
    found
}

impl Version {
    fn level(&self, folder: &Path) -> Option<Level> {
        let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
        let capacity = self.limits.iter().filter_map(|name| number(name)).filter(|limit| *limit < UNLIMITED).min()?;
        let stat = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let idle = stat.lines().find_map(|line| line.strip_prefix(self.idle_cache)?.trim().parse::<u64>().ok());
        let used = number(self.usage).unwrap_or(0).saturating_sub(idle.unwrap_or(0));
        Some(Level { capacity, available: capacity.saturating_sub(used) })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    V1,
    V2,
}

/// Where a hierarchy of groups is visible, and which group is at its top there.
struct Mount {
    top: PathBuf,
    point: PathBuf,
}

impl Mount {
    /// A line of `mountinfo`: `id parent device root point options.. - type source options`.
    fn parse(line: &str, kind: Kind) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (top, point) = (before.next()?, before.next()?);
        let mut after = after.split(' ');
        let is_kind = match kind {
            Kind::V2 => after.next()? == "cgroup2",
            Kind::V1 => after.next()? == "cgroup" && after.next_back()?.split(',').any(|option| option == "memory"),
        };
        is_kind.then(|| Self { top: unescape(top), point: unescape(point) })
    }

    /// The folders of a group and of all above it. A group that lies outside of what is mounted is seen as the top.
    fn folders(&self, root: &Path, group: &str) -> Vec<PathBuf> {
        let below = Path::new(group).strip_prefix(&self.top).ok();
        let below = below.filter(|path| path.components().all(|part| part.as_os_str() != ".."));
        let point = root.join(self.point.strip_prefix("/").unwrap_or(&self.point));
        below.unwrap_or(Path::new("")).ancestors().map(|part| point.join(part)).collect()
    }
}

/// Spaces and their kin stand as octal numbers there.
fn unescape(text: &str) -> PathBuf {
    let codes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    codes.iter().fold(text.to_owned(), |text, (code, plain)| text.replace(code, plain)).into()
}
