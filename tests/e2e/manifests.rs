//! The manifests for Kubernetes, against the schemas of everything that they name.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pillarbox_tests::tool_folder;

fn manifests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/kubernetes")
}

/// Checks the manifests in this folder.
fn checked(folder: &Path) -> (bool, String) {
    let checker = tool_folder("manifests/requirements");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests/validate.py");
    let mut command = Command::new(checker.join("bin/python"));
    let Output {
        status,
        stdout,
        stderr,
    } = command.arg(program).arg(folder).output().unwrap();
    (
        status.success(),
        String::from_utf8([stdout, stderr].concat()).unwrap(),
    )
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn the_manifests_fit_the_schemas_and_what_they_name_is_there() {
    let (is_valid, said) = checked(&manifests());
    assert!(is_valid, "{said}");
}

#[test]
fn a_mistake_in_a_manifest_is_found() {
    for (file, right, wrong, expected) in [
        (
            "gateway.yaml",
            "maxUnavailable: 0",
            "maxUnavaliable: 0",
            "maxUnavaliable",
        ),
        (
            "console.yaml",
            "replicas: 2",
            "replicas: two",
            "'two' is not of type",
        ),
        (
            "gateway.yaml",
            "spec:\n  # How many",
            "spec:\n  replicas: 2\n  # How many",
            "HorizontalPodAutoscaler gateway scales it",
        ),
        (
            "mailer.yaml",
            "spec:\n  # How many",
            "spec:\n  replicas: 2\n  # How many",
            "ScaledObject mailer scales it",
        ),
        (
            "gateway.yaml",
            "topology.kubernetes.io/zone",
            "kubernetes.io/hostname",
            "Deployment gateway is not spread over zones",
        ),
        (
            "rabbitmq.yaml",
            "topology.kubernetes.io/zone",
            "kubernetes.io/hostname",
            "StatefulSet rabbitmq is not spread over zones",
        ),
        (
            "postgres.yaml",
            "topology.kubernetes.io/zone",
            "kubernetes.io/hostname",
            "Cluster postgres is not spread over zones",
        ),
        (
            "postgres.yaml",
            "isWALArchiver: true",
            "isWALArchiver: false",
            "Cluster postgres archives nothing",
        ),
        (
            "postgres.yaml",
            "cluster: {name: postgres}",
            "cluster: {name: other}",
            "Cluster postgres is never backed up",
        ),
        (
            "postgres.yaml",
            "barmanObjectName: postgres-archive",
            "barmanObjectName: archive",
            "ObjectStore archive",
        ),
        (
            "migrate.yaml",
            ", --wait, \"600\"",
            "",
            "waits neither for the database nor for its roles",
        ),
        (
            "network.yaml",
            "        - {port: 9187}\n",
            "",
            "NetworkPolicy metrics lacks [9187]",
        ),
        (
            "syncer.yaml",
            "{path: /livez",
            "{path: /readyz",
            "startupProbe asks for readiness",
        ),
        (
            "rabbitmq.yaml",
            "tcpSocket: {port: amqp}",
            "exec: {command: [rabbitmq-diagnostics, ping]}",
            "readinessProbe starts a program",
        ),
        (
            "autoscaling.yaml",
            "sum(avg_over_time(pillarbox_work_running{queue=\"push\"}[1m]))",
            "0",
            "ScaledObject syncer does not count what is under way",
        ),
        (
            "gateway.yaml",
            "targetPort: http",
            "targetPort: {}",
            "Service gateway",
        ),
        (
            "autoscaling.yaml",
            "cooldownPeriod",
            "cooldownPeriods",
            "cooldownPeriods",
        ),
        (
            "autoscaling.yaml",
            "scaleTargetRef: {name: mailer}",
            "scaleTargetRef: {name: mailers}",
            "Deployment mailers",
        ),
        (
            "rabbitmq.yaml",
            "serviceAccountName: rabbitmq",
            "serviceAccountName: rabbit",
            "ServiceAccount rabbit",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy(&manifests(), folder.path());
        let path = folder.path().join("base").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(right), "{right}");
        std::fs::write(&path, text.replace(right, wrong)).unwrap();
        let (is_valid, said) = checked(folder.path());
        assert!(!is_valid && said.contains(expected), "{wrong}: {said}");
    }
}

#[test]
fn a_number_of_replicas_in_an_overlay_is_found() {
    let folder = tempfile::tempdir().unwrap();
    copy(&manifests(), folder.path());
    let path = folder.path().join("overlays/production/kustomization.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        format!("{text}replicas:\n  - {{name: gateway, count: 3}}\n"),
    )
    .unwrap();
    let (is_valid, said) = checked(folder.path());
    assert!(!is_valid && said.contains("replicas"), "{said}");
}
