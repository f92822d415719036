//! A dimension: an integer that mixes only with its own kind.

use crate::coords::Term;

/// A dimension, such as `N`, `Y`, `X` or `C`: a 32-bit integer with a type of its own.
///
/// Declare dimensions with [`dims!`](crate::dims); do not implement the trait by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dimension",
    label = "expected a type declared with `dims!`",
    note = "declare it with `tilewright_dims::dims! {{ {Self} }}`, or name one that is declared"
)]
pub trait Dim: Copy + 'static + Term<Parts = (Self, ())> {
    /// The name it was declared under.
    const NAME: &'static str;
    /// Its identity: the 64-bit FNV-1a hash of `module_path::NAME`.
    const ID: u64;
    /// The digits of [`ID`](Self::ID) as a type.
    #[doc(hidden)]
    type Id: crate::Compare<Self::Id, Out = crate::Equal>;
    /// The coordinate `value` along this dimension.
    fn new(value: i32) -> Self;
    /// The bare integer.
    fn get(self) -> i32;
}

/// `Self` is a coordinate along `D`, so that the two compare.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be compared with dimension `{D}`",
    label = "expected a coordinate along `{D}`",
    note = "different dimensions add up to coordinates (`{D}(3) + ..`); they never compare",
    note = "a bare integer names no dimension: write `{D}(..)` to say which one is meant"
)]
pub trait SameDim<D>: Copy {
    /// The same coordinate, as `D`.
    fn along(self) -> D;
}

/// Declares dimensions: each becomes a `#[repr(transparent)]` struct around an `i32`.
///
/// Names are separated by commas. Attributes may precede a name, and so may a visibility, `pub` when left out.
/// A dimension adds and subtracts with any coordinate, multiplies by `i32`, and compares with itself only.
///
/// ```
/// tilewright_dims::dims! {
///     /// The picture within the batch.
///     N,
///     pub(crate) Y,
///     X,
/// }
/// assert_eq!(N(2) + N(4), N(6));
/// assert_eq!(Y(1) + X(2), X(2) + Y(1));
/// ```
#[macro_export]
macro_rules! dims {
    () => {};
    ($(#[$meta:meta])* pub ($($scope:tt)+) $name:ident $(, $($rest:tt)*)?) => {
        $crate::dim!([$(#[$meta])*] [pub($($scope)+)] $name);
        $($crate::dims! { $($rest)* })?
    };
    ($(#[$meta:meta])* pub $name:ident $(, $($rest:tt)*)?) => {
        $crate::dim!([$(#[$meta])*] [pub] $name);
        $($crate::dims! { $($rest)* })?
    };
    ($(#[$meta:meta])* $name:ident $(, $($rest:tt)*)?) => {
        $crate::dim!([$(#[$meta])*] [pub] $name);
        $($crate::dims! { $($rest)* })?
    };
}

/// Declares one dimension. Type names in a macro are not hygienic, hence `__Rhs`: a dimension may be called `R` or `T`.
#[doc(hidden)]
#[macro_export]
macro_rules! dim {
    ([$($meta:tt)*] [$($vis:tt)*] $name:ident) => {
        #[doc = ::core::concat!("A coordinate along the dimension `", ::core::stringify!($name), "`.\n")]
        $($meta)*
        #[derive(Clone, Copy, Debug, Default)]
        #[repr(transparent)]
        $($vis)* struct $name(pub i32);

        #[allow(dead_code, reason = "what a dimension can do, whether or not it is asked to here")]
        impl $name {
            /// The same in units of `UNIT`, rounded down (towards minus infinity).
            #[inline(always)]
            pub const fn fold<const UNIT: i32>(self) -> $crate::Fold<Self, UNIT> {
                $crate::Fold::new($crate::floor_div(self.0, UNIT))
            }

            /// The coordinates from this one up to `end`, which is not among them; none if `end` is not larger.
            #[inline(always)]
            pub fn until(
                self,
                end: Self,
            ) -> impl ::core::iter::ExactSizeIterator<Item = Self> + ::core::iter::DoubleEndedIterator + ::core::clone::Clone
            {
                (self.0..end.0).map(Self)
            }

            /// The same number along another dimension.
            #[inline(always)]
            pub fn cast<__To: $crate::Dim>(self) -> __To {
                __To::new(self.0)
            }
        }

        impl $crate::Dim for $name {
            const NAME: &'static str = ::core::stringify!($name);
            const ID: u64 = $crate::fnv1a(::core::concat!(::core::module_path!(), "::", ::core::stringify!($name)));
            type Id = $crate::id_digits!(<$name as $crate::Dim>::ID);
            #[inline(always)]
            fn new(value: i32) -> Self {
                Self(value)
            }
            #[inline(always)]
            fn get(self) -> i32 {
                self.0
            }
        }

        impl $crate::Term for $name {
            type Parts = (Self, ());
            #[inline(always)]
            fn parts(self) -> (Self, ()) {
                (self, ())
            }
        }

        impl $crate::Unit for $name {
            type Base = Self;
            const UNIT: i32 = 1;
        }

        impl ::core::ops::Rem<i32> for $name {
            type Output = Self;
            /// The remainder in `0..modulus`.
            #[inline(always)]
            fn rem(self, modulus: i32) -> Self {
                Self(self.0.rem_euclid(modulus))
            }
        }

        impl $crate::SameDim<$name> for $name {
            #[inline(always)]
            fn along(self) -> $name {
                self
            }
        }

        $crate::dim!(@compare $name);
        $crate::dim!(@sum Add add $name);
        $crate::dim!(@sum Sub sub $name);
        $crate::dim!(@assign AddAssign add_assign Add add $name);
        $crate::dim!(@assign SubAssign sub_assign Sub sub $name);

        impl ::core::ops::Mul<i32> for $name {
            type Output = Self;
            #[inline(always)]
            fn mul(self, factor: i32) -> Self {
                Self(self.0 * factor)
            }
        }

        impl ::core::ops::Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }
    };
    // Generic over the right side, so that a mistake meets the message of `SameDim` and not that of `PartialEq`.
    (@compare $name:ident) => {
        impl<__Rhs: $crate::SameDim<$name>> ::core::cmp::PartialEq<__Rhs> for $name {
            #[inline(always)]
            fn eq(&self, rhs: &__Rhs) -> bool {
                self.0 == $crate::SameDim::along(*rhs).0
            }
        }

        impl ::core::cmp::Eq for $name {}

        impl<__Rhs: $crate::SameDim<$name>> ::core::cmp::PartialOrd<__Rhs> for $name {
            #[inline(always)]
            fn partial_cmp(&self, rhs: &__Rhs) -> ::core::option::Option<::core::cmp::Ordering> {
                ::core::cmp::PartialOrd::partial_cmp(&self.0, &$crate::SameDim::along(*rhs).0)
            }
        }

        impl ::core::cmp::Ord for $name {
            #[inline(always)]
            fn cmp(&self, rhs: &Self) -> ::core::cmp::Ordering {
                ::core::cmp::Ord::cmp(&self.0, &rhs.0)
            }
        }

        impl ::core::hash::Hash for $name {
            fn hash<__Rhs: ::core::hash::Hasher>(&self, state: &mut __Rhs) {
                ::core::hash::Hash::hash(&self.0, state)
            }
        }
    };
    (@sum $Op:ident $op:ident $name:ident) => {
        impl<__Rhs> ::core::ops::$Op<__Rhs> for $name
        where
            __Rhs: $crate::Term,
            ($name, ()): $crate::Merge<__Rhs::Parts>,
            $crate::Union<($name, ()), __Rhs::Parts>: $crate::Simplify,
        {
            type Output = $crate::Sum<($name, ()), __Rhs::Parts>;
            #[inline(always)]
            fn $op(self, rhs: __Rhs) -> Self::Output {
                let combined = $crate::Merge::combine((self, ()), rhs.parts(), |a, b| ::core::ops::$Op::$op(a, b));
                $crate::Simplify::simplify(combined)
            }
        }
    };
    (@assign $Assign:ident $assign:ident $Op:ident $op:ident $name:ident) => {
        impl ::core::ops::$Assign for $name {
            #[inline(always)]
            fn $assign(&mut self, rhs: Self) {
                self.0 = ::core::ops::$Op::$op(self.0, rhs.0);
            }
        }
    };
}
