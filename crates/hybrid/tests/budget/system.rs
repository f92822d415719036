//! M2: limits of control groups, in folders that look like those of a machine, and in one that is real.

use std::{
    fs,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::Stdio,
};

use ndarray::Array2;
use tilewright_hybrid::budget::{
    Budget, Level,
    system::{host, host_at, locked_limit, maps, most_maps},
};
use tilewright_hybrid::linear::Precision;
use tilewright_hybrid::store::{Element, NpySink, NpySource, Order, ReadTyped, Source};
use tilewright_hybrid::{Device, Target};

use crate::{child, skip};

const GIB: u64 = 1 << 30;

/// The files of a machine with 128 GiB, of which 100 are available.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new(groups: &str, mounts: &str) -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        let kib = |gib: u64| gib << 20;
        let text = format!("MemTotal: {} kB\nMemFree: 5 kB\nMemAvailable:   {} kB\n", kib(128), kib(100));
        machine.write("proc/meminfo", &text);
        machine.write("proc/self/cgroup", groups);
        machine.write("proc/self/mountinfo", mounts);
        machine
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn level(&self) -> (u64, u64) {
        let Level { capacity, available } = host_at(self.0.path());
        (capacity, available)
    }
}

const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const V1: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n";

#[test]
fn m2_without_groups_the_machine_counts() {
    assert_eq!(Machine::new("", "").level(), (128 * GIB, 100 * GIB));
    let machine = Machine::new("0::/a\n", V2);
    assert_eq!(machine.level(), (128 * GIB, 100 * GIB), "a group without files");
    machine.write("sys/fs/cgroup/a/memory.max", "max\n");
    machine.write("sys/fs/cgroup/a/memory.high", "max\n");
    machine.write("sys/fs/cgroup/a/memory.current", "123\n");
    assert_eq!(machine.level(), (128 * GIB, 100 * GIB));
}

#[test]
fn m2_each_limit_of_version_2_counts() {
    let machine = Machine::new("1:name=systemd:/x\n0::/a/b\n", V2);
    machine.write("sys/fs/cgroup/a/b/memory.max", &format!("{}\n", 2 * GIB));
    machine.write("sys/fs/cgroup/a/b/memory.current", &format!("{GIB}\n"));
    machine.write("sys/fs/cgroup/a/b/memory.stat", &format!("active_file 5\ninactive_file {}\n", GIB / 4));
    assert_eq!(machine.level(), (2 * GIB, GIB + GIB / 4), "what only caches files is free");
    // The group above has the lower one of its two.
    machine.write("sys/fs/cgroup/a/memory.max", &format!("{}\n", 5 * GIB));
    machine.write("sys/fs/cgroup/a/memory.high", &format!("{}\n", GIB * 3 / 2));
    machine.write("sys/fs/cgroup/a/memory.current", &format!("{}\n", GIB * 7 / 5));
    assert_eq!(machine.level(), (GIB * 3 / 2, GIB * 3 / 2 - GIB * 7 / 5));
    // It is asked each time.
    machine.write("sys/fs/cgroup/a/memory.high", "max");
    assert_eq!(machine.level(), (2 * GIB, GIB + GIB / 4));
    machine.write("sys/fs/cgroup/a/b/memory.current", &format!("{}\n", 9 * GIB));
    assert_eq!(machine.level(), (2 * GIB, 0), "over the limit");
}

#[test]
fn m2_version_1_and_both() {
    let machine = Machine::new("4:cpu,memory:/job/7\n0::/a\n", &format!("{V2}{V1}"));
    machine.write("sys/fs/cgroup/memory/job/7/memory.limit_in_bytes", "9223372036854771712\n");
    machine.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", &format!("{}\n", 8 * GIB));
    machine.write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", &format!("{}\n", 2 * GIB));
    machine.write("sys/fs/cgroup/memory/job/memory.stat", &format!("inactive_file 1\ntotal_inactive_file {GIB}\n"));
    assert_eq!(machine.level(), (8 * GIB, 7 * GIB));
    machine.write("sys/fs/cgroup/a/memory.max", &format!("{}\n", 3 * GIB));
    assert_eq!(machine.level(), (3 * GIB, 3 * GIB));
}

#[test]
fn m2_containers_see_their_part_of_the_tree() {
    // Without a namespace of its own a container's group is named from the host's root, and only its part is mounted.
    let mount = "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
    for group in ["0::/docker/abc\n", "0::/\n", "0::/../elsewhere\n"] {
        let machine = Machine::new(group, mount);
        machine.write("sys/fs/cgroup/memory.max", &format!("{}\n", 4 * GIB));
        assert_eq!(machine.level().0, 4 * GIB, "{group}");
    }
    let machine = Machine::new("0::/docker/abc/inner\n", mount);
    machine.write("sys/fs/cgroup/inner/memory.max", &format!("{GIB}\n"));
    machine.write("sys/fs/cgroup/memory.max", &format!("{}\n", 4 * GIB));
    assert_eq!(machine.level().0, GIB);
    let machine = Machine::new("0::/a\n", "30 23 0:26 / /my\\040groups ro - cgroup2 cgroup rw\n");
    machine.write("my groups/a/memory.max", &format!("{GIB}\n"));
    assert_eq!(machine.level().0, GIB);
}

#[test]
fn odd_files_are_no_limits() {
    for text in ["", "-1", "many", "99999999999999999999999999"] {
        let machine = Machine::new("0::/a\nnonsense\n:::\n5:memory\n", &format!("short\n - \n1 2 3 - cgroup2\n{V2}"));
        machine.write("sys/fs/cgroup/a/memory.max", text);
        assert_eq!(machine.level(), (128 * GIB, 100 * GIB), "{text}");
    }
    // Without `proc` the kernel is asked.
    let nothing = tempfile::tempdir().unwrap();
    assert!(host_at(nothing.path()).capacity > 0);
}

#[test]
fn this_machine() {
    let level = host();
    assert!(level.available > 0 && level.available <= level.capacity, "{level:?}");
    let (all, pinned) = (Budget::host(), Budget::pinned());
    assert!(all.limit() <= level.capacity / 8 * 7 + 8 || level.capacity > 32 * GIB);
    assert!(pinned.limit() <= level.capacity / 4 && pinned.available() <= pinned.limit());
    assert_eq!(all.try_acquire(4096).unwrap().bytes(), 4096);
    assert!(all.try_acquire(1 << 50).is_err());
    if let (Some(maps), Some(most)) = (maps(), most_maps()) {
        assert!(maps > 3 && maps < most);
    }
    let _ = locked_limit();
}

/// A control group of ours, removed with this.
struct Group(PathBuf);

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// A group with a limit, of version 2 or 1, where we may make one.
fn group(name: &str, bytes: u64) -> Option<Group> {
    let tops = [("sys/fs/cgroup", "memory.max"), ("sys/fs/cgroup/memory", "memory.limit_in_bytes")];
    tops.iter().find_map(|(top, file)| {
        let group = Group(Path::new("/").join(top).join(format!("tilewright-test-{}-{name}", std::process::id())));
        fs::create_dir(&group.0).ok()?;
        // An ordinary folder is no group.
        group.0.join("cgroup.procs").exists().then_some(())?;
        fs::write(group.0.join(file), bytes.to_string()).ok()?;
        Some(group)
    })
}

/// Runs a scenario in a group that may use 2 GiB.
fn in_group(test: &str, scenario: &str) {
    let Some(group) = group(&scenario.replace(' ', "-"), 2 * GIB) else { return skip(test, "no control group") };
    let mut command = child::shell(&format!("echo $$ > {}/cgroup.procs; exec \"$@\"", group.0.display()), scenario);
    child::check(&command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap());
}

#[test]
fn m2_in_a_real_group_of_2_gib() {
    in_group("budget::system::m2_in_a_real_group_of_2_gib", "in group");
}

pub(crate) fn child_in_group() {
    let level = host();
    assert_eq!(level.capacity, 2 * GIB, "{level:?}");
    assert_eq!(Budget::host().limit(), 2 * GIB / 8 * 7);
    assert_eq!(Budget::pinned().limit(), GIB / 2);
    let before = level.available;
    let touched = std::hint::black_box(vec![1u8; 512 << 20]);
    let after = host().available;
    assert!(before - after > 400 << 20, "{before} {after}");
    assert!(Budget::host().try_acquire(GIB + GIB / 2).is_err(), "{}", touched.len());
}

/// A file of more than the group may use, through an operation that is not told of it.
#[test]
fn m2_a_product_of_3_gib_in_a_real_group_of_2_gib() {
    in_group("budget::system::m2_a_product_of_3_gib_in_a_real_group_of_2_gib", "product in group");
}

pub(crate) fn child_product_in_group() {
    assert_eq!(host().capacity, 2 * GIB);
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("a.npy"), folder.path().join("y.npy"));
    let (rows, columns, results) = (24_576, 16_384, 3);
    // Zeros, which take no room on the disk, but for one number in a few rows: the first one, the last one, and some between.
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    header = format!("{header:<117}\n");
    let file = fs::File::create_new(&from).unwrap();
    file.write_all_at(&[&b"\x93NUMPY\x01\0\x76\0"[..], header.as_bytes()].concat(), 0).unwrap();
    file.set_len(128 + rows * columns * 8).unwrap();
    let numbers =
        |row: u64| (row.is_multiple_of(5) || row + 1 == rows).then_some((row * 7 % columns, (row % 11) as f64 - 5.0));
    for (row, (column, number)) in (0..rows).filter_map(|row| Some((row, numbers(row)?))) {
        file.write_all_at(&number.to_le_bytes(), 128 + (row * columns + column) * 8).unwrap();
    }
    let x = Array2::from_shape_fn((columns as usize, results), |(row, column)| (row + 3 * column) as f64);
    let source = NpySource::open(&from).unwrap();
    let sink = NpySink::create(&to, &[rows as usize, results], Element::F64, Order::C).unwrap();
    let device = Device::cpu();
    device.matmul(Precision::Auto, 1.0, (&source).into(), (&x).into(), 0.0, Target::<f64>::from(sink)).unwrap();
    let mut y = Array2::<f64>::zeros((rows as usize, results));
    let source = NpySource::open(&to).unwrap();
    source.read(&source.extents().whole(), y.as_slice_mut().unwrap()).unwrap();
    let expected =
        |row: u64, result| numbers(row).map_or(0.0, |(column, number)| number * x[[column as usize, result]]);
    assert!(y.indexed_iter().all(|((row, result), y)| *y == expected(row as u64, result)));
}
