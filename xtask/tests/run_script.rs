//! The script that runs a bundle, on a bundle whose executables are scripts.
#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Output};

fn write(root: &Path, place: &str, text: &str) {
    let file = root.join(place);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

fn bundle() -> tempfile::TempDir {
    bundle_in(tempfile::tempdir().unwrap())
}

fn bundle_in(root: tempfile::TempDir) -> tempfile::TempDir {
    write(root.path(), "run.sh", xtask::bundle::RUN_SCRIPT);
    write(root.path(), "COMMIT", "abc123\n");
    write(root.path(), "tests/one-main", "#!/bin/sh\necho \"SKIP a::b: no GPU\" >>$TILEWRIGHT_SKIPS; echo filter $1\n");
    write(root.path(), "tests/two-unit", "#!/bin/sh\necho \"SKIP c: no GPU\" >>$TILEWRIGHT_SKIPS\n");
    write(root.path(), "bin/device-bench", "#!/bin/sh\necho $TILEWRIGHT_COMMIT >$TILEWRIGHT_OUT/results\n");
    root
}

fn run(root: &Path, arguments: &[&str]) -> (Output, String) {
    let output =
        Command::new("bash").arg(root.join("run.sh")).args(arguments).env("OUT", root.join("out")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, text)
}

#[test]
fn all_stages_pass_and_skips_are_named() {
    let root = bundle();
    let (output, text) = run(root.path(), &["--filter", "resize", "tests", "bench"]);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("skipped 2: no GPU: a::b, c\n"), "{text}");
    assert!(text.ends_with("all passed\n"), "{text}");
    let file = |name: &str| std::fs::read_to_string(root.path().join("out").join(name)).unwrap();
    assert_eq!(file("tests-one-main.log"), "filter resize\n");
    assert_eq!(file("results"), "abc123\n");
}

#[test]
fn programs_come_packed() {
    let root = bundle();
    let mut tar = Command::new("tar");
    tar.current_dir(root.path()).args(["--create", "--xz", "--file", "programs.tar.xz", "tests", "bin"]);
    assert!(tar.status().unwrap().success());
    ["tests", "bin"].iter().for_each(|folder| std::fs::remove_dir_all(root.path().join(folder)).unwrap());
    for _ in 0..2 {
        let (output, text) = run(root.path(), &["tests", "bench"]);
        assert!(output.status.success(), "{text}");
        assert!(text.contains("one-main") && text.contains("device-bench"), "{text}");
    }
    assert!(!root.path().join("programs.tar.xz").exists());
    write(root.path(), "programs.tar.xz", "no archive");
    assert!(!run(root.path(), &["tests"]).0.status.success());
}

#[test]
fn peers_are_scripts_and_programs() {
    let root = bundle();
    write(
        root.path(),
        "peers/one.py",
        "import os; open(os.environ['TILEWRIGHT_OUT'] + '/peers.json', 'w').write('[]')\n",
    );
    let (output, text) = run(root.path(), &["peers"]);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("skipped 1: not in this bundle: peers::fkl\n"), "{text}");
    write(root.path(), "peers/fkl", "#!/bin/sh\necho [] >$TILEWRIGHT_OUT/peers-fkl.json\n");
    let (output, text) = run(root.path(), &["peers"]);
    assert!(output.status.success() && !text.contains("skipped"), "{text}");
    assert!(root.path().join("out/peers-fkl.json").is_file() && root.path().join("out/peers.json").is_file());
}

#[test]
fn a_peer_is_built_where_its_library_is() {
    let root = bundle();
    write(root.path(), "peers/fkl", "#!/bin/sh\n");
    write(root.path(), "peers/npp.cu", "");
    // A compiler that finds no header, then one that writes a program.
    let with = |compiler: &str| {
        write(root.path(), "bin/nvcc", compiler);
        let path = format!("{}:{}", root.path().join("bin").display(), std::env::var("PATH").unwrap());
        let _ = Command::new("chmod").arg("+x").arg(root.path().join("bin/nvcc")).status().unwrap();
        let mut command = Command::new("bash");
        let output = command.arg(root.path().join("run.sh")).arg("peers").env("OUT", root.path().join("out"));
        let output = output.env("PATH", path).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (passed, text) = with("#!/bin/sh\nexit 1\n");
    assert!(passed && text.contains("skipped 1: no nvcc with NPP on this machine: peers::npp\n"), "{text}");
    let writes = "#!/bin/sh\n[ $2 = cu ] && exit 0\nprintf '#!/bin/sh\\necho [] >$TILEWRIGHT_OUT/peers-npp.json\\n' >$4\nchmod +x $4\n";
    let (passed, text) = with(writes);
    assert!(passed && !text.contains("skipped"), "{text}");
    assert!(root.path().join("out/peers-npp.json").is_file(), "{text}");
}

#[test]
fn a_failure_is_in_the_table_and_in_the_exit_code() {
    let root = bundle();
    write(root.path(), "tests/one-main", "#!/bin/sh\necho why; exit 101\n");
    let (output, text) = run(root.path(), &[]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let row = text.lines().find(|line| line.starts_with("tests ") && line.contains("one-main")).unwrap_or_default();
    assert!(row.contains("exit 101"), "{text}");
    assert!(text.contains("why\n") && text.contains("two-unit") && text.ends_with("failed: 1\n"), "{text}");
}

#[test]
fn with_kernels_ahead_nothing_may_look_for_nvrtc() {
    // The folder's own name has nothing to do with what is left out.
    let folder = tempfile::Builder::new().prefix("of-tests-").tempdir().unwrap();
    let root = bundle_in(folder);
    let at = |name: &str| root.path().join(name).display().to_string();
    let (kernels, manifest) = (at("kernels.twb"), at("kernels.toml"));
    let (output, _) = run(root.path(), &["--ahead", &kernels, "tests"]);
    assert_eq!(output.status.code(), Some(2), "there is no such bundle");
    write(root.path(), "kernels.twb", "");
    let tells = "#!/bin/sh\necho \"$TILEWRIGHT_BUNDLES,$TILEWRIGHT_CUDA,$(ls -d $TILEWRIGHT_CACHE/*),$*\"\n";
    write(root.path(), "tests/one-main", tells);
    write(root.path(), "tests/a-driver-main", "#!/bin/sh\nexit 1\n");
    write(root.path(), "nvrtc/libnvrtc.so.13", "");
    let (output, text) = run(root.path(), &["--ahead", &kernels, "tests"]);
    assert!(output.status.success() && !text.contains("a-driver-main"), "{text}");
    let log = || std::fs::read_to_string(root.path().join("out/tests-one-main.log")).unwrap();
    assert!(log().contains(&format!("{kernels},,,--skip compile ")), "{}", log());

    write(
        root.path(),
        "tests/one-main",
        "#!/bin/sh\npython3 -c 'import ctypes; ctypes.CDLL(\"libnvrtc.so.13\")'\nexit 0\n",
    );
    let (output, text) = run(root.path(), &["--ahead", &kernels, "tests"]);
    assert!(!output.status.success() && text.contains("it was looked for") && text.ends_with("failed: 1\n"), "{text}");
    assert!(log().contains("libnvrtc.so.13 [0];  dynamically loaded by"), "{}", log());

    write(
        root.path(),
        "tests/one-main",
        "#!/bin/sh\necho \"$TILEWRIGHT_RECORD,$TILEWRIGHT_BUNDLES,$TILEWRIGHT_CUDA,$*\"\n",
    );
    let (output, text) = run(root.path(), &["--record", &manifest, "--filter", "gpu", "tests"]);
    assert!(output.status.success() && !text.contains("a-driver-main"), "the same are left out: {text}");
    assert!(log().starts_with(&format!("{manifest},,{},--skip compile ", at("nvrtc"))), "{}", log());
    assert!(log().ends_with(" gpu\n"), "{}", log());
}

#[test]
fn an_unknown_stage_is_refused() {
    let root = bundle();
    let (output, _) = run(root.path(), &["everything"]);
    assert_eq!(output.status.code(), Some(2));
}
