use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::folder::{Folder, cache_home};

/// Somewhere that NVRTC could be.
pub(super) enum Place {
    Folder { source: &'static str, path: PathBuf },
    File { source: &'static str, path: PathBuf },
    Absent { source: &'static str, reason: String },
}

const LIBRARY_FOLDERS: [&str; 4] = ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"];

/// Where wheels put the library below site-packages: CUDA 13, CUDA 12.
const WHEEL_FOLDERS: [&str; 2] = ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"];

/// All places in the order of search. Later ones are looked up only when asked for.
pub(super) fn all() -> impl Iterator<Item = Place> {
    let named = || toolkit("TILEWRIGHT_CUDA");
    let installed = || installed();
    let system_toolkit = || toolkit("CUDA_HOME").into_iter().chain(toolkit("CUDA_PATH")).collect();
    let python = || wheels("Python", site_packages());
    let loader = || {
        let names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
        names.map(|name| Place::File { source: "the system's loader", path: name.into() }).into()
    };
    let asked = || wheels("python3 -m site", ask_python());
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

fn toolkit(variable: &'static str) -> Vec<Place> {
    let Some(root) = env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from) else {
        return vec![Place::Absent { source: variable, reason: "not set".into() }];
    };
    if root.is_file() {
        return vec![Place::File { source: variable, path: root }];
    }
    let below = LIBRARY_FOLDERS.map(|folder| root.join(folder)).into_iter().filter(|path| path.is_dir());
    below.chain([root.clone()]).map(|path| Place::Folder { source: variable, path }).collect()
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

fn wheels(source: &'static str, site_packages: Vec<PathBuf>) -> Vec<Place> {
    let folders = site_packages.iter().flat_map(|site| WHEEL_FOLDERS.map(|folder| site.join(folder)));
    let found: Vec<_> = folders.filter(|path| path.is_dir()).map(|path| Place::Folder { source, path }).collect();
    if found.is_empty() {
        let reason = format!("no nvidia-cuda-nvrtc in {} site-packages folders", site_packages.len());
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
