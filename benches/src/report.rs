//! What was measured, and the file that holds it.

use crate::{Result, machine};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// A group of cases that measure one thing.
    pub suite: String,
    /// What was run.
    pub case: String,
    /// What of it was measured.
    pub metric: String,
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// Another library on the same case, in the same unit.
    pub peer: Option<String>,
    /// Its figure.
    pub peer_value: Option<f64>,
    /// The peer's figure over ours.
    #[serde(default)]
    pub ratio: Option<f64>,
    /// The time that moving each byte once would take, at the measured copy bandwidth.
    pub limit: Option<f64>,
    /// What was built.
    pub commit: String,
    /// The day, UTC.
    pub date: String,
    /// The machine's part that was measured.
    pub device: String,
    /// Its driver.
    pub driver: Option<String>,
}

impl Row {
    /// Sets the time that memory alone would take.
    pub fn limited(&mut self, limit: f64) -> &mut Self {
        self.limit = Some(rounded(limit));
        self
    }

    /// Sets the peer and its figure.
    pub fn against(&mut self, peer: &str, value: f64) -> &mut Self {
        (self.peer, self.peer_value) = (Some(peer.to_owned()), Some(rounded(value)));
        self.ratio = Some(rounded(value / self.value)).filter(|ratio| ratio.is_finite());
        self
    }
}

/// What a script of `peers/` writes about another library.
#[derive(Clone, Debug, Deserialize)]
pub struct Peer {
    /// As in [`Row`].
    pub suite: String,
    /// As in [`Row`].
    pub case: String,
    /// As in [`Row`].
    pub metric: String,
    /// The peer's figure, in the row's unit.
    pub value: f64,
    /// The library, and how it was used.
    pub peer: String,
    /// The device that it ran on; a figure of another device is left out.
    pub device: Option<String>,
}

/// The rows of a run.
#[derive(Debug)]
pub struct Report {
    /// In the order of measuring.
    pub rows: Vec<Row>,
    device: String,
    driver: Option<String>,
    commit: String,
    date: String,
}

impl Report {
    /// An empty one; rows are those of this device, unless they say otherwise.
    pub fn new(device: &str, driver: Option<String>) -> Self {
        let (commit, date) = (machine::commit(), machine::date());
        Self { rows: Vec::new(), device: device.to_owned(), driver, commit, date }
    }

    /// Adds a figure. Limit and peer can be set on the row that comes back.
    pub fn add(&mut self, suite: &str, case: &str, metric: &str, value: f64, unit: &str) -> &mut Row {
        self.rows.push(Row {
            suite: suite.to_owned(),
            case: case.to_owned(),
            metric: metric.to_owned(),
            value: rounded(value),
            unit: unit.to_owned(),
            peer: None,
            peer_value: None,
            ratio: None,
            limit: None,
            commit: self.commit.clone(),
            date: self.date.clone(),
            device: self.device.clone(),
            driver: self.driver.clone(),
        });
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    /// Adds a figure with peers that were measured in this run: a row for each.
    pub fn add_against(
        &mut self,
        [suite, case, metric]: [&str; 3],
        value: f64,
        unit: &str,
        limit: Option<f64>,
        peers: &[(&str, f64)],
    ) {
        for (peer, figure) in peers {
            self.add(suite, case, metric, value, unit).against(peer, *figure).limit = limit.map(rounded);
        }
    }

    /// Sets peers beside the rows that they measured too: a row for each.
    pub fn join(&mut self, peers: &[Peer]) {
        let mut joined: Vec<Row> = Vec::with_capacity(self.rows.len());
        for row in self.rows.drain(..) {
            let is_same =
                |other: &Row| (&other.suite, &other.case, &other.metric) == (&row.suite, &row.case, &row.metric);
            // Beside a figure with several peers of its own, those from outside stand once.
            if row.peer.is_some() && joined.iter().any(is_same) {
                joined.push(row);
                continue;
            }
            let fits = |peer: &&Peer| {
                (&peer.suite, &peer.case, &peer.metric) == (&row.suite, &row.case, &row.metric)
                    && peer.device.as_ref().is_none_or(|device| *device == row.device)
            };
            let with = |peer: &Peer| row.clone().against(&peer.peer, peer.value).clone();
            let more: Vec<Row> = peers.iter().filter(fits).map(with).collect();
            if more.is_empty() || row.peer.is_some() {
                joined.push(row);
            }
            joined.extend(more);
        }
        self.rows = joined;
    }

    /// Writes the rows to a file of the device's name, and gives its path. With `replace`, what was there goes; otherwise
    /// only rows that were measured anew.
    pub fn write(&self, folder: &Path, name: &str, replace: bool) -> Result<PathBuf> {
        let file = folder.join(format!("{}.json", machine::slug(name)));
        let measured = |old: &Row| {
            let same = |row: &Row| row.suite == old.suite && row.case == old.case && row.metric == old.metric;
            self.rows.iter().any(same)
        };
        let mut rows = if replace { Vec::new() } else { read::<Row>(&file) };
        rows.retain(|old| !measured(old));
        rows.extend(self.rows.iter().cloned());
        let lines = rows.iter().map(serde_json::to_string).collect::<std::result::Result<Vec<_>, _>>()?;
        let failed = |error| format!("cannot write {}: {error}", file.display());
        std::fs::create_dir_all(folder).map_err(failed)?;
        std::fs::write(&file, format!("[\n{}\n]\n", lines.join(",\n"))).map_err(failed)?;
        Ok(file)
    }
}

/// The peers' figures in a folder of results, from every file `peers*.json`; none if there is no such file.
pub fn peers(folder: &Path) -> Vec<Peer> {
    let named = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("peers") && name.ends_with(".json")
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(named).collect();
    files.sort();
    files.iter().flat_map(|file| read(file)).collect()
}

/// The rows of a file; none if it cannot be read, which is said when it is there.
fn read<T: for<'a> Deserialize<'a>>(file: &Path) -> Vec<T> {
    let Ok(text) = std::fs::read_to_string(file) else { return Vec::new() };
    serde_json::from_str(&text).unwrap_or_else(|error| {
        eprintln!("{} is not used: {error}", file.display());
        Vec::new()
    })
}

/// Where results go: `TILEWRIGHT_OUT`, else `results` in the package's folder, else `results` here.
pub fn folder() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let in_package = || set("CARGO_MANIFEST_DIR").unwrap_or_default().join("results");
    set("TILEWRIGHT_OUT").unwrap_or_else(in_package)
}

/// Five significant digits: more than any measurement here has.
fn rounded(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}
