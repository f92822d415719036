//! Binding: sizes of operands meet the expression. Everything that can be checked on the host is checked here.

use crate::dtype::Rect;
use crate::error::Error;
use crate::graph::{Binary, DimId, Graph, Inside, NodeId, Op, Output, Size};
use crate::scatter::Partial;
use crate::sizes::Sizes;

/// Highest number of dimensions of an operand.
pub const MAX_RANK: usize = 8;

/// One axis of an operand's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    /// The dimension it runs along.
    pub dim: DimId,
    /// Its length.
    pub extent: i64,
    /// Elements from one index to the next: negative where indices run backwards through memory, 0 where all are one element.
    pub stride: i64,
}

/// Where an operand's memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In host memory: small ones travel with the launch, as values.
    Host,
    /// In device memory.
    Device,
}

/// An operand or output as it is bound: its axes, outermost first, and where its memory is.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Its axes in layout order.
    pub axes: &'a [Axis],
    /// Where it is.
    pub place: Place,
    /// Alignment in bytes, a power of two, of the element whose coordinates are all 0.
    pub alignment: u32,
    /// The boxes themselves, if the operand is a host tensor of dense rectangles.
    pub boxes: Option<&'a [Rect]>,
}

impl View<'_> {
    pub(crate) fn extent(&self, dim: DimId) -> Option<i64> {
        self.axes.iter().find(|a| a.dim == dim).map(|a| a.extent)
    }

    /// Elements of memory from the lowest to the highest that the axes reach; 0 if the view is empty.
    pub fn reach(axes: &[Axis]) -> i64 {
        if axes.iter().any(|a| a.extent == 0) {
            return 0;
        }
        1 + axes.iter().map(|a| (a.extent - 1) * a.stride.abs()).sum::<i64>()
    }

    /// Elements from the lowest that the axes reach to the one whose coordinates are all 0: there are some where a stride is
    /// negative.
    pub fn origin(axes: &[Axis]) -> i64 {
        if axes.iter().any(|a| a.extent == 0) {
            return 0;
        }
        axes.iter().map(|a| (a.extent - 1) * (-a.stride).max(0)).sum()
    }
}

/// Dense axes (row-major, the last dimension contiguous).
pub fn dense(dims: &[DimId], extents: &[i64]) -> Vec<Axis> {
    let mut stride = 1;
    let mut axes: Vec<Axis> = Vec::with_capacity(dims.len());
    for (dim, extent) in dims.iter().zip(extents).rev() {
        axes.push(Axis { dim: *dim, extent: *extent, stride });
        stride *= (*extent).max(1);
    }
    axes.reverse();
    axes
}

/// A graph with sizes for its operands.
pub struct Binding<'a> {
    pub(crate) graph: &'a Graph,
    views: &'a [View<'a>],
}

impl<'a> Binding<'a> {
    /// The graph.
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// Checks that `views` fit the graph's operands: their number, dimensions, agreeing sizes, boxes inside.
    pub fn new(graph: &'a Graph, views: &'a [View<'a>]) -> Result<Self, Error> {
        graph.check()?;
        if views.len() != graph.operands.len() {
            return Err(Error::Count { what: "operands", expected: graph.operands.len(), got: views.len() });
        }
        for (i, (view, operand)) in views.iter().zip(&graph.operands).enumerate() {
            check_dims(graph, format_args!("operand {i}"), view, ("reads", &operand.dims))?;
        }
        let binding = Binding { graph, views };
        for need in graph.needs.iter().filter(|n| binding.sized(n.size)) {
            let size = binding.size(need.dim, need.size)?;
            if size < need.least {
                return Err(Error::Size { dim: graph.dim_name(need.dim), size });
            }
        }
        for equation in graph.equations.iter().filter(|e| !binding.same_boxes(e.a, e.b)) {
            let (a, b) = (binding.size(equation.dim, equation.a)?, binding.size(equation.dim, equation.b)?);
            if a != b {
                return Err(Error::Extent {
                    dim: graph.dim_name(equation.dim),
                    of_a: binding.origin(equation.a),
                    a,
                    of_b: binding.origin(equation.b),
                    b,
                });
            }
        }
        for (dim, size, low, high) in &graph.orders {
            let extent = binding.size(*dim, *size)?;
            if *low < 0 || i64::from(*high) >= extent {
                let index = i64::from(if *low < 0 { *low } else { *high });
                return Err(Error::Order { dim: graph.dim_name(*dim), index, extent });
            }
        }
        for (operand, bounds) in binding.limits()? {
            if let Some(boxes) = views[usize::from(operand)].boxes {
                check_boxes(boxes, bounds)?;
            }
        }
        Ok(binding)
    }

    /// The same views with a graph that reads them alike, which need not be checked again.
    pub(crate) fn of(graph: &'a Graph, views: &'a [View<'a>]) -> Self {
        Binding { graph, views }
    }

    /// The sizes of output `output`, in its layout's order.
    pub fn output(&self, output: usize) -> Result<Vec<i64>, Error> {
        let out = &self.graph.outputs[output];
        out.dims.iter().map(|d| self.size(*d, self.graph.output_size(output, *d))).collect()
    }

    /// Whether the boxes of an operand were checked here, so that kernels need not.
    pub fn checked(&self, operand: u16) -> bool {
        let settled = |i: &Inside| i.picture.is_none_or(|(height, width)| self.sized(height) && self.sized(width));
        self.views[operand as usize].boxes.is_some()
            && self.graph.insides.iter().all(|i| i.boxes != operand || settled(i))
    }

    /// Whether a size is known without looking into an operand.
    fn sized(&self, size: Size) -> bool {
        !matches!(size, Size::Node(n) if self.sizes().operand_of(n).is_some())
    }

    /// Whether two sizes are those of the same boxes, so that they agree whatever the boxes.
    fn same_boxes(&self, a: Size, b: Size) -> bool {
        let value = |size: Size| match size {
            Size::Node(node) => match self.graph.node(node).op {
                Op::Guard { value, .. } => Some(value),
                _ => Some(node),
            },
            _ => None,
        };
        value(a).is_some() && value(a) == value(b)
    }

    /// A size as a number.
    pub fn size(&self, dim: DimId, size: Size) -> Result<i64, Error> {
        let name = self.graph.dim_name(dim);
        match size {
            Size::Any => Err(Error::Unsized { dim: name }),
            Size::Const(n) => Ok(n),
            Size::Operand(operand, d) => self.views[operand as usize].extent(d).ok_or(Error::Unsized { dim: name }),
            Size::Node(node) => self.computed(name, node),
        }
    }

    fn sizes(&self) -> Sizes<'_> {
        Sizes { graph: self.graph, views: self.views }
    }

    /// A size that is computed: one number, or the one that all boxes of a host operand agree on.
    fn computed(&self, dim: &'static str, node: NodeId) -> Result<i64, Error> {
        let sizes = self.sizes();
        let size_of = |rect: Option<&Rect>| {
            let size = sizes.number(node, rect).ok_or(Error::SizeOnDevice { dim })?;
            if size < 0 { Err(Error::Size { dim, size }) } else { Ok(size) }
        };
        let Some(operand) = sizes.operand_of(node) else { return size_of(None) };
        let boxes = self.views[usize::from(operand)].boxes.ok_or(Error::SizeOnDevice { dim })?;
        let Some(first) = boxes.first() else { return Ok(0) };
        let first = size_of(Some(first))?;
        for (index, rect) in boxes.iter().enumerate() {
            let other = size_of(Some(rect))?;
            if other != first {
                return Err(Error::Ragged { dim, first, other, index });
            }
        }
        Ok(first)
    }

    fn origin(&self, size: Size) -> String {
        match size {
            Size::Operand(operand, _) => format!("operand {operand}"),
            Size::Const(n) => format!("the expression (a literal {n})"),
            Size::Node(n) if self.sized(size) => self.formula(n),
            _ => "the boxes of a crop".into(),
        }
    }

    /// How a size is computed from those of operands.
    fn formula(&self, node: NodeId) -> String {
        match &self.graph.node(node).op {
            Op::Const(s) => s.as_i64().unwrap_or(0).to_string(),
            Op::Extent(Size::Operand(operand, dim)) => format!("`{}` of operand {operand}", self.graph.dim_name(*dim)),
            Op::Binary(Binary::Shr, a, one) if self.formula(*one) == "1" => format!("({}) / 2", self.formula(*a)),
            Op::Binary(Binary::Shl, a, one) if self.formula(*one) == "1" => format!("2 * {}", self.formula(*a)),
            Op::Binary(Binary::Add, a, b) => format!("{} + {}", self.formula(*a), self.formula(*b)),
            _ => "a size that is computed".into(),
        }
    }

    /// Operands that hold boxes, with where those may lie.
    pub fn limits(&self) -> Result<Vec<(u16, Bounds)>, Error> {
        let limit = |i: &Inside| {
            let bounds = match i.picture {
                None => Bounds::Anywhere,
                Some((height, width)) if self.sized(height) && self.sized(width) => {
                    Bounds::Picture { width: self.size(0, width)?, height: self.size(0, height)? }
                }
                Some(_) => Bounds::Boxes,
            };
            Ok((i.boxes, bounds))
        };
        self.graph.insides.iter().map(limit).collect()
    }

    /// Whether a result is as large as a box, so that its size is not known from the operands' sizes.
    pub fn sized_by_boxes(&self) -> bool {
        let output = |o: &Output| o.dims.iter().any(|d| !self.sized(self.graph.size_of(o.node, *d)));
        let partial = |p: &Partial| p.world.iter().any(|(_, size)| !self.sized(*size));
        self.graph.outputs.iter().any(output)
            || self.graph.partials.values().any(partial)
            || self.graph.equations.iter().any(|e| !self.sized(e.a) || !self.sized(e.b))
    }
}

/// Checks that a view has each of the dimensions once, and no negative size.
pub(crate) fn check_dims(
    graph: &Graph,
    operand: std::fmt::Arguments<'_>,
    view: &View<'_>,
    (does, dims): (&str, &[DimId]),
) -> Result<(), Error> {
    if view.axes.len() != dims.len() || dims.iter().any(|d| view.extent(*d).is_none()) {
        let names =
            |dims: &mut dyn Iterator<Item = DimId>| dims.map(|d| graph.dim_name(d)).collect::<Vec<_>>().join(", ");
        return Err(Error::Dims {
            operand: operand.to_string(),
            got: names(&mut view.axes.iter().map(|a| a.dim)),
            expected: format!("{does} it over ({})", names(&mut dims.iter().copied())),
        });
    }
    match view.axes.iter().find(|a| a.extent < 0) {
        Some(a) => Err(Error::Size { dim: graph.dim_name(a.dim), size: a.extent }),
        None => Ok(()),
    }
}

/// Where boxes may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Inside a picture.
    Picture {
        /// Its columns.
        width: i64,
        /// Its rows.
        height: i64,
    },
    /// Inside other boxes: how far they reach is the kernel's to check.
    Boxes,
    /// Anywhere.
    Anywhere,
}

/// Checks that every box has pixels, and lies where it may.
pub fn check_boxes(boxes: &[Rect], bounds: Bounds) -> Result<(), Error> {
    if fit(boxes, bounds) {
        return Ok(());
    }
    for (index, rect) in boxes.iter().enumerate() {
        if rect.width < 1 || rect.height < 1 {
            return Err(Error::BoxEmpty { index, rect: *rect });
        }
        let starts_outside = rect.x < 0 || rect.y < 0;
        match bounds {
            Bounds::Anywhere => {}
            Bounds::Boxes if starts_outside => return Err(Error::BoxStart { index, rect: *rect }),
            Bounds::Boxes => {}
            Bounds::Picture { width, height } => {
                let right = i64::from(rect.x) + i64::from(rect.width);
                let bottom = i64::from(rect.y) + i64::from(rect.height);
                if starts_outside || right > width || bottom > height {
                    return Err(Error::BoxOutside { index, rect: *rect, width, height });
                }
            }
        }
    }
    Ok(())
}

/// Whether all boxes fit: without a branch for each, since this is asked at every call.
fn fit(boxes: &[Rect], bounds: Bounds) -> bool {
    let (width, height) = match bounds {
        Bounds::Picture { width, height } => (width, height),
        Bounds::Boxes | Bounds::Anywhere => (i64::MAX, i64::MAX),
    };
    let [width, height] = [width, height].map(|n| n.min(i64::from(i32::MAX)) as i32);
    let anywhere = bounds == Bounds::Anywhere;
    boxes.iter().fold(true, |fit, r| {
        // The differences wrap where a size is below 1, which is refused anyway.
        let inside = (r.x <= width.wrapping_sub(r.width)) & (r.y <= height.wrapping_sub(r.height));
        fit & (r.width > 0) & (r.height > 0) & (anywhere | (r.x >= 0) & (r.y >= 0) & inside)
    })
}
