//! Processor time of processes that were not started here, found by the port that they listen on.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Context;

/// Clock ticks in a second, as the kernel counts processor time for programs.
const TICKS_PER_SECOND: f64 = 100.0;

/// State of a listening socket in the kernel's table.
const LISTENING: &str = "0A";

/// Processor seconds that a process and its descendants have used, those that have ended included.
pub fn seconds(pid: u32) -> anyhow::Result<f64> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut ticks: HashMap<u32, f64> = HashMap::new();
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let Some((parent, used)) = stat(&entry.path()) else {
            continue;
        };
        children.entry(parent).or_default().push(pid);
        ticks.insert(pid, used);
    }
    let (mut sum, mut open) = (0.0, vec![pid]);
    while let Some(pid) = open.pop() {
        sum += ticks.get(&pid).copied().unwrap_or(0.0);
        open.extend(children.get(&pid).into_iter().flatten());
    }
    Ok(sum / TICKS_PER_SECOND)
}

/// Processor seconds of this process alone.
pub fn own_seconds() -> f64 {
    stat(Path::new("/proc/self")).map_or(0.0, |(_, ticks)| ticks / TICKS_PER_SECOND)
}

/// Parent and ticks of a process: its own, and those of children that have ended.
fn stat(folder: &Path) -> Option<(u32, f64)> {
    let text = std::fs::read_to_string(folder.join("stat")).ok()?;
    // The name, in brackets, may have anything in it.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let used: f64 = fields
        .get(11..15)?
        .iter()
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum();
    Some((fields.get(1)?.parse().ok()?, used))
}

/// The process that listens on the port of this URL.
pub fn listener(url: &str) -> anyhow::Result<u32> {
    let authority = url
        .split("//")
        .nth(1)
        .and_then(|rest| rest.split('/').next())
        .context("a URL")?;
    let port: u16 = authority
        .rsplit(':')
        .next()
        .and_then(|port| port.parse().ok())
        .context("a port")?;
    let inodes = listening_inodes(port)?;
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let Ok(files) = std::fs::read_dir(entry.path().join("fd")) else {
            continue;
        };
        let holds = files
            .flatten()
            .filter_map(|file| std::fs::read_link(file.path()).ok())
            .any(|link| {
                inodes
                    .iter()
                    .any(|inode| link.to_str() == Some(&format!("socket:[{inode}]")))
            });
        if holds {
            return Ok(oldest(pid));
        }
    }
    anyhow::bail!("nobody here listens on port {port}")
}

/// The first of a family of processes that hold the same socket: its parent holds it as well, or it stands alone.
fn oldest(pid: u32) -> u32 {
    let name = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/comm")).ok();
    let mut oldest = pid;
    while let Some((parent, _)) = stat(Path::new(&format!("/proc/{oldest}")))
        && name(parent).is_some_and(|parent| Some(parent) == name(oldest))
    {
        oldest = parent;
    }
    oldest
}

fn listening_inodes(port: u16) -> anyhow::Result<Vec<String>> {
    let mut inodes = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in std::fs::read_to_string(table)?.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if let [_, local, _, LISTENING, _, _, _, _, _, inode, ..] = fields[..]
                && local.ends_with(&format!(":{port:04X}"))
            {
                inodes.push(inode.to_owned());
            }
        }
    }
    Ok(inodes)
}
