//! In which order a tile's panels are multiplied: all rows at once, but for the last tile's last panels, by which strip after strip is multiplied, so
//! that the first strips go back while the others are computed.

use std::ops::Range;

/// Strips of the last tile: the last of them is all that goes back when nothing is computed any more.
const STRIPS: usize = 4;
/// What strips are multiples of, where they have as many rows: cuBLAS computes blocks of 128 rows.
const GRANULE: usize = 128;

/// One product of a tile: some of its rows by a panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) rows: Range<usize>,
    /// The number of the panel.
    pub(super) panel: usize,
    /// Whether the panel is brought for it, and not there yet.
    pub(super) is_first: bool,
    /// Whether the rows are finished with it.
    pub(super) is_last: bool,
}

/// The products of a tile of so many rows and panels. `together` panels are there at once; one of several in strips needs at least two.
pub(super) fn turns(rows: usize, panels: usize, together: usize, in_strips: bool) -> Vec<Turn> {
    let strips = strips(rows, if in_strips && together > 1 { STRIPS } else { 1 });
    let together = if strips.len() > 1 { together.min(panels) } else { 1 };
    let alone = panels - together.min(panels);
    let whole = (0..alone).map(|panel| Turn { rows: 0..rows, panel, is_first: true, is_last: false });
    let ends = strips.iter().enumerate().flat_map(|(number, rows)| {
        (alone..panels).map(move |panel| Turn {
            rows: rows.clone(),
            panel,
            is_first: number == 0,
            is_last: panel + 1 == panels,
        })
    });
    whole.chain(ends).collect()
}

/// So many, but for granules. Without rows there is one of none, so that panels are counted all the same.
fn strips(rows: usize, count: usize) -> Vec<Range<usize>> {
    let even = rows.div_ceil(count).max(1);
    let strip = if count > 1 && even > GRANULE { even.next_multiple_of(GRANULE) } else { even };
    (0..rows.max(1)).step_by(strip).map(|begin| begin..(begin + strip).min(rows)).collect()
}

/// Seconds of the last tile's way back after the last product, given what the whole of it takes, and what the panels take that are there
/// together.
pub(super) fn tail(back: f64, together: f64) -> f64 {
    let strips = STRIPS as f64;
    (back / strips).max(back - together * (strips - 1.0) / strips)
}

#[cfg(test)]
mod tests {
    use super::{STRIPS, strips, tail, turns};

    #[test]
    fn every_row_meets_every_panel_once_and_no_panel_is_brought_twice() {
        for (rows, panels, together, in_strips) in
            [(1, 1, 1, true), (7, 5, 3, true), (7, 5, 3, false), (5000, 2, 3, true), (300, 1, 3, true), (9, 4, 1, true)]
        {
            let turns = turns(rows, panels, together, in_strips);
            let mut met = vec![Vec::new(); rows];
            for turn in &turns {
                turn.rows.clone().for_each(|row| met[row].push(turn.panel));
            }
            assert!(met.iter().all(|met| met.iter().copied().eq(0..panels)), "{turns:?}");
            let brought: Vec<_> = turns.iter().filter(|turn| turn.is_first).map(|turn| turn.panel).collect();
            assert!(brought.into_iter().eq(0..panels), "{turns:?}");
            let mut ended = turns.iter().filter(|turn| turn.is_last).map(|turn| turn.rows.clone()).collect::<Vec<_>>();
            assert!(turns.iter().all(|turn| turn.is_last == (turn.panel + 1 == panels)), "{turns:?}");
            ended.dedup();
            assert_eq!(ended.iter().map(|rows| rows.len()).sum::<usize>(), rows, "{turns:?}");
            assert_eq!(ended.len() > 1, in_strips && together > 1 && rows > 1, "{turns:?}");
        }
    }

    #[test]
    fn strips_are_even_and_of_whole_blocks_where_they_are_large() {
        assert_eq!(strips(6528, STRIPS).iter().map(|strip| strip.len()).collect::<Vec<_>>(), [1664, 1664, 1664, 1536]);
        assert_eq!(strips(10, STRIPS).iter().map(|strip| strip.len()).collect::<Vec<_>>(), [3, 3, 3, 1]);
        assert_eq!([strips(0, STRIPS).len(), strips(6528, 1).len()], [1, 1]);
    }

    #[test]
    fn what_goes_back_after_the_end_is_a_strip_at_least() {
        let strips = STRIPS as f64;
        assert_eq!(tail(1.0, 100.0), 1.0 / strips);
        assert_eq!(tail(1.0, 0.0), 1.0);
        // Copies take twice as long as products: the first begins when a strip is there.
        assert_eq!(tail(2.0, 1.0), 2.0 - (strips - 1.0) / strips);
    }
}
