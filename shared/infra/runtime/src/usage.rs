//! What the process takes of the machine, as Linux tells it in `/proc/self`, under the names that Prometheus' own libraries
//! give these figures.

use std::fs;

use metrics::Unit;

/// Clock ticks of a second in `/proc`: a constant of Linux's interface with programs, whatever the kernel's own tick is.
const TICKS_PER_SECOND: f64 = 100.0;

/// The gauges with what they say.
const GAUGES: [(&str, Unit, &str); 6] = [
    (
        "process_open_fds",
        Unit::Count,
        "Number of open file descriptors.",
    ),
    (
        "process_max_fds",
        Unit::Count,
        "Maximum number of open file descriptors.",
    ),
    (
        "process_virtual_memory_bytes",
        Unit::Bytes,
        "Virtual memory size in bytes.",
    ),
    (
        "process_resident_memory_bytes",
        Unit::Bytes,
        "Resident memory size in bytes.",
    ),
    (
        "process_start_time_seconds",
        Unit::Seconds,
        "Start time of the process since unix epoch in seconds.",
    ),
    (
        "process_threads",
        Unit::Count,
        "Number of OS threads in the process.",
    ),
];

/// Says what the figures are.
pub(crate) fn describe_metrics() {
    metrics::describe_counter!(
        "process_cpu_seconds_total",
        Unit::Seconds,
        "Total user and system CPU time spent in seconds."
    );
    for (name, unit, what) in GAUGES {
        metrics::describe_gauge!(name, unit, what);
    }
}

/// Reads the figures of now. One that cannot be read stays as it was.
pub(crate) fn collect_metrics() {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (stat, status) = (read("/proc/self/stat"), read("/proc/self/status"));
    if let Some(seconds) = cpu_seconds(&stat) {
        metrics::counter!("process_cpu_seconds_total").absolute(seconds as u64);
    }
    let open = fs::read_dir("/proc/self/fd").ok();
    let kilobytes = |name| line_value(&status, name).map(|size| size * 1024.0);
    let values = [
        open.map(|files| files.count() as f64),
        line_value(&read("/proc/self/limits"), "Max open files"),
        kilobytes("VmSize:"),
        kilobytes("VmRSS:"),
        start_seconds(&stat, &read("/proc/stat")),
        line_value(&status, "Threads:"),
    ];
    for ((name, ..), value) in GAUGES.into_iter().zip(values) {
        if let Some(value) = value {
            metrics::gauge!(name).set(value);
        }
    }
}

/// Time on processors, from `/proc/self/stat`.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (user, system) = (stat_field(stat, 14)?, stat_field(stat, 15)?);
    Some((user + system) / TICKS_PER_SECOND)
}

/// When the process started, from `/proc/self/stat` and `/proc/stat`.
fn start_seconds(stat: &str, machine: &str) -> Option<f64> {
    let booted = line_value(machine, "btime")?;
    Some(booted + stat_field(stat, 22)? / TICKS_PER_SECOND)
}

/// A field of `/proc/self/stat` by its number in the manual, which counts from 1. The second is the program's name in
/// brackets, which may hold anything, brackets and blanks too.
fn stat_field(stat: &str, number: usize) -> Option<f64> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(number - 3)?.parse().ok()
}

/// The first value of the line that begins with a name.
fn line_value(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str =
        "4711 (a ) b) S 1 4711 4711 0 -1 4194560 9 0 0 0 250 50 0 0 20 0 8 0 1000 5 6";

    #[test]
    fn figures_are_read_past_any_name_of_the_program() {
        assert_eq!(cpu_seconds(STAT), Some(3.0));
        assert_eq!(
            start_seconds(STAT, "cpu 1 2\nbtime 1700000000\n"),
            Some(1_700_000_010.0)
        );
        assert_eq!(cpu_seconds("4711 (cut"), None);
    }

    #[test]
    fn lines_are_found_by_their_names() {
        let limits = "Max open files            1024                 4096                 files\n\
                      Max address space         unlimited            unlimited            bytes\n";
        assert_eq!(line_value(limits, "Max open files"), Some(1024.0));
        assert_eq!(line_value(limits, "Max address space"), None);
        assert_eq!(line_value("VmRSS:\t  2048 kB\n", "VmRSS:"), Some(2048.0));
    }

    #[test]
    fn this_process_has_all_figures() {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let stat = read("/proc/self/stat");
        assert!(cpu_seconds(&stat).is_some());
        assert!(start_seconds(&stat, &read("/proc/stat")).is_some_and(|start| start > 1.6e9));
        assert!(line_value(&read("/proc/self/limits"), "Max open files").is_some());
        for name in ["VmSize:", "VmRSS:", "Threads:"] {
            assert!(line_value(&read("/proc/self/status"), name).is_some_and(|value| value > 0.0));
        }
    }
}
