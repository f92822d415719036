//! The tables and pictures of docs/fusion.md.

use super::{Chart, Document, Picture, Results, Row, Series, figure, whole};

/// docs/fusion.md.
pub const FUSION: Document = Document {
    file: "docs/fusion.md",
    names: &[
        "machine",
        "vertical",
        "horizontal",
        "both",
        "additions",
        "per_kernel",
        "size",
        "types",
        "compile",
        "crops",
        "pipelines",
        "host",
    ],
    part,
    pictures,
};

fn part(name: &str, results: &Results) -> String {
    match FIGURES.iter().find(|figure| figure.name == name) {
        Some(figure) => figure.part(results),
        None if name == "machine" => machine(results),
        None if name == "pipelines" => pipelines(results),
        None if name == "types" => types(results),
        None => compile(results),
    }
}

fn pictures(results: &Results) -> Vec<Picture> {
    FIGURES.iter().map(|figure| (figure.file(), figure.chart(results))).collect()
}

/// One picture with its table: the cases `fuse/KIND/NUMBER`.
#[derive(Debug)]
pub struct Figure {
    /// The name in the document, and of the picture's file.
    pub name: &'static str,
    title: &'static str,
    kind: &'static str,
    metrics: &'static [(&'static str, &'static str)],
    across: &'static str,
}

/// Every figure of the document.
pub const FIGURES: [Figure; 8] = [
    Figure {
        name: "vertical",
        title: "Multiplications and additions over 4096 x 2160, u8 to f32",
        kind: "vertical",
        metrics: &[("device_us", "tilewright")],
        across: "pairs",
    },
    Figure {
        name: "horizontal",
        title: "Cast, multiply, subtract, divide over pictures of 60 x 120",
        kind: "horizontal",
        metrics: &[("device_us", "tilewright")],
        across: "pictures",
    },
    Figure {
        name: "both",
        title: "Multiplications and additions over 50 pictures of 60 x 120",
        kind: "both",
        metrics: &[("device_us", "tilewright")],
        across: "pairs",
    },
    Figure {
        name: "additions",
        title: "Additions over 66 million f32, in one kernel",
        kind: "additions",
        metrics: &[("device_us", "tilewright")],
        across: "additions",
    },
    Figure {
        name: "per_kernel",
        title: "500 multiplications over 66 million f32",
        kind: "per_kernel",
        metrics: &[("device_us", "tilewright")],
        across: "multiplications in a kernel",
    },
    Figure {
        name: "size",
        title: "100 multiplications and additions, u8 to f32",
        kind: "size",
        metrics: &[("device_us", "tilewright")],
        across: "elements",
    },
    Figure {
        name: "crops",
        title: "Crop, resize, normalise, planar: boxes of a 4K frame",
        kind: "crops",
        metrics: &[("device_us", "tilewright")],
        across: "crops",
    },
    Figure {
        name: "host",
        title: "Host time of a call: crop, resize, normalise, planar",
        kind: "crops",
        metrics: &[
            ("changed_host_us", "tilewright, boxes changed"),
            ("prebuilt_host_us", "tilewright, boxes on the device"),
        ],
        across: "crops",
    },
];

/// Where and when the suite was measured, and what a launch costs there.
fn machine(results: &Results) -> String {
    let Some(row) = results.of("launch", "device_us").next() else {
        return "The suite `fuse` is not yet measured.\n".to_owned();
    };
    let us = |metric| results.of("launch", metric).next().map_or_else(String::new, |row| figure(row.value));
    format!(
        "Measured on {}, {}, commit {}. An empty kernel in the same run: {} us on the device back to back, {} us in a CUDA \
         graph, {} us on the host.\n",
        row.device,
        row.date,
        row.commit,
        us("device_us"),
        us("device_us_graph"),
        us("host_us")
    )
}

/// Whole pipelines, a row for each with every peer.
fn pipelines(results: &Results) -> String {
    const CASES: [(&str, &str); 4] = [
        ("crops_f16", "150 crops as above, results in f16"),
        ("frames4k", "32 frames of 4K to 224 x 224, bilinear"),
        ("frames4k_area", "32 frames of 4K to 224 x 224, by area"),
        ("nv12_1080p", "NV12 of 1920 x 1080 to RGB, 640 x 640, f16"),
    ];
    let mut text = "| pipeline | tilewright, us | each byte once, us | others, us |\n|---|---:|---:|---|\n".to_owned();
    for (kind, name) in CASES {
        let rows: Vec<&Row> = results.of(kind, "device_us").collect();
        let Some(first) = rows.first() else {
            text += &format!("| {name} | not yet measured | | |\n");
            continue;
        };
        let peers = rows.iter().filter_map(|row| row.peer.as_ref());
        let peers = peers.map(|(peer, us)| format!("{peer} {} ({}x)", figure(*us), figure(us / first.value)));
        let (limit, peers) = (first.limit.map_or_else(String::new, figure), peers.collect::<Vec<_>>().join("; "));
        text += &format!("| {name} | {} | {limit} | {peers} |\n", figure(first.value));
    }
    text
}

/// A small computation, by element types.
fn types(results: &Results) -> String {
    let rows: Vec<&Row> = results.of("type", "device_us").collect();
    if rows.is_empty() {
        return "Not yet measured: `fuse/type`, device_us.\n".to_owned();
    }
    let mut text = "| from - to | tilewright, us | each byte once, us |\n|---|---:|---:|\n".to_owned();
    for row in rows {
        let types = row.case.trim_start_matches("type/");
        let limit = row.limit.map_or_else(String::new, figure);
        text += &format!("| {types} | {} | {limit} |\n", figure(row.value));
    }
    text
}

/// What a pipeline costs that nobody has compiled before.
fn compile(results: &Results) -> String {
    let ms = |metric| results.of("compile", metric).next().map(|row| figure(row.value));
    let empty = ms("empty_ms").map_or_else(String::new, |ms| format!(" An empty kernel in the same process: {ms} ms."));
    match (ms("ms"), ms("p90_ms"), ms("first_ms")) {
        (Some(ms), Some(p90), Some(first)) => format!(
            "{ms} ms in the median, {p90} ms for nine of ten; {first} ms for the first of a process, which finds and loads the \
             compiler.{empty}\n"
        ),
        _ => "Not yet measured: `fuse/compile`.\n".to_owned(),
    }
}

impl Figure {
    /// The name of its picture.
    pub fn file(&self) -> String {
        format!("fusion-{}", self.name.replace('_', "-"))
    }

    /// Its picture; nothing when nothing of it was measured.
    pub fn chart(&self, results: &Results) -> Option<Chart> {
        let mut series = Vec::new();
        for (metric, name) in self.metrics {
            let points = results.series(self.kind, metric);
            if points.is_empty() {
                continue;
            }
            series.push(Series { name: (*name).to_owned(), points });
            for peer in results.peers(self.kind, metric) {
                let points = results.series_of_peer(self.kind, metric, &peer);
                series.push(Series { name: peer, points });
            }
            let limit = results.limits(self.kind, metric);
            if !limit.is_empty() {
                series.push(Series { name: "each byte moved once".to_owned(), points: limit });
            }
        }
        let (title, across) = (self.title.to_owned(), self.across.to_owned());
        (!series.is_empty()).then_some(Chart { title, across, up: "us".to_owned(), series, lines: true })
    }

    /// What stands in the document: the picture and a table, or that there is nothing yet.
    fn part(&self, results: &Results) -> String {
        let mut text = String::new();
        for (metric, name) in self.metrics {
            let ours = results.series(self.kind, metric);
            if ours.is_empty() {
                text += &format!("Not yet measured: `fuse/{}`, {metric}.\n", self.kind);
                continue;
            }
            if text.is_empty() {
                text += &format!("![{}](images/{}.svg)\n\n", self.title, self.file());
            }
            text += &self.table(results, metric, name, &ours);
        }
        if self.name == "additions" {
            text += &knee(&results.series(self.kind, "device_us"));
        }
        text
    }

    fn table(&self, results: &Results, metric: &str, name: &str, ours: &[(f64, f64)]) -> String {
        let peers = results.peers(self.kind, metric);
        let limits = results.limits(self.kind, metric);
        let mut heads = vec![self.across.to_owned(), format!("{name}, us")];
        heads.extend((!limits.is_empty()).then(|| "each byte once, us".to_owned()));
        heads.extend(peers.iter().map(|peer| format!("{peer}, us")));
        let mut text = format!("| {} |\n|{}\n", heads.join(" | "), "---:|".repeat(heads.len()));
        let columns: Vec<_> = peers.iter().map(|peer| results.series_of_peer(self.kind, metric, peer)).collect();
        for (number, us) in ours {
            let found = |series: &[(f64, f64)]| series.iter().find(|(x, _)| x == number).map(|(_, y)| *y);
            let mut cells = vec![whole(*number), figure(*us)];
            cells.extend((!limits.is_empty()).then(|| found(&limits).map_or_else(String::new, figure)));
            let beside = |series: &Vec<_>| match found(series) {
                Some(peer) => format!("{} ({}x)", figure(peer), figure(peer / us)),
                None => "-".to_owned(),
            };
            cells.extend(columns.iter().map(beside));
            text += &format!("| {} |\n", cells.join(" | "));
        }
        text.push('\n');
        text
    }
}

/// How many operations are free: the last case within a tenth of the first one's time.
fn knee(points: &[(f64, f64)]) -> String {
    let Some((_, first)) = points.first() else { return String::new() };
    let free = points.iter().take_while(|(_, us)| *us <= first * 1.1).last();
    free.map_or_else(String::new, |(k, _)| {
        format!("Up to {} additions cost no more than a tenth beyond the first: they hide behind memory.\n", whole(*k))
    })
}
