//! What the device benchmark wrote, as far as figures need it.

use anyhow::{Context, Result};
use serde_json::Value;
use std::path::Path;

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// `vertical/50`, for example.
    pub case: String,
    /// What of it was measured.
    pub metric: String,
    /// The figure.
    pub value: f64,
    /// Another library, and its figure.
    pub peer: Option<(String, f64)>,
    /// The time that memory alone takes.
    pub limit: Option<f64>,
    /// What was built.
    pub commit: String,
    /// The day.
    pub date: String,
    /// Where.
    pub device: String,
}

/// The rows of the suite `fuse`, and of `crops` and `conv2d` as if they were of its kinds of these names, from the file that has most of them.
#[derive(Clone, Debug, Default)]
pub struct Results(pub Vec<Row>);

impl Results {
    /// Reads a folder of results.
    pub fn read(folder: &Path) -> Result<Self> {
        let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        let mut best = Self::default();
        for file in files {
            let text = std::fs::read_to_string(&file)?;
            let found = Self::parse(&text).with_context(|| format!("{} holds no rows", file.display()))?;
            if found.0.len() > best.0.len() {
                best = found;
            }
        }
        Ok(best)
    }

    /// Reads the text of one file.
    pub fn parse(text: &str) -> Result<Self> {
        let values: Vec<Value> = serde_json::from_str(text)?;
        let of =
            |suite: &str| values.iter().filter(|value| value["suite"] == suite).map(row).collect::<Result<Vec<_>>>();
        let mut rows = of("fuse")?;
        for suite in ["crops", "conv2d"] {
            rows.extend(of(suite)?.into_iter().map(|row| Row { case: format!("{suite}/{}", row.case), ..row }));
        }
        Ok(Self(rows))
    }

    /// The rows of one case or of the cases of one kind, of one metric.
    pub fn of<'a>(&'a self, kind: &'a str, metric: &'a str) -> impl Iterator<Item = &'a Row> {
        let is_of = move |row: &&Row| row.case.split('/').next() == Some(kind) && row.metric == metric;
        self.0.iter().filter(is_of)
    }

    /// Our figures of a kind of cases, by the number in their names.
    pub fn series(&self, kind: &str, metric: &str) -> Vec<(f64, f64)> {
        by_number(self.of(kind, metric).filter_map(|row| Some((number(row)?, row.value))))
    }

    /// The figures of a peer.
    pub fn series_of_peer(&self, kind: &str, metric: &str, peer: &str) -> Vec<(f64, f64)> {
        let of_peer = |row: &Row| match &row.peer {
            Some((name, value)) if name == peer => Some((number(row)?, *value)),
            _ => None,
        };
        by_number(self.of(kind, metric).filter_map(of_peer))
    }

    /// What memory alone takes.
    pub fn limits(&self, kind: &str, metric: &str) -> Vec<(f64, f64)> {
        by_number(self.of(kind, metric).filter_map(|row| Some((number(row)?, row.limit?))))
    }

    /// The peers of a kind of cases, in the order of the rows.
    pub fn peers(&self, kind: &str, metric: &str) -> Vec<String> {
        let mut peers: Vec<String> = Vec::new();
        for (peer, _) in self.of(kind, metric).filter_map(|row| row.peer.as_ref()) {
            if !peers.contains(peer) {
                peers.push(peer.clone());
            }
        }
        peers
    }
}

/// The number behind the slash.
fn number(row: &Row) -> Option<f64> {
    row.case.split_once('/')?.1.parse().ok()
}

fn by_number(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut points: Vec<_> = points.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    // A case has a row for each of its peers.
    points.dedup_by(|a, b| a.0 == b.0);
    points
}

fn row(value: &Value) -> Result<Row> {
    let text = |name: &str| value[name].as_str().map(str::to_owned).with_context(|| format!("a row lacks `{name}`"));
    let peer = value["peer"].as_str().map(str::to_owned).zip(value["peer_value"].as_f64());
    Ok(Row {
        case: text("case")?,
        metric: text("metric")?,
        value: value["value"].as_f64().context("a row lacks `value`")?,
        peer,
        limit: value["limit"].as_f64(),
        commit: text("commit")?,
        date: text("date")?,
        device: text("device")?,
    })
}
