//! Randomly damaged scenes are read, or rejected with a message that names the file.

use msd_scene::{Limits, Options, SceneFile, catalog, lint};

/// The SplitMix64 generator, so that failures can be reproduced.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// Replacement texts.
const PIECES: [&str; 24] = [
    "0",
    "-1",
    "1e308",
    "1e-308",
    "nan",
    "inf",
    "\"\"",
    "[]",
    "{}",
    "true",
    "null",
    "[[body]]",
    "=",
    "\n",
    ".",
    "\"x\"",
    "[0, 0, 0]",
    "99999999999",
    "{ sphere = { radius = 1 } }",
    "\u{7f}",
    "é",
    "'",
    "#",
    ",",
];

fn damaged(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(3) {
        let boundary =
            |at: usize| (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let start = boundary(random.below(text.len()));
        let end = boundary((start + random.below(12)).min(text.len())).max(start);
        text.replace_range(start..end, PIECES[random.below(PIECES.len())]);
    }
    text
}

#[test]
fn damaged_scenes_are_read_or_rejected_with_a_message() {
    // Small limits, so that damage to a number cannot build a huge scene.
    let limits = Limits {
        bodies: 200,
        points: 200,
        scene_bytes: 1 << 20,
        mesh_bytes: 1 << 20,
        ..Limits::default()
    };
    let options = Options { limits, set: Vec::new() };
    let mut random = Random(1);
    let (mut read, mut rejected) = (0, 0);
    for round in 0..4000 {
        let entry = &catalog::ENTRIES[round % catalog::ENTRIES.len()];
        let mut text = damaged(entry.text, &mut random);
        let mut name = "scene.toml";
        if round % 3 == 0 {
            let scene = entry.open(&Options::default()).unwrap().scene().to_json();
            (text, name) = (damaged(&scene, &mut random), "scene.json");
        }
        let result = SceneFile::parse(&text, name, &options).and_then(|file| {
            file.build()?;
            lint(&file)
        });
        match result {
            Ok(_) => read += 1,
            Err(error) => {
                rejected += 1;
                assert!(!error.message().is_empty(), "{text}");
                assert!(error.render(false).contains("error"), "{text}");
                assert!(error.to_string().contains(name), "{error}");
            }
        }
    }
    // Both outcomes must be exercised.
    assert!(read > 300 && rejected > 1000, "{read} read, {rejected} rejected");
}
