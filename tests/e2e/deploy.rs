//! What is deployed fits what is built: settings that the compose file sets are settings that the configuration knows.

use std::collections::HashMap;

use serde_json::Value;
use service::Config;

const COMPOSE: &str = include_str!("../../docker-compose.yml");

/// Processes that must be in the compose file: every folder of `services` that is a process of its own.
fn processes() -> Vec<String> {
    let services = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../services");
    let names =
        std::fs::read_dir(services).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "pillarbox").collect()
}

fn environment(service: &Value) -> HashMap<String, String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match &service["environment"] {
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
        Value::Array(list) => list
            .iter()
            .filter_map(|entry| entry.as_str()?.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        _ => HashMap::new(),
    }
}

#[test]
fn the_compose_file_sets_only_settings_that_the_configuration_knows() {
    let mut compose: serde_norway::Value = serde_norway::from_str(COMPOSE).unwrap();
    compose.apply_merge().unwrap();
    let compose = serde_json::to_value(compose).unwrap();
    let services = compose["services"].as_object().unwrap();
    for process in processes() {
        let service =
            services.get(&process).unwrap_or_else(|| panic!("{process} is not in the compose file"));
        let settings = environment(service);
        let ours: HashMap<_, _> =
            settings.into_iter().filter(|(name, _)| name.starts_with("PILLARBOX")).collect();
        assert!(ours.contains_key("PILLARBOX__DATABASE__URL"), "{process}");
        Config::with(ours).unwrap_or_else(|error| panic!("{process}: {error}"));
    }
}
