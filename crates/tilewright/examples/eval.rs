//! Evaluates special functions: reads lines `function argument ..` and prints a value a line, or `error` for a line that says
//! nothing.
//!
//! ```text
//! echo 'digamma 1.5' | cargo run --release --example eval -- --dtype f32 --device gpu
//! ```
//!
//! Arguments are decimal (`1e-3`, `inf`, `nan`) or hexadecimal floats (`0x1.8p-1`); those of `gcd` and `lcm` are integers. All lines of
//! one function become one call of one kernel.

use clap::{Parser, ValueEnum};
use hexf_parse::parse_hexf64;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use tilewright::prelude::*;
use tilewright::{Error, Item, special};

dims! { N }

#[derive(Clone, Copy, ValueEnum)]
enum Place {
    Cpu,
    Gpu,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    F32,
    F64,
}

/// Evaluates special functions, a line each.
#[derive(Parser)]
struct Options {
    /// Where they are computed.
    #[arg(long, value_enum, default_value = "cpu")]
    device: Place,
    /// In which format.
    #[arg(long, value_enum, default_value = "f64")]
    dtype: Format,
}

type Failure = Box<dyn std::error::Error>;

/// A number as its text says it.
fn number(text: &str) -> Option<f64> {
    let hexadecimal = text.trim_start_matches(['-', '+']).to_ascii_lowercase().starts_with("0x");
    if hexadecimal { parse_hexf64(text, false).ok() } else { text.parse().ok() }
}

/// A number with its shortest text, and what it reads from a text.
trait Number: Copy + std::fmt::Debug {
    fn read(text: &str) -> Option<Self>;
    fn show(self) -> String;
}

macro_rules! numbers {
    ($($T:ident)*) => { $(
        impl Number for $T {
            fn read(text: &str) -> Option<$T> {
                text.parse().ok().or_else(|| number(text).map(|v| v as $T))
            }
            fn show(self) -> String {
                if self.is_nan() { "nan".to_owned() } else { format!("{self:?}") }
            }
        }
    )* };
}
numbers!(f32 f64);

impl Number for i64 {
    fn read(text: &str) -> Option<i64> {
        text.parse().ok()
    }
    fn show(self) -> String {
        self.to_string()
    }
}

/// Every function by its name, in one format: those of one argument, and those of two.
macro_rules! functions {
    ($module:ident $T:ident, $x:ident $y:ident; $($one:literal $f:expr),*; $($two:literal $g:expr),*) => {
        mod $module {
            use super::*;

            /// How many arguments the function of this name takes.
            pub(super) fn arguments(name: &str) -> Option<usize> {
                match name {
                    $($one => Some(1),)*
                    $($two => Some(2),)*
                    _ => None,
                }
            }

            /// Its values for columns of arguments.
            pub(super) fn values(name: &str, device: &Device, columns: &[Vec<$T>]) -> Result<Vec<$T>, Failure> {
                let column = |i: usize| column(&columns[i], device);
                Ok(match name {
                    $($one => fuse(|$x: In<$T, (N,)>| $f.store::<(N,)>()).call(&column(0)?)?.to_vec()?,)*
                    $($two => {
                        let handle = fuse(|$x: In<$T, (N,)>, $y: In<$T, (N,)>| $g.store::<(N,)>());
                        handle.call(&column(0)?, &column(1)?)?.to_vec()?
                    })*
                    other => return Err(format!("no function `{other}`").into()),
                })
            }
        }
    };
}

macro_rules! all_functions {
    ($module:ident $T:ident) => {
        functions!($module $T, x y;
            "digamma" special::digamma::of(x), "trigamma" special::trigamma::of(x), "lgamma" special::lgamma::of(x),
            "gamma" special::gamma::of(x), "erf" special::erf::of(x), "erfc" special::erfc::of(x),
            "erfcx" special::erfcx::of(x), "erfinv" special::erfinv::of(x), "ndtr" special::ndtr::of(x),
            "log_ndtr" special::log_ndtr::of(x), "ndtri" special::ndtri::of(x), "entr" special::entr::of(x),
            "logit" special::logit::of(x), "sinc" special::sinc::of(x), "sinpi" special::sin_pi::of(x),
            "cospi" special::cos_pi::of(x), "i0" special::i0::of(x), "i1" special::i1::of(x), "i0e" special::i0e::of(x),
            "i1e" special::i1e::of(x), "modified_bessel_i0" special::i0::of(x), "modified_bessel_i1" special::i1::of(x),
            "modified_bessel_k0" special::k0::of(x), "modified_bessel_k1" special::k1::of(x),
            "scaled_modified_bessel_k0" special::k0e::of(x), "scaled_modified_bessel_k1" special::k1e::of(x),
            "bessel_j0" special::bessel_j0::of(x), "bessel_j1" special::bessel_j1::of(x),
            "bessel_y0" special::bessel_y0::of(x), "bessel_y1" special::bessel_y1::of(x),
            "spherical_bessel_j0" special::spherical_bessel_j0::of(x), "airy_ai" special::airy_ai::of(x),
            "exp" x.exp(), "exp2" x.exp2(), "expm1" x.exp_m1(), "log" x.ln(), "log1p" x.ln_1p(),
            "sin" x.sin(), "cos" x.cos(), "tan" x.tan();
            "pow" x.powf(y), "polygamma" special::polygamma::of(x, y), "zeta" special::zeta::of(x, y),
            "beta" special::beta::of(x, y), "log_beta" special::log_beta::of(x, y), "xlogy" special::xlogy::of(x, y),
            "xlog1py" special::xlog1py::of(x, y), "kaiser" special::kaiser::of(x, y),
            "chebyshev_polynomial_t" special::chebyshev_polynomial_t::of(x, y),
            "chebyshev_polynomial_u" special::chebyshev_polynomial_u::of(x, y),
            "chebyshev_polynomial_v" special::chebyshev_polynomial_v::of(x, y),
            "chebyshev_polynomial_w" special::chebyshev_polynomial_w::of(x, y),
            "shifted_chebyshev_polynomial_t" special::shifted_chebyshev_polynomial_t::of(x, y),
            "shifted_chebyshev_polynomial_u" special::shifted_chebyshev_polynomial_u::of(x, y),
            "shifted_chebyshev_polynomial_v" special::shifted_chebyshev_polynomial_v::of(x, y),
            "shifted_chebyshev_polynomial_w" special::shifted_chebyshev_polynomial_w::of(x, y),
            "hermite_polynomial_h" special::hermite_polynomial_h::of(x, y),
            "hermite_polynomial_he" special::hermite_polynomial_he::of(x, y),
            "laguerre_polynomial_l" special::laguerre_polynomial_l::of(x, y),
            "legendre_polynomial_p" special::legendre_polynomial_p::of(x, y)
        );
    };
}
all_functions!(single f32);
all_functions!(double f64);
functions!(whole i64, x y; ; "gcd" special::gcd_i64::of(x, y), "lcm" special::lcm_i64::of(x, y));

/// Arguments as a tensor on the device.
fn column<T: Item>(values: &[T], device: &Device) -> Result<Tensor<T, (N,)>, Error> {
    Tensor::from_vec([values.len()], values.to_vec())?.to(device)
}

/// Lines of one function: where they stand, and their arguments by columns.
#[derive(Default)]
struct Group<T> {
    lines: Vec<usize>,
    columns: Vec<Vec<T>>,
}

type Values<T> = fn(&str, &Device, &[Vec<T>]) -> Result<Vec<T>, Failure>;

/// Answers the lines whose function `arguments` knows and whose arguments it can read.
fn answer<T: Number>(
    lines: &[Vec<&str>],
    device: &Device,
    arguments: fn(&str) -> Option<usize>,
    values: Values<T>,
    answers: &mut [String],
) -> Result<(), Failure> {
    let mut groups: BTreeMap<&str, Group<T>> = BTreeMap::new();
    for (at, words) in lines.iter().enumerate() {
        let [name, rest @ ..] = words.as_slice() else { continue };
        let read: Option<Vec<T>> = rest.iter().map(|word| T::read(word)).collect();
        let Some(read) = read.filter(|read| arguments(name) == Some(read.len())) else { continue };
        let group =
            groups.entry(*name).or_insert_with(|| Group { lines: Vec::new(), columns: vec![Vec::new(); read.len()] });
        group.lines.push(at);
        group.columns.iter_mut().zip(read).for_each(|(column, value)| column.push(value));
    }
    for (name, group) in groups {
        let results = values(name, device, &group.columns)?;
        group.lines.iter().zip(results).for_each(|(at, value)| answers[*at] = value.show());
    }
    Ok(())
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let device = match options.device {
        Place::Cpu => Device::Cpu,
        Place::Gpu => Device::gpu(0)?,
    };
    let text = std::io::read_to_string(std::io::stdin())?;
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let mut answers = vec!["error".to_owned(); lines.len()];
    match options.dtype {
        Format::F32 => answer(&lines, &device, single::arguments, single::values, &mut answers)?,
        Format::F64 => answer(&lines, &device, double::arguments, double::values, &mut answers)?,
    }
    answer(&lines, &device, whole::arguments, whole::values, &mut answers)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    answers.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    Ok(out.flush()?)
}
