//! What is deployed fits what is built: settings that the compose file sets are settings that the configuration knows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use runtime::Config;
use serde_json::Value;
use store::PROCESSES;

const COMPOSE: &str = include_str!("../../docker-compose.yml");

/// Processes that must be in the compose file: every folder of `services` that is a process of its own.
fn processes() -> Vec<String> {
    let services = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../services");
    let names = std::fs::read_dir(services)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "pillarbox").collect()
}

fn environment(service: &Value) -> HashMap<String, String> {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    match &service["environment"] {
        Value::Object(map) => map
            .iter()
            .map(|(name, value)| (name.clone(), text(value)))
            .collect(),
        Value::Array(list) => list
            .iter()
            .filter_map(|entry| entry.as_str()?.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        _ => HashMap::new(),
    }
}

/// The compose file as an engine reads it.
fn compose() -> Value {
    let mut compose: yaml_serde::Value = yaml_serde::from_str(COMPOSE).unwrap();
    compose.apply_merge().unwrap();
    serde_json::to_value(compose).unwrap()
}

#[test]
fn the_compose_file_sets_only_settings_that_the_configuration_knows() {
    let compose = compose();
    let services = compose["services"].as_object().unwrap();
    for process in processes() {
        let service = services
            .get(&process)
            .unwrap_or_else(|| panic!("{process} is not in the compose file"));
        let settings = environment(service);
        let ours: HashMap<_, _> = settings
            .into_iter()
            .filter(|(name, _)| name.starts_with("PILLARBOX"))
            .collect();
        let user = format!("postgres://{process}:");
        assert!(
            ours["PILLARBOX__DATABASE__URL"].starts_with(&user),
            "{process} is no user of its own"
        );
        Config::with(ours).unwrap_or_else(|error| panic!("{process}: {error}"));
    }
}

/// What does not start on a busy machine in time is waited for by who needs it: an engine gives up for good.
#[test]
fn nothing_in_the_compose_file_gives_up_on_a_busy_machine() {
    let compose = compose();
    let services = compose["services"].as_object().unwrap();
    for (name, service) in services {
        for (other, wait) in service["depends_on"].as_object().into_iter().flatten() {
            let condition = wait["condition"].as_str().unwrap();
            let is_patient = condition == "service_started" || other == "migrate";
            assert!(
                is_patient,
                "{name} is never started when {other} is slow: {condition}"
            );
        }
        let check = service["healthcheck"]["test"].to_string();
        assert!(
            !check.contains("rabbitmq"),
            "{name}: an Erlang VM for each check"
        );
    }
    let migrate = services["migrate"]["command"].to_string();
    assert!(migrate.contains("pillarbox migrate --wait "), "{migrate}");
    let check = services["rabbitmq"]["healthcheck"]["test"]
        .as_array()
        .unwrap();
    let words: Vec<&str> = check[1..]
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    // The check itself, with a port of ours: it fails where nobody listens, and not where somebody does.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let passes = || {
        let arguments = words[1..].iter().map(|word| word.replace("5672", &port));
        Command::new(words[0])
            .args(arguments)
            .output()
            .unwrap()
            .status
            .success()
    };
    assert!(passes());
    drop(listener);
    assert!(!passes());
}

#[test]
fn the_image_holds_stripped_programs_and_a_check_that_asks_a_process() {
    let dockerfile = include_str!("../../deploy/Dockerfile");
    assert!(dockerfile.contains("CARGO_PROFILE_RELEASE_STRIP=symbols"));
    let check = compose()["services"]["gateway"]["healthcheck"]["test"][1].clone();
    assert!(dockerfile.contains(&format!(
        "deploy/{}.sh /usr/local/bin/",
        check.as_str().unwrap()
    )));
}

fn manifests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/kubernetes")
}

#[test]
fn the_manifests_set_only_settings_that_the_configuration_knows() {
    let lines = |name: &str| {
        let text = std::fs::read_to_string(manifests().join(name)).unwrap();
        text.lines()
            .map(|line| line.split_once('=').unwrap())
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
            .collect::<Vec<_>>()
    };
    let mut settings: HashMap<String, String> = lines("base/settings.env").into_iter().collect();
    settings.extend(lines("overlays/production/settings.env"));
    for process in processes() {
        let text =
            std::fs::read_to_string(manifests().join("base").join(format!("{process}.yaml")))
                .unwrap();
        let deployment: Value = serde_json::to_value(
            yaml_serde::Deserializer::from_str(&text)
                .map(|document| {
                    <yaml_serde::Value as serde::Deserialize>::deserialize(document).unwrap()
                })
                .next()
                .unwrap(),
        )
        .unwrap();
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        let mut all = settings.clone();
        for variable in container["env"].as_array().into_iter().flatten() {
            let name = variable["name"].as_str().unwrap();
            if name.starts_with("PILLARBOX") {
                all.insert(
                    name.to_owned(),
                    variable["value"].as_str().unwrap().to_owned(),
                );
            }
        }
        let user = format!("postgres://{process}:$(DATABASE_PASSWORD)@");
        assert!(
            all["PILLARBOX__DATABASE__URL"].starts_with(&user),
            "{process} is no user of its own"
        );
        let config = Config::with(all).unwrap_or_else(|error| panic!("{process}: {error}"));
        let grace = (config.shutdown.drain_ms + config.shutdown.grace_ms) / 1000;
        let patience = deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"]
            .as_u64()
            .unwrap();
        assert!(
            grace + 5 < patience,
            "{process} is killed before it has finished"
        );
    }
}

#[test]
fn commands_that_mail_people_go_to_the_stack_of_their_clone() {
    let (repository, clone) = (
        Path::new(env!("CARGO_MANIFEST_DIR")).join(".."),
        tempfile::tempdir().unwrap(),
    );
    let mut copy = Command::new("cp");
    copy.args(["--recursive", "--parents", "dev", "deploy/local"])
        .arg(clone.path())
        .current_dir(repository);
    assert!(copy.status().unwrap().success());
    let run = |script: &str| {
        let mut command = Command::new("bash");
        command
            .args(["-euc", script])
            .current_dir(clone.path())
            .env("CARGO_TARGET_DIR", clone.path().join("target"));
        // Of somebody who has another service at hand.
        let output = command
            .env("PILLARBOX_URL", "http://127.0.0.1:8080")
            .env("DATABASE_URL", "none")
            .output()
            .unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let program = "mkdir -p target/debug .dev/run && printf '#!/bin/sh\\necho \"to $PILLARBOX_URL\"' > target/debug/pillarbox && \
                   chmod +x target/debug/pillarbox";
    assert_eq!(run(program), "");
    for command in [
        "send PA-HELLO1 people.csv",
        "--json push contacts.csv",
        "listen",
    ] {
        let said = run(&format!("./dev pillarbox {command} || true"));
        assert!(
            said.contains("this stack has no gateway that runs"),
            "{said}"
        );
    }
    assert_eq!(
        run("./dev pillarbox send PA-HELLO1 people.csv --url http://127.0.0.1:1"),
        "to \n"
    );
    assert_eq!(run("./dev pillarbox check"), "to \n");
    let said = run(
        "source deploy/local/process.sh && echo gateway=18999 > .dev/ports && \
                    process_start .dev/run/gateway.pid /dev/null sleep 60 && ./dev pillarbox send PA-HELLO1 people.csv; \
                    process_stop .dev/run/gateway.pid TERM 5",
    );
    assert_eq!(said, "to http://127.0.0.1:18999\n");
}

#[test]
fn what_is_deployed_makes_the_same_users() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy");
    let file = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let listed = PROCESSES.map(|process| format!("'{process}'")).join(", ");
    assert!(file("postgres/users.sql").contains(&format!("ARRAY[{listed}]")));
    let (cluster, script) = (
        file("kubernetes/base/postgres.yaml"),
        file("postgres/users.sh"),
    );
    for process in PROCESSES {
        let user = format!(
            "{{name: {process}, ensure: present, login: true, inRoles: [pillarbox_{process}]"
        );
        assert!(cluster.contains(&user), "{process}");
        assert!(
            cluster.contains(&format!(
                "{{name: pillarbox_{process}, ensure: present, login: false}}"
            )),
            "{process}"
        );
        assert!(
            script.contains(&format!("ALTER ROLE {process} PASSWORD :'{process}';")),
            "{process}"
        );
    }
}
