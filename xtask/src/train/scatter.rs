//! Predicted against measured times: a point a row, over two logarithmic axes.

use anyhow::Result;
use plotters::prelude::*;

/// The most points of a picture: more make the file large and say nothing.
const MOST_POINTS: usize = 1200;

pub(super) fn svg(title: &str, measured: &[f32], predicted: &[f32]) -> Result<String> {
    const FONT: &str = "sans-serif";
    let points: Vec<(f64, f64)> = measured.iter().zip(predicted).map(|(x, y)| (f64::from(*x), f64::from(*y))).collect();
    let all = || points.iter().flat_map(|(x, y)| [*x, *y]);
    let (low, high) = (all().fold(f64::INFINITY, f64::min) / 1.3, all().fold(0.0, f64::max) * 1.3);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (620, 600)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(title, (FONT, 18))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(60)
            .build_cartesian_2d((low..high).log_scale(), (low..high).log_scale())?;
        let labels = |value: &f64| format!("{value}");
        chart
            .configure_mesh()
            .max_light_lines(0)
            .x_desc("measured, us")
            .y_desc("predicted, us")
            .x_label_formatter(&labels)
            .y_label_formatter(&labels)
            .label_style((FONT, 13))
            .draw()?;
        let step = points.len().div_ceil(MOST_POINTS).max(1);
        let blue = RGBColor(0, 114, 178).mix(0.5).filled();
        chart.draw_series(points.iter().step_by(step).map(|point| Circle::new(*point, 2, blue)))?;
        chart.draw_series(LineSeries::new([(low, low), (high, high)], RGBColor(213, 94, 0).stroke_width(1)))?;
        area.present()?;
    }
    Ok(svg)
}
