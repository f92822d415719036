//! Functions of f32 compute in f32: a GPU for pictures has 64 times as many of its units.

use crate::special;
use crate::support::skip;
use tilewright_dims::dims;
use tilewright_driver::{Arch, Source, TargetKind, compile, toolkit};
use tilewright_expr::In;
use tilewright_headers::headers_for;
use tilewright_ops::{Tensor, fuse};

dims! { X }

/// The elementary functions.
fn elementary() -> Vec<(&'static str, String)> {
    let x = Tensor::<f32, (X,)>::from_vec([3], vec![0.5; 3]).unwrap();
    macro_rules! sources {
        ($($f:ident)*; $($g:ident)*) => {
            vec![
                $((stringify!($f), fuse(|x: In<f32, (X,)>| x.$f().store::<(X,)>()).cuda_source(&x).unwrap()),)*
                $((stringify!($g), fuse(|x: In<f32, (X,)>, y: In<f32, (X,)>| x.$g(y).store::<(X,)>()).cuda_source(&x, &x).unwrap()),)*
            ]
        };
    }
    sources!(exp exp2 exp10 exp_m1 ln log2 log10 ln_1p cbrt sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
        erf erfc gelu; powf atan2 hypot)
}

/// PTX is what the compiler makes of a text once what is never reached has gone.
#[test]
fn no_operation_is_one_of_f64() {
    if toolkit::nvrtc().is_err() {
        return skip("single_precision::no_operation_is_one_of_f64", "no NVRTC");
    }
    let families = [
        elementary(),
        special::gamma_family::sources(),
        special::error_family::sources(),
        special::circle::sources(),
        special::bessel_family::sources(),
        special::modified_bessel_family::sources(),
        special::two_arguments::sources(),
        special::chebyshev_polynomials::sources(),
        special::other_polynomials::sources(),
        special::complex_to_real::sources(),
        special::complex_numbers::sources(),
    ];
    let mut doubles = Vec::new();
    for (name, text) in families.into_iter().flatten() {
        let headers = headers_for(&text).into_iter().map(|(name, text)| (name.to_string(), text.into())).collect();
        let source = Source { name: name.into(), text, headers, options: Vec::new(), target: TargetKind::Portable };
        let compiled = compile(&source, Arch::new(9, 0)).unwrap_or_else(|e| panic!("{name}: {e}"));
        let ptx = String::from_utf8(compiled.image).unwrap();
        assert!(ptx.contains(".f32"), "{name}");
        let count = ptx.lines().filter(|line| line.contains(".f64")).count();
        if count > 0 {
            doubles.push(format!("{name}: {count}"));
        }
    }
    assert!(doubles.is_empty(), "lines with f64: {}", doubles.join(", "));
}
