//! `msd view`, tested with the requests of a well-behaved page and with malformed and hostile ones.

mod access; // access control and limits
mod browser; // the page itself
mod joints; // the joints and their impulses
mod live; // a live simulation under the user's control
mod notes; // the notes of a scene
mod replay; // a recording

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

use crate::sandbox::Sandbox;

/// Longer than any operation in these tests takes.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Reports a skipped test. Not with `eprintln`, which is hidden if the test passes.
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
    pub fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let args: Vec<&str> = ["view", "--no-open"].iter().chain(args).copied().collect();
        let mut command = sandbox.command(&args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://127.0.0.1:").unwrap_or_else(|| {
            let mut errors = String::new();
            child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
            panic!("no address: {line}{errors}")
        });
        let (port, path) = address.split_once('/').unwrap();
        let token = path.split('/').next().unwrap().to_owned();
        Self { child, port: port.parse().unwrap(), token }
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The origin of a page of this run.
    pub fn origin(&self) -> String {
        format!("http://{}", self.host())
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.host()).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream
    }

    /// Sends a request with these headers; returns the status and the whole response.
    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        let mut stream = self.connect();
        let mut answer = Vec::new();
        // The server may close the connection early.
        let _ = stream.write_all(format!("{request}\r\n").as_bytes());
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        (status, answer)
    }

    /// Opens a WebSocket; returns the status if the server rejects.
    pub fn socket(&self, host: &str, origin: Option<&str>, token: &str) -> Result<Page, u16> {
        let mut request =
            format!("ws://{}/{token}/socket", self.host()).into_client_request().unwrap();
        request.headers_mut().insert("host", host.parse().unwrap());
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        match tungstenite::client(request, self.connect()) {
            Ok((socket, _)) => Ok(Page { socket, newest: Snapshot::default(), row: Vec::new() }),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(_) => Err(0),
        }
    }

    /// Returns how many of the server's threads have this name.
    #[cfg(target_os = "linux")]
    pub fn threads(&self, name: &str) -> usize {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        // A thread may end while they are listed.
        let names =
            tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.filter(|found| found.trim() == name).count()
    }

    /// Connects a well-behaved page.
    pub fn page(&self) -> Page {
        self.socket(&self.host(), Some(&self.origin()), &self.token).expect("a page is accepted")
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
    /// The last frame received.
    pub newest: Snapshot,
    /// The last row of the series received.
    pub row: Vec<f64>,
}

/// The parts of a frame that the tests check.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub step: u64,
    pub time: f64,
    pub bodies: Vec<u32>,
    pub positions: Vec<[f64; 3]>,
    pub velocities: Vec<[f64; 3]>,
    /// Impulses of the joints by their index in the first message.
    pub joint_impulses: Vec<(u32, [f64; 3])>,
}

impl Snapshot {
    fn of(bytes: &[u8]) -> Option<Self> {
        let whole = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let real = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        if whole(0) != 1 {
            return None;
        }
        let [bodies, pairs, points, joints] = [56, 60, 64, 68].map(|at| whole(at) as usize);
        let impulses = 72 + 8 * (13 * bodies + 8 * pairs + 12 * points);
        let names = impulses + 8 * 3 * joints;
        let joint_names = names + 4 * (2 * bodies + 6 * pairs);
        assert_eq!(
            bytes.len(),
            joint_names + 4 * joints,
            "the frame has the length its header implies"
        );
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
            joint_impulses: (0..joints)
                .map(|joint| {
                    let impulse = [0, 1, 2].map(|axis| real(impulses + 8 * (3 * joint + axis)));
                    (whole(joint_names + 4 * joint), impulse)
                })
                .collect(),
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
    pub fn send(&mut self, command: &str) {
        self.socket.send(Message::text(command)).unwrap();
    }

    /// Returns the next message: a JSON object, or null for a binary one.
    pub fn receive(&mut self) -> Value {
        loop {
            match self.socket.read().expect("the connection is open") {
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

    /// Receives messages until the condition holds.
    pub fn wait_for<T>(
        &mut self,
        what: &str,
        mut condition: impl FnMut(&Value, &Snapshot) -> Option<T>,
    ) -> T {
        let end = Instant::now() + TIMEOUT;
        loop {
            let message = self.receive();
            if let Some(found) = condition(&message, &self.newest) {
                return found;
            }
            assert!(Instant::now() < end, "timed out waiting for {what}");
        }
    }

    /// Returns the next message of this type.
    pub fn next(&mut self, kind: &str) -> Value {
        self.wait_for(kind, |message, _| (message["type"] == kind).then(|| message.clone()))
    }

    /// Waits until the simulation has taken this many more steps.
    pub fn wait_for_steps(&mut self, more: u64) {
        let from = self.wait_for("a frame", |_, newest| (newest.step > 0).then_some(newest.step));
        self.wait_for("more steps", |_, newest| (newest.step >= from + more).then_some(()));
    }
}
