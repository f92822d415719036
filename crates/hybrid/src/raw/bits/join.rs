use crate::bits::{Join, Path};

/// Tables that are joined at once: one for each byte of a key.
pub(crate) const TABLES: usize = 4;

/// Joins to each row one entry of each table, named by a byte of its key. Tables have 256 entries as wide as a row.
pub(crate) fn join_entries<'a>(
    path: Path,
    join: Join,
    rows: impl Iterator<Item = (&'a mut [u64], u32)>,
    tables: &[u64],
) {
    match (path, join) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the processor has what the function is compiled for, which has just been asked.
        (Path::Avx512, Join::Or) if path.is_supported() => unsafe { on_avx512(rows, tables, |a, b| a | b) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        (Path::Avx512, Join::Xor) if path.is_supported() => unsafe { on_avx512(rows, tables, |a, b| a ^ b) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        (Path::Avx2, Join::Or) if path.is_supported() => unsafe { on_avx2(rows, tables, |a, b| a | b) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        (Path::Avx2, Join::Xor) if path.is_supported() => unsafe { on_avx2(rows, tables, |a, b| a ^ b) },
        (_, Join::Or) => on_any(rows, tables, |a, b| a | b),
        (_, Join::Xor) => on_any(rows, tables, |a, b| a ^ b),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn on_avx512<'a>(
    rows: impl Iterator<Item = (&'a mut [u64], u32)>,
    tables: &[u64],
    join: impl Fn(u64, u64) -> u64 + Copy,
) {
    on_any(rows, tables, join);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn on_avx2<'a>(
    rows: impl Iterator<Item = (&'a mut [u64], u32)>,
    tables: &[u64],
    join: impl Fn(u64, u64) -> u64 + Copy,
) {
    on_any(rows, tables, join);
}

#[inline(always)]
fn on_any<'a>(rows: impl Iterator<Item = (&'a mut [u64], u32)>, tables: &[u64], join: impl Fn(u64, u64) -> u64 + Copy) {
    let table = tables.len() / TABLES;
    for (row, key) in rows {
        if key == 0 {
            continue;
        }
        let width = row.len();
        let entry = |index: usize| {
            let from = index * table + usize::from(key.to_le_bytes()[index]) * width;
            tables.get(from..from + width).unwrap_or(&[])
        };
        let entries = entry(0).iter().zip(entry(1)).zip(entry(2).iter().zip(entry(3)));
        for (to, ((a, b), (c, d))) in row.iter_mut().zip(entries) {
            *to = join(join(*to, join(*a, *b)), join(*c, *d));
        }
    }
}
