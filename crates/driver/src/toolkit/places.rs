use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::folder::{Folder, cache_home};

/// Somewhere that a library could be.
pub(crate) enum Place {
    Folder { source: &'static str, path: PathBuf },
    File { source: &'static str, path: PathBuf },
    Absent { source: &'static str, reason: String },
}

const LIBRARY_FOLDERS: [&str; 4] = ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"];

/// A library of CUDA's, as machines and wheels name it.
pub(crate) struct Wanted {
    /// `nvrtc` in `libnvrtc.so.13`.
    pub(crate) stem: &'static str,
    /// Its names for the system's loader, newest first.
    pub(crate) names: &'static [&'static str],
    /// The package of PyPI that has it.
    pub(crate) package: &'static str,
    /// Where wheels put it below site-packages: CUDA 13, CUDA 12.
    pub(crate) wheel_folders: [&'static str; 2],
}

/// The run-time compiler.
pub(super) const NVRTC: Wanted = Wanted {
    stem: "nvrtc",
    names: &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"],
    package: "nvidia-cuda-nvrtc",
    wheel_folders: ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"],
};

/// All places in the order of search. Later ones are looked up only when asked for.
pub(crate) fn all(wanted: &'static Wanted) -> impl Iterator<Item = Place> {
    let named = move || toolkit("TILEWRIGHT_CUDA", wanted);
    let installed = || installed();
    let system_toolkit = move || toolkit("CUDA_HOME", wanted).into_iter().chain(toolkit("CUDA_PATH", wanted)).collect();
    let python = move || wheels("Python", site_packages(), wanted);
    let loader = move || {
        let place = |name: &&str| Place::File { source: "the system's loader", path: name.into() };
        wanted.names.iter().map(place).collect()
    };
    let asked = move || wheels("python3 -m site", ask_python(), wanted);
    let steps: [Box<dyn Fn() -> Vec<Place>>; 6] = [
        Box::new(named),
        Box::new(installed),
        Box::new(system_toolkit),
        Box::new(python),
        Box::new(loader),
        Box::new(asked),
    ];
    steps.into_iter().flat_map(|step| step())
}

/// The folder that [`super::install`] fills.
fn install_folder() -> Option<PathBuf> {
    Some(cache_home()?.join(super::install::FOLDER))
}

/// What is in it.
pub(crate) fn install_folders() -> Vec<PathBuf> {
    install_folder().map(|root| subfolders(&root, "")).unwrap_or_default()
}

fn toolkit(variable: &'static str, wanted: &Wanted) -> Vec<Place> {
    let Some(root) = env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from) else {
        return vec![Place::Absent { source: variable, reason: "not set".into() }];
    };
    if root.is_file() {
        return vec![named_file(variable, root, wanted)];
    }
    let below = LIBRARY_FOLDERS.map(|folder| root.join(folder)).into_iter().filter(|path| path.is_dir());
    below.chain([root.clone()]).map(|path| Place::Folder { source: variable, path }).collect()
}

/// A variable that names a file names one library, and the folder where the others are.
fn named_file(variable: &'static str, file: PathBuf, wanted: &Wanted) -> Place {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if name.starts_with(&format!("lib{}.so", wanted.stem)) || wanted.stem == NVRTC.stem {
        return Place::File { source: variable, path: file };
    }
    let folder = file.parent().map(Path::to_path_buf);
    folder.map_or(Place::File { source: variable, path: file }, |path| Place::Folder { source: variable, path })
}

fn installed() -> Vec<Place> {
    let source = "tilewright's cache";
    let Some(root) = install_folder() else {
        return vec![Place::Absent { source, reason: "HOME is not set".into() }];
    };
    let absent = |reason| vec![Place::Absent { source, reason: format!("{}: {reason}", root.display()) }];
    // Code is loaded from here: only from folders that nobody else can write.
    if let Err(reason) = Folder::open_existing(&root) {
        return absent(reason);
    }
    let private = |path: &PathBuf| Folder::open_existing(path).is_ok();
    let mut versions: Vec<_> = subfolders(&root, "").into_iter().filter(private).collect();
    versions.sort_by_key(|path| std::cmp::Reverse(version_key(path)));
    if versions.is_empty() {
        return absent("empty".into());
    }
    versions.into_iter().map(|path| Place::Folder { source, path }).collect()
}

fn version_key(path: &Path) -> Vec<u32> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

fn wheels(source: &'static str, site_packages: Vec<PathBuf>, wanted: &Wanted) -> Vec<Place> {
    let folders = site_packages.iter().flat_map(|site| wanted.wheel_folders.map(|folder| site.join(folder)));
    let found: Vec<_> = folders.filter(|path| path.is_dir()).map(|path| Place::Folder { source, path }).collect();
    if found.is_empty() {
        let reason = format!("no {} in {} site-packages folders", wanted.package, site_packages.len());
        return vec![Place::Absent { source, reason }];
    }
    found
}

/// Folders of Python packages at the usual places.
fn site_packages() -> Vec<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let roots = [
        set("VIRTUAL_ENV"),
        set("CONDA_PREFIX"),
        set("HOME").map(|home| home.join(".local")),
        Some("/usr/local".into()),
        Some("/usr".into()),
    ];
    let versions = roots.into_iter().flatten().flat_map(|root| subfolders(&root.join("lib"), "python3"));
    versions
        .flat_map(|version| ["site-packages", "dist-packages"].map(|name| version.join(name)))
        .filter(|path| path.is_dir())
        .collect()
}

fn subfolders(root: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let wanted = names.filter(|name| name.starts_with(prefix) && !name.starts_with('.'));
    let mut paths: Vec<_> = wanted.map(|name| root.join(name)).filter(|path| path.is_dir()).collect();
    paths.sort();
    paths
}

/// Python's own answer, for interpreters at unusual places. It takes tens of milliseconds, so it comes last.
fn ask_python() -> Vec<PathBuf> {
    let script =
        "import site, sys; print('\\n'.join(site.getsitepackages() + [site.getusersitepackages()] + sys.path))";
    let output = Command::new("python3").args(["-c", script]).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let Ok(output) = output else { return Vec::new() };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut paths: Vec<_> =
        text.lines().map(PathBuf::from).filter(|path| path.is_absolute() && path.is_dir()).collect();
    paths.dedup();
    paths
}
