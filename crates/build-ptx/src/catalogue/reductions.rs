//! Reductions along rows, along columns and of everything, in lengths that get kernels of their own.

use super::{Entries, Suite, zeros};
use tilewright_dims::dims;
use tilewright_expr::{Float, In, Value, bf16, f16};
use tilewright_ops::{Error, Item, fuse};

dims! { Y, X }

/// Rows and columns: short, middling and long rows; few and many of them.
const SHAPES: [[usize; 2]; 4] = [[1 << 14, 32], [4096, 1024], [512, 32_768], [1, 1 << 22]];

/// Adds all of them.
pub(super) fn add(entries: &mut Entries) -> Result<(), Error> {
    macro_rules! along {
        ($($t:ident)*) => { $( for shape in SHAPES {
            let x = zeros::<$t, (Y, X), 2>(shape)?;
            let [rows, columns] = shape;
            let mut put = |what: &str, plan| {
                entries.plan(Suite::Reductions, (what, &format!("{}, {rows} x {columns}", stringify!($t))), &plan)
            };
            put("sum of rows", fuse(|x: In<$t, (Y, X)>| x.sum::<X>().store::<(Y,)>()).plan(&x)?)?;
            put("sum of columns", fuse(|x: In<$t, (Y, X)>| x.sum::<Y>().store::<(X,)>()).plan(&x)?)?;
            put("sum", fuse(|x: In<$t, (Y, X)>| x.sum::<(Y, X)>().store::<()>()).plan(&x)?)?;
            put("mean of rows", fuse(|x: In<$t, (Y, X)>| x.mean::<X>().store::<(Y,)>()).plan(&x)?)?;
            put("maximum of rows", fuse(|x: In<$t, (Y, X)>| x.maximum::<X>().store::<(Y,)>()).plan(&x)?)?;
            put("minimum of rows", fuse(|x: In<$t, (Y, X)>| x.minimum::<X>().store::<(Y,)>()).plan(&x)?)?;
            put("maximum", fuse(|x: In<$t, (Y, X)>| x.maximum::<(Y, X)>().store::<()>()).plan(&x)?)?;
            put("argmax of rows", fuse(|x: In<$t, (Y, X)>| x.argmax::<X>().store::<(Y,)>()).plan(&x)?)?;
            put("cumsum of rows", fuse(|x: In<$t, (Y, X)>| x.cumsum::<X>().store::<(Y, X)>()).plan(&x)?)?;
        } )* };
    }
    along!(u8 i32 i64 f16 bf16 f32 f64);
    normal::<f16>(entries)?;
    normal::<bf16>(entries)?;
    normal::<f32>(entries)?;
    normal::<f64>(entries)
}

/// What normalises rows.
fn normal<T: Item + Float>(entries: &mut Entries) -> Result<(), Error> {
    for shape in SHAPES {
        let x = zeros::<T, (Y, X), 2>(shape)?;
        let [rows, columns] = shape;
        let mut put = |what: &str, plan| {
            entries.plan(Suite::Reductions, (what, &format!("{}, {rows} x {columns}", <T as Value>::DTYPE)), &plan)
        };
        put("softmax", fuse(|x: In<T, (Y, X)>| x.softmax::<X>().store::<(Y, X)>()).plan(&x)?)?;
        put("layer_norm", fuse(|x: In<T, (Y, X)>| x.layer_norm::<X>(T::default()).store::<(Y, X)>()).plan(&x)?)?;
        put("rms_norm", fuse(|x: In<T, (Y, X)>| x.rms_norm::<X>(T::default()).store::<(Y, X)>()).plan(&x)?)?;
        put("norm_l2", fuse(|x: In<T, (Y, X)>| x.norm_l2::<X>().store::<(Y,)>()).plan(&x)?)?;
    }
    Ok(())
}
