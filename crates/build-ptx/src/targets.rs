//! What kernels are built for.

use std::fmt;
use std::str::FromStr;
use tilewright_driver::{Arch, Source, Target, TargetKind};

/// The oldest devices that portable PTX is built for.
const PORTABLE: Arch = Arch::new(8, 0);
/// The first with thread-block clusters, bulk copies and launches that overlap.
const HOPPER: Arch = Arch::new(9, 0);
/// Headers that need Hopper.
const OF_HOPPER: [&str; 2] = ["tensor_map.cuh", "wgmma.cuh"];
/// Headers with a form of their own for Hopper, beside one for all.
const WITH_HOPPER_FORM: [&str; 1] = ["grid.cuh"];

/// An architecture as `--arch` takes it: `80`, `90a`, `sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchOption {
    /// The architecture.
    pub arch: Arch,
    /// Whether kernels that run on exactly this one are meant too.
    pub specific: bool,
}

impl FromStr for ArchOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix("sm_").unwrap_or(text);
        let (digits, specific) = digits.strip_suffix('a').map_or((digits, false), |digits| (digits, true));
        match digits.parse::<u32>() {
            Ok(number) if (50..1000).contains(&number) && digits.starts_with(|c| c != '+') => {
                Ok(ArchOption { arch: Arch::new(number / 10, number % 10), specific })
            }
            _ => Err(format!("`{text}` is no architecture; write `80`, `89` or `90a`, several with commas between")),
        }
    }
}

/// Which form of code is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Machine code, for the architectures of `--arch`.
    Cubin,
    /// PTX, for every device: the driver compiles it when it is loaded.
    Ptx,
    /// Both.
    Both,
}

/// What is built for whom.
#[derive(Clone, Debug)]
pub struct Targets {
    archs: Vec<ArchOption>,
    kind: Kind,
}

impl Targets {
    /// Without architectures that is PTX, with some it is both, unless `kind` says something else. An architecture that stands there twice,
    /// as in `90,90a`, is one. Machine code without an architecture is an error.
    pub fn new(archs: Vec<ArchOption>, kind: Option<Kind>) -> anyhow::Result<Targets> {
        let kind = kind.unwrap_or(if archs.is_empty() { Kind::Ptx } else { Kind::Both });
        if kind == Kind::Cubin && archs.is_empty() {
            anyhow::bail!("cubins of which architectures? Add `--arch 90`, or several: `--arch 80,90a`");
        }
        let mut once: Vec<ArchOption> = Vec::new();
        for option in archs {
            match once.iter_mut().find(|known| known.arch == option.arch) {
                Some(known) => known.specific |= option.specific,
                None => once.push(option),
            }
        }
        Ok(Targets { archs: once, kind })
    }

    /// The architectures asked for, those of PTX too.
    pub fn all(&self) -> Vec<Target> {
        let mut all = self.portable(true, true);
        if self.kind != Kind::Ptx {
            all.extend(self.archs.iter().map(|a| Target::new(TargetKind::Plain, a.arch)));
        }
        all
    }

    /// What a kernel is built for: of the targets asked for those that it declares.
    pub fn of(&self, source: &Source) -> Vec<Target> {
        let includes = |header: &&str| source.headers.iter().any(|(name, _)| name.ends_with(*header));
        let needs_hopper = OF_HOPPER.iter().any(includes);
        let specific = source.target == TargetKind::ArchSpecific;
        let mut targets = Vec::new();
        if !specific {
            targets = self.portable(!needs_hopper, needs_hopper || WITH_HOPPER_FORM.iter().any(includes));
        }
        if self.kind != Kind::Ptx && source.target != TargetKind::Portable {
            let fits = |a: &&ArchOption| if specific { a.specific } else { !needs_hopper || a.arch >= HOPPER };
            targets.extend(self.archs.iter().filter(fits).map(|a| Target::new(source.target, a.arch)));
        }
        targets
    }

    fn portable(&self, old: bool, hopper: bool) -> Vec<Target> {
        let wanted =
            |arch, there| (there && self.kind != Kind::Cubin).then_some(Target::new(TargetKind::Portable, arch));
        [wanted(PORTABLE, old), wanted(HOPPER, hopper)].into_iter().flatten().collect()
    }
}

impl fmt::Display for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.all().iter().map(Target::to_string).collect();
        f.write_str(&names.join(", "))
    }
}
