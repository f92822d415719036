//! Where the time of a call goes whose kernel is on the disk: the same steps as the call's, one by one, each for the first time in its
//! process.

use crate::Result;
use crate::cases::{FRAME, Picture, Random, colours, crops};
use crate::clock::median;
use crate::report::Report;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::Instant;
use tilewright_driver::{KernelCache, Source};
use tilewright_headers::headers_for;
use tilewright_ops::Device;

/// Milliseconds of each step.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Account {
    trace: f64,
    plan_emit: f64,
    /// The key: text, headers, what they include.
    hash: f64,
    /// Key again, file, checksum, description.
    read: f64,
    load: f64,
    /// The kernel in what was loaded, and what the driver tells of it.
    function: f64,
    /// Whether the code had to be compiled.
    compiled: bool,
}

/// A step's name, and its part of an account.
type Step = (&'static str, fn(&Account) -> f64);

/// Does the steps.
pub(super) fn child() -> Result<String> {
    let device = Device::gpu(0)?;
    let gpu = device.as_gpu().ok_or("not a GPU")?;
    let picture = Picture::zeros(FRAME, &device)?;
    device.synchronize()?;
    let (boxes, [mul, sub, div]) = (Random::new(50).boxes(50, FRAME)?, colours()?);

    let mut account = Account::default();
    let mut since = Instant::now();
    let mut lap = |to: &mut f64| *to = std::mem::replace(&mut since, Instant::now()).elapsed().as_secs_f64() * 1e3;
    let crops = crops();
    lap(&mut account.trace);
    let text = crops.cuda_source(&picture, &boxes, &mul, &sub, &div)?;
    lap(&mut account.plan_emit);
    let headers = headers_for(&text).into_iter().map(|(name, text)| (name.to_string(), Cow::Borrowed(text))).collect();
    let source = Source { name: "phases".into(), text, headers, ..Source::default() };
    let _key = source.key(gpu.device().arch());
    lap(&mut account.hash);
    let (compiled, origin) = KernelCache::shared().get(&source, gpu.device().arch())?;
    lap(&mut account.read);
    let module = gpu.device().load(&compiled)?;
    lap(&mut account.load);
    let name = compiled.kernels.first().ok_or("a cubin without kernels")?.name.clone();
    let _function = module.function(&name)?;
    lap(&mut account.function);
    account.compiled = matches!(origin, tilewright_driver::Origin::Compiled { .. });
    Ok(serde_json::to_string(&account)?)
}

/// Measures `jit/phases`.
pub(super) fn run(quick: bool, report: &mut Report) -> Result<()> {
    let cache = tempfile::tempdir()?;
    let folder = cache.path().join("phases");
    super::start("phases", &folder, &[])?;
    let mut accounts = Vec::new();
    for _ in 0..if quick { 3 } else { 7 } {
        let account: Account = serde_json::from_str(&super::start("phases", &folder, &[])?.1)?;
        if account.compiled {
            return Err("the kernel was compiled, expected it on the disk".into());
        }
        accounts.push(account);
    }
    let steps: [Step; 6] = [
        ("trace", |a| a.trace),
        ("plan_emit", |a| a.plan_emit),
        ("hash", |a| a.hash),
        ("read", |a| a.read),
        ("load", |a| a.load),
        ("function", |a| a.function),
    ];
    for (step, ms) in steps {
        report.add("jit", "phases", &format!("{step}_ms"), median(accounts.iter().map(ms).collect()), "ms");
    }
    Ok(())
}
