//! `msd view`, spoken to as a page does, and as no page should.

mod browser; // the page itself
mod door; // who may come in
mod live; // a simulation that is watched and meddled with
mod replay; // a recording that is watched

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

use crate::bench::Bench;

/// Longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(30);

/// Says that something was left out. Not by `eprintln`, which a passing test hides.
pub fn skip(reason: &str) {
    assert!(std::env::var_os("MSD_REQUIRE_BROWSER").is_none(), "{reason}");
    let _ = writeln!(std::io::stderr(), "\nSKIPPED: the viewer's page was not tested: {reason}\n");
}

/// A running `msd view`.
pub struct Viewer {
    child: Child,
    pub port: u16,
    pub token: String,
}

impl Viewer {
    pub fn start(bench: &Bench, args: &[&str]) -> Self {
        let args: Vec<&str> = ["view", "--no-open"].iter().chain(args).copied().collect();
        let mut command = bench.command(&args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let place = line.trim().strip_prefix("http://127.0.0.1:").unwrap_or_else(|| {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("no address: {line}{said}")
        });
        let (port, path) = place.split_once('/').unwrap();
        let token = path.split('/').next().unwrap().to_owned();
        Self { child, port: port.parse().unwrap(), token }
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Where a page of this run would come from.
    pub fn origin(&self) -> String {
        format!("http://{}", self.host())
    }

    pub fn dial(&self) -> TcpStream {
        let stream = TcpStream::connect(self.host()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Asks for a path as told; the status and all of the answer.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        let mut stream = self.dial();
        let mut answer = Vec::new();
        // A server that hangs up early has said enough.
        let _ = stream.write_all(format!("{request}\r\n").as_bytes());
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        (status, answer)
    }

    /// Opens a socket; the status if that is refused.
    pub fn socket(&self, host: &str, origin: Option<&str>, token: &str) -> Result<Page, u16> {
        let mut request =
            format!("ws://{}/{token}/socket", self.host()).into_client_request().unwrap();
        request.headers_mut().insert("host", host.parse().unwrap());
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        match tungstenite::client(request, self.dial()) {
            Ok((socket, _)) => Ok(Page { socket, newest: Snapshot::default(), row: Vec::new() }),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(_) => Err(0),
        }
    }

    /// A page as it should be.
    pub fn page(&self) -> Page {
        self.socket(&self.host(), Some(&self.origin()), &self.token).expect("a page may come in")
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One page's connection.
pub struct Page {
    pub socket: WebSocket<TcpStream>,
    /// The last frame that came.
    pub newest: Snapshot,
    /// The last row of the series that came.
    pub row: Vec<f64>,
}

/// What of a frame is looked at.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub step: u64,
    pub time: f64,
    pub bodies: Vec<u32>,
    pub positions: Vec<[f64; 3]>,
    pub velocities: Vec<[f64; 3]>,
}

impl Snapshot {
    fn of(bytes: &[u8]) -> Option<Self> {
        let whole = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let real = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        if whole(0) != 1 {
            return None;
        }
        let [bodies, pairs, points] = [56, 60, 64].map(|at| whole(at) as usize);
        let names = 72 + 8 * (13 * bodies + 8 * pairs + 12 * points);
        assert_eq!(bytes.len(), names + 4 * (2 * bodies + 4 * pairs), "a frame has its length");
        let vectors = |column: usize| {
            (0..bodies)
                .map(|body| {
                    [0, 1, 2].map(|axis| real(72 + 8 * (column * bodies + 3 * body + axis)))
                })
                .collect()
        };
        Some(Self {
            step: real(8) as u64,
            time: real(16),
            bodies: (0..bodies).map(|body| whole(names + 4 * body)).collect(),
            positions: vectors(0),
            velocities: vectors(7),
        })
    }
}

fn last_row(series: &[u8]) -> Vec<f64> {
    let columns = u32::from_le_bytes(series[16..20].try_into().unwrap()) as usize;
    let reals =
        series[24..].chunks_exact(8).map(|real| f64::from_le_bytes(real.try_into().unwrap()));
    let reals: Vec<f64> = reals.collect();
    reals[reals.len() - columns..].to_vec()
}

impl Page {
    pub fn say(&mut self, command: &str) {
        self.socket.send(Message::text(command)).unwrap();
    }

    /// The next message: a JSON object, or null for one that is not text.
    pub fn hear(&mut self) -> Value {
        loop {
            match self.socket.read().expect("the page is served") {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Binary(bytes) => {
                    match Snapshot::of(&bytes) {
                        Some(frame) => self.newest = frame,
                        None => self.row = last_row(&bytes),
                    }
                    return Value::Null;
                }
                _ => {}
            }
        }
    }

    /// Listens until something is as wished.
    pub fn until<T>(
        &mut self,
        what: &str,
        mut wish: impl FnMut(&Value, &Snapshot) -> Option<T>,
    ) -> T {
        let end = Instant::now() + PATIENCE;
        loop {
            let message = self.hear();
            if let Some(found) = wish(&message, &self.newest) {
                return found;
            }
            assert!(Instant::now() < end, "waited in vain for {what}");
        }
    }

    /// The next message of this type.
    pub fn next(&mut self, kind: &str) -> Value {
        self.until(kind, |message, _| (message["type"] == kind).then(|| message.clone()))
    }

    /// Waits until the simulation has taken this many more steps.
    pub fn sees_steps(&mut self, more: u64) {
        let from = self.until("a frame", |_, newest| (newest.step > 0).then_some(newest.step));
        self.until("more steps", |_, newest| (newest.step >= from + more).then_some(()));
    }
}
