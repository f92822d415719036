//! How tensors and layouts are written.

/// Declares a tensor type: elements and axes, outermost first.
///
/// | axis | steps along it |
/// |---|---|
/// | `I: 4` | four coordinates |
/// | `K/8: 4` | four blocks of eight |
/// | `K%8` | the eight within a block |
/// | `K/8%4` | the four blocks of eight within one of thirty-two |
///
/// Derived dimensions stand behind the axes: `via checkerboard(..)` ([`Checkerboard`](crate::Checkerboard)), `via index(..)`
/// ([`Index`](crate::Index)), or `via M` with a map of your own ([`Derive`](crate::Derive)).
///
/// The last axis is contiguous, and each other one steps over those behind it. `I: 4 => 40` sets the stride to 40 elements
/// instead, for this axis and so for those outside it.
///
/// ```
/// tilewright_dims::dims! { I, K }
/// tilewright_dims::tensor!(A: f32, [K/8: 4, I: 4, K%8]);
/// assert_eq!((A::LEN, A::extent::<K>()), (128, K(32)));
/// assert_eq!(A::offset(I(2) + K(13)), 53);
///
/// let data: Vec<f32> = (0..128).map(|i| i as f32).collect();
/// let a = A::view(&data)?;
/// assert_eq!(*a.at(I(2) + K(13)), 53.0);
/// assert_eq!(*a.at(K(7)).at(I(2)).at(K(6)), 53.0);
/// # Ok::<(), tilewright_dims::TooShort>(())
/// ```
#[macro_export]
macro_rules! tensor {
    ($(#[$meta:meta])* $vis:vis $name:ident : $element:ty, [$($axes:tt)*] $($maps:tt)*) => {
        $(#[$meta])*
        $vis type $name = $crate::Tensor<$element, $crate::via!([$crate::layout!($($axes)*)] $($maps)*)>;
        const _: usize = <$name>::LEN;
    };
}

/// A layout behind the maps that are written after it.
#[doc(hidden)]
#[macro_export]
macro_rules! via {
    ([$layout:ty]) => { $layout };
    ([$layout:ty] via checkerboard($ranks:literal : $p:ident % $pairs:literal, $c:ident / $fold:literal % 2 -> $o:ident) $($rest:tt)*) => {
        $crate::Through<$crate::Checkerboard<$p, $pairs, $c, $fold, $o, $ranks>, $crate::via!([$layout] $($rest)*)>
    };
    ([$layout:ty] via checkerboard($ranks:literal : $p:ident % $pairs:literal, $c:ident % 2 -> $o:ident) $($rest:tt)*) => {
        $crate::Through<$crate::Checkerboard<$p, $pairs, $c, 1, $o, $ranks>, $crate::via!([$layout] $($rest)*)>
    };
    ([$layout:ty] via index($dim:ident -> [$($axes:tt)*]) $($rest:tt)*) => {
        $crate::Through<$crate::Index<$dim, $crate::layout!($($axes)*)>, $crate::via!([$layout] $($rest)*)>
    };
    ([$layout:ty] via $map:ident $($rest:tt)*) => { $crate::Through<$map, $crate::via!([$layout] $($rest)*)> };
}

/// The layout that [`tensor!`](crate::tensor) gives these axes, as a type.
#[macro_export]
macro_rules! layout {
    // Each axis becomes {dimension, fold, size, stride or nothing, whether it wraps}; the last one comes to stand first.
    (@parse [$($done:tt)*] $(,)?) => { $crate::layout!(@build [()] [1] $($done)*) };
    (@parse [$($done:tt)*] $(,)? $dim:ident / $fold:literal % $size:literal $(=> $stride:literal)? $(, $($rest:tt)*)?) => {
        $crate::layout!(@parse [{$dim, $fold, $size, [$($stride)?], true} $($done)*] $($($rest)*)?)
    };
    (@parse [$($done:tt)*] $(,)? $dim:ident % $size:literal $(=> $stride:literal)? $(, $($rest:tt)*)?) => {
        $crate::layout!(@parse [{$dim, 1, $size, [$($stride)?], true} $($done)*] $($($rest)*)?)
    };
    (@parse [$($done:tt)*] $(,)? $dim:ident / $fold:literal : $size:expr $(=> $stride:literal)? $(, $($rest:tt)*)?) => {
        $crate::layout!(@parse [{$dim, $fold, $size, [$($stride)?], false} $($done)*] $($($rest)*)?)
    };
    (@parse [$($done:tt)*] $(,)? $dim:ident : $size:expr $(=> $stride:literal)? $(, $($rest:tt)*)?) => {
        $crate::layout!(@parse [{$dim, 1, $size, [$($stride)?], false} $($done)*] $($($rest)*)?)
    };
    // From the innermost axis out: the type so far, and the stride of the next axis.
    (@build [$inner:ty] [$next:expr]) => { $inner };
    (@build [$inner:ty] [$next:expr] {$dim:ident, $fold:expr, $size:expr, [], $wraps:literal} $($rest:tt)*) => {
        $crate::layout!(@build
            [($crate::Axis<$dim, { $fold }, { $size }, { $next }, $wraps>, $inner)] [($next) * ($size)] $($rest)*)
    };
    (@build [$inner:ty] [$next:expr] {$dim:ident, $fold:expr, $size:expr, [$stride:literal], $wraps:literal} $($rest:tt)*) => {
        $crate::layout!(@build
            [($crate::Axis<$dim, { $fold }, { $size }, { $stride }, $wraps>, $inner)] [$stride * ($size)] $($rest)*)
    };
    ($($axes:tt)*) => { $crate::layout!(@parse [] $($axes)*) };
}
