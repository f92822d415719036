//! Scalar functions with the real compiler, and on a GPU: the functions of the tests of expr.

#[path = "../../expr/tests/scalar_fn/functions/mod.rs"]
mod functions;

use crate::support::{Random, assert_same, gpu, skip};
use functions::{elementary, floats, integers, statements};
use tilewright_dims::dims;
use tilewright_driver::{Arch, Source, TargetKind, compile, toolkit};
use tilewright_expr::extend::scalar_fn;
use tilewright_expr::{Element, In, Value};
use tilewright_headers::headers_for;
use tilewright_ops::{Item, Tensor, fuse};

dims! { X }

const COUNT: usize = 4001;

fn random<T: Item + Value + Element>(seed: u64) -> Tensor<T, (X,)> {
    Tensor::from_vec([COUNT], Random(seed).vec(COUNT, |r| T::from_bits64(r.bits()))).unwrap()
}

fn source(name: &str, text: String) -> Source {
    let headers = headers_for(&text).into_iter().map(|(name, text)| (name.to_string(), text.into())).collect();
    Source { name: name.into(), text, headers, options: Vec::new(), target: TargetKind::Plain }
}

/// Every text is legal CUDA C++.
#[test]
fn kernels_compile() {
    if toolkit::nvrtc().is_err() {
        return skip("scalar_fn::kernels_compile", "no NVRTC");
    }
    macro_rules! row {
        ($name:literal, |$($arg:ident: $t:ty),*| $results:expr, $($number:tt)*) => {{
            let f = fuse(|$($arg: In<$t, (X,)>),*| {
                let results = $results;
                ($(results.$number.store::<(X,)>(),)*)
            });
            let text = f.cuda_source($(&random::<$t>(stringify!($arg).len() as u64)),*).unwrap();
            compile(&source($name, text), Arch::new(9, 0)).unwrap_or_else(|e| panic!("{}: {e}", $name));
        }};
    }
    functions::rows!(row);
}

/// Every construct gives the CPU's bits.
#[test]
fn the_same_bits_on_a_gpu() {
    let Some((device, _lock)) = gpu("scalar_fn::the_same_bits_on_a_gpu") else { return };
    macro_rules! row {
        ($name:literal, |$($arg:ident: $t:ty),*| $results:expr, $($number:tt)*) => {{
            let f = fuse(|$($arg: In<$t, (X,)>),*| {
                let results = $results;
                ($(results.$number.store::<(X,)>(),)*)
            });
            let ($($arg,)*) = ($(random::<$t>(stringify!($arg).len() as u64),)*);
            let on_cpu = f.call($(&$arg),*).unwrap();
            let on_gpu = f.call($(&$arg.to(&device).unwrap()),*).unwrap();
            $(assert_same($name, &on_gpu.$number.to_vec().unwrap(), &on_cpu.$number.to_vec().unwrap());)*
        }};
    }
    functions::rows!(row);
}

#[scalar_fn(cuda = "
    float half(float x) { return x * 0.5f; }
    float mistaken(float x) { return half(x) + nowhere; }
")]
fn mistaken(x: f32) -> f32;

/// The compiler's log names the user's function and the line of its text.
#[test]
fn mistakes_of_a_text_are_shown_in_it() {
    if toolkit::nvrtc().is_err() {
        return skip("scalar_fn::mistakes_of_a_text_are_shown_in_it", "no NVRTC");
    }
    let f = fuse(|x: In<f32, (X,)>| mistaken::of(x).store::<(X,)>());
    let text = f.cuda_source(&random::<f32>(1)).unwrap();
    let error = compile(&source("mistaken", text), Arch::new(9, 0)).expect_err("`nowhere` is not there").to_string();
    assert!(error.contains("mistaken(3)") && error.contains("nowhere"), "{error}");
    let error = f.call(&random::<f32>(1)).expect_err("it has no twin").to_string();
    assert!(error.contains("`mistaken`"), "{error}");
}
