#![doc = include_str!("../README.md")]

/// What a program that uses tilewright names: `use tilewright::prelude::*;`.
pub mod prelude {
    pub use tilewright_dims::{Dim, Dims, dims};
    pub use tilewright_expr::{
        Affine, Aspect, Border, Centres, Deinterlace, Edge, Filter, Perspective, PlaneOrder, Sampling,
    };
    pub use tilewright_expr::{
        Expr, In, Initial, IntoExpr, Rect, World, bf16, concatenate, constant, coordinate, f16, meet,
    };
    pub use tilewright_macros::scalar_fn;
    pub use tilewright_ops::{Device, Evaluate, Fused, Tensor, fuse};
}

pub use prelude::*;
pub use tilewright_dims as dims;
pub use tilewright_driver as driver;
pub use tilewright_expr as expr;
pub use tilewright_expr::colour;
/// CPU and GPU behind one face: linear algebra, bit matrices, data larger than the GPU. With the feature `hybrid`.
#[cfg(feature = "hybrid")]
pub use tilewright_hybrid as hybrid;
pub use tilewright_special as special;

/// Kernels built ahead, in a file or in the program: `include_bundle!("kernels.twb")?.install()`.
pub use tilewright_driver::{Bundle, include_bundle};

/// Parts of your own: scalar functions, reads, patterns and writes.
pub mod extend {
    #[doc(inline)]
    pub use tilewright_expr::extend::*;
    // That of `tilewright-expr` writes paths of that crate.
    pub use tilewright_macros::scalar_fn;
}

pub use tilewright_ops::{
    Built, Configuration, Error, Feeds, Gpu, Interface, Item, Kernel, KernelSource, Misfit, Sides,
};
pub use tilewright_ops::{Explanation, Known, LaunchKind, LaunchRecord, Manifest, Plan, Prefetch, Shares, Sharing};
pub use tilewright_ops::{conv, npp, opencv, pointwise, record};
