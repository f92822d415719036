//! The compiler's log, as numbers.

use crate::KernelResources;

impl KernelResources {
    /// Reads what ptxas says with `-v`, alone or inside NVRTC: an entry for each `Compiling entry function`, in the log's order.
    /// What the log does not say is 0.
    pub fn from_log(log: &str) -> Vec<Self> {
        let mut list: Vec<Self> = Vec::new();
        // Device functions that were not inlined have property lines too; only those of the kernel count.
        let mut about_kernel = false;
        for line in log.lines() {
            if let Some((_, rest)) = line.split_once("Compiling entry function '") {
                let name = rest.split('\'').next().unwrap_or_default().to_owned();
                list.push(Self { name, ..Default::default() });
            } else if let Some((_, name)) = line.split_once("Function properties for ") {
                about_kernel = list.last().is_some_and(|kernel| kernel.name == name.trim());
            } else if let Some(kernel) = list.last_mut() {
                if about_kernel && line.contains("stack frame") {
                    kernel.stack_bytes = number_before(line, " bytes stack frame");
                    kernel.spill_store_bytes = number_before(line, " bytes spill stores");
                    kernel.spill_load_bytes = number_before(line, " bytes spill loads");
                } else if line.contains("Used ") {
                    kernel.registers = number_before(line, " registers");
                    kernel.shared_bytes = number_before(line, " bytes smem");
                }
            }
        }
        list
    }
}

/// The number that stands before `unit`, 0 if there is none.
fn number_before(line: &str, unit: &str) -> u32 {
    let before = line.split_once(unit).map_or("", |(before, _)| before);
    let digits = before.rfind(|c: char| !c.is_ascii_digit()).map_or(before, |at| before.get(at + 1..).unwrap_or(""));
    digits.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_entry_per_kernel() {
        let log = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'first' for 'sm_90'\n\
            ptxas info    : Function properties for first\n\
            \x20   8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n\
            ptxas info    : Used 14 registers, used 1 barriers, 1024 bytes smem, 400 bytes cmem[0]\n\
            ptxas info    : Function properties for helper\n\
            \x20   99 bytes stack frame, 99 bytes spill stores, 99 bytes spill loads\n\
            ptxas info    : Compiling entry function 'second' for 'sm_90'\n\
            ptxas info    : Function properties for second\n\
            \x20   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 255 registers, used 0 barriers\n";
        let [first, second] = &KernelResources::from_log(log)[..] else { panic!("two kernels") };
        let numbers =
            |k: &KernelResources| (k.registers, k.stack_bytes, k.spill_store_bytes, k.spill_load_bytes, k.shared_bytes);
        assert_eq!((first.name.as_str(), numbers(first)), ("first", (14, 8, 12, 16, 1024)));
        assert_eq!((second.name.as_str(), numbers(second)), ("second", (255, 0, 0, 0, 0)));
    }

    #[test]
    fn other_texts_give_nothing() {
        for log in ["", "Used registers", "Compiling entry function '", "é bytes smem", "Used é registers"] {
            assert!(KernelResources::from_log(log).iter().all(|kernel| kernel.registers == 0));
        }
    }
}
