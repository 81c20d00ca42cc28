//! What is on a surface.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::font::Font;
use crate::geometry::{ElementFrame, PageRect};
use crate::link::{HttpsLink, QrDestination};
use crate::style::{Colour, HorizontalAlignment, VerticalAlignment};
use crate::template::TextTemplate;

/// One thing on a surface.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignElement {
    /// Its name, of which there is one in the document.
    pub id: String,
    /// Where it is.
    pub frame: ElementFrame,
    /// What it is.
    pub content: ElementContent,
}

/// What an element is.
#[derive(Debug, Clone, PartialEq)]
pub enum ElementContent {
    /// `"kind": "text"`.
    Text(TextBox),
    /// `"kind": "image"`.
    Image(ImageElement),
    /// `"kind": "qr_code"`.
    QrCode(QrCode),
    /// `"kind": "shape"`.
    Shape(ShapeElement),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ElementKind {
    Text,
    Image,
    QrCode,
    Shape,
}

/// Text that is set into its area.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextBox {
    /// The text; a line feed begins a new line.
    pub text: TextTemplate,
    /// With which letters.
    pub font: Font,
    /// Points, when the text fits.
    pub size: f64,
    /// Points to which the size may shrink for a longer text; absent, it does not.
    #[serde(default)]
    pub smallest_size: Option<f64>,
    /// From line to line, as a multiple of the size.
    #[serde(default = "default_line_height")]
    pub line_height: f64,
    /// From left to right.
    #[serde(default)]
    pub alignment: HorizontalAlignment,
    /// From top to bottom; of no effect along an arc.
    #[serde(default)]
    pub vertical_alignment: VerticalAlignment,
    /// Of the letters.
    #[serde(default)]
    pub colour: Colour,
    /// Sets the text, in one line, along an arc; absent, lines are straight.
    #[serde(default)]
    pub arc: Option<TextArc>,
}

/// A part of a circle from the left to the right edge of a text box, symmetric in it. Bent up it touches the
/// box's upper edge with the tops of the letters, bent down its lower edge with the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextArc {
    /// Which way.
    pub bend: ArcBend,
    /// Points; half the box's width at least, which gives half a circle.
    pub radius: f64,
}

/// Which way an arc bends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArcBend {
    /// Like a rainbow.
    Up,
    /// Like a smile.
    Down,
}

/// A picture, PNG or JPEG.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageElement {
    /// Which one.
    pub source: ImageSource,
    /// How it fills its area.
    #[serde(default)]
    pub fit: ImageFit,
}

/// Where a picture is from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ImageSource {
    /// The same for everybody.
    Fixed {
        /// Where it is.
        link: HttpsLink,
    },
    /// By recipient.
    Variable {
        /// The field with the link to it.
        field: String,
        /// Prints when the recipient's cannot be used; without it the area stays blank then.
        #[serde(default)]
        default: Option<HttpsLink>,
    },
}

/// How a picture fills its area.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageFit {
    /// All of the area; what sticks out is cut off.
    #[default]
    Cover,
    /// All of the picture; what is left over is blank.
    Contain,
}

/// A QR code, square in the middle of its area. Each card's leads through us to its destination.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QrCode {
    /// Where it leads.
    pub destination: QrDestination,
    /// Where it leads when the destination needs a field that is empty.
    pub fallback_link: HttpsLink,
    /// Of its modules.
    #[serde(default)]
    pub colour: Colour,
}

/// A plain shape that fills its area. A thin rectangle is a line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapeElement {
    /// Its form.
    pub outline: ShapeOutline,
    /// Points by which a rectangle's corners are rounded.
    #[serde(default)]
    pub corner_radius: f64,
    /// Inside; absent, it is clear.
    #[serde(default)]
    pub fill: Option<Colour>,
    /// Along its edge, inside the area; absent, there is none.
    #[serde(default)]
    pub stroke: Option<ShapeStroke>,
}

/// The form of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShapeOutline {
    /// Four corners.
    Rectangle,
    /// None.
    Ellipse,
}

/// The line around a shape.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShapeStroke {
    /// Of the line.
    pub colour: Colour,
    /// Points.
    pub width: f64,
}

const fn default_line_height() -> f64 {
    1.2
}

impl TextBox {
    /// Points to which the size may shrink; the size itself when it may not.
    pub fn smallest_size(&self) -> f64 {
        self.smallest_size.unwrap_or(self.size)
    }
}

impl TextArc {
    /// How long a text may be along the arc in a box of this width. Points.
    pub fn text_length(self, width: f64) -> f64 {
        2.0 * self.radius * (width / (2.0 * self.radius)).clamp(0.0, 1.0).asin()
    }

    /// How far the arc departs from a straight line in a box of this width. Points.
    pub fn sagitta(self, width: f64) -> f64 {
        let half = width / 2.0;
        self.radius - (self.radius * self.radius - half * half).max(0.0).sqrt()
    }
}

impl DesignElement {
    /// Reads an element. The error is an explanation that names the setting.
    pub(crate) fn parse(value: &Value) -> Result<Self, String> {
        let mut settings = value
            .as_object()
            .cloned()
            .ok_or("an element must be an object")?;
        let id = take_setting(&mut settings, "id")?.ok_or("it has no id")?;
        let kind = take_setting(&mut settings, "kind")?
            .ok_or("it has no kind: text, image, qr_code or shape")?;
        let area: PageRect = take_setting(&mut settings, "area")?.ok_or("it has no area")?;
        let rotation = take_setting(&mut settings, "rotation")?.unwrap_or(0.0);
        let settings = Value::Object(settings);
        let content = match kind {
            ElementKind::Text => deserialize_setting(&settings).map(ElementContent::Text),
            ElementKind::Image => deserialize_setting(&settings).map(ElementContent::Image),
            ElementKind::QrCode => deserialize_setting(&settings).map(ElementContent::QrCode),
            ElementKind::Shape => deserialize_setting(&settings).map(ElementContent::Shape),
        };
        let content = content.map_err(|explanation| with_common_settings(&explanation))?;
        Ok(Self {
            id,
            frame: ElementFrame { area, rotation },
            content,
        })
    }

    /// The names of its fields, repeats included.
    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        let (template, field) = match &self.content {
            ElementContent::Text(text) => (Some(&text.text), None),
            ElementContent::QrCode(code) => (Some(code.destination.template()), None),
            ElementContent::Image(ImageElement {
                source: ImageSource::Variable { field, .. },
                ..
            }) => (None, Some(field.as_str())),
            ElementContent::Image(_) | ElementContent::Shape(_) => (None, None),
        };
        template
            .into_iter()
            .flat_map(TextTemplate::field_names)
            .chain(field)
    }
}

/// An explanation that lists the settings of a kind of element, with those that every kind has.
fn with_common_settings(explanation: &str) -> String {
    const EXPECTED: &str = ", expected ";
    const COMMON: &str = "one of `id`, `kind`, `area`, `rotation`, ";
    match explanation.split_once(EXPECTED) {
        Some((unknown, settings))
            if unknown.contains("unknown field") && !unknown.contains('.') =>
        {
            let settings = settings.trim_start_matches("one of ").replace(" or ", ", ");
            format!("{unknown}{EXPECTED}{COMMON}{settings}")
        }
        _ => explanation.to_owned(),
    }
}

fn take_setting<T: DeserializeOwned>(
    settings: &mut Map<String, Value>,
    name: &str,
) -> Result<Option<T>, String> {
    let value = settings.remove(name);
    value
        .map(|value| {
            deserialize_setting(&value).map_err(|explanation| format!("{name}: {explanation}"))
        })
        .transpose()
}

/// Reads a value. The error names the setting within it.
pub(crate) fn deserialize_setting<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let explanation = replace_type_names(error.into_inner().to_string());
        if path == "." {
            explanation
        } else {
            format!("{path}: {explanation}")
        }
    })
}

/// An explanation without the names of types.
fn replace_type_names(mut explanation: String) -> String {
    const TYPES: [(&str, &str); 4] = [
        ("expected f64", "expected a number"),
        ("expected a sequence", "expected a list"),
        (
            "expected map with a single key",
            "expected one thing with its name, such as {\"fixed\": {…}}",
        ),
        (
            "expected string or map",
            "expected one thing with its name, such as {\"fixed\": {…}}",
        ),
    ];
    for (of_type, plain) in TYPES {
        explanation = explanation.replace(of_type, plain);
    }
    match explanation.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected an object"),
        None => explanation,
    }
}
