//! A small file system that can be filled.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Its size: room for a database and the load of a drill.
const SIZE: &str = "size=500m";

/// A file system in memory; it is unmounted at the end.
pub struct FullDisk {
    folder: PathBuf,
}

impl FullDisk {
    /// Mounts one; `None` where that is not allowed.
    pub fn mount() -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("pillarbox-disk-{}", std::process::id()));
        std::fs::create_dir_all(&folder).ok()?;
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", SIZE, "tmpfs"])
            .arg(&folder)
            .output();
        if !mount.is_ok_and(|output| output.status.success()) {
            let _ = std::fs::remove_dir(&folder);
            return None;
        }
        Some(Self { folder })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn ballast_path(&self) -> PathBuf {
        self.folder.join("ballast")
    }

    /// Fills it to its last byte.
    pub fn fill(&self) {
        let mut ballast = File::create(self.ballast_path()).expect("a file");
        for chunk in [vec![0_u8; 1 << 20], vec![0; 1 << 12], vec![0]] {
            while ballast.write_all(&chunk).is_ok() {}
        }
    }

    /// Gives the room back.
    pub fn empty(&self) {
        std::fs::remove_file(self.ballast_path()).expect("the ballast is there");
    }
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(&self.folder)
            .status();
        let _ = std::fs::remove_dir(&self.folder);
    }
}
