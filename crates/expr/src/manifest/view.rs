//! Operands and results as they are bound, as text: `u8 (Y 480, X 640, C 3) device 16`.

use super::lex::{Line, Parsed, mistake};
use super::names::{Dims, dtype_of};
use crate::bind::{Axis, MAX_RANK, Place, View};
use crate::dtype::{DType, Rect};
use crate::graph::OperandSpec;
use std::fmt::Write as _;

/// Most points of a view, and most elements that one reaches.
const MOST: i64 = 1 << 62;
/// What elements of several components are called.
const STRUCTS: [(&str, DType, u8); 3] =
    [("Rect", DType::I32, 4), ("Affine", DType::F32, 6), ("Perspective", DType::F32, 9)];

/// A [`View`] that owns what it shows. Two are equal that plans cannot tell apart: of boxes that is decided by the first, since where
/// their sizes count they are all alike, which binding checks.
#[derive(Clone, Debug)]
pub struct OwnedView {
    axes: Vec<Axis>,
    place: Place,
    alignment: u32,
    boxes: Option<Box<[Rect]>>,
}

impl OwnedView {
    /// The same as this view.
    pub fn of(view: View<'_>) -> OwnedView {
        let View { axes, place, alignment, boxes } = view;
        OwnedView { axes: axes.to_vec(), place, alignment, boxes: boxes.map(Box::from) }
    }

    /// The first box; `None` inside where there are none.
    fn first_box(&self) -> Option<Option<Rect>> {
        self.boxes.as_ref().map(|boxes| boxes.first().copied())
    }

    /// The view.
    pub fn view(&self) -> View<'_> {
        View { axes: &self.axes, place: self.place, alignment: self.alignment, boxes: self.boxes.as_deref() }
    }

    /// The text of a result.
    pub(super) fn result(&self, dims: &Dims) -> String {
        let place = if self.place == Place::Host { "host" } else { "device" };
        let mut text = format!("({}) {place} {}", self.axes_text(dims), self.alignment);
        if let Some(first) = self.first_box() {
            text.push_str(" boxes");
            if let Some(Rect { x, y, width, height }) = first {
                let _ = write!(text, " {x} {y} {width} {height}");
            }
        }
        text
    }

    /// The text of an operand.
    pub(super) fn operand(&self, spec: &OperandSpec, dims: &Dims) -> String {
        format!("{} {}", element(spec), self.result(dims))
    }

    fn axes_text(&self, dims: &Dims) -> String {
        let mut texts = Vec::new();
        for (i, axis) in self.axes.iter().enumerate() {
            let mut text = format!("{} {}", dims.label(axis.dim), axis.extent);
            if Some(axis.stride) != dense(self.axes.get(i + 1)) {
                let _ = write!(text, " by {}", axis.stride);
            }
            texts.push(text);
        }
        texts.join(", ")
    }

    /// Reads a result.
    pub(super) fn read_result(line: &mut Line<'_>, dims: &Dims) -> Parsed<OwnedView> {
        let at = line.last();
        let axes = line.list(|line| {
            let dim = dims.read(line)?;
            let extent = line.integer("an extent", (0, MOST))?;
            let stride = if line.word_if("by")? { Some(line.integer("a stride", (-MOST, MOST))?) } else { None };
            Ok((dim, extent, stride, line.last()))
        })?;
        if axes.len() > MAX_RANK {
            return mistake(at, format!("{} dimensions are too many, the most is {MAX_RANK}", axes.len()));
        }
        let axes = with_strides(axes)?;
        let place = match line.word("`host` or `device`")? {
            "host" => Place::Host,
            "device" => Place::Device,
            other => return line.refuse(format!("memory is of the `host` or of the `device`, not `{other}`")),
        };
        let alignment = line.integer("an alignment in bytes", (1, 1 << 20))?;
        if alignment & (alignment - 1) != 0 {
            return line.refuse(format!("an alignment is a power of two, not {alignment}"));
        }
        let boxes = if line.word_if("boxes")? { Some(read_boxes(line, &axes)?) } else { None };
        line.end()?;
        Ok(OwnedView { axes, place, alignment: alignment as u32, boxes })
    }

    /// Reads an operand.
    pub(super) fn read_operand(line: &mut Line<'_>, dims: &Dims) -> Parsed<(OperandSpec, OwnedView)> {
        let (dtype, components) = read_element(line)?;
        let view = OwnedView::read_result(line, dims)?;
        if view.boxes.is_some() && (dtype, components) != (DType::I32, 4) {
            return line.refuse("only an operand of `Rect` has boxes");
        }
        let mut ids: Vec<_> = view.axes.iter().map(|a| a.dim).collect();
        ids.sort_unstable();
        Ok((OperandSpec { dtype, components, dims: ids.into() }, view))
    }
}

impl PartialEq for OwnedView {
    fn eq(&self, other: &OwnedView) -> bool {
        let parts = |view: &OwnedView| (view.place, view.alignment, view.first_box());
        self.axes == other.axes && parts(self) == parts(other)
    }
}

/// The stride of an axis before this one where nothing lies between.
fn dense(next: Option<&Axis>) -> Option<i64> {
    next.map_or(Some(1), |axis| axis.stride.checked_mul(axis.extent.max(1)))
}

/// Axes of which some lack their stride: those are dense.
fn with_strides(read: Vec<(u64, i64, Option<i64>, usize)>) -> Parsed<Vec<Axis>> {
    let mut axes: Vec<Axis> = Vec::with_capacity(read.len());
    let (mut points, mut reach) = (1i64, 0i64);
    for (dim, extent, stride, at) in read.into_iter().rev() {
        let large = || mistake(at, format!("a view of more than {MOST} points, or that reaches as far, is too large"));
        let Some(stride) = stride.or_else(|| dense(axes.last())) else { return large() };
        if axes.iter().any(|a| a.dim == dim) {
            return mistake(at, "this dimension stands here twice");
        }
        let all = points.checked_mul(extent.max(1)).filter(|n| *n < MOST);
        let far = (extent.max(1) - 1).checked_mul(stride.abs()).and_then(|n| n.checked_add(reach));
        let (Some(all), Some(far)) = (all, far.filter(|n| *n < MOST)) else { return large() };
        (points, reach) = (all, far);
        axes.push(Axis { dim, extent, stride });
    }
    axes.reverse();
    Ok(axes)
}

fn read_boxes(line: &mut Line<'_>, axes: &[Axis]) -> Parsed<Box<[Rect]>> {
    let at = line.last();
    let mut numbers = Vec::new();
    while !matches!(line.peek()?, super::lex::Token::End) {
        numbers.push(line.integer("a coordinate", (i32::MIN.into(), i32::MAX.into()))? as i32);
    }
    let none = axes.iter().any(|a| a.extent == 0);
    match numbers[..] {
        [] if none => Ok(Box::default()),
        [x, y, width, height] if !none => Ok(Box::new([Rect::new(x, y, width, height)])),
        _ => mistake(at, "`boxes` says the first box: x, y, width and height; it is alone where there are no boxes"),
    }
}

fn element(spec: &OperandSpec) -> String {
    let named = STRUCTS.iter().find(|(_, dtype, n)| (*dtype, *n) == (spec.dtype, spec.components));
    named.map_or_else(|| spec.dtype.name().to_string(), |(name, ..)| (*name).to_string())
}

fn read_element(line: &mut Line<'_>) -> Parsed<(DType, u8)> {
    let word = line.word("an element type")?;
    if let Some((_, dtype, components)) = STRUCTS.iter().find(|(name, ..)| *name == word) {
        return Ok((*dtype, *components));
    }
    match dtype_of(word) {
        Some(dtype) => Ok((dtype, 1)),
        None => {
            let names = DType::ALL.into_iter().map(DType::name).chain(STRUCTS.iter().map(|(name, ..)| *name));
            line.refuse(format!("`{word}` is no element type; {}", super::lex::nearest(word, names)))
        }
    }
}
