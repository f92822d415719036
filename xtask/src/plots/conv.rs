//! The tables and pictures of docs/conv.md.

use super::{Chart, Document, Picture, Results, Row, Series, figure};

/// docs/conv.md.
pub const CONV: Document = Document {
    file: "docs/conv.md",
    names: &["conv_machine", "conv_table", "conv_batch", "conv_layers"],
    part,
    pictures,
};

/// The convolutions that are timed, and the sets to which they belong.
const LIST: &str = include_str!("../../../benches/peers/conv2d.csv");

/// Passes in metrics, and for people.
const PASSES: [(&str, &str); 3] =
    [("forward", "forward"), ("grad_input", "the input's gradient"), ("grad_weight", "the weights' gradient")];
const BATCH: &str = "64x64x64, 3x3, groups of 8: forward, by images";
const LAYERS: &str = "40 layers of real networks, groups of 8: time of a pass";
const CUDNN: &str = "PyTorch, cuDNN";

fn part(name: &str, results: &Results) -> String {
    match name {
        "conv_machine" => machine(results),
        "conv_table" => table(results),
        "conv_batch" => shown(batch(results), "conv-batch"),
        _ => shown(layers(results), "conv-layers") + &means(results),
    }
}

fn pictures(results: &Results) -> Vec<Picture> {
    vec![("conv-batch".to_owned(), batch(results)), ("conv-layers".to_owned(), layers(results))]
}

fn shown(chart: Option<Chart>, file: &str) -> String {
    let missing = || "Not yet measured: suite `conv2d`.\n".to_owned();
    chart.map_or_else(missing, |chart| format!("![{}](images/{file}.svg)\n\n", chart.title))
}

/// The cases of a set.
fn cases(set: &str) -> impl Iterator<Item = &'static str> + use<'_> {
    let lines = LIST.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines.filter_map(move |line| {
        let (case, sets) = (line.split(',').next()?, line.rsplit(',').next()?);
        sets.split(' ').any(|it| it == set).then_some(case)
    })
}

/// The figure of a case.
fn row<'a>(results: &'a Results, case: &str, metric: &str) -> Option<&'a Row> {
    results.0.iter().find(|row| row.metric == metric && row.case.strip_prefix("conv2d/") == Some(case))
}

fn machine(results: &Results) -> String {
    let first = results.of("conv2d", "forward_device_us").next();
    first.map_or_else(
        || "Not yet measured: suite `conv2d`.\n".to_owned(),
        |row| format!("Measured on {}, {}, commit {}.\n", row.device, row.date, row.commit),
    )
}

/// Each pass of each layer: back to back and alone, beside the limit and cuDNN.
fn table(results: &Results) -> String {
    let mut text = "| layer | limit, us |".to_owned();
    for (_, pass) in PASSES {
        text += &format!(" {pass}, us | cuDNN, us |");
    }
    text += "\n|---|---:|---:|---:|---:|---:|---:|---:|\n";
    for case in cases("table") {
        let of = |pass: &str, more: &str| row(results, case, &format!("{pass}_device_us{more}"));
        let limit = of("forward", "").and_then(|row| row.limit).map_or_else(String::new, figure);
        text += &format!("| {case} | {limit} |");
        for (pass, _) in PASSES {
            let (Some(alone), Some(rotating)) = (of(pass, ""), of(pass, "_rotating")) else {
                text += " - | - |";
                continue;
            };
            text += &format!(" {} ({}) |", figure(rotating.value), figure(alone.value));
            text += &alone.peer.as_ref().map_or_else(
                || " - |".to_owned(),
                |(_, us)| format!(" {} ({}x) |", figure(*us), figure(us / alone.value)),
            );
        }
        text.push('\n');
    }
    text
}

/// Times of growing batches.
fn batch(results: &Results) -> Option<Chart> {
    let images = |case: &str| case.split('x').next().and_then(|images| images.parse::<f64>().ok());
    let series = |name: &str, metric: &str, value: fn(&Row) -> Option<f64>| {
        let point = |case| Some((images(case)?, value(row(results, case, metric)?)?));
        let mut points: Vec<_> = cases("batch").filter_map(point).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name: name.to_owned(), points }
    };
    let peer = |row: &Row| row.peer.as_ref().map(|(_, us)| *us);
    let series = vec![
        series("tilewright", "forward_device_us", |row| Some(row.value)),
        series("tilewright, the input just written", "forward_left_device_us", |row| Some(row.value)),
        series(CUDNN, "forward_device_us", peer),
        series("limit", "forward_device_us", |row| row.limit),
    ];
    let (title, across, up) = (BATCH.to_owned(), "images".to_owned(), "us".to_owned());
    (!series[0].points.is_empty()).then_some(Chart { title, across, up, series, lines: true })
}

/// Times of all passes of the layers, by their limits.
fn layers(results: &Results) -> Option<Chart> {
    let mut all = Vec::new();
    let (mut peers, mut limits) = (Vec::new(), Vec::new());
    for (pass, name) in PASSES {
        let metric = format!("{pass}_device_us");
        let rows: Vec<&Row> = cases("layers").filter_map(|case| row(results, case, &metric)).collect();
        let points = rows.iter().filter_map(|row| Some((row.limit?, row.value))).collect();
        all.push(Series { name: format!("tilewright, {name}"), points });
        peers.extend(rows.iter().filter_map(|row| Some((row.limit?, row.peer.as_ref()?.1))));
        limits.extend(rows.iter().filter_map(|row| Some((row.limit?, row.limit?))));
    }
    all.push(Series { name: format!("{CUDNN}, all passes"), points: peers });
    all.push(Series { name: "limit".to_owned(), points: limits });
    let (title, across, up) = (LAYERS.to_owned(), "limit, us".to_owned(), "us".to_owned());
    (!all[0].points.is_empty()).then_some(Chart { title, across, up, series: all, lines: false })
}

/// How many times faster than cuDNN, in the geometric mean of the layers.
fn means(results: &Results) -> String {
    let mean = |(pass, name): (&str, &str)| {
        let metric = format!("{pass}_device_us");
        let faster = |case| row(results, case, &metric).and_then(|row| Some((row.peer.as_ref()?.1 / row.value).ln()));
        let logs: Vec<f64> = cases("layers").filter_map(faster).collect();
        let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        (!logs.is_empty()).then(|| format!("{name} {mean:.2} ({} layers)", logs.len()))
    };
    let means: Vec<String> = PASSES.into_iter().filter_map(mean).collect();
    match means.is_empty() {
        true => String::new(),
        false => format!("As many times as fast as cuDNN, in the geometric mean: {}.\n", means.join(", ")),
    }
}
