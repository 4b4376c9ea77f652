//! The connection to one page: sends it updates of the shared state and handles its commands.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::session::Session;
use super::state::{ClientCursor, Outgoing};
use super::wire::{self, Command};

/// Minimum time between two updates to a page.
const PUSH_INTERVAL: Duration = Duration::from_millis(16);
/// A page that takes longer than this to accept one message is disconnected.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of frames per request.
const MAX_FRAMES: u32 = 240;
/// Maximum number of rejections queued for a page.
const MAX_QUEUED_REFUSALS: usize = 16;

/// The page has closed its connection or no longer reads from it.
struct Disconnected;

/// Serves a page until it disconnects.
pub async fn serve(socket: WebSocket, session: Arc<Session>) {
    let (sender, mut rejections) = mpsc::channel(MAX_QUEUED_REFUSALS);
    let mut client = Client {
        socket,
        session: Arc::clone(&session),
        page: 0,
        rejections: sender.clone(),
        motion: MotionReader::default(),
    };
    let Ok(page) = client.run_blocking(move |session| session.page_connected(&sender)).await else {
        return;
    };
    client.page = page;
    let mut changed = session.shared().subscribe();
    let mut cursor = ClientCursor::default();
    let mut next = Instant::now();
    loop {
        let due = async {
            sleep_until(next).await;
            changed.changed().await
        };
        let done = tokio::select! {
            message = client.socket.recv() => match message {
                Some(Ok(message)) => client.receive(message).await,
                _ => Err(Disconnected),
            },
            motion = client.motion.finished() => client.send_motion(motion).await,
            Some(reason) = rejections.recv() => client.send_text(wire::rejected(&reason)).await,
            Ok(()) = due => {
                next = Instant::now() + PUSH_INTERVAL;
                client.send_all(session.shared().updates(&mut cursor)).await
            }
        };
        if done.is_err() {
            break;
        }
    }
    // The page is gone, so there is no one to report a failure to.
    let _ = client.run_blocking(move |session| session.page_disconnected(page)).await;
}

struct Client {
    socket: WebSocket,
    session: Arc<Session>,
    page: u64,
    rejections: mpsc::Sender<String>,
    motion: MotionReader,
}

/// A message, or the reason why there is none.
type Answer = Result<String, String>;

/// The reading of a body's motion: it takes up to a thousand frames of a recording, and the frames that the page plays
/// meanwhile do not wait for it.
#[derive(Default)]
struct MotionReader {
    reading: Option<JoinHandle<Answer>>,
    /// The body requested last while another one is being read.
    next: Option<u32>,
}

impl MotionReader {
    /// Reads the motion of a body, or does so once the current reading has ended.
    fn request(&mut self, body: u32, session: &Arc<Session>) {
        if self.reading.is_some() {
            self.next = Some(body);
            return;
        }
        let session = Arc::clone(session);
        self.reading = Some(tokio::task::spawn_blocking(move || session.motion(body)));
    }

    /// Waits for the end of the current reading; for ever if there is none.
    async fn finished(&mut self) -> Result<Answer, Disconnected> {
        let Some(reading) = &mut self.reading else { return std::future::pending().await };
        let answer = reading.await;
        self.reading = None;
        answer.map_err(|_| Disconnected)
    }
}

impl Client {
    async fn receive(&mut self, message: Message) -> Result<(), Disconnected> {
        let text = match message {
            Message::Text(text) => text,
            Message::Ping(_) | Message::Pong(_) => return Ok(()),
            Message::Binary(_) => {
                return self.send_text(wire::rejected("expected a text message")).await;
            }
            Message::Close(_) => return Err(Disconnected),
        };
        match serde_json::from_str(&text) {
            Ok(command) => self.handle(command).await,
            Err(error) => {
                self.send_text(wire::rejected(&format!("invalid command: {error}"))).await
            }
        }
    }

    async fn handle(&mut self, command: Command) -> Result<(), Disconnected> {
        match command {
            Command::Frames { from, count, stride } => {
                for index in 0..u64::from(count.min(MAX_FRAMES)) {
                    let step = from.saturating_add(index.saturating_mul(stride));
                    match self.run_blocking(move |session| session.frame(step)).await? {
                        Ok(frame) => self.send_all(vec![Outgoing::Binary(frame)]).await?,
                        Err(reason) => return self.send_text(wire::rejected(&reason)).await,
                    }
                }
                Ok(())
            }
            Command::Motion { body } => {
                self.motion.request(body, &self.session);
                Ok(())
            }
            Command::Scenes {} => {
                let message = self.run_blocking(|session| session.scenes()).await?;
                self.send_text(message).await
            }
            command => {
                let (page, rejections) = (self.page, self.rejections.clone());
                let done = self
                    .run_blocking(move |session| session.execute(command, page, &rejections))
                    .await?;
                match done {
                    Ok(()) => Ok(()),
                    Err(reason) => self.send_text(wire::rejected(&reason)).await,
                }
            }
        }
    }

    /// Sends the motion that was read, and starts the next reading.
    async fn send_motion(
        &mut self,
        motion: Result<Answer, Disconnected>,
    ) -> Result<(), Disconnected> {
        if let Some(body) = self.motion.next.take() {
            self.motion.request(body, &self.session);
        }
        match motion? {
            Ok(message) => self.send_text(message).await,
            Err(reason) => self.send_text(wire::rejected(&reason)).await,
        }
    }

    /// Runs blocking work on another thread, so that other pages are served meanwhile.
    fn run_blocking<T, W>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, Disconnected>> + use<T, W>
    where
        T: Send + 'static,
        W: FnOnce(&Session) -> T + Send + 'static,
    {
        let session = Arc::clone(&self.session);
        let done = tokio::task::spawn_blocking(move || work(&session));
        async { done.await.map_err(|_| Disconnected) }
    }

    async fn send_text(&mut self, text: String) -> Result<(), Disconnected> {
        self.send_all(vec![Outgoing::Text(text.into())]).await
    }

    /// Sends messages one after the other, so that at most one per page is in flight.
    async fn send_all(&mut self, messages: Vec<Outgoing>) -> Result<(), Disconnected> {
        for message in messages {
            let message = match message {
                Outgoing::Text(text) => Message::text(&*text),
                Outgoing::Binary(bytes) => Message::binary(bytes),
            };
            match timeout(SEND_TIMEOUT, self.socket.send(message)).await {
                Ok(Ok(())) => {}
                _ => return Err(Disconnected),
            }
        }
        Ok(())
    }
}
