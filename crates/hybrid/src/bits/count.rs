use crate::bits::BitMatrix;

impl BitMatrix {
    /// How many elements are set.
    pub fn count_ones(&self) -> u64 {
        self.words().iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// How many elements of each row are set.
    pub fn row_counts(&self) -> Vec<u64> {
        self.row_iter().map(|row| row.iter().map(|word| u64::from(word.count_ones())).sum()).collect()
    }

    /// How many elements of each column are set.
    pub fn column_counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.columns()];
        for (first, columns) in counts.chunks_mut(64).enumerate() {
            self.count_column_of_words(first, columns);
        }
        counts
    }

    /// Adds up 64 columns at once: digit d of the 64 sums stands in word d, and a row is added to them as to a binary number.
    fn count_column_of_words(&self, word: usize, counts: &mut [u64]) {
        let mut digits = [0u64; 64];
        for row in self.row_iter() {
            let mut carry = row[word];
            let mut digit = 0;
            while carry != 0 {
                (digits[digit], carry) = (digits[digit] ^ carry, digits[digit] & carry);
                digit += 1;
            }
        }
        for (column, count) in counts.iter_mut().enumerate() {
            *count = (0..64).map(|digit| (digits[digit] >> column & 1) << digit).sum();
        }
    }

    /// Whether any element is set.
    pub fn any(&self) -> bool {
        self.words().iter().any(|&word| word != 0)
    }
}
