//! A bucket in memory that speaks as much of Amazon's protocol as files need.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

#[derive(Default)]
struct BucketContents {
    files: HashMap<String, Vec<u8>>,
    /// By number.
    parts: BTreeMap<u32, Vec<u8>>,
    refuses: bool,
}

#[derive(Clone, Default)]
struct SharedBucketContents(Arc<Mutex<BucketContents>>);

/// A bucket for one test; one upload in parts at a time.
pub(super) struct FakeBucket {
    server: MockServer,
    shelf: SharedBucketContents,
}

impl FakeBucket {
    pub(super) async fn start() -> Self {
        let (server, shelf) = (MockServer::start().await, SharedBucketContents::default());
        Mock::given(any())
            .respond_with(shelf.clone())
            .mount(&server)
            .await;
        Self { server, shelf }
    }

    pub(super) fn url(&self) -> String {
        self.server.uri()
    }

    pub(super) fn refuse_requests(&self) {
        self.shelf.lock_contents().refuses = true;
    }
}

impl SharedBucketContents {
    fn lock_contents(&self) -> MutexGuard<'_, BucketContents> {
        self.0.lock().unwrap()
    }
}

impl Respond for SharedBucketContents {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut kept = self.lock_contents();
        assert!(
            request.headers["authorization"]
                .to_str()
                .unwrap()
                .contains("Credential=id/")
        );
        if kept.refuses {
            let why = "<Error><Code>AccessDenied</Code><Message>No.</Message></Error>";
            return ResponseTemplate::new(403).set_body_string(why);
        }
        if request.url.path() == "/cards" || request.url.path() == "/cards/" {
            return kept.list_files(&request.url.query_pairs().into_owned().collect());
        }
        let file = request
            .url
            .path()
            .strip_prefix("/cards/")
            .unwrap()
            .to_owned();
        let query: HashMap<_, _> = request.url.query_pairs().into_owned().collect();
        kept.answer_request(request, file, &query)
    }
}

impl BucketContents {
    fn list_files(&self, query: &HashMap<String, String>) -> ResponseTemplate {
        let found = self
            .files
            .iter()
            .filter(|(file, _)| file.starts_with(&query["prefix"]));
        let found = found.map(|(file, content)| {
            let size = content.len();
            format!(
                "<Contents><Key>{file}</Key><LastModified>2026-11-21T10:00:00.000Z</LastModified><ETag>1</ETag><Size>{size}</Size></Contents>"
            )
        });
        let found: String = found.collect();
        ResponseTemplate::new(200)
            .set_body_string(format!("<ListBucketResult>{found}</ListBucketResult>"))
    }

    fn answer_request(
        &mut self,
        request: &Request,
        file: String,
        query: &HashMap<String, String>,
    ) -> ResponseTemplate {
        let done = ResponseTemplate::new(200).insert_header("etag", "\"1\"");
        match (request.method.as_str(), query.get("partNumber")) {
            ("POST", _) if query.contains_key("uploads") => {
                self.parts.clear();
                let xml = "<InitiateMultipartUploadResult><UploadId>7</UploadId></InitiateMultipartUploadResult>";
                done.set_body_string(xml)
            }
            ("PUT", Some(number)) => {
                self.parts
                    .insert(number.parse().unwrap(), request.body.clone());
                done
            }
            ("POST", _) => {
                self.files.insert(
                    file,
                    std::mem::take(&mut self.parts)
                        .into_values()
                        .flatten()
                        .collect(),
                );
                done.set_body_string(
                    "<CompleteMultipartUploadResult><ETag>1</ETag></CompleteMultipartUploadResult>",
                )
            }
            ("PUT", None) => {
                self.files.insert(file, request.body.clone());
                done
            }
            ("DELETE", _) => {
                if !query.contains_key("uploadId") {
                    self.files.remove(&file);
                }
                ResponseTemplate::new(204)
            }
            ("GET" | "HEAD", _) => match self.files.get(&file) {
                Some(content) => {
                    let date = "Sat, 21 Nov 2026 10:00:00 GMT";
                    done.set_body_bytes(content.clone())
                        .insert_header("last-modified", date)
                }
                None => ResponseTemplate::new(404),
            },
            (method, _) => panic!("{method} {file}"),
        }
    }
}
