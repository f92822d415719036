use crate::{Error, bits::BitMatrix};

/// Blocks of 64 x 64 that one step goes through along the result's rows: 8 words are a cache line of the operand.
const BLOCKS: usize = 8;

impl BitMatrix {
    /// The transposed matrix.
    ///
    /// # Errors
    /// As [`BitMatrix::zeros`]: padding may make it larger than this one.
    pub fn transposed(&self) -> Result<Self, Error> {
        let mut result = Self::zeros(self.columns(), self.rows())?;
        let per_row = result.words_per_row();
        let strips = self.words_per_row().min(self.columns().div_ceil(64));
        for from in (0..strips).step_by(BLOCKS) {
            for block_row in 0..self.rows().div_ceil(64) {
                for word in from..strips.min(from + BLOCKS) {
                    let mut block = self.block(block_row, word);
                    transpose_block(&mut block);
                    let rows = self.columns().min(64 * word + 64) - 64 * word;
                    let words = result.words_mut();
                    for (row, &bits) in block[..rows].iter().enumerate() {
                        words[(64 * word + row) * per_row + block_row] = bits;
                    }
                }
            }
        }
        Ok(result)
    }

    /// 64 rows of one word each; zeros behind the last row.
    fn block(&self, block_row: usize, word: usize) -> [u64; 64] {
        let per_row = self.words_per_row();
        let rows = self.words().chunks_exact(per_row).skip(64 * block_row);
        let mut block = [0; 64];
        block.iter_mut().zip(rows).for_each(|(to, row)| *to = row[word]);
        block
    }
}

/// Transposes 64 x 64 bits in six steps, each of which exchanges the two off-diagonal quarters of all blocks of one size (Warren,
/// Hacker's Delight, 7-3).
fn transpose_block(block: &mut [u64; 64]) {
    let mut mask = 0x0000_0000_ffff_ffffu64;
    let mut size = 32;
    while size != 0 {
        let mut row = 0;
        while row < 64 {
            let exchanged = (block[row] >> size ^ block[row + size]) & mask;
            block[row] ^= exchanged << size;
            block[row + size] ^= exchanged;
            row = (row + size + 1) & !size;
        }
        size /= 2;
        mask ^= mask << size;
    }
}
