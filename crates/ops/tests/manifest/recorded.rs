//! What a process records while it runs on a GPU, which here is a stub.

use super::{X, Y, half_root, zeros};
use crate::support::skip;
use std::process::Command;
use tilewright_driver::Source;
use tilewright_expr::In;
use tilewright_ops::{Device, Evaluate, Manifest, Plan, Tensor, fuse};

const CHILD: &str = "TILEWRIGHT_RECORDED";
const KERNEL: &str = "extern \"C\" __global__ void nothing(float* x) {}";

#[test]
fn processes_record_what_they_run() {
    let folder = tempfile::tempdir().unwrap();
    let Some([driver, compiler]) = crate::stub::working(folder.path()) else {
        return skip("manifest::recorded", "no C compiler");
    };
    let path = folder.path().join("kernels.toml");
    let child = |record: bool| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "manifest::recorded::child", "--nocapture"]).env(CHILD, "1");
        child.env("TILEWRIGHT_CACHE", folder.path().join("cache")).env("TILEWRIGHT_LIBCUDA", &driver);
        child
            .env("TILEWRIGHT_CUDA", &compiler)
            .env("TILEWRIGHT_RECORD", if record { path.as_os_str() } else { "".as_ref() });
        child.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        child.spawn().unwrap()
    };
    let succeeds = |child: std::process::Child| {
        let output = child.wait_with_output().unwrap();
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && text.contains("1 passed"), "{}:\n{text}", output.status);
    };
    succeeds(child(false));
    assert!(!path.exists(), "nothing is recorded unasked");
    let children: Vec<_> = (0..3).map(|_| child(true)).collect();
    children.into_iter().for_each(succeeds);

    let manifest = Manifest::read(&path).unwrap();
    let recorded: Vec<Source> = manifest.sources().unwrap();
    let has = |source: &Source| {
        recorded.iter().any(|r| (&r.text, &r.options, r.target) == (&source.text, &source.options, source.target))
    };
    for plan in expected() {
        assert!(plan.sources().unwrap().iter().all(has), "{}", plan.manifest());
    }
    assert!(recorded.iter().any(|source| source.text == KERNEL));
    // One for each call below, though three processes with threads made it.
    assert_eq!(manifest.plans().len(), 5, "{manifest}");
}

/// Plans of some calls that the child makes.
fn expected() -> Vec<Plan> {
    let x = zeros::<f32, (Y, X), _>([300, 301]);
    let own = fuse(|x: In<f32, (Y, X)>| half_root::of(x).store::<(X, Y)>());
    let held = fuse(|x: In<f32, (Y, X)>| x.store_where::<(Y, X), _>(x.gt(0.5), 7.0));
    vec![own.plan(&x).unwrap(), held.plan(&x).unwrap()]
}

#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let device = Device::gpu(0).unwrap();
    let x = zeros::<f32, (Y, X), _>([300, 301]).to(&device).unwrap();
    let own = fuse(|x: In<f32, (Y, X)>| half_root::of(x).store::<(X, Y)>());
    let held = fuse(|x: In<f32, (Y, X)>| x.store_where::<(Y, X), _>(x.gt(0.5), 7.0));
    let ahead = fuse(|x: In<f32, (Y, X)>| (x + 3.0).store::<(Y, X)>());
    ahead.prefetch(&x).wait();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                drop(own.call(&x).unwrap());
                drop(held.call(&x).unwrap());
                // What is given holds something, and is no new tensor.
                let mut given = Tensor::<f32, (Y, X)>::zeros([300, 301], &device).unwrap();
                held.call_into(&mut given, &x).unwrap();
                drop((x.expr() * 2.0).store::<(Y, X)>().eval().unwrap());
            });
        }
    });
    // The stub has no kernel of this name; what is wanted is recorded before.
    let _ = device.as_gpu().unwrap().kernel(KERNEL);
}
