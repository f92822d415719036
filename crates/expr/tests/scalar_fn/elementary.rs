//! Elementary functions inside of bodies: printed from the graph, on both devices.

use super::{X, case};
use crate::emitted::check_all;
use std::path::Path;
use tilewright_expr::extend::elementary::host_forms;
use tilewright_expr::extend::{Float, scalar_fn};
use tilewright_expr::{In, trace};

/// What stands in `extend/scalar/generated` is what the graph says. `TILEWRIGHT_OVERWRITE` writes it.
#[test]
fn forms() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/extend/scalar/generated");
    if !folder.is_dir() {
        return crate::skip("scalar_fn::elementary::forms", "the sources are not at hand");
    }
    for (name, text) in host_forms() {
        let file = folder.join(format!("{name}.rs"));
        if std::env::var_os("TILEWRIGHT_OVERWRITE").is_some() {
            std::fs::write(&file, &text).expect("the file is writable");
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(written == text, "generated/{name}.rs is not what the graph says: run this with TILEWRIGHT_OVERWRITE=1");
    }
}

#[scalar_fn]
fn powers<T: Float>(x: T, y: T) -> (T, T, T, T) {
    (x.exp() + x.exp2(), x.exp10() - x.exp_m1(), x.powf(y), x.cbrt() * x.hypot(y))
}

#[scalar_fn]
fn logarithms<T: Float>(x: T) -> (T, T, T, T) {
    (x.ln(), x.log2(), x.log10(), x.ln_1p())
}

#[scalar_fn]
fn circle<T: Float>(x: T, y: T) -> (T, T, T, T) {
    (x.sin() + x.cos(), x.tan(), x.asin() + x.acos() * x.atan(), y.atan2(x))
}

#[scalar_fn]
fn hyperbola<T: Float>(x: T) -> (T, T, T, T) {
    (x.sinh() - x.cosh(), x.tanh() + x.atanh(), x.asinh(), x.acosh())
}

#[scalar_fn]
fn statistics<T: Float>(x: T) -> (T, T, T, T) {
    (x.sigmoid(), x.softplus(), x.erf(), x.erfc())
}

/// The same as in the graph, and from a kernel.
#[test]
fn functions() {
    macro_rules! cases {
        ($($t:ident),*) => { [$(
            {
                let t = trace(|x: In<$t, (X,)>, y: In<$t, (X,)>| {
                    let (a, b, c, d) = powers::of(x, y);
                    let (p, q, r, s) = logarithms::of(x);
                    ((a.store::<(X,)>(), b.store::<(X,)>(), c.store::<(X,)>(), d.store::<(X,)>()),
                     (p.store::<(X,)>(), q.store::<(X,)>(), r.store::<(X,)>(), s.store::<(X,)>()))
                });
                case(concat!(stringify!($t), ", powers"), t.graph)
            },
            {
                let t = trace(|x: In<$t, (X,)>, y: In<$t, (X,)>| {
                    let (a, b, c, d) = circle::of(x, y);
                    let (p, q, r, s) = hyperbola::of(x);
                    let (u, v, w, z) = statistics::of(x);
                    ((a.store::<(X,)>(), b.store::<(X,)>(), c.store::<(X,)>(), d.store::<(X,)>()),
                     (p.store::<(X,)>(), q.store::<(X,)>(), r.store::<(X,)>(), s.store::<(X,)>()),
                     (u.store::<(X,)>(), v.store::<(X,)>(), w.store::<(X,)>(), z.store::<(X,)>()))
                });
                case(concat!(stringify!($t), ", circle"), t.graph)
            }
        ),*] };
    }
    check_all("scalar_fn::elementary::functions", cases!(f32, f64).into_iter());
}
