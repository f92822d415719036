//! Elementary functions inside of bodies: printed from the graph, on both devices.

use super::{X, case};
use crate::tensor::{Stored, evaluate};
use std::path::Path;
use tilewright_expr::extend::elementary::{ELEMENTARY, device_forms, host_forms};
use tilewright_expr::extend::{Float, scalar_fn};
use tilewright_expr::{In, trace};

/// What stands in the folders `generated` is what the graph says. `TILEWRIGHT_OVERWRITE` writes it.
#[test]
fn forms() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all = [(host_forms(), "scalar/src/generated", "rs"), (device_forms(), "expr/src/extend/generated", "cuh")];
    for (forms, folder, extension) in all {
        let folder = crates.join(folder);
        if !folder.is_dir() {
            return crate::skip("scalar_fn::elementary::forms", "the sources are not at hand");
        }
        for (name, text) in forms {
            let file = folder.join(format!("{name}.{extension}"));
            if std::env::var_os("TILEWRIGHT_OVERWRITE").is_some() {
                std::fs::write(&file, &text).expect("the file is writable");
            }
            let written = std::fs::read_to_string(&file).unwrap_or_default();
            assert!(
                written == text,
                "{} is not what the graph says: run this with TILEWRIGHT_OVERWRITE=1",
                file.display()
            );
        }
    }
}

/// Functions of bodies, each with the node of the graph.
macro_rules! alone {
    ($($body:ident $node:ident ($($arg:ident)?)),*) => { [$(
        {
            #[scalar_fn]
            fn inside<T: Float>(x: T $(, $arg: T)?) -> T {
                x.$body($($arg)?)
            }
            let single = trace(|x: In<f32, (X,)> $(, $arg: In<f32, (X,)>)?| {
                (inside::of(x $(, $arg)?).store::<(X,)>(), x.$node($($arg)?).store::<(X,)>())
            });
            let double = trace(|x: In<f64, (X,)> $(, $arg: In<f64, (X,)>)?| {
                (inside::of(x $(, $arg)?).store::<(X,)>(), x.$node($($arg)?).store::<(X,)>())
            });
            [single.graph, double.graph].map(|graph| case(stringify!($body), graph))
        }
    ),*] };
}

/// A function inside of a body and the node of the graph give the same bits.
#[test]
fn bodies_have_the_functions_of_expressions() {
    let all = alone!(
        exp exp (), exp2 exp2 (), exp10 exp10 (), exp_m1 exp_m1 (), ln ln (), log2 log2 (), log10 log10 (), ln_1p ln_1p (),
        powf powf (y), cbrt cbrt (), hypot hypot (y), sin sin (), cos cos (), tan tan (), asin asin (), acos acos (),
        atan atan (), atan2 atan2 (y), sinh sinh (), cosh cosh (), tanh tanh (), asinh asinh (), acosh acosh (),
        atanh atanh (), sigmoid sigmoid (), softplus softplus (), erf erf (), erfc erfc ()
    );
    assert_eq!(all.len(), ELEMENTARY.len());
    for (name, case) in all.into_iter().flatten() {
        let inputs: Vec<Stored> = case.operands.iter().map(|o| Stored::new(&o.tensor, &o.layout)).collect();
        let (results, _) =
            evaluate(&case.graph, &inputs, &case.outputs, true, 0).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(results[0].same(&results[1]), "{name}: {}", results[0].difference(&results[1]));
    }
}
