//! The lines of an expression that is read at several rows: each row's once, whichever tap wants it.

/// Lines, each with the row that it is of.
#[derive(Debug, Default)]
pub(super) struct Pool {
    held: Vec<i32>,
    /// The lines, one after the other.
    pub(super) values: Vec<u64>,
    /// Which lines are wanted of those that were there before.
    kept: Vec<bool>,
    /// For each line that was not, the tap that is evaluated for it and the number of its row among the tap's.
    new: Vec<(usize, usize)>,
    /// Where each line goes.
    places: Vec<u32>,
}

/// What a band wants of a tap.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// The row that each row of the band wants.
    pub(super) of: Vec<i32>,
    /// For each row of the band, the line of the pool.
    pub(super) lines: Vec<u32>,
    /// Rows for which the tap is to be evaluated, into lines from `first` on.
    pub(super) rows: Vec<u32>,
    /// The first of those lines.
    pub(super) first: usize,
}

impl Pool {
    /// Room for so many words.
    pub(super) fn new(words: usize) -> Pool {
        Pool { values: vec![0; words], ..Pool::default() }
    }

    /// What is there is of other columns.
    pub(super) fn forget(&mut self) {
        self.held.clear();
    }

    /// Finds the lines that each of `rows` rows wants of the taps of a walk. Lines that nobody wants any more make room for those
    /// that are missing. A line has `words` words.
    pub(super) fn follow(&mut self, wanted: &mut [Wanted], rows: usize, words: usize) {
        self.kept.clear();
        self.kept.resize(self.held.len(), false);
        self.new.clear();
        for tap in wanted.iter_mut() {
            tap.lines.clear();
            tap.rows.clear();
        }
        let none = (i32::MAX, i32::MIN);
        let (mut low, mut high) = self.held.iter().fold(none, |(low, high), row| (low.min(*row), high.max(*row)));
        for r in 0..rows {
            for (tap, wanted) in wanted.iter_mut().enumerate() {
                let row = wanted.of[r];
                let there = if (low..=high).contains(&row) { self.held.iter().rposition(|h| *h == row) } else { None };
                let line = there.unwrap_or(self.held.len());
                if there.is_none() {
                    (low, high) = (low.min(row), high.max(row));
                    self.held.push(row);
                    self.new.push((tap, wanted.rows.len()));
                    wanted.rows.push(r as u32);
                } else if let Some(kept) = self.kept.get_mut(line) {
                    *kept = true;
                }
                wanted.lines.push(line as u32);
            }
        }
        self.place(wanted, words);
    }

    /// Moves what is kept to the front and gives what is new its lines behind it.
    fn place(&mut self, wanted: &mut [Wanted], words: usize) {
        let mut front = 0;
        self.places.clear();
        for (line, kept) in self.kept.iter().enumerate() {
            self.places.push(front as u32);
            if *kept {
                if line != front {
                    self.values.copy_within(line * words..(line + 1) * words, front * words);
                    self.held[front] = self.held[line];
                }
                front += 1;
            }
        }
        self.held.truncate(front);
        for tap in wanted.iter_mut() {
            tap.first = front;
            front += tap.rows.len();
        }
        self.places.extend(self.new.iter().map(|(tap, number)| (wanted[*tap].first + number) as u32));
        for tap in wanted.iter_mut() {
            tap.lines.iter_mut().for_each(|line| *line = self.places[*line as usize]);
            self.held.extend(tap.rows.iter().map(|row| tap.of[*row as usize]));
        }
    }
}
