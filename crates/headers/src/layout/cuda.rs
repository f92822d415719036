//! Layouts as C++ types for kernels: what `tilewright/layout.cuh` reads.

use super::{Layout, LayoutError};
use std::fmt::Write as _;

impl Layout {
    /// The type of this layout in CUDA C++. Its dimensions have to be declared before ([`declare_dims`]). Kernels count offsets
    /// in 32 bits, so a layout of more than 2^31 - 1 elements is refused.
    pub fn cuda(&self) -> Result<String, LayoutError> {
        if self.storage() > i64::from(i32::MAX) || self.axes().iter().any(|a| a.end() > i64::from(i32::MAX)) {
            return Err(LayoutError::TooLargeForKernels { elements: self.storage(), limit: i64::from(i32::MAX) });
        }
        let axes: Vec<String> = self
            .axes()
            .iter()
            .map(|a| format!("tw::Axis<{}, {}, {}, {}, {}>", a.dim, a.fold, a.size, a.stride, a.wraps))
            .collect();
        Ok(format!("tw::Layout<{}>", axes.join(", ")))
    }
}

/// The declarations of dimensions in CUDA C++, each name once.
pub fn declare_dims<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let (mut seen, mut text) = (Vec::new(), String::new());
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
            let _ = writeln!(text, "struct {name} : tw::Dim<{name}> {{ using Dim::Dim; }};");
        }
    }
    text
}
