//! JSON Schemas of types, collected as operations name them.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// The schemas of what is read and of what is written.
pub(super) struct SchemaRegistry {
    read: SchemaGenerator,
    written: SchemaGenerator,
    /// Of shapes that no type has.
    named: Map<String, Value>,
}

impl SchemaRegistry {
    pub(super) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self {
            read: settings.clone().for_deserialize().into_generator(),
            written: settings.for_serialize().into_generator(),
            named: Map::new(),
        }
    }

    /// The schema of a type that clients send.
    pub(super) fn read_schema<T: JsonSchema>(&mut self) -> Value {
        self.read.subschema_for::<T>().to_value()
    }

    /// The schema of a type that clients get.
    pub(super) fn written_schema<T: JsonSchema>(&mut self) -> Value {
        self.written.subschema_for::<T>().to_value()
    }

    /// Gives a schema a name.
    pub(super) fn name_schema(&mut self, name: &str, schema: Value) -> Value {
        self.named.insert(name.to_owned(), schema);
        json!({"$ref": format!("#/components/schemas/{name}")})
    }

    /// All that was named, by name.
    pub(super) fn into_schemas(mut self) -> Map<String, Value> {
        let mut schemas = self.written.take_definitions(true);
        schemas.values_mut().for_each(remove_null_alternatives);
        schemas.extend(self.read.take_definitions(true));
        schemas.extend(self.named);
        schemas.values_mut().for_each(merge_constants_into_enum);
        schemas
    }
}

/// Words that are described one by one are alternatives of one constant each to the maker of schemas. Generators know an
/// `enum`; the meanings stand beside it.
fn merge_constants_into_enum(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(merge_constants_into_enum),
        Value::Object(object) => {
            object.values_mut().for_each(merge_constants_into_enum);
            if let Some(words) = object.get("oneOf").and_then(described_constants) {
                object.remove("oneOf");
                object.extend(words);
            }
        }
        _ => {}
    }
}

/// The words of alternatives that are nothing but words.
fn described_constants(alternatives: &Value) -> Option<Map<String, Value>> {
    let (mut words, mut meanings, mut kind) = (Vec::new(), Vec::new(), Value::Null);
    for alternative in alternatives.as_array()? {
        let own = match (alternative.get("const"), alternative["enum"].as_array()) {
            (Some(word), _) => vec![word.clone()],
            (None, Some(words)) => words.clone(),
            (None, None) => return None,
        };
        kind = alternative["type"].clone();
        meanings.extend(
            own.iter()
                .map(|_| json!(alternative["description"].as_str().unwrap_or_default())),
        );
        words.extend(own);
    }
    let described = [
        ("type", kind),
        ("enum", words.into()),
        ("x-enum-descriptions", meanings.into()),
    ];
    Some(
        described
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

/// What an answer may lack is left out of it and never null, which a type alone does not say.
fn remove_null_alternatives(schema: &mut Value) {
    let required: Vec<String> = schema["required"]
        .as_array()
        .map(|names| {
            names
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        })
        .unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for (_, property) in properties
        .iter_mut()
        .filter(|(name, _)| !required.contains(name))
    {
        if let Some(types) = property.get_mut("type").and_then(Value::as_array_mut) {
            types.retain(|name| name != "null");
            if let [only] = types.as_slice() {
                property["type"] = only.clone();
            }
        }
        if let Some(kinds) = property.get_mut("anyOf").and_then(Value::as_array_mut) {
            kinds.retain(|kind| kind["type"] != "null");
            if let [Value::Object(only)] = kinds.as_slice() {
                let only = only.clone();
                if let Some(property) = property.as_object_mut() {
                    property.remove("anyOf");
                    property.extend(only);
                }
            }
        }
    }
}
