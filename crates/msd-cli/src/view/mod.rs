//! `msd view`: shows a live simulation or a recording in the browser.
//!
//! One thread steps the simulation (or reads the recording) and publishes frames, series and marks to the
//! [`SharedState`](state::SharedState). Another thread serves pages; each page fetches whatever it has not received
//! yet at its own rate, and the producing thread never waits for a page.

mod body_table;
mod client;
mod grab_spring;
mod history;
mod inbox;
mod islands;
mod live;
mod marks;
mod page;
mod recent_frames;
mod replay;
mod server;
mod session;
mod state;
mod step_rate;
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

use self::server::Endpoint;
use self::session::{Argument, Input, Session};

/// The first bytes of every MCAP file.
const MCAP_MAGIC: &[u8] = b"\x89MCAP0\r\n";

/// Serves a scene or a recording until Ctrl-C.
pub fn view(args: &ViewArgs) -> Result<Outcome, Failure> {
    if page::FILES.is_empty() {
        text::eprint(&page::missing());
    }
    let session = open(args)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Io(format!("cannot serve: {error}")))?;
    let outcome = runtime.block_on(serve(args, session));
    // Do not wait for blocking tasks that still read the recording for a page.
    runtime.shutdown_background();
    outcome
}

/// Opens the scene or recording named on the command line, or the gallery.
fn open(args: &ViewArgs) -> Result<Arc<Session>, Failure> {
    let has_no_scene = |what: &str| match args.opening.accuracy {
        None => Ok(()),
        Some(_) => Err(Failure::Input(format!("--accuracy has no effect on {what}"))),
    };
    let Some(path) = &args.what else {
        has_no_scene("the gallery; choose a scene")?;
        return Session::gallery();
    };
    let name =
        path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let input = match is_recording(path)? {
        true => {
            has_no_scene("a recording, which is replayed as it was made")?;
            note_if_cut_off(&Recording::open(path)?);
            Input::Recording(path.clone())
        }
        false => Input::Scene(Box::new(run::open(path, &args.opening.options())?)),
    };
    Session::open_argument(Argument { name, input })
}

/// Returns whether a file is a recording, by its extension or its first bytes.
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

async fn serve(args: &ViewArgs, session: Arc<Session>) -> Result<Outcome, Failure> {
    let cannot = |error| Failure::Io(format!("port {}: {error}", args.port));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).await.map_err(cannot)?;
    let port = listener.local_addr().map_err(cannot)?.port();
    let endpoint = Endpoint::new(port)
        .map_err(|error| Failure::Io(format!("cannot generate an access token: {error}")))?;
    let page = if args.what.is_some() { "" } else { "gallery.html" };
    let address = format!("{}{page}", endpoint.address());
    text::print(&address);
    text::eprint("Open this address in a browser on this machine. Press Ctrl-C to stop.");
    if !args.no_open && open::that_detached(&address).is_err() {
        text::eprint("note: could not open a browser");
    }
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let mut stop = Some(stop);
    // If the handler cannot be installed, Ctrl-C kills the process; there is no state to lose.
    let _ = ctrlc::set_handler(move || {
        if let Some(stop) = stop.take() {
            let _ = stop.send(());
        }
    });
    tokio::select! {
        () = server::serve(listener, Arc::new(endpoint), session) => {}
        _ = stopped => {}
    }
    Ok(Outcome::Good)
}
