//! Borders by OpenCV's names.

use tilewright_expr::stencils::Outside;
use tilewright_expr::{Border, Edge};

/// What lies around a picture. Where a value is to lie there that is not 0, a [`Border::Constant`] stands in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "OpenCV's names")]
pub enum BorderType {
    /// 0; where the smallest or largest value of a window is taken, nothing.
    BORDER_CONSTANT,
    /// The nearest pixel: `aaa|abcd|ddd`.
    BORDER_REPLICATE,
    /// Mirrored at the edge: `cba|abcd|dcb`.
    BORDER_REFLECT,
    /// Repeated: `bcd|abcd|abc`.
    BORDER_WRAP,
    /// Mirrored at the outermost pixel: `dcb|abcd|cba`.
    BORDER_REFLECT_101,
}

/// What OpenCV's filters take where nothing is said.
pub const BORDER_DEFAULT: BorderType = BorderType::BORDER_REFLECT_101;

impl<T: Default> From<BorderType> for Border<T> {
    fn from(border: BorderType) -> Self {
        match border {
            BorderType::BORDER_CONSTANT => Border::Constant(T::default()),
            BorderType::BORDER_REPLICATE => Border::Replicate,
            BorderType::BORDER_REFLECT => Border::Reflect,
            BorderType::BORDER_WRAP => Border::Wrap,
            BorderType::BORDER_REFLECT_101 => Border::Reflect101,
        }
    }
}

impl<T: Default> From<BorderType> for Edge<T> {
    fn from(border: BorderType) -> Self {
        Edge::Border(border.into())
    }
}

impl<T: Default> From<BorderType> for Outside<T> {
    fn from(border: BorderType) -> Self {
        match border {
            BorderType::BORDER_CONSTANT => Outside::Ignored,
            other => Outside::Border(other.into()),
        }
    }
}
