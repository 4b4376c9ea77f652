//! Access control and limits: rejected requests have no effect on accepted pages.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use tungstenite::Message;

use super::Viewer;
use crate::sandbox::Sandbox;

#[test]
fn the_page_is_served_with_a_policy_that_runs_only_its_own_scripts() {
    let sandbox = Sandbox::new();
    let viewer = Viewer::start(&sandbox, &["tower"]);
    let (status, page) =
        viewer.request("GET", &format!("/{}/", viewer.token), &[("Host", &viewer.host())]);
    assert_eq!(status, 200);
    if page.contains("built without its page") {
        return super::skip("the page was not built");
    }
    assert!(page.contains("default-src 'none'; script-src 'self'; style-src 'self'"), "{page}");
    assert!(!page.contains("unsafe"), "{page}");
    assert!(page.contains("frame-ancestors 'none'") && page.contains("nosniff"), "{page}");
    assert!(
        page.contains("referrer-policy: no-referrer"),
        "the token is not sent as a referrer: {page}"
    );
    // Every script is a separate file that the server has.
    let scripts: Vec<&str> = page.match_indices("<script").map(|(at, _)| &page[at..]).collect();
    assert!(!scripts.is_empty());
    for script in scripts {
        let source = script.split_once("src=\"./").expect("no script is inline").1;
        let path = source.split('"').next().unwrap();
        let (status, _) = viewer.request(
            "GET",
            &format!("/{}/{path}", viewer.token),
            &[("Host", &viewer.host())],
        );
        assert_eq!(status, 200, "{path}");
    }
}

#[test]
fn another_host_is_rejected() {
    let sandbox = Sandbox::new();
    let viewer = Viewer::start(&sandbox, &["tower"]);
    let page = format!("/{}/", viewer.token);
    let port = viewer.port;
    let hosts = ["evil.example", &format!("evil.example:{port}"), "127.0.0.1", "127.0.0.1:1"];
    for host in hosts {
        let (status, answer) = viewer.request("GET", &page, &[("Host", host)]);
        assert_eq!(status, 421, "{host}: {answer}");
        let rejected = viewer.socket(host, Some(&viewer.origin()), &viewer.token);
        assert_eq!(rejected.err(), Some(421), "{host}");
    }
    let twice = [("Host", viewer.host()), ("Host", "evil.example".to_owned())];
    let twice = twice.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert!(viewer.request("GET", &page, &twice).0 >= 400);
    assert!(viewer.request("GET", &page, &[]).0 >= 400, "no Host header");
    assert_eq!(viewer.request("GET", &page, &[("Host", &format!("localhost:{port}"))]).0, 200);
    viewer.page().wait_for_steps(3);
}

#[test]
fn another_origin_is_rejected() {
    let sandbox = Sandbox::new();
    let viewer = Viewer::start(&sandbox, &["tower"]);
    let (host, page) = (viewer.host(), format!("/{}/", viewer.token));
    let near = format!("{}0", viewer.origin());
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "", near.as_str()] {
        let (status, _) = viewer.request("GET", &page, &[("Host", &host), ("Origin", origin)]);
        assert_eq!(status, 403, "{origin}");
        let rejected = viewer.socket(&host, Some(origin), &viewer.token);
        assert_eq!(rejected.err(), Some(403), "{origin}");
    }
    // Browsers always send an origin when a page opens a WebSocket.
    assert_eq!(viewer.socket(&host, None, &viewer.token).err(), Some(403));
    viewer.page().wait_for_steps(3);
}

#[test]
fn requests_without_the_token_are_rejected() {
    let sandbox = Sandbox::new();
    let viewer = Viewer::start(&sandbox, &["tower"]);
    let host = viewer.host();
    let short = &viewer.token[1..];
    let other = "0".repeat(viewer.token.len());
    for token in ["", "socket", short, &other, "..", "%2e%2e"] {
        for path in ["", "/", "/index.html", "/socket", "/assets/"] {
            let (status, answer) =
                viewer.request("GET", &format!("/{token}{path}"), &[("Host", &host)]);
            assert_eq!(status, 403, "/{token}{path}: {answer}");
        }
        if !token.is_empty() {
            let rejected = viewer.socket(&host, Some(&viewer.origin()), token);
            assert_eq!(rejected.err(), Some(403), "{token}");
        }
    }
    // With the token, only the page's own files are served.
    for path in ["../Cargo.toml", "assets/../../Cargo.toml", "/etc/passwd", "nothing.js"] {
        let (status, _) =
            viewer.request("GET", &format!("/{}/{path}", viewer.token), &[("Host", &host)]);
        assert_eq!(status, 404, "{path}");
    }
    // Each run has its own token.
    let again = Viewer::start(&sandbox, &["tower"]);
    assert_ne!(viewer.token, again.token);
    assert!(viewer.token.len() == 32 && viewer.token.bytes().all(|byte| byte.is_ascii_hexdigit()));
    viewer.page().wait_for_steps(3);
}

#[test]
fn sending_ten_megabytes_closes_that_connection_and_no_other() {
    let sandbox = Sandbox::new();
    let viewer = Viewer::start(&sandbox, &["tower"]);
    let mut watcher = viewer.page();
    watcher.wait_for_steps(3);

    // As one message from a page.
    let mut flood = viewer.page();
    let large = Message::text("x".repeat(10 << 20));
    let sent = flood.socket.send(large);
    let ended = sent.is_err() || (0..10_000).any(|_| flood.socket.read().is_err());
    assert!(ended, "the connection is closed");

    // As the body of a request, and as its headers.
    let mut stream = viewer.connect();
    let head = format!(
        "POST /{}/ HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n",
        viewer.token,
        viewer.host(),
        10 << 20
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server may close the connection during this write.
    let _ = stream.write_all(&vec![b'x'; 10 << 20]);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 405"), "the body is rejected");
    let (status, _) = viewer.request(
        "GET",
        &format!("/{}/", viewer.token),
        &[("Host", &viewer.host()), ("X", &"x".repeat(10 << 20))],
    );
    assert!(status == 0 || status >= 400, "{status}");

    watcher.wait_for_steps(10);
    viewer.page().wait_for_steps(3);
}

#[test]
fn eight_of_a_hundred_pages_are_served() {
    let sandbox = Sandbox::new();
    let viewer = Viewer::start(&sandbox, &["tower"]);
    let mut watcher = viewer.page();
    watcher.wait_for_steps(3);
    let mut served = Vec::new();
    for _ in 0..99 {
        match viewer.socket(&viewer.host(), Some(&viewer.origin()), &viewer.token) {
            Ok(page) => served.push(page),
            Err(status) => assert_eq!(status, 503),
        }
    }
    assert_eq!(served.len(), 7);
    watcher.wait_for_steps(10);
    // Closed pages free their slots.
    drop(served);
    let end = Instant::now() + Duration::from_secs(20);
    let mut page = loop {
        match viewer.socket(&viewer.host(), Some(&viewer.origin()), &viewer.token) {
            Ok(page) => break page,
            Err(status) => assert_eq!(status, 503),
        }
        assert!(Instant::now() < end, "no slot was freed");
        std::thread::sleep(Duration::from_millis(50));
    };
    page.wait_for_steps(3);
}

/// Connections without a complete request are closed after a few seconds; those beyond 64 at once.
#[test]
fn a_hundred_silent_connections_block_the_server_only_briefly() {
    let sandbox = Sandbox::new();
    let viewer = Viewer::start(&sandbox, &["tower"]);
    let mut watcher = viewer.page();
    watcher.wait_for_steps(3);
    let mut silent: Vec<TcpStream> = (0..100).map(|_| viewer.connect()).collect();
    for stream in &mut silent {
        let _ = stream.write_all(b"GET / HT");
    }
    watcher.wait_for_steps(10);
    let end = Instant::now() + Duration::from_secs(20);
    let path = format!("/{}/", viewer.token);
    while viewer.request("GET", &path, &[("Host", &viewer.host())]).0 != 200 {
        assert!(Instant::now() < end, "the server accepts no more requests");
        std::thread::sleep(Duration::from_millis(100));
    }
    watcher.wait_for_steps(3);
}

/// One page requests many frames and reads none. The tower runs in real time, 60 steps per second, so 30 steps take
/// half a second regardless of that page.
#[test]
fn a_page_that_does_not_read_does_not_slow_the_simulation() {
    let sandbox = Sandbox::new();
    let viewer = Viewer::start(&sandbox, &["tower"]);
    let mut unresponsive = viewer.page();
    for _ in 0..200 {
        unresponsive.send(r#"{"do":"frames","from":0,"count":240,"stride":0}"#);
    }
    let mut watcher = viewer.page();
    watcher.wait_for_steps(3);
    let (from, start) = (watcher.newest.step, Instant::now());
    watcher.wait_for_steps(60);
    let (steps, seconds) = (watcher.newest.step - from, start.elapsed().as_secs_f64());
    assert!(steps as f64 > 30.0 * seconds, "{steps} steps in {seconds} s");
}
