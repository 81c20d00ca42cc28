//! A person at the console, without a browser: forms, redirects and the session's cookie.

use model::id::{MemberId, TeamId};
use reqwest::header::{CONTENT_TYPE, COOKIE, HeaderMap, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::{Method, StatusCode};
use secret::Password;
use store::MemberRole;

use crate::stack::TestStack;

/// The password of everybody whom [`ConsoleClient::new`] makes.
pub const PASSWORD: &str = "bluebonnets in spring";

/// A person at the console. A copy has the same session.
#[derive(Clone)]
pub struct ConsoleClient {
    url: String,
    client: reqwest::Client,
    cookie: Option<String>,
}

/// What the console answered.
#[derive(Debug)]
pub struct ConsoleResponse {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its HTML.
    pub html: String,
}

impl ConsoleResponse {
    /// Where it leads to.
    pub fn location(&self) -> &str {
        self.headers
            .get(LOCATION)
            .map_or("", |value| value.to_str().expect("a path"))
    }
}

impl ConsoleResponse {
    /// What its form says that it was made from.
    pub fn seen_token(&self) -> String {
        let form = self.html.split_once("name=\"seen\" value=\"");
        let (_, rest) =
            form.unwrap_or_else(|| panic!("no form made from something in {}", self.html));
        rest.split('"').next().unwrap_or_default().to_owned()
    }
}

impl ConsoleClient {
    /// Somebody at the console of this address, not signed in.
    pub fn anonymous(url: &str) -> Self {
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .expect("a client");
        Self {
            url: url.to_owned(),
            client,
            cookie: None,
        }
    }

    /// A new person of the team with this role, signed in.
    pub async fn new(stack: &TestStack, url: &str, team_id: TeamId, role: MemberRole) -> Self {
        let email = Self::create_member(stack, team_id, role).await;
        let mut visitor = Self::anonymous(url);
        let page = visitor.sign_in(&email, PASSWORD).await;
        assert_eq!(page.status, StatusCode::SEE_OTHER, "{}", page.html);
        visitor
    }

    /// Makes a person of the team with this role and [`PASSWORD`]; the address to sign in with.
    pub async fn create_member(stack: &TestStack, team_id: TeamId, role: MemberRole) -> String {
        let email = format!("{}@example.com", MemberId::new());
        let hash = Password::try_from(PASSWORD.to_owned())
            .expect("a password")
            .hash()
            .expect("a hash");
        let mut connection = stack.store.connection().await.expect("a connection");
        let transaction = connection.begin_transaction().await.expect("a transaction");
        let now = stack.clock.now();
        transaction
            .save_member(team_id, &email, "Ada Marsh", role, Some(&hash), now)
            .await
            .expect("a person");
        transaction.commit().await.expect("a commit");
        email
    }

    /// Signs in and keeps the cookie.
    pub async fn sign_in(&mut self, email: &str, password: &str) -> ConsoleResponse {
        let page = self
            .post("/sign-in", &[("email", email), ("password", password)])
            .await;
        self.keep_cookie(&page);
        page
    }

    /// Keeps the session that an answer gave.
    pub fn keep_cookie(&mut self, page: &ConsoleResponse) {
        if let Some(cookie) = page.headers.get(SET_COOKIE) {
            let cookie = cookie.to_str().expect("text");
            self.cookie = Some(cookie.split(';').next().unwrap_or_default().to_owned());
        }
    }

    /// The session's cookie as a header has it; empty for who is not signed in.
    pub fn cookie(&self) -> &str {
        self.cookie.as_deref().unwrap_or_default()
    }

    /// Looks at a page.
    pub async fn get(&self, path: &str) -> ConsoleResponse {
        self.request(Method::GET, path, &[], &[]).await
    }

    /// Sends a form that makes a secret. The answer is the page that shows it, once, and that nobody keeps.
    pub async fn post_and_follow(&self, path: &str, fields: &[(&str, &str)]) -> ConsoleResponse {
        let made = self.post(path, fields).await;
        assert_eq!(made.status, StatusCode::OK, "{}", made.html);
        assert_eq!(made.headers["cache-control"], "no-store", "{path}");
        made
    }

    /// Sends a form.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> ConsoleResponse {
        self.request(Method::POST, path, fields, &[]).await
    }

    /// Sends the form of a page as it stands there now: with what it was made from.
    pub async fn save_form(
        &self,
        page: &str,
        action: &str,
        fields: &[(&str, &str)],
    ) -> ConsoleResponse {
        let seen = self.get(page).await.seen_token();
        self.post(action, &[&[("seen", seen.as_str())], fields].concat())
            .await
    }

    /// Sends a form that may bring files.
    pub async fn upload_form(&self, path: &str, fields: &[(&str, &str)]) -> ConsoleResponse {
        const BOUNDARY: &str = "a-line-between-the-fields";
        let mut body = String::new();
        for (name, value) in fields {
            let head =
                format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n");
            body.push_str(&head);
            body.push_str(value);
            body.push_str("\r\n");
        }
        body.push_str(&format!("--{BOUNDARY}--\r\n"));
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        let request = self
            .build_request(Method::POST, path)
            .header(CONTENT_TYPE, content_type);
        Self::send_request(request.header(ORIGIN, &self.url).body(body)).await
    }

    /// Makes any request, with headers of one's own. An action says that it comes from the console, as browsers do, unless
    /// these headers say where it comes from.
    pub async fn request(
        &self,
        method: Method,
        path: &str,
        fields: &[(&str, &str)],
        headers: &[(&str, &str)],
    ) -> ConsoleResponse {
        let mut request = self.build_request(method.clone(), path);
        if method == Method::POST {
            request = request.form(fields);
        }
        let sources = ["origin", "referer", "sec-fetch-site"];
        if method == Method::POST && !headers.iter().any(|(name, _)| sources.contains(name)) {
            request = request.header(ORIGIN, &self.url);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Self::send_request(request).await
    }

    /// A request with the cookie.
    fn build_request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        match &self.cookie {
            Some(cookie) => request.header(COOKIE, cookie),
            None => request,
        }
    }

    async fn send_request(request: reqwest::RequestBuilder) -> ConsoleResponse {
        let response = request.send().await.expect("an answer");
        ConsoleResponse {
            status: response.status(),
            headers: response.headers().clone(),
            html: response.text().await.expect("a body"),
        }
    }
}
