//! Layouts as C++ types for kernels: what `tilewright/layout.cuh` reads.

use super::{Axis, Layout, LayoutError};
use std::fmt::Write as _;

impl Layout {
    /// The type of this layout in CUDA C++. Its dimensions have to be declared before ([`declare_dims`]). Kernels count offsets
    /// in 32 bits, so a layout of more than 2^31 - 1 elements is refused.
    pub fn cuda(&self) -> Result<String, LayoutError> {
        if self.storage() > i64::from(i32::MAX) || self.axes().iter().any(|a| a.end() > i64::from(i32::MAX)) {
            return Err(LayoutError::TooLargeForKernels { elements: self.storage(), limit: i64::from(i32::MAX) });
        }
        let axes: Vec<String> = self.axes().iter().map(Axis::cuda).collect();
        let layout = format!("tw::Layout<{}>", axes.join(", "));
        Ok(self.maps().iter().rev().fold(layout, |layout, map| format!("tw::Through<{}, {layout}>", map.cuda())))
    }
}

impl Axis {
    pub(super) fn cuda(&self) -> String {
        format!("tw::Axis<{}, {}, {}, {}, {}>", self.dim, self.fold, self.size, self.stride, self.wraps)
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
