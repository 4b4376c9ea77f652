//! Who may come in: this machine's browser, with the address that was printed.
//!
//! Other pages in the same browser can send requests here too. They do not know the token; they cannot change
//! the `Origin` that the browser sends; and a name of theirs that they point at this machine stands in `Host`.

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
use super::show::Show;

/// Pages that can watch at once.
const MOST_CLIENTS: usize = 8;
/// Connections that are not pages yet.
const MOST_CONNECTIONS: usize = 64;
/// How long a request may take to arrive.
const HEAD_WITHIN: Duration = Duration::from_secs(5);
/// Bytes of a request's head.
const MOST_HEAD: usize = 16 << 10;
/// Bytes of a page's message.
const MOST_MESSAGE: usize = 64 << 10;
/// Bytes that wait for a page: more than any frame, which is sent before the next is made.
const MOST_UNSENT: usize = 256 << 20;
/// Bytes of randomness in the address.
const TOKEN_BYTES: usize = 16;

/// The address: where it is, and what only those know who were told.
#[derive(Debug)]
pub struct Door {
    port: u16,
    token: String,
}

impl Door {
    /// At this port, with a new token.
    pub fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes)?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { port, token })
    }

    /// What to open in a browser.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// The path below the token, or why there is no entry.
    fn admit<'a>(&self, path: &'a str, headers: &HeaderMap) -> Result<&'a str, Refusal> {
        // At port 80 browsers leave the port out.
        let port = if self.port == 80 { String::new() } else { format!(":{}", self.port) };
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}{port}"));
        let one = |name: HeaderName| {
            let mut all = headers.get_all(name).iter();
            let first = all.next().map(HeaderValue::as_bytes);
            if all.next().is_some() { Some(&b""[..]) } else { first }
        };
        let host = one(header::HOST).unwrap_or_default();
        if !hosts.iter().any(|known| known.as_bytes() == host) {
            return Err((StatusCode::MISDIRECTED_REQUEST, "not the name of this server"));
        }
        if let Some(origin) = one(header::ORIGIN) {
            let from = |known: &String| origin.strip_prefix(b"http://") == Some(known.as_bytes());
            if !hosts.iter().any(from) {
                return Err((StatusCode::FORBIDDEN, "asked for by another page"));
            }
        }
        let (token, rest) =
            path.strip_prefix('/').and_then(|path| path.split_once('/')).unwrap_or((path, ""));
        match same(token.as_bytes(), self.token.as_bytes()) {
            true => Ok(rest),
            false => Err((
                StatusCode::FORBIDDEN,
                "the address has no token, or that of an earlier run: open the one that msd printed",
            )),
        }
    }

    /// What browsers are to obey, with every answer.
    fn policies(&self) -> [(HeaderName, String); 7] {
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

type Refusal = (StatusCode, &'static str);

/// Whether two texts are the same, in a time that does not tell where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |bits, (a, b)| bits | (a ^ b)) == 0
}

#[derive(Clone)]
struct House {
    door: Arc<Door>,
    show: Arc<Show>,
    clients: Arc<Semaphore>,
}

/// Serves pages, for ever.
pub async fn serve(listener: TcpListener, door: Arc<Door>, show: Arc<Show>) {
    let house = House { door, show, clients: Arc::new(Semaphore::new(MOST_CLIENTS)) };
    let router = Router::new().fallback(answer).with_state(house);
    let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut server = hyper::server::conn::http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(MOST_HEAD);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file handles, say: some will be given back.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(place) = Arc::clone(&connections).try_acquire_owned() else {
            continue; // Full: the connection is closed.
        };
        // Small messages, such as where a body is dragged to, are not held back.
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = server.serve_connection(TokioIo::new(stream), service).with_upgrades();
        tokio::spawn(async move {
            // Whatever went wrong concerns this connection alone, which is over.
            let _ = connection.await;
            drop(place);
        });
    }
}

async fn answer(State(house): State<House>, request: Request) -> Response {
    let door = Arc::clone(&house.door);
    let mut response = match respond(house, request).await {
        Ok(response) => response,
        Err((status, reason)) => (status, reason).into_response(),
    };
    for (name, value) in door.policies() {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

async fn respond(house: House, request: Request) -> Result<Response, Refusal> {
    let (mut parts, _) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let rest = house.door.admit(&path, &parts.headers)?;
    if parts.method != Method::GET {
        return Err((StatusCode::METHOD_NOT_ALLOWED, "there is nothing here but to get"));
    }
    if rest != "socket" {
        let (bytes, kind) = match page::find(rest) {
            Some(file) => (Body::from(file.bytes), file.media_type()),
            None if page::FILES.is_empty() => {
                (Body::from(page::missing()), "text/plain; charset=utf-8")
            }
            None => return Err((StatusCode::NOT_FOUND, "there is no such file")),
        };
        let mut response = Response::new(bytes);
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        return Ok(response);
    }
    // Browsers always say who asks for a socket.
    if !parts.headers.contains_key(header::ORIGIN) {
        return Err((StatusCode::FORBIDDEN, "a socket is for the page that was served here"));
    }
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await;
    let upgrade = upgrade.map_err(|_| (StatusCode::BAD_REQUEST, "expected a WebSocket"))?;
    let full = (StatusCode::SERVICE_UNAVAILABLE, "as many pages as can be served are open already");
    let place = Arc::clone(&house.clients).try_acquire_owned().map_err(|_| full)?;
    let show = Arc::clone(&house.show);
    let response = upgrade
        .max_message_size(MOST_MESSAGE)
        .max_frame_size(MOST_MESSAGE)
        .max_write_buffer_size(MOST_UNSENT)
        .on_upgrade(async move |socket| {
            client::serve(socket, show).await;
            drop(place);
        });
    Ok(response)
}
