//! `msd view`: a simulation in the browser, as it happens or replayed.
//!
//! One thread steps (or reads the recording) and puts what it has onto the [`Board`](board::Board). Another
//! serves pages: each takes from the board what it has not seen yet, as fast as it can. Nothing that a page
//! does or does not do is waited for.

mod board;
mod client;
mod hand;
mod history;
mod islands;
mod live;
mod marks;
mod page;
mod reel;
mod replay;
mod server;
mod show;
mod wire;

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use msd_record::Recording;
use tokio::net::TcpListener;

use crate::args::ViewArgs;
use crate::failure::{Failure, Outcome};
use crate::output as text;
use crate::run;
use crate::summary::note_if_cut_off;

use self::server::Door;
use self::show::{Own, Show, What};

/// What MCAP files begin with.
const MCAP_MAGIC: &[u8] = b"\x89MCAP0\r\n";

/// Shows a scene or a recording until it is interrupted.
pub fn view(args: &ViewArgs) -> Result<Outcome, Failure> {
    if page::FILES.is_empty() {
        text::eprint(&page::missing());
    }
    let show = open(args)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Io(format!("cannot serve: {error}")))?;
    let outcome = runtime.block_on(serve(args, show));
    // Whatever still reads a recording for a page need not finish.
    runtime.shutdown_background();
    outcome
}

/// What is to be shown.
fn open(args: &ViewArgs) -> Result<Arc<Show>, Failure> {
    let Some(path) = &args.what else { return Show::gallery() };
    let name =
        path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let what = match is_recording(path)? {
        true => {
            note_if_cut_off(&Recording::open(path)?);
            What::Recording(path.clone())
        }
        false => What::Scene(Box::new(run::open(path, &args.opening.options())?)),
    };
    Show::of(Own { name, what })
}

/// Whether a file is a recording, by its name or its first bytes.
fn is_recording(path: &Path) -> Result<bool, Failure> {
    use std::io::Read;
    if !path.is_file() {
        return Ok(false);
    }
    if path.extension().is_some_and(|end| end == "mcap") {
        return Ok(true);
    }
    let mut head = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| Failure::io(path, error))?;
    file.take(MCAP_MAGIC.len() as u64)
        .read_to_end(&mut head)
        .map_err(|error| Failure::io(path, error))?;
    Ok(head == MCAP_MAGIC)
}

async fn serve(args: &ViewArgs, show: Arc<Show>) -> Result<Outcome, Failure> {
    let cannot = |error| Failure::Io(format!("port {}: {error}", args.port));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await.map_err(cannot)?;
    let port = listener.local_addr().map_err(cannot)?.port();
    let door =
        Door::new(port).map_err(|error| Failure::Io(format!("no random numbers: {error}")))?;
    let place = if args.what.is_some() { "" } else { "gallery.html" };
    let address = format!("{}{place}", door.address());
    text::print(&address);
    text::eprint("Open it in a browser on this machine. Ctrl-C ends.");
    if !args.no_open && open::that_detached(&address).is_err() {
        text::eprint("note: no browser could be opened");
    }
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let mut stop = Some(stop);
    // Without a handler Ctrl-C just ends the program: there is nothing to lose.
    let _ = ctrlc::set_handler(move || {
        if let Some(stop) = stop.take() {
            let _ = stop.send(());
        }
    });
    tokio::select! {
        () = server::serve(listener, Arc::new(door), show) => {}
        _ = stopped => {}
    }
    Ok(Outcome::Good)
}
