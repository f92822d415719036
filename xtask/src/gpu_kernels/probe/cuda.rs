//! The CUDA toolkit with libNVVM, its compiler, and libdevice, its library of functions.

use super::Need;
use crate::machine::Machine;
use std::path::{Path, PathBuf};

/// As Rust-CUDA looks for it: a folder with `include/cuda.h`.
const VARIABLES: [&str; 3] = ["CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR"];
const FOLDERS: [&str; 3] = ["/usr/lib/cuda", "/usr/local/cuda", "/opt/cuda"];
const HEADER: &str = "include/cuda.h";

/// The folder with libNVVM, below the toolkit's.
pub const NVVM: &str = "nvvm/lib64";

/// Files that a toolkit may lack, each with what it belongs to and the package of NVIDIA's that has it.
const FILES: [(&str, &str, &str); 4] = [
    ("include/cuda_runtime_api.h", "the headers of the CUDA runtime", "cuda-cudart-dev"),
    ("nvvm/include/nvvm.h", "the header of libNVVM", "cuda-nvvm"),
    ("nvvm/lib64/libnvvm.so", "libNVVM", "cuda-nvvm"),
    ("nvvm/libdevice/libdevice.10.bc", "libdevice", "cuda-nvvm"),
];

/// The toolkit's folder, or what is missing of it.
pub fn probe(machine: &Machine) -> Result<PathBuf, Vec<Need>> {
    let given = VARIABLES.iter().filter_map(|name| Some((format!("{name}="), PathBuf::from(machine.variable(name)?))));
    let usual = FOLDERS.iter().map(|folder| (String::new(), machine.at(folder)));
    let places: Vec<(String, PathBuf)> = given.chain(usual).collect();
    let Some((_, root)) = places.iter().find(|(_, folder)| folder.join(HEADER).is_file()) else {
        let tried = places.iter().map(|(name, folder)| format!("{name}{}: no {HEADER}", folder.display())).collect();
        let mends = vec![
            "install CUDA 12 or 13, see https://developer.nvidia.com/cuda-downloads".to_owned(),
            format!("set {} to the folder of one that is there", VARIABLES[0]),
        ];
        return Err(vec![Need { what: "the CUDA toolkit".to_owned(), tried, mends }]);
    };
    let needs: Vec<Need> = FILES.iter().filter_map(|file| absent(root, file)).collect();
    if needs.is_empty() { Ok(root.clone()) } else { Err(needs) }
}

fn absent(root: &Path, (file, what, package): &(&str, &str, &str)) -> Option<Need> {
    let file = root.join(file);
    let mend = format!("install NVIDIA's package {package} of the same version as this toolkit");
    (!file.is_file()).then(|| Need::new(*what, format!("there is no {}", file.display()), mend))
}
