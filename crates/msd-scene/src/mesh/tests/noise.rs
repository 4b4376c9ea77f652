//! Randomly damaged files.

use std::time::{Duration, Instant};

use super::{cubes, parsed};
use crate::random::Random;

const ENDINGS: [&str; 5] = ["obj", "stl", "ply", "gltf", "glb"];

/// Parses bytes as a file, and returns whether that gave points; an error must have a message.
fn check(ending: &str, bytes: &[u8]) -> bool {
    match parsed(ending, bytes) {
        Ok(points) => {
            assert!(!points.is_empty() && points.iter().all(|point| point.is_finite()));
            true
        }
        Err(message) => {
            assert!(!message.is_empty());
            false
        }
    }
}

fn ending(name: &str) -> String {
    name.rsplit('.').next().unwrap().to_ascii_lowercase()
}

/// Draws a number below `count`.
fn below(random: &mut Random, count: usize) -> usize {
    ((random.symmetric() + 1.0) * 0.5 * count as f64) as usize
}

#[test]
fn random_bytes_do_not_panic() {
    const TEXT: &[u8] = b"v 0 1.e-\nf/{}[]\":,";
    const STARTS: [&[u8]; 6] = [b"", b"solid \n", b"ply\nformat ascii 1.0\n", b"{", b"glTF", b"v "];
    let mut random = Random::new(1);
    for round in 0..600 {
        let mut bytes = STARTS[round % STARTS.len()].to_vec();
        let text = round % 4 == 0;
        bytes.resize_with(4096, || {
            if text { TEXT[below(&mut random, TEXT.len())] } else { below(&mut random, 256) as u8 }
        });
        for ending in ENDINGS {
            check(ending, &bytes);
        }
    }
}

#[test]
fn changing_any_single_byte_does_not_panic() {
    for (name, mut bytes) in cubes() {
        let ending = ending(name);
        assert!(check(&ending, &bytes), "{name}");
        for at in 0..bytes.len() {
            let byte = bytes[at];
            for change in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
                bytes[at] = byte ^ change;
                check(&ending, &bytes);
            }
            bytes[at] = byte;
        }
    }
}

/// Damages a valid file in a few places: bytes, digits, parts deleted or duplicated.
fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..=below(random, 4) {
        if bytes.is_empty() {
            return;
        }
        let at = below(random, bytes.len());
        let end = (at + 1 + below(random, 16)).min(bytes.len());
        match below(random, 6) {
            0 => bytes[at] = below(random, 256) as u8,
            1 => bytes[at] = b"0123456789-.e \n"[below(random, 15)],
            2 => drop(bytes.drain(at..end)),
            3 => bytes.truncate(at),
            4 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => bytes[at..end].fill([0, 0xff, 0x7f, b'9'][below(random, 4)]),
        }
    }
}

/// `MSD_FUZZ_SECONDS=60` extends the run beyond a second.
#[test]
fn damaged_files_do_not_panic() {
    let seconds = std::env::var("MSD_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let (end, seed) = match seconds {
        Some(seconds) => (Instant::now() + Duration::from_secs(seconds), seconds),
        None => (Instant::now(), 0),
    };
    let mut random = Random::new(seed);
    let cubes = cubes();
    let (mut rounds, mut read) = (0, 0);
    while rounds < 1000 || Instant::now() < end {
        for (name, bytes) in &cubes {
            let mut bytes = bytes.clone();
            mutate(&mut random, &mut bytes);
            read += usize::from(check(&ending(name), &bytes));
        }
        rounds += 1;
    }
    // Some damage is harmless, most is not.
    let all = rounds * cubes.len();
    assert!(read > all / 20 && read < all, "{read} of {all} read");
}
