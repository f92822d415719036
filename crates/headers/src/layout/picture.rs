//! Layouts as pictures: which element is where.

use super::Layout;
use std::fmt::Write as _;

/// Rows and columns that a picture has at most.
const MOST: i64 = 64;

/// The part of a layout that fits a page: offsets over two dimensions, the others being zero.
struct Page<'a> {
    rows: Option<(&'a str, i64)>,
    columns: (&'a str, i64),
    offsets: Vec<Vec<i64>>,
    cut: bool,
}

impl Layout {
    fn page(&self) -> Option<Page<'_>> {
        let dims = self.dims();
        let innermost = self.axes().iter().rev().map(|a| a.dim.as_str()).find(|dim| dims.contains(dim));
        let last = innermost.or(dims.first().copied())?;
        let length = |dim: &str| self.extent(dim).unwrap_or(1);
        let other = self.dims().into_iter().find(|dim| *dim != last);
        let (rows, columns) = (other.map(|dim| (dim, length(dim).min(MOST))), (last, length(last).min(MOST)));
        let line = |row: i64| {
            let at = |column| {
                let row = other.map(|dim| (dim, row));
                self.place(&row.into_iter().chain([(last, column)]).collect::<Vec<_>>())
            };
            (0..columns.1).map(at).collect()
        };
        let cut = self.dims().into_iter().any(|dim| length(dim) > MOST) || self.dims().len() > 2;
        Some(Page { rows, columns, offsets: (0..rows.map_or(1, |(_, n)| n)).map(line).collect(), cut })
    }

    /// A table of offsets: columns run along the dimension of the innermost axis, rows along the first other dimension. Further
    /// dimensions are zero, and the table ends at 64 rows and columns.
    pub fn show(&self) -> String {
        let axes: Vec<String> = self.axes().iter().map(|a| format!("{a} => {}", a.stride)).collect();
        let maps: String = self.maps().iter().map(|map| format!(" via {map}")).collect();
        let mut text = format!("[{}]{maps}, {} elements in {}\n", axes.join(", "), self.len(), self.storage());
        let Some(page) = self.page() else { return text };
        let digits = |n: i64| n.to_string().len();
        let width =
            page.offsets.iter().flatten().copied().map(digits).max().unwrap_or(1).max(digits(page.columns.1 - 1));
        let head = page.rows.map_or(0, |(dim, n)| dim.chars().count() + digits(n - 1) + 1);
        let corner = format!("{}:", page.columns.0);
        let _ = write!(text, "{corner:>head$}");
        (0..page.columns.1).for_each(|x| {
            let _ = write!(text, " {x:>width$}");
        });
        text.push('\n');
        for (y, line) in page.offsets.iter().enumerate() {
            let name = page.rows.map_or(String::new(), |(dim, _)| format!("{dim} {y}"));
            let _ = write!(text, "{name:>indent$}", indent = head.max(corner.chars().count()));
            line.iter().for_each(|offset| {
                let _ = write!(text, " {offset:>width$}");
            });
            text.push('\n');
        }
        if page.cut {
            text.push_str("(a part of it)\n");
        }
        text
    }

    /// The same table as an SVG picture; the colour of a cell tells which run of 32 elements it is in.
    pub fn svg(&self) -> String {
        const CELL: (usize, usize) = (44, 24);
        let page = self.page();
        let (rows, columns) = page.as_ref().map_or((0, 0), |p| (p.offsets.len(), p.columns.1 as usize));
        let (width, height) = (CELL.0 * (columns + 1), CELL.1 * (rows + 1));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"monospace\" \
             font-size=\"12\" text-anchor=\"middle\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        let mut label = |column: usize, row: usize, text: &str| {
            let (x, y) = (CELL.0 * column + CELL.0 / 2, CELL.1 * row + CELL.1 * 2 / 3);
            let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{text}</text>");
        };
        let Some(page) = page else { return svg + "</svg>\n" };
        (0..columns).for_each(|x| label(x + 1, 0, &format!("{} {x}", page.columns.0)));
        if let Some((dim, _)) = page.rows {
            (0..rows).for_each(|y| label(0, y + 1, &format!("{dim} {y}")));
        }
        for (y, line) in page.offsets.iter().enumerate() {
            for (x, offset) in line.iter().enumerate() {
                let (left, top) = (CELL.0 * (x + 1), CELL.1 * (y + 1));
                let hue = offset.div_euclid(32).wrapping_mul(137).rem_euclid(360);
                let _ = writeln!(
                    svg,
                    "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"hsl({hue},60%,85%)\" \
                     stroke=\"#666\"/><text x=\"{}\" y=\"{}\">{offset}</text>",
                    CELL.0,
                    CELL.1,
                    left + CELL.0 / 2,
                    top + CELL.1 * 2 / 3
                );
            }
        }
        svg + "</svg>\n"
    }
}
