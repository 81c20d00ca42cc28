//! A person at the console, without a browser: forms, redirects and the session's cookie.

use contract::id::{TeamId, UserId};
use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderMap, LOCATION, SET_COOKIE};
use reqwest::{Method, StatusCode};
use secret::Password;
use store::Role;

use crate::stack::Stack;

/// The password of everybody whom [`Visitor::new`] makes.
pub const PASSWORD: &str = "bluebonnets in spring";

/// A person at the console.
pub struct Visitor {
    url: String,
    client: reqwest::Client,
    cookie: Option<String>,
}

/// What the console answered.
#[derive(Debug)]
pub struct Page {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its HTML.
    pub html: String,
}

impl Page {
    /// Where it leads to.
    pub fn location(&self) -> &str {
        self.headers.get(LOCATION).map_or("", |value| value.to_str().expect("a path"))
    }
}

impl Visitor {
    /// Somebody at the console of this address, not signed in.
    pub fn stranger(url: &str) -> Self {
        let client =
            reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
        Self { url: url.to_owned(), client, cookie: None }
    }

    /// A new person of the team with this role, signed in.
    pub async fn new(stack: &Stack, url: &str, team_id: TeamId, role: Role) -> Self {
        let email = Self::join(stack, team_id, role).await;
        let mut visitor = Self::stranger(url);
        let page = visitor.sign_in(&email, PASSWORD).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.html);
        visitor
    }

    /// Makes a person of the team with this role and [`PASSWORD`]; the address to sign in with.
    pub async fn join(stack: &Stack, team_id: TeamId, role: Role) -> String {
        let email = format!("{}@example.com", UserId::new());
        let hash = Password::try_from(PASSWORD.to_owned()).expect("a password").hash().expect("a hash");
        let mut connection = stack.store.connection().await.expect("a connection");
        let transaction = connection.begin().await.expect("a transaction");
        let now = stack.clock.now();
        transaction.user_save(team_id, &email, "Ada Marsh", role, Some(&hash), now).await.expect("a person");
        transaction.commit().await.expect("a commit");
        email
    }

    /// Signs in and keeps the cookie.
    pub async fn sign_in(&mut self, email: &str, password: &str) -> Page {
        let page = self.post("/sign-in", &[("email", email), ("password", password)]).await;
        if let Some(cookie) = page.headers.get(SET_COOKIE) {
            let cookie = cookie.to_str().expect("text");
            self.cookie = Some(cookie.split(';').next().unwrap_or_default().to_owned());
        }
        page
    }

    /// Looks at a page.
    pub async fn get(&self, path: &str) -> Page {
        self.request(Method::GET, path, &[], &[]).await
    }

    /// Sends a form.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        self.request(Method::POST, path, fields, &[]).await
    }

    /// Sends a form that may bring files.
    pub async fn upload(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        const BOUNDARY: &str = "a-line-between-the-fields";
        let mut body = String::new();
        for (name, value) in fields {
            let head = format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n");
            body.push_str(&head);
            body.push_str(value);
            body.push_str("\r\n");
        }
        body.push_str(&format!("--{BOUNDARY}--\r\n"));
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        let request = self.prepared(Method::POST, path).header(CONTENT_TYPE, content_type).body(body);
        Self::sent(request).await
    }

    /// Makes any request, with headers of one's own.
    pub async fn request(
        &self,
        method: Method,
        path: &str,
        fields: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> Page {
        let mut request = self.prepared(method.clone(), path);
        if method == Method::POST {
            request = request.form(fields);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Self::sent(request).await
    }

    /// A request with the cookie.
    fn prepared(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        match &self.cookie {
            Some(cookie) => request.header(COOKIE, cookie),
            None => request,
        }
    }

    async fn sent(request: reqwest::RequestBuilder) -> Page {
        let response = request.send().await.expect("an answer");
        Page {
            status: response.status(),
            headers: response.headers().clone(),
            html: response.text().await.expect("a body"),
        }
    }
}
