//! LLVM of one major version, found through its `llvm-config`.

use super::Need;
use crate::machine::Machine;
use std::path::PathBuf;

const VARIABLE: &str = "LLVM_CONFIG";
const PROGRAM: &str = "llvm-config";
/// The part of LLVM that knows NVIDIA GPUs: a build may have been made without it.
const COMPONENT: &str = "nvptx";

/// The `llvm-config` of LLVM `major`: what `LLVM_CONFIG` names, or the one in `PATH`.
pub fn probe(machine: &Machine, major: u32) -> Result<PathBuf, Need> {
    let given = machine.variable(VARIABLE).map(PathBuf::from);
    let (source, name) = match &given {
        Some(path) => (format!("{VARIABLE}={}", path.display()), path.clone()),
        None => (format!("{PROGRAM} in PATH"), PROGRAM.into()),
    };
    let found = machine.program(&name).ok_or_else(|| "no such program".to_owned());
    let fitting = found.and_then(|program| {
        let version = machine.output(&program, &["--version"])?;
        if version.trim().split('.').next() != Some(major.to_string().as_str()) {
            return Err(format!("its version is {}", version.trim()));
        }
        let components = machine.output(&program, &["--components"])?;
        let has = components.split_whitespace().any(|name| name == COMPONENT);
        if has { Ok(program) } else { Err(format!("it was built without {COMPONENT}")) }
    });
    fitting.map_err(|reason| {
        let mend = format!(
            "build LLVM {major}.1.0 with -DLLVM_TARGETS_TO_BUILD=\"X86;NVPTX\" -DLLVM_LINK_LLVM_DYLIB=ON and set {VARIABLE} to its {PROGRAM}"
        );
        Need::new(format!("LLVM {major} with its part {COMPONENT}"), format!("{source}: {reason}"), mend)
    })
}
