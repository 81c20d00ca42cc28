//! Forms that may bring a file (multipart), read whole within the route's bound.

use std::collections::HashMap;

use axum::body::Bytes;
use axum::extract::multipart::{Multipart, MultipartError};
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;

use crate::page_error::PageError;

/// Fields of a form at the most.
const FIELDS: usize = 20;

/// What a form sent, by the names of its fields.
pub(crate) struct MultipartForm {
    fields: HashMap<String, Bytes>,
}

impl MultipartForm {
    /// A field's bytes; none of a field that is absent, or for which no file was chosen.
    pub(crate) fn bytes(&self, name: &str) -> &[u8] {
        self.fields.get(name).map_or(&[], |bytes| bytes)
    }

    /// A field's text, without a byte order mark; empty when it is absent, or when no file was chosen.
    ///
    /// # Errors
    /// [`PageError::Invalid`] when it is not UTF-8, or has the character U+0000 in it, which no column holds.
    pub(crate) fn text(&self, name: &str) -> Result<&str, PageError> {
        let text = std::str::from_utf8(self.bytes(name))
            .ok()
            .filter(|text| !text.contains('\0'));
        let text = text.ok_or_else(|| {
            PageError::Invalid(
                "What was sent is not text in UTF-8. If it is a file of text, save it in that encoding and send it again."
                    .to_owned(),
            )
        })?;
        Ok(text.trim_start_matches('\u{feff}'))
    }
}

impl<S: Send + Sync> FromRequest<S> for MultipartForm {
    type Rejection = PageError;

    async fn from_request(request: Request, state: &S) -> Result<Self, PageError> {
        let mut form = Multipart::from_request(request, state)
            .await
            .map_err(|_| unreadable_form())?;
        let mut fields = HashMap::new();
        while let Some(field) = form.next_field().await.map_err(read_error)? {
            let Some(name) = field.name().map(str::to_owned) else {
                continue;
            };
            let bytes = field.bytes().await.map_err(read_error)?;
            fields.insert(name, bytes);
            if fields.len() > FIELDS {
                return Err(unreadable_form());
            }
        }
        Ok(Self { fields })
    }
}

fn read_error(error: MultipartError) -> PageError {
    PageError::unreadable_form(error.status())
}

fn unreadable_form() -> PageError {
    PageError::unreadable_form(StatusCode::BAD_REQUEST)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::header::CONTENT_TYPE;

    use super::*;

    const FORM: &str = "--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nSpring\r\n--b\r\nContent-Disposition: form-data; \
        name=\"file\"; filename=\"a.json\"\r\nContent-Type: application/json\r\n\r\n\u{feff}{}\r\n--b--\r\n";

    fn read_form(body: &[u8]) -> Result<MultipartForm, PageError> {
        let request = Request::post("/").header(CONTENT_TYPE, "multipart/form-data; boundary=b");
        let request = request.body(Body::from(body.to_vec())).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(MultipartForm::from_request(request, &()))
    }

    #[test]
    fn a_form_with_a_file_is_read_whole() {
        let Ok(upload) = read_form(FORM.as_bytes()) else {
            panic!("it is a form")
        };
        assert_eq!(
            (upload.bytes("name"), upload.text("file").ok()),
            (&b"Spring"[..], Some("{}"))
        );
        assert_eq!(upload.bytes("none"), b"");
        assert!(
            read_form(&FORM.as_bytes()[..FORM.len() - 20]).is_err(),
            "it was cut off"
        );
    }

    #[test]
    fn a_file_that_is_no_text_leaves_what_stands_beside_it() {
        for file in ["\u{89}PNG\0", "{\0}"] {
            let body = FORM.replace("\u{feff}{}", file);
            let Ok(upload) = read_form(body.as_bytes()) else {
                panic!("it is a form")
            };
            assert!(matches!(upload.text("file"), Err(PageError::Invalid(_))));
            assert_eq!(upload.text("name").ok(), Some("Spring"));
        }
    }

    #[test]
    fn fuzz_upload() {
        let words = [
            "--b\r\n",
            "--b--\r\n",
            "\r\n\r\n",
            "Content-Disposition: form-data; name=\"x\"",
            "filename*=utf-8''",
            ";",
            "boundary",
        ];
        fuzz::Target::new([FORM]).words(words).run(|body| {
            let Ok(upload) = read_form(body) else {
                return Ok(());
            };
            proptest::prop_assert!(upload.fields.len() <= FIELDS);
            proptest::prop_assert!(
                upload.fields.values().map(Bytes::len).sum::<usize>() <= body.len()
            );
            for name in upload.fields.keys() {
                let _ = upload.text(name);
            }
            Ok(())
        });
    }
}
