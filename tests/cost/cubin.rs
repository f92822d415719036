//! The instructions of a kernel, counted in its cubin: an ELF file with a section of code for each kernel.

/// Volta to Hopper: 128 bits an instruction.
const INSTRUCTION_BYTES: usize = 16;
/// The low 12 bits of an instruction are its operation.
const OPERATION: u16 = 0xfff;
const NO_OPERATION: u16 = 0x918;
const BRANCH: u16 = 0x947;

/// The number of instructions of a kernel, without what fills its section up: a branch to itself and no-operations. `None` if
/// this is no cubin or has no such kernel.
pub fn instructions(cubin: &[u8], kernel: &str) -> Option<usize> {
    let code = section(cubin, &format!(".text.{kernel}"))?;
    let operations: Vec<u16> =
        code.chunks_exact(INSTRUCTION_BYTES).map(|i| u16_at(i, 0).unwrap_or(0) & OPERATION).collect();
    let filled = operations.iter().rposition(|operation| *operation != NO_OPERATION).map_or(0, |last| last + 1);
    Some(if operations[..filled].last() == Some(&BRANCH) { filled - 1 } else { filled })
}

/// The bytes of a section of an ELF file, 64 bits, little-endian.
fn section<'a>(elf: &'a [u8], name: &str) -> Option<&'a [u8]> {
    if elf.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (headers, bytes) = (u64_at(elf, 0x28)?, u16_at(elf, 0x3a)? as usize);
    let (count, names) = (u16_at(elf, 0x3c)? as usize, u16_at(elf, 0x3e)? as usize);
    let header = |number: usize| elf.get(headers.checked_add(number.checked_mul(bytes)?)?..);
    let content = |header: &[u8]| {
        let (at, size) = (u64_at(header, 0x18)?, u64_at(header, 0x20)?);
        elf.get(at..at.checked_add(size)?)
    };
    let names = content(header(names)?)?;
    let named = |header: &&[u8]| {
        let text = u32_at(header, 0).and_then(|at| names.get(at as usize..));
        text.is_some_and(|text| text.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&0)))
    };
    content((0..count).filter_map(header).find(named)?)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?)).ok()
}
