//! One page: takes what is new from the board, and obeys.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::board::{News, Seen};
use super::show::Show;
use super::wire::{self, Command};

/// Pages are told what is new at most this often.
const PUSH_EVERY: Duration = Duration::from_millis(16);
/// A page that takes longer to accept one message is let go.
const PATIENCE: Duration = Duration::from_secs(10);
/// Frames of one request at most.
const MOST_FRAMES: u32 = 240;
/// Refusals that wait for a page.
const MOST_REFUSALS: usize = 16;

/// Why a page is served no longer. It needs no telling: it went, or does not listen.
struct Gone;

/// Serves a page until it goes.
pub async fn serve(socket: WebSocket, show: Arc<Show>) {
    let (sender, mut refusals) = mpsc::channel(MOST_REFUSALS);
    let mut client = Client { socket, show: Arc::clone(&show), page: 0, refusals: sender.clone() };
    let Ok(page) = client.aside(move |show| show.page_came(&sender)).await else { return };
    client.page = page;
    let mut changed = show.board().subscribe();
    let mut seen = Seen::default();
    let mut next = Instant::now();
    loop {
        let due = async {
            sleep_until(next).await;
            changed.changed().await
        };
        let done = tokio::select! {
            message = client.socket.recv() => match message {
                Some(Ok(message)) => client.take(message).await,
                _ => Err(Gone),
            },
            Some(reason) = refusals.recv() => client.say(wire::refused(&reason)).await,
            Ok(()) = due => {
                next = Instant::now() + PUSH_EVERY;
                client.push(show.board().news(&mut seen)).await
            }
        };
        if done.is_err() {
            break;
        }
    }
    // Nobody waits for the answer.
    let _ = client.aside(move |show| show.page_went(page)).await;
}

struct Client {
    socket: WebSocket,
    show: Arc<Show>,
    page: u64,
    refusals: mpsc::Sender<String>,
}

impl Client {
    async fn take(&mut self, message: Message) -> Result<(), Gone> {
        let text = match message {
            Message::Text(text) => text,
            Message::Ping(_) | Message::Pong(_) => return Ok(()),
            Message::Binary(_) => return self.say(wire::refused("expected text")).await,
            Message::Close(_) => return Err(Gone),
        };
        match serde_json::from_str(&text) {
            Ok(command) => self.answer(command).await,
            Err(error) => self.say(wire::refused(&format!("not understood: {error}"))).await,
        }
    }

    async fn answer(&mut self, command: Command) -> Result<(), Gone> {
        match command {
            Command::Frames { from, count, stride } => {
                for place in 0..u64::from(count.min(MOST_FRAMES)) {
                    let step = from.saturating_add(place.saturating_mul(stride));
                    match self.aside(move |show| show.frame(step)).await? {
                        Ok(frame) => self.push(vec![News::Binary(frame)]).await?,
                        Err(reason) => return self.say(wire::refused(&reason)).await,
                    }
                }
                Ok(())
            }
            Command::Motion { body } => match self.aside(move |show| show.motion(body)).await? {
                Ok(message) => self.say(message).await,
                Err(reason) => self.say(wire::refused(&reason)).await,
            },
            Command::Scenes {} => {
                let message = self.aside(|show| show.scenes()).await?;
                self.say(message).await
            }
            command => {
                let (page, refusals) = (self.page, self.refusals.clone());
                let done = self.aside(move |show| show.obey(command, page, &refusals)).await?;
                match done {
                    Ok(()) => Ok(()),
                    Err(reason) => self.say(wire::refused(&reason)).await,
                }
            }
        }
    }

    /// Does what may take long on another thread, so that other pages are served meanwhile.
    fn aside<T, W>(&self, work: W) -> impl Future<Output = Result<T, Gone>> + use<T, W>
    where
        T: Send + 'static,
        W: FnOnce(&Show) -> T + Send + 'static,
    {
        let show = Arc::clone(&self.show);
        let done = tokio::task::spawn_blocking(move || work(&show));
        async { done.await.map_err(|_| Gone) }
    }

    async fn say(&mut self, text: String) -> Result<(), Gone> {
        self.push(vec![News::Text(text.into())]).await
    }

    /// Sends one after the other: no more than one message of a page waits to be sent.
    async fn push(&mut self, news: Vec<News>) -> Result<(), Gone> {
        for news in news {
            let message = match news {
                News::Text(text) => Message::text(&*text),
                News::Binary(bytes) => Message::binary(bytes),
            };
            match timeout(PATIENCE, self.socket.send(message)).await {
                Ok(Ok(())) => {}
                _ => return Err(Gone),
            }
        }
        Ok(())
    }
}
