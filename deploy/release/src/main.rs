//! Prepares a release in a clean clone: moves `changes/` into the changelog, sets the version, builds the programs and lists
//! what is in them. What others see, the tag and the image, is left to a person. `./dev release VERSION` runs it.

mod changelog;
mod components;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// What a release consists of.
const PROGRAMS: [&str; 6] = [
    "gateway",
    "mailer",
    "syncer",
    "dispatcher",
    "console",
    "pillarbox",
];

/// What the programs are built for.
const TARGET: &str = "x86_64-unknown-linux-gnu";

fn main() -> ExitCode {
    match prepare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn prepare() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [version] = arguments.as_slice() else {
        bail!("usage: ./dev release VERSION");
    };
    check_clone(version)?;
    write_texts(version)?;
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let folder = Path::new(&target).join(format!("pillarbox-{version}"));
    build_programs(Path::new(&target), &folder)?;
    list_components(version, &folder)?;
    print_rest(version, &folder);
    Ok(())
}

/// Runs a command; returns what it printed.
fn output_of(program: &str, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(program);
    let output = command.args(arguments).stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("{program} cannot be run"))?;
    ensure!(output.status.success(), "{program} {arguments:?} failed");
    Ok(String::from_utf8(output.stdout)?)
}

fn check_clone(version: &str) -> Result<()> {
    let changed = output_of("git", &["status", "--porcelain"])?;
    ensure!(changed.is_empty(), "the clone has changes:\n{changed}");
    let tag = output_of("git", &["tag", "--list", &format!("v{version}")])?;
    ensure!(tag.is_empty(), "v{version} is there already");
    Ok(())
}

/// Changelog, version and lock file.
fn write_texts(version: &str) -> Result<()> {
    let manifest = changelog::with_version(&fs::read_to_string("Cargo.toml")?, version)?;
    let mut changes = Vec::new();
    for entry in fs::read_dir("changes")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "README.md" {
            let text = fs::read_to_string(Path::new("changes").join(&name))?;
            changes.push((name, text));
        }
    }
    changes.sort();
    let date = output_of("date", &["--utc", "+%F"])?;
    let before = fs::read_to_string("CHANGELOG.md")?;
    let after = changelog::with_release(&before, version, date.trim(), &changes)?;
    fs::write("CHANGELOG.md", after)?;
    fs::write("Cargo.toml", manifest)?;
    for (name, _) in &changes {
        fs::remove_file(Path::new("changes").join(name))?;
    }
    output_of("cargo", &["update", "--workspace", "--offline"])?;
    Ok(())
}

/// The programs as in the image, without their symbols, with checksums beside them.
fn build_programs(target: &Path, folder: &Path) -> Result<()> {
    eprintln!("build {} for release (takes minutes)", PROGRAMS.join(", "));
    let mut build = Command::new("cargo");
    build
        .args([
            "build",
            "--release",
            "--locked",
            "--bins",
            "--target",
            TARGET,
        ])
        .env("CARGO_PROFILE_RELEASE_LTO", "thin")
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    build.args(package_arguments()?);
    ensure!(build.status()?.success(), "the programs cannot be built");
    fs::create_dir_all(folder)?;
    let mut sums = String::new();
    for program in PROGRAMS {
        let built = target.join(TARGET).join("release").join(program);
        fs::copy(&built, folder.join(program)).with_context(|| built.display().to_string())?;
        let sum = output_of("sha256sum", &[&built.display().to_string()])?;
        let sum = sum.split_whitespace().next().unwrap_or_default();
        sums.push_str(&format!("{sum}  {program}\n"));
    }
    fs::write(folder.join("SHA256SUMS"), sums)?;
    Ok(())
}

/// The programs by their folders: a dependency may be called like one of them.
fn package_arguments() -> Result<Vec<String>> {
    let mut arguments = Vec::new();
    for program in PROGRAMS {
        let path = fs::canonicalize(Path::new("services").join(program))?;
        arguments.push(format!("--package=path+file://{}", path.display()));
    }
    Ok(arguments)
}

fn list_components(version: &str, folder: &Path) -> Result<()> {
    let metadata = ["metadata", "--format-version=1", "--locked"];
    let metadata = [&metadata[..], &["--filter-platform", TARGET]].concat();
    let metadata = serde_json::from_str(&output_of("cargo", &metadata)?)?;
    let packages = package_arguments()?;
    let mut tree = vec!["tree", "--locked", "--edges=normal", "--target", TARGET];
    tree.extend(["--prefix=none", "--format={p}"]);
    tree.extend(packages.iter().map(String::as_str));
    let tree = output_of("cargo", &tree)?;
    let bill = components::bill_of_materials(&metadata, &tree, version);
    let text = serde_json::to_string_pretty(&bill)? + "\n";
    fs::write(folder.join("components.cdx.json"), text)?;
    Ok(())
}

fn print_rest(version: &str, folder: &Path) {
    eprintln!(
        "
{} has the programs, SHA256SUMS and components.cdx.json. What is left:

  git add --all && git commit --message 'Release {version}'
  git tag --sign v{version}, with the section of CHANGELOG.md as its message
  docker build --file deploy/Dockerfile --tag pillarbox:{version} .
  git push origin HEAD v{version}, and attach what is in the folder",
        folder.display()
    );
}
