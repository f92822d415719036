//! One picture: lines, or points alone, over two logarithmic axes, as SVG.

use anyhow::Result;
use plotters::prelude::*;

/// A line with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is called in the legend.
    pub name: String,
    /// Its points, positive on both axes.
    pub points: Vec<(f64, f64)>,
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Above it.
    pub title: String,
    /// What runs to the right.
    pub across: String,
    /// What runs up.
    pub up: String,
    /// Its lines; the first stands out.
    pub series: Vec<Series>,
    /// Whether the points of a series are joined.
    pub lines: bool,
}

/// Colours that most people can tell apart (Okabe and Ito, 2008).
const COLOURS: [RGBColor; 8] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(120, 120, 120),
    RGBColor(0, 0, 0),
];

impl Chart {
    /// The text of the picture.
    pub fn svg(&self) -> Result<String> {
        const FONT: &str = "sans-serif";
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, (860, 500)).into_drawing_area();
            area.fill(&WHITE)?;
            let ((left, right), (low, high)) = (self.range(|p| p.0), self.range(|p| p.1));
            // The legend stands above the highest line.
            let room = (high / low).powf(0.06 * (self.series.len() + 1) as f64);
            let mut chart = ChartBuilder::on(&area)
                .caption(&self.title, (FONT, 18))
                .margin(12)
                .x_label_area_size(44)
                .y_label_area_size(70)
                .build_cartesian_2d((left..right).log_scale(), (low..high * room).log_scale())?;
            let short = |value: &f64| if *value >= 1.0 { format!("{value:.0}") } else { format!("{value}") };
            chart
                .configure_mesh()
                .max_light_lines(4)
                .x_desc(&self.across)
                .y_desc(&self.up)
                .x_label_formatter(&short)
                .y_label_formatter(&short)
                .label_style((FONT, 13))
                .draw()?;
            // From the last to the first, so that the first lies on top.
            for (i, series) in self.series.iter().enumerate().rev() {
                let colour = COLOURS[i % COLOURS.len()];
                let style = colour.stroke_width(if i == 0 { 3 } else { 2 });
                let circles = series.points.iter().map(|point| Circle::new(*point, 3, colour.filled()));
                if self.lines {
                    chart
                        .draw_series(LineSeries::new(series.points.iter().copied(), style))?
                        .label(&series.name)
                        .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
                    chart.draw_series(circles)?;
                } else {
                    let legend = move |(x, y)| Circle::new((x + 9, y), 3, colour.filled());
                    chart.draw_series(circles)?.label(&series.name).legend(legend);
                }
            }
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperLeft)
                .background_style(WHITE.mix(0.85))
                .label_font((FONT, 13))
                .draw()?;
            area.present()?;
        }
        Ok(svg)
    }

    /// The smallest and the largest value on an axis, with room.
    fn range(&self, pick: fn(&(f64, f64)) -> f64) -> (f64, f64) {
        let values = || self.series.iter().flat_map(|series| &series.points).map(pick).filter(|v| *v > 0.0);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        if low > high { (0.5, 2.0) } else { (low / 1.3, high * 1.3) }
    }
}
