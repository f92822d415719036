//! The first call of each special function, in f32 and in f64: compiled, and from the disk cache.

use crate::Result;
use crate::cases::X;
use crate::clock::median;
use crate::report::Report;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;
use tilewright_driver::Origin;
use tilewright_expr::In;
use tilewright_ops::{Device, Tensor, fuse};
use tilewright_special as special;

/// What the child tells.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Account {
    /// Of a kernel before all others, which pays for what is the process's own: milliseconds from its closure to its result.
    first_ms: f64,
    /// The same of each function.
    calls: Vec<Call>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Call {
    name: String,
    ms: f64,
    /// Of these, what NVRTC took; 0 from the disk.
    compiler_ms: f64,
    /// Where the code came from, if it was not compiled.
    found: Option<String>,
}

/// Numbers of a call.
const LEN: usize = 256;

/// Calls every function once in a process of its own.
pub(super) fn child() -> Result<String> {
    let device = Device::gpu(0)?;
    let single = Tensor::<f32, (X,)>::from_vec([LEN], vec![1.5; LEN])?.to(&device)?;
    let double = Tensor::<f64, (X,)>::from_vec([LEN], vec![1.5; LEN])?.to(&device)?;
    device.synchronize()?;
    let begin = Instant::now();
    let warm = fuse(|x: In<f32, (X,)>| (x * 2.0 + 1.0).store::<(X,)>());
    let _warm = warm.call(&single)?;
    device.synchronize()?;
    let mut account = Account { first_ms: begin.elapsed().as_secs_f64() * 1e3, calls: Vec::new() };

    macro_rules! call {
        ($name:expr, $f:expr, $($x:expr),*) => {{
            let begin = Instant::now();
            let f = $f;
            let _result = f.call($(&$x),*)?;
            device.synchronize()?;
            let ms = begin.elapsed().as_secs_f64() * 1e3;
            let origin = f.last_built().map(|built| built.origin);
            let (compiler_ms, found) = match origin {
                Some(Origin::Compiled { ms }) => (ms, None),
                other => (0.0, other.map(|origin| format!("{origin:?}"))),
            };
            account.calls.push(Call { name: $name.into(), ms, compiler_ms, found });
        }};
    }
    macro_rules! one {
        ($($f:ident)*) => { $(
            call!(concat!(stringify!($f), " f32"), fuse(|x: In<f32, (X,)>| special::$f::of(x).store::<(X,)>()), single);
            call!(concat!(stringify!($f), " f64"), fuse(|x: In<f64, (X,)>| special::$f::of(x).store::<(X,)>()), double);
        )* };
    }
    macro_rules! two {
        ($($f:ident)*) => { $(
            let f = |x: In<f32, (X,)>, y: In<f32, (X,)>| special::$f::of(x, y).store::<(X,)>();
            call!(concat!(stringify!($f), " f32"), fuse(f), single, single);
            let f = |x: In<f64, (X,)>, y: In<f64, (X,)>| special::$f::of(x, y).store::<(X,)>();
            call!(concat!(stringify!($f), " f64"), fuse(f), double, double);
        )* };
    }
    one!(digamma trigamma lgamma gamma erf erfc erfcx erfinv ndtr log_ndtr ndtri sinc sin_pi cos_pi entr logit bessel_j0
        bessel_j1 bessel_y0 bessel_y1 spherical_bessel_j0 airy_ai i0 i1 i0e i1e k0 k1 k0e k1e);
    two!(zeta polygamma beta log_beta xlogy xlog1py kaiser chebyshev_polynomial_t chebyshev_polynomial_u
        chebyshev_polynomial_v chebyshev_polynomial_w shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u
        shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he
        laguerre_polynomial_l legendre_polynomial_p);
    Ok(serde_json::to_string(&account)?)
}

impl Account {
    fn worst(&self) -> Result<&Call> {
        Ok(self.calls.iter().max_by(|a, b| a.ms.total_cmp(&b.ms)).ok_or("no function was called")?)
    }
}

/// What a line says of calls whose code was all found there, or was all compiled.
fn account(line: &str, found: Option<&str>) -> Result<Account> {
    let account: Account = serde_json::from_str(line)?;
    if let Some(other) = account.calls.iter().find(|call| call.found.as_deref() != found) {
        return Err(format!("{}: found in {:?}, expected {found:?}", other.name, other.found).into());
    }
    Ok(account)
}

/// Milliseconds of the middle function's first call, of the slowest one's, and of a process's first one, all found in `origin`: of each
/// the median of several processes, of which these are the lines.
pub(in crate::suites) fn calls_ms(lines: &[String], origin: &str) -> Result<[f64; 3]> {
    let accounts: Vec<Account> = lines.iter().map(|line| account(line, Some(origin))).collect::<Result<_>>()?;
    let mut functions: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for call in accounts.iter().flat_map(|account| &account.calls) {
        functions.entry(&call.name).or_default().push(call.ms);
    }
    let functions: Vec<(&str, f64)> = functions.into_iter().map(|(name, ms)| (name, median(ms))).collect();
    let worst = functions.iter().max_by(|a, b| a.1.total_cmp(&b.1)).ok_or("no function was called")?;
    eprintln!("first calls from {origin}: the slowest is {}, {:.2} ms", worst.0, worst.1);
    let middle = median(functions.iter().map(|(_, ms)| *ms).collect());
    Ok([middle, worst.1, median(accounts.iter().map(|account| account.first_ms).collect())])
}

/// Measures `jit/functions`: a process with an empty cache, then one that finds all that the first compiled.
pub(super) fn run(report: &mut Report) -> Result<()> {
    let cache = tempfile::tempdir()?;
    let folder = cache.path().join("functions");
    for case in ["cold", "disk"] {
        let (_, line) = super::start("functions", &folder, &[])?;
        let account = account(&line, (case == "disk").then_some("Disk"))?;
        let worst = account.worst()?;
        eprintln!("jit/functions {case}: the slowest is {}, {:.2} ms", worst.name, worst.ms);
        let middle = |pick: fn(&Call) -> f64| median(account.calls.iter().map(pick).collect());
        let figures = [
            ("median", middle(|call| call.ms)),
            ("worst", worst.ms),
            ("process_first", account.first_ms),
            ("compiler_median", middle(|call| call.compiler_ms)),
        ];
        for (metric, ms) in figures {
            report.add("jit", "functions", &format!("{case}_{metric}_ms"), ms, "ms");
        }
    }
    Ok(())
}
