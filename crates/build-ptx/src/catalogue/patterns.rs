//! Patterns of vision and of arrays that the table of operations has in no usual size.

use super::{Entries, Suite, zeros};
use tilewright_dims::dims;
use tilewright_expr::{Border, In, bf16, f16};
use tilewright_ops::{Error, fuse};

dims! { Y, X }

/// Rows and columns of a large picture.
const LARGE: [usize; 2] = [2160, 3840];

/// Adds all of them.
pub(super) fn add(entries: &mut Entries) -> Result<(), Error> {
    macro_rules! transposed {
        ($($t:ident)*) => { $(
            let plan = fuse(|x: In<$t, (Y, X)>| x.store::<(X, Y)>()).plan(&zeros::<$t, (Y, X), 2>(LARGE)?)?;
            entries.plan(Suite::Patterns, ("transpose", stringify!($t)), &plan)?;
        )* };
    }
    transposed!(bool u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64);
    macro_rules! blurred {
        ($($t:ident $size:literal)*) => { $(
            let blur = fuse(|x: In<$t, (Y, X)>| {
                x.gaussian_blur::<Y, X>(($size, $size), (0.0, 0.0), Border::Replicate).store::<(Y, X)>()
            });
            let variant = concat!(stringify!($t), ", ", stringify!($size), " x ", stringify!($size));
            entries.plan(Suite::Patterns, ("gaussian_blur", variant), &blur.plan(&zeros::<$t, (Y, X), 2>(LARGE)?)?)?;
        )* };
    }
    blurred!(u8 3 u8 5 u8 7 f32 3 f32 5 f32 7);
    Ok(())
}
