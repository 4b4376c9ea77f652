//! The HTTP server and its access control: only a browser on this machine, opened at the printed address, is served.
//!
//! Other pages in the same browser can send requests to this server too. Three checks reject them: they lack the
//! token, they cannot change the `Origin` header, and a foreign name resolved to this machine (DNS rebinding) shows
//! in `Host`.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State, WebSocketUpgrade};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::client;
use super::page;
use super::session::Session;

/// Maximum number of pages connected at once.
const MAX_PAGES: usize = 8;
/// Maximum number of connections that have not been upgraded to a WebSocket.
const MAX_CONNECTIONS: usize = 64;
/// Time within which the headers of a request must arrive.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of a request's headers, bytes.
const MAX_HEADER_BYTES: usize = 16 << 10;
/// Maximum size of a message from a page, bytes.
const MAX_MESSAGE_BYTES: usize = 64 << 10;
/// Maximum size of a page's write buffer, bytes: larger than any frame, since one message is sent at a time.
const MAX_UNSENT_BYTES: usize = 256 << 20;
/// Random bytes in the address.
const TOKEN_BYTES: usize = 16;

/// The address of the server: its port and its secret token.
#[derive(Debug)]
pub struct Endpoint {
    port: u16,
    token: String,
}

impl Endpoint {
    /// Creates an endpoint at this port with a new random token.
    pub fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { port, token })
    }

    /// Returns the URL to open in a browser.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Returns the path below the token, or the reason for rejecting the request.
    fn authorize<'a>(&self, path: &'a str, headers: &HeaderMap) -> Result<&'a str, Rejection> {
        // Browsers omit port 80.
        let port = if self.port == 80 { String::new() } else { format!(":{}", self.port) };
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}{port}"));
        // A repeated header counts as empty, which matches nothing.
        let single = |name: HeaderName| {
            let mut all = headers.get_all(name).iter();
            let first = all.next().map(HeaderValue::as_bytes);
            if all.next().is_some() { Some(&b""[..]) } else { first }
        };
        let host = single(header::HOST).unwrap_or_default();
        if !hosts.iter().any(|known| known.as_bytes() == host) {
            return Err((
                StatusCode::MISDIRECTED_REQUEST,
                "the Host header does not name this server",
            ));
        }
        if let Some(origin) = single(header::ORIGIN) {
            let from = |known: &String| origin.strip_prefix(b"http://") == Some(known.as_bytes());
            if !hosts.iter().any(from) {
                return Err((StatusCode::FORBIDDEN, "the request comes from another page"));
            }
        }
        let (token, rest) =
            path.strip_prefix('/').and_then(|path| path.split_once('/')).unwrap_or((path, ""));
        match constant_time_eq(token.as_bytes(), self.token.as_bytes()) {
            true => Ok(rest),
            false => Err((
                StatusCode::FORBIDDEN,
                "the address has no token or an outdated one: open the address that msd printed",
            )),
        }
    }

    /// Returns the security headers sent with every response.
    fn security_headers(&self) -> [(HeaderName, String); 7] {
        let content = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
             connect-src 'self' ws://127.0.0.1:{0} ws://localhost:{0}; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
            self.port
        );
        [
            (header::CONTENT_SECURITY_POLICY, content),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
            (header::X_FRAME_OPTIONS, "DENY".to_owned()),
            (header::REFERRER_POLICY, "no-referrer".to_owned()),
            (header::CACHE_CONTROL, "no-store".to_owned()),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin".to_owned()),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin".to_owned()),
        ]
    }
}

type Rejection = (StatusCode, &'static str);

/// Compares two byte strings in a time that does not reveal where they differ.
fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |bits, (a, b)| bits | (a ^ b)) == 0
}

#[derive(Clone)]
struct AppState {
    endpoint: Arc<Endpoint>,
    session: Arc<Session>,
    clients: Arc<Semaphore>,
}

/// Accepts connections and serves them forever.
pub async fn serve(listener: TcpListener, endpoint: Arc<Endpoint>, session: Arc<Session>) {
    let app = AppState { endpoint, session, clients: Arc::new(Semaphore::new(MAX_PAGES)) };
    let router = Router::new().fallback(handle).with_state(app);
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut server = hyper::server::conn::http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(MAX_HEADER_BYTES);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // For example out of file descriptors: retry once some are freed.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else {
            continue; // At the limit: the connection is dropped.
        };
        // Send small messages at once.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = server.serve_connection(TokioIo::new(stream), service).with_upgrades();
        tokio::spawn(async move {
            // An error affects only this connection, which has ended.
            let _ = connection.await;
            drop(permit);
        });
    }
}

async fn handle(State(app): State<AppState>, request: Request) -> Response {
    let endpoint = Arc::clone(&app.endpoint);
    let mut response = match respond(app, request).await {
        Ok(response) => response,
        Err((status, reason)) => (status, reason).into_response(),
    };
    for (name, value) in endpoint.security_headers() {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

async fn respond(app: AppState, request: Request) -> Result<Response, Rejection> {
    let (mut parts, _) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let rest = app.endpoint.authorize(&path, &parts.headers)?;
    if parts.method != Method::GET {
        return Err((StatusCode::METHOD_NOT_ALLOWED, "only GET is supported"));
    }
    if rest != "socket" {
        let (bytes, kind) = match page::find(rest) {
            Some(file) => (Body::from(file.bytes), file.media_type()),
            None if page::FILES.is_empty() => {
                (Body::from(page::missing()), "text/plain; charset=utf-8")
            }
            None => return Err((StatusCode::NOT_FOUND, "no such file")),
        };
        let mut response = Response::new(bytes);
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        return Ok(response);
    }
    // Browsers always send an origin when they open a WebSocket.
    if !parts.headers.contains_key(header::ORIGIN) {
        return Err((
            StatusCode::FORBIDDEN,
            "the WebSocket accepts only the page served here: Origin is missing",
        ));
    }
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await;
    let upgrade = upgrade.map_err(|_| (StatusCode::BAD_REQUEST, "expected a WebSocket"))?;
    let full = (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open: close one and reload");
    let permit = Arc::clone(&app.clients).try_acquire_owned().map_err(|_| full)?;
    let session = Arc::clone(&app.session);
    let response = upgrade
        .max_message_size(MAX_MESSAGE_BYTES)
        .max_frame_size(MAX_MESSAGE_BYTES)
        .max_write_buffer_size(MAX_UNSENT_BYTES)
        .on_upgrade(async move |socket| {
            client::serve(socket, session).await;
            drop(permit);
        });
    Ok(response)
}
