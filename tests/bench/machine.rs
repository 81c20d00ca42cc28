//! Where a benchmark ran.

/// Processor, cores, memory, and how busy the machine was before the benchmark began.
pub fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor =
        field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let memory = field("/proc/meminfo", "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .map_or_else(String::new, |kib| format!(", {} GiB", kib / (1024 * 1024)));
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split_whitespace().next().unwrap_or("?");
    format!("{processor}, {cores} cores{memory}, load {load}")
}

/// The value of the first line `NAME : VALUE`.
pub fn field(file: &str, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

/// Processor seconds that all cores have been busy since the machine started; `None` where the kernel does not tell.
pub fn busy_seconds() -> Option<f64> {
    /// Clock ticks in a second, as the kernel counts processor time for programs.
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks: Vec<f64> = text
        .lines()
        .next()?
        .split_whitespace()
        .skip(1)
        .filter_map(|ticks| ticks.parse().ok())
        .collect();
    // User, nice, system, idle, waiting for disks, interrupts of two kinds, taken by the host; the rest is in user.
    let idle: f64 = ticks.get(3..5)?.iter().sum();
    Some((ticks.get(..8)?.iter().sum::<f64>() - idle) / TICKS_PER_SECOND)
}
