//! The entries of the kernels: sizes of the dimensions first, in 64 bits, then the parameters.

use super::device::Device;
use super::matrix::{Matrix, MatrixMut};
use super::memory::{Row, RowMut};
use crate::body;

/// The type of a parameter in the entry's signature.
macro_rules! parameter {
    (value $t:ty) => { $t };
    (read $t:ty [$($over:ident),*]) => { *const $t };
    (write $t:ty [$($over:ident),*]) => { *mut $t };
}

/// What the body gets for a parameter.
macro_rules! operand {
    ($given:ident value $t:ty) => {
        $given
    };
    ($given:ident read $t:ty [$d:ident]) => {
        Row::<$t, crate::dims::$d>::new($given, $d)
    };
    ($given:ident write $t:ty [$d:ident]) => {
        RowMut::<$t, crate::dims::$d>::new($given, $d)
    };
    ($given:ident read $t:ty [$r:ident, $c:ident]) => {
        Matrix::<$t, crate::dims::$r, crate::dims::$c>::new($given, $r as i32, $c as i32)
    };
    ($given:ident write $t:ty [$r:ident, $c:ident]) => {
        MatrixMut::<$t, crate::dims::$r, crate::dims::$c>::new($given, $r as i32, $c as i32)
    };
}

macro_rules! entries {
    ($(
        $(#[$meta:meta])*
        kernel $name:ident [$($dim:ident $(of $length:ident)?),*] ($($parameter:ident: $kind:ident $t:ident $([$($over:ident),*])?),*)
            threads $threads:expr, shared $shared:expr, rows $rows:literal, blocks $blocks:expr, body $body:expr;
    )*) => { $(
        $(#[$meta])*
        ///
        /// # Safety
        /// Each address is good for as many elements as the sizes of its dimensions make, and for the access; nothing else writes
        /// there.
        // SAFETY: names of kernels are their own.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "a size is named after its dimension")]
        pub(crate) unsafe extern "ptx-kernel" fn $name($($dim: i64,)* $($parameter: parameter!($kind $t $([$($over),*])?)),*) {
            // SAFETY: as the caller promises.
            unsafe { ($body)(Device, $(operand!($parameter $kind $t $([$($over),*])?)),*) }
        }
    )* };
}
crate::kernels!(entries);
