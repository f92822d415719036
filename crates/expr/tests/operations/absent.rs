//! What there is not, and why.

use super::{Channels, Given, Rows, Scalar};
use tilewright_dims::Dims;
use tilewright_expr::{DType, Out};

const SHADES: &[DType] = &[DType::U8, DType::U16, DType::F32, DType::F64];

/// Rows by their first words, which types have them, and why no others do.
type Rule = (&'static str, fn(DType) -> bool, &'static str);

const RULES: &[Rule] = &[
    (NUMBERS, number, "a condition is no number: `&`, `|`, `^`, or a cast first"),
    (SAMPLED, number, "conditions cannot be interpolated or weighed: `resize_nearest`, or a cast first"),
    (REDUCED, number, "a condition is no number: `all`, `any`, or a cast first"),
    (COUNTED, number, "a condition is no number"),
    ("& | ^ !", no_float, "the bits of a float mean nothing alone: `sign_bit`, `copysign`, `abs`"),
    ("<< >>", number, "one bit cannot be shifted"),
    ("<< >>", no_float, "multiply by a power of two"),
    ("saturating_add saturating_sub saturating_mul", no_float, "floats end in infinity"),
    ("count_ones leading_zeros trailing_zeros", no_float, "the bits of a float mean nothing alone"),
    ("histogram weighted_histogram", |d| number(d) && no_float(d), "bins are counted by whole numbers: a cast first"),
    (FRACTIONS, DType::is_float, "results have fractions, or are rounded: a cast to a float first"),
    (ROUNDED, DType::is_float, "integers have no fraction"),
    ("is_nan is_infinite is_finite", DType::is_float, "integers are finite numbers"),
    ("all any", |d| !number(d), "numbers are no conditions: compare first"),
    ("mix mix_by normalise", DType::is_float, "coefficients have fractions: a cast to a float first"),
    (SPACES, |d| SHADES.contains(&d), "spaces are defined for u8, u16, f32 and f64 pictures: a cast first"),
    ("nv12 nv21 i420 yv12 yuyv yvyu uyvy vyuy ayuv", |d| d == DType::U8, "the format is of bytes"),
    ("p010 p012 p016 y210 y212 y216 y416", |d| d == DType::U16, "the format is of 16-bit elements"),
    ("planar", |d| d == DType::U16, "one type stands for all: planes of other types are cast as they are read"),
];

fn number(dtype: DType) -> bool {
    dtype != DType::Bool
}

fn no_float(dtype: DType) -> bool {
    !dtype.is_float()
}

/// Why a row is not there for a type.
pub(crate) fn absent(name: &str, dtype: DType) -> Vec<&'static str> {
    let word = name.split(' ').next().unwrap_or(name);
    let of_row = |words: &str| words.split(' ').any(|w| w == word);
    RULES.iter().filter(|(words, there, _)| of_row(words) && !there(dtype)).map(|(.., why)| *why).collect()
}

const NUMBERS: &str = "+ - * / % neg abs abs_diff signum sign_bit square cube pow rem_euclid div_euclid median erode dilate open close \
    morphological_gradient top_hat black_hat";
const COUNTED: &str = "saturating_add saturating_sub saturating_mul count_ones leading_zeros trailing_zeros";
const FRACTIONS: &str = "sqrt mul_add recip rsqrt powi copysign lerp p.fract p.abs_diff p.lerp exp exp2 exp10 exp_m1 ln log2 \
    log10 ln_1p cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid softplus silu erf erfc gelu gelu_tanh powf \
    hypot atan2 sin_cos norm_l1 norm_l2 norm_max softmax layer_norm rms_norm a c";
const ROUNDED: &str = "floor ceil trunc round fract round_half_away";
const SAMPLED: &str = "resize resize_with resize_at resize_by resize_fit deinterlace remap warp_affine warp_perspective correlate convolve \
    correlate_by correlate_by_around separable box_filter box_sum gaussian_blur sobel scharr laplacian channel stack per_channel \
    mean_channels scale yuv_to_rgb rgb_to_yuv to_yuv";
const REDUCED: &str =
    "sum sum_to product minimum maximum argmin argmax mean variance standard_deviation cumsum cumprod cummin cummax";
const SPACES: &str = "convert add_alpha with_alpha drop_alpha gray colour";

/// Public functions that are no operations, and why.
pub(crate) fn without_row(function: &str) -> Option<&'static str> {
    Some(match function {
        "store" | "constant" | "coordinate" | "trace" | "nodes" => "every row has it, or what a trace is made of",
        "channels" | "bits" | "max" | "weights" | "to_rgb" | "limited" | "full" => {
            "tells of a format, and computes nothing"
        }
        "store_where" | "scatter_point" => "the tests of scatters have every type: tests/scatter",
        "siting" | "low_bits" | "depth" | "subsampling" => "says how a frame is read or written",
        "rgb" | "yuv" | "luma" => "what is read of a frame: rows of the formats have them",
        _ => return None,
    })
}

/// The name of every row, in order, with its channels.
pub(crate) fn names() -> Vec<(&'static str, Channels)> {
    struct Names(Vec<(&'static str, Channels)>);
    impl Rows for Names {
        fn row<T: Scalar, U: Scalar, L: Dims>(
            &mut self,
            name: &'static str,
            c: Channels,
            _: fn(&Given<T>) -> Out<U, L>,
        ) {
            if self.0.iter().all(|(known, _)| *known != name) {
                self.0.push((name, c));
            }
        }
    }
    let mut names = Names(Vec::new());
    // From the type with the most rows to the one with the fewest, so that groups stay together.
    for dtype in [DType::F32, DType::U8, DType::U16, DType::Bool] {
        super::of(dtype, &mut names);
    }
    names.0
}
