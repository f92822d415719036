//! The rules hold in this workspace, and each fires on a tree where it is broken.

use std::path::Path;
use xtask::tidy::{Violation, check};

#[test]
fn this_workspace_is_tidy() {
    let found = check(xtask::workspace::root()).unwrap();
    let lines: Vec<String> = found.iter().map(Violation::to_string).collect();
    assert!(lines.is_empty(), "{} violations:\n{}", lines.len(), lines.join("\n"));
}

const MANIFEST: &str = "[package]\nname = \"x\"\ndescription = \"says what it is\"\n\n[lints]\nworkspace = true\n\n";

/// A small tidy workspace, with these files added to it or put in the place of its own.
fn violations(files: &[(&str, &str)]) -> Vec<String> {
    let root = tempfile::tempdir().unwrap();
    let table = "| crate | why |\n|---|---|\n| `cudarc` | the driver |\n| `rayon` | cores |\n";
    write(root.path(), "ARCHITECTURE.md", table);
    write(
        root.path(),
        "Cargo.toml",
        "[workspace]\nmembers = [\"crates/*\"]\n\n[workspace.dependencies]\nrayon = \"1\"\n",
    );
    for name in ["dims", "headers", "driver", "expr"] {
        write(root.path(), &format!("crates/{name}/Cargo.toml"), MANIFEST);
        write(root.path(), &format!("crates/{name}/README.md"), "# x\n");
        write(root.path(), &format!("crates/{name}/src/lib.rs"), "//! x\n");
    }
    for (path, text) in files {
        write(root.path(), path, text);
    }
    check(root.path()).unwrap().iter().map(|v| format!("{}:{} {}", v.file, v.line, v.rule)).collect()
}

fn write(root: &Path, path: &str, text: &str) {
    let file = root.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

fn manifest(rest: &str) -> String {
    format!("{MANIFEST}{rest}")
}

const EXPR: &str = "crates/expr/src/lib.rs";
const EXPR_MANIFEST: &str = "crates/expr/Cargo.toml";

#[test]
fn a_tidy_tree_breaks_no_rule() {
    assert_eq!(violations(&[]), [""; 0]);
}

#[test]
fn an_example_that_is_named_is_there() {
    let text = "# x\n\n`cargo run --example crops -- 3`, `cargo run -q --example trace`\n";
    let named = |files: &[(&str, &str)]| violations(&[files, &[("README.md", text)]].concat());
    assert_eq!(named(&[]), ["README.md:3 example"; 2]);
    let (crops, trace) =
        (("crates/expr/examples/crops.rs", "//! x\n"), ("crates/dims/examples/trace/main.rs", "//! x\n"));
    assert_eq!(named(&[crops]), ["README.md:3 example"]);
    assert_eq!(named(&[crops, trace]), [""; 0]);
}

#[test]
fn words_in_comments_and_texts_are_not_code() {
    let text = "//! unsafe { dbg!(cudarc) } /*\nconst A: &str = \"unsafe { todo!() }\\\" \";\n\
                /* todo!() /* nested */ unsafe {} */\nconst B: &str = r#\"dbg!(\" unsafe {\"#;\nconst C: char = '\"';\n\
                fn f<'a>(x: &'a str) {}\nconst D: char = '\\'';\n#![deny(unsafe_code)]\n";
    assert_eq!(violations(&[(EXPR, text)]), [""; 0]);
    assert_eq!(violations(&[(EXPR, &format!("{text}fn g() {{ dbg!(1) }}\n"))]), [format!("{EXPR}:9 unfinished")]);
}

#[test]
fn the_device_library_stands_in_driver_alone() {
    let dependency = manifest("[dependencies]\ncudarc = \"1\"\n");
    assert_eq!(violations(&[("crates/driver/Cargo.toml", &dependency)]), [""; 0]);
    assert_eq!(violations(&[(EXPR_MANIFEST, &dependency)]), [format!("{EXPR_MANIFEST}:9 device-library")]);
    assert_eq!(violations(&[("crates/driver/src/lib.rs", "use cudarc::driver;\n")]), [""; 0]);
    assert_eq!(violations(&[(EXPR, "\nuse cudarc::driver;\n")]), [format!("{EXPR}:2 device-library")]);
}

#[test]
fn dims_stands_alone() {
    let file = "crates/dims/Cargo.toml";
    assert_eq!(violations(&[(file, &manifest("[dependencies]\nrayon = \"1\"\n"))]), [format!("{file}:9 dims-alone")]);
    let target = manifest("[target.'cfg(unix)'.build-dependencies]\nrayon.workspace = true\n");
    assert_eq!(violations(&[(file, &target)]), [format!("{file}:9 dims-alone")]);
    assert_eq!(violations(&[(file, &manifest("[dev-dependencies]\nrayon.workspace = true\n"))]), [""; 0]);
}

#[test]
fn dependencies_point_one_way() {
    let on_driver = manifest("[dependencies]\ntilewright-driver.workspace = true\n");
    assert_eq!(violations(&[(EXPR_MANIFEST, &on_driver)]), [format!("{EXPR_MANIFEST}:9 direction")]);
    let renamed = manifest("[dev-dependencies]\nback = { package = \"tilewright-ops\", path = \"../ops\" }\n");
    assert_eq!(violations(&[(EXPR_MANIFEST, &renamed)]).len(), 1);
    let on_itself = manifest("[dev-dependencies]\ntilewright-expr = { path = \".\", features = [\"x\"] }\n");
    assert_eq!(violations(&[(EXPR_MANIFEST, &on_itself)]), [""; 0]);
    let on_its_tests = manifest("[dev-dependencies]\ntilewright-expr-naive = { path = \"tests/naive\" }\n");
    assert_eq!(violations(&[(EXPR_MANIFEST, &on_its_tests)]), [""; 0]);
    let on_its_namesake = manifest("[dev-dependencies]\ntilewright-expressive = { path = \"../expressive\" }\n");
    assert_eq!(violations(&[(EXPR_MANIFEST, &on_its_namesake)]).len(), 1);
    let on_dims = manifest("[dependencies]\ntilewright-dims.workspace = true\n");
    assert_eq!(violations(&[(EXPR_MANIFEST, &on_dims)]), [""; 0]);
    let unknown = [("crates/new/Cargo.toml", MANIFEST), ("crates/new/README.md", "# new\n")];
    assert_eq!(violations(&unknown), ["crates/new/Cargo.toml:0 direction"]);
    let loader = manifest("[dependencies]\nlibloading = { workspace = true }\n");
    assert_eq!(violations(&[(EXPR_MANIFEST, &loader)]), [format!("{EXPR_MANIFEST}:9 refused-dependency")]);
}

#[test]
fn the_tests_of_a_crate_are_one_executable() {
    let tests = [("crates/expr/tests/main.rs", "mod laws;\n"), ("crates/expr/tests/laws.rs", "//! x\n")];
    assert_eq!(violations(&tests), [format!("{EXPR_MANIFEST}:0 one-test-executable")]);
    let told = MANIFEST.replace("[lints]", "autotests = false\n\n[lints]");
    assert_eq!(violations(&[tests[0], tests[1], (EXPR_MANIFEST, &told)]), [""; 0]);
}

#[test]
fn unsafe_code_has_its_reason() {
    let fires = |text: &str| violations(&[(EXPR, text)]);
    let at = |line: usize| vec![format!("{EXPR}:{line} unsafe-reason")];
    assert_eq!(fires("fn f() {\n    unsafe { g() }\n}\n"), at(2));
    assert_eq!(fires("fn f() {\n    unsafe\n    {\n        g()\n    }\n}\n"), at(2));
    assert_eq!(fires("unsafe impl Send for A {}\n"), at(1));
    assert_eq!(fires("// SAFETY: a\nunsafe impl Send for A {}\nunsafe impl Sync for A {}\n"), at(3));
    assert_eq!(
        fires("fn f() {\n    // SAFETY: a\n    #[cfg(unix)]\n    let x =\n        unsafe { g() };\n}\n"),
        [""; 0]
    );
    assert_eq!(fires("/// # Safety\n/// a\nunsafe fn f() {}\ntype F = unsafe extern \"C\" fn();\n"), [""; 0]);
}

#[test]
fn unsafe_code_stands_in_one_room_of_a_crate() {
    let code = "// SAFETY: a\nunsafe impl Send for A {}\n";
    let (one, two) = ("crates/expr/src/a.rs", "crates/expr/src/b.rs");
    assert_eq!(violations(&[(one, code), ("crates/driver/src/b.rs", code)]), [""; 0]);
    assert_eq!(violations(&[(one, code), ("crates/expr/tests/laws/b.rs", code)]), [""; 0]);
    assert_eq!(violations(&[(one, code), (two, code)]), [format!("{two}:2 unsafe-room")]);
    // The type of a pointer to a function runs nothing.
    let mirror = "pub struct A(Option<unsafe extern \"C\" fn(*const u8)>, unsafe fn());\n";
    assert_eq!(violations(&[(one, code), (two, mirror)]), [""; 0]);
    let raw = "crates/expr/src/raw.rs";
    assert_eq!(violations(&[(one, code), (raw, code)]), [format!("{one}:2 unsafe-room")]);
}

#[test]
fn the_room_of_unsafe_code_may_be_a_folder() {
    let code = "// SAFETY: a\nunsafe impl Send for A {}\n";
    let (module, child) = ("crates/expr/src/eval/raw/mod.rs", "crates/expr/src/eval/raw/lanes/wide.rs");
    let room = [(module, code), (child, code)];
    assert_eq!(violations(&room), [""; 0]);
    // Beside the room, before and after it in the order of files; a file beside the folder; a second folder.
    for outside in ["eval/mod.rs", "wide.rs", "eval/raw.rs", "eval/raws/mod.rs", "typed/raw/mod.rs"] {
        let outside = format!("crates/expr/src/{outside}");
        assert_eq!(violations(&[room[0], room[1], (&outside, code)]), [format!("{outside}:2 unsafe-room")]);
    }
    let folder_of_another_name = [("crates/expr/src/lanes/a.rs", code), ("crates/expr/src/lanes/b.rs", code)];
    assert_eq!(violations(&folder_of_another_name), ["crates/expr/src/lanes/b.rs:2 unsafe-room"]);
}

#[test]
fn nothing_is_left_unfinished() {
    for text in
        ["fn f() { todo!() }\n", "fn f() { unimplemented!() }\n", "fn f() { dbg!(1) }\n", "#[ignore]\nfn f() {}\n"]
    {
        assert_eq!(violations(&[(EXPR, text)]), [format!("{EXPR}:1 unfinished")], "{text}");
    }
}

#[test]
fn inline_ptx_stands_in_its_layer() {
    let text = "\n  asm volatile(\"bar.sync 0;\");\n";
    let (layer, other) = ("crates/headers/cuda/arch/barrier.cuh", "crates/headers/cuda/tile.cuh");
    assert_eq!(violations(&[(layer, text)]), [""; 0]);
    assert_eq!(violations(&[(other, text)]), [format!("{other}:2 inline-ptx")]);
    assert_eq!(violations(&[(EXPR, "const A: &str = \"asm(x)\";\n")]), [format!("{EXPR}:1 inline-ptx")]);
    assert_eq!(violations(&[(EXPR, "// asm(x)\nfn f() { plasm(1) }\n")]), [""; 0]);
}

#[test]
fn files_are_short() {
    let file = "crates/expr/src/long.rs";
    assert_eq!(violations(&[(file, &"//\n".repeat(600))]), [""; 0]);
    assert_eq!(violations(&[(file, &"//\n".repeat(601))]), [format!("{file}:601 length")]);
    assert_eq!(violations(&[("crates/expr/src/generated/long.rs", &"//\n".repeat(601))]), [""; 0]);
}

#[test]
fn names_say_what_is_inside() {
    for file in ["crates/expr/src/utils.rs", "crates/expr/src/common/graph.rs", "benches/peers/helpers.py"] {
        assert_eq!(violations(&[(file, "")]), [format!("{file}:0 name")]);
    }
    assert_eq!(violations(&[("crates/expr/src/common_factor.rs", "")]), [""; 0]);
}

#[test]
fn white_space_is_clean() {
    assert_eq!(violations(&[(EXPR, "//! x \n")]), [format!("{EXPR}:1 trailing-space")]);
    assert_eq!(violations(&[("README.md", "a\n\tb\n")]), ["README.md:2 tab"]);
    assert_eq!(violations(&[("a.py", "\tx = 1\t\n")]), ["a.py:1 tab", "a.py:1 trailing-space"]);
}

#[test]
fn paths_of_a_machine_are_refused() {
    for folder in ["work", "root", "home"] {
        let text = format!("see /{folder}/somebody\n");
        assert_eq!(violations(&[(".ci/run", &text)]), [".ci/run:1 machine-path"]);
        assert_eq!(violations(&[("a.md", &format!("a/{folder}/b https://x.y/{folder}/z\n"))]), [""; 0]);
    }
}

#[test]
fn each_crate_introduces_itself() {
    let root = [("crates/ops/Cargo.toml", MANIFEST)];
    assert_eq!(violations(&root), ["crates/ops/Cargo.toml:0 readme"]);
    let silent = "[package]\nname = \"x\"\ndescription = \"x\"\n\n[lints]\nworkspace = true\n";
    assert_eq!(violations(&[(EXPR_MANIFEST, silent)]), [format!("{EXPR_MANIFEST}:3 description")]);
    let lax = "[package]\nname = \"x\"\ndescription = \"says what it is\"\n";
    assert_eq!(violations(&[(EXPR_MANIFEST, lax)]), [format!("{EXPR_MANIFEST}:0 lints")]);
    assert_eq!(violations(&[("benches/Cargo.toml", "[package]\nname = \"x\"\n")]), ["benches/Cargo.toml:0 lints"]);
    assert_eq!(violations(&[(EXPR_MANIFEST, "[package")]), [format!("{EXPR_MANIFEST}:0 manifest")]);
}

#[test]
fn each_library_is_explained() {
    let shared = "[workspace.dependencies]\nrayon = \"1\"\nserde = { version = \"1\" }\ntilewright-ops = { path = \"crates/ops\" }\n";
    assert_eq!(violations(&[("Cargo.toml", shared)]), ["Cargo.toml:3 unexplained-dependency"]);
    let own = manifest("[dev-dependencies]\nserde = \"1\"\n");
    assert_eq!(violations(&[(EXPR_MANIFEST, &own)]), [format!("{EXPR_MANIFEST}:9 unexplained-dependency")]);
}

#[test]
fn what_git_ignores_is_not_looked_at() {
    let planted = "fn f() { todo!() }\n";
    assert_eq!(violations(&[(".gitignore", "/target\n"), ("target/a.rs", planted)]), [""; 0]);
}
