//! Every operation of the typed face on every element type that has it, with any number of channels: the rows of the table that the
//! tests of this crate run on the host and on the host model, and those of `ops` on a GPU.

mod absent;
mod colour;
mod frames;
mod reads;
mod reductions;
mod values;
mod windows;

pub(crate) use absent::{absent, names, without_row};
use tilewright_dims::{Dims, dims};
use tilewright_expr::{Affine, Arg, Choice, DType, Element, In, Out, Perspective, Rect, Value, bf16, f16};

dims! { N, Y, X, C, H, W, U, P, K, R, Q, B }

/// What a row may take: three pictures of one type, and operands of other types.
pub(crate) struct Given<T: Element> {
    pub(crate) a: In<T, (Y, X, C)>,
    pub(crate) b: In<T, (Y, X, C)>,
    pub(crate) c: In<T, (Y, X, C)>,
    pub(crate) boxes: In<Rect, (N,)>,
    pub(crate) affine: In<Affine, (N,)>,
    pub(crate) perspective: In<Perspective, (N,)>,
    /// Places in the picture, some outside, over a grid of another size; weights, too.
    pub(crate) places: [In<f32, (R, Q)>; 2],
}

/// Rows and columns of the pictures, rows and columns of the places, boxes and maps.
pub(crate) const SIZE: [usize; 2] = [4, 6];
pub(crate) const PLACES: [usize; 2] = [3, 5];
pub(crate) const BOXES: [[i32; 4]; 2] = [[1, 0, 4, 3], [0, 1, 6, 2]];
pub(crate) const AFFINE: [[f32; 6]; 2] = [[0.75, 0.25, -0.5, -0.25, 1.0, 1.25], [1.0, 0.0, 2.0, 0.0, 1.0, -1.0]];
pub(crate) const PERSPECTIVE: [[f32; 9]; 2] =
    [[0.9, 0.2, -0.5, -0.1, 1.1, 0.5, 0.01, -0.02, 1.0], [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0]];
/// Numbers of channels: those that live in registers, and one more than those, which is a dimension like any other.
pub(crate) const CHANNELS: [usize; 7] = [1, 2, 3, 4, 5, 8, 9];

/// How many channels a row takes.
#[derive(Clone, Copy)]
pub(crate) enum Channels {
    Any,
    /// These, and why no others.
    Only(&'static [usize], &'static str),
}

impl Channels {
    pub(crate) fn list(self) -> &'static [usize] {
        match self {
            Channels::Any => &CHANNELS,
            Channels::Only(list, _) => list,
        }
    }
}

/// An element type of the table: what comparisons, literals and stores ask of every one.
pub(crate) trait Scalar: Value + super::Item + Arg<Self, Set = ()> + Choice<Elem = Self, Set = ()> {}
impl<T: Value + super::Item + Arg<T, Set = ()> + Choice<Elem = T, Set = ()>> Scalar for T {}

/// What goes through the rows.
pub(crate) trait Rows {
    fn row<T: Scalar, U: Scalar, L: Dims>(
        &mut self,
        name: &'static str,
        channels: Channels,
        of: fn(&Given<T>) -> Out<U, L>,
    );
}

/// `"name", channels => |g| stored;` for each row.
macro_rules! rows {
    ($rows:ident, $t:ty: $($name:expr, $channels:expr => |$g:pat_param| $stored:expr;)*) => {
        $($rows.row::<$t, _, _>($name, $channels, |$g| $stored);)*
    };
}
use rows;

/// Shows the rows of one type.
pub(crate) fn of(dtype: DType, rows: &mut impl Rows) {
    macro_rules! groups {
        ($t:ty: $($group:path),*) => {{ $($group(rows, std::marker::PhantomData::<$t>);)* }};
    }
    macro_rules! integer {
        ($t:ty $(, $more:path)*) => {
            groups!($t: values::every, values::bitwise, values::numbers, values::integers, reads::every, reductions::scattered, reads::sampled,
                windows::sampled, windows::numbers, reductions::numbers, reductions::integers, colour::numbers, frames::written
                $(, $more)*)
        };
    }
    macro_rules! float {
        ($t:ty $(, $more:path)*) => {
            groups!($t: values::every, values::numbers, values::floats, values::functions, reads::every, reductions::scattered, reads::sampled,
                windows::sampled, windows::numbers, reductions::numbers, reductions::floats, colour::numbers, colour::floats,
                frames::written $(, $more)*)
        };
    }
    match dtype {
        DType::Bool => {
            groups!(bool: values::every, values::bitwise, reads::every, reductions::scattered, reductions::conditions)
        }
        DType::U8 => integer!(u8, colour::shades, frames::bytes),
        DType::I8 => integer!(i8),
        DType::U16 => integer!(u16, colour::shades, frames::words),
        DType::I16 => integer!(i16),
        DType::U32 => integer!(u32),
        DType::I32 => integer!(i32),
        DType::U64 => integer!(u64),
        DType::I64 => integer!(i64),
        DType::F16 => float!(f16),
        DType::BF16 => float!(bf16),
        DType::F32 => float!(f32, colour::shades),
        DType::F64 => float!(f64, colour::shades),
    }
}
