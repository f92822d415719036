//! `cargo xtask plots`: draws what `benches/results` holds, and writes the tables of the documents that show it.
//!
//! A document says where a figure belongs: between `<!-- plots: NAME -->` and `<!-- end -->` this command writes, and nothing
//! else does.

mod chart;
mod conv;
mod fusion;
mod results;

use crate::workspace;
use anyhow::{Context, Result, bail};
pub use chart::{Chart, Series};
pub use conv::CONV;
pub use fusion::{FIGURES, FUSION};
pub use results::{Results, Row};
use std::fmt::Write;
use std::path::Path;

/// A picture's name, and what it shows; nothing where nothing was measured.
pub type Picture = (String, Option<Chart>);

/// A document with figures.
#[derive(Clone, Copy, Debug)]
pub struct Document {
    /// Where it is.
    pub file: &'static str,
    /// The parts that it has to have.
    pub names: &'static [&'static str],
    /// What stands in a part of one of these names.
    part: fn(&str, &Results) -> String,
    /// Its pictures.
    pictures: fn(&Results) -> Vec<Picture>,
}

/// All of them.
pub const DOCUMENTS: [Document; 2] = [FUSION, CONV];

/// Draws and writes.
pub fn run() -> Result<()> {
    let results = Results::read(&workspace::root().join("benches/results"))?;
    let images = workspace::root().join("docs/images");
    for document in DOCUMENTS {
        for (name, chart) in document.pictures(&results) {
            let file = images.join(format!("{name}.svg"));
            match chart {
                Some(chart) => std::fs::write(&file, chart.svg()?)?,
                None if file.exists() => std::fs::remove_file(&file)?,
                None => continue,
            }
            println!("{}", file.display());
        }
        let file = workspace::root().join(document.file);
        let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        std::fs::write(&file, document.filled(&text, &results)?)?;
        println!("{}", file.display());
    }
    Ok(())
}

impl Document {
    /// Its pictures.
    pub fn pictures(&self, results: &Results) -> Vec<Picture> {
        (self.pictures)(results)
    }

    /// Its text with the generated parts written anew.
    ///
    /// # Errors
    /// A part whose name is not known, one that does not end, and one that has no place.
    pub fn filled(&self, text: &str, results: &Results) -> Result<String> {
        const BEGIN: &str = "<!-- plots: ";
        const END: &str = "<!-- end -->";
        let (mut filled, mut rest, mut seen) = (String::new(), text, Vec::new());
        while let Some((before, after)) = rest.split_once(BEGIN) {
            let (name, body) = after.split_once(" -->").context("a mark `plots:` is not closed")?;
            let (_, after) = body.split_once(END).with_context(|| format!("the part `{name}` does not end"))?;
            if !self.names.contains(&name) {
                bail!("no figure `{name}`; there are {}", self.names.join(", "));
            }
            write!(filled, "{before}{BEGIN}{name} -->\n{}{END}", (self.part)(name, results))?;
            seen.push(name);
            rest = after;
        }
        filled.push_str(rest);
        match self.names.iter().find(|name| !seen.contains(name)) {
            Some(name) => bail!("the figure `{name}` has no place in {}", self.file),
            None => Ok(filled),
        }
    }
}

/// Three significant digits, or all before the point, thousands apart.
fn figure(value: f64) -> String {
    match value.abs() {
        large if large >= 99.95 => whole(value),
        middle if middle >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A whole number, thousands apart.
fn whole(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 { format!("-{text}") } else { text }
}

/// Whether the documents hold what the results say.
pub fn is_current(root: &Path) -> Result<bool> {
    let results = Results::read(&root.join("benches/results"))?;
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root.join(document.file))?;
        if document.filled(&text, &results)? != text {
            return Ok(false);
        }
    }
    Ok(true)
}
