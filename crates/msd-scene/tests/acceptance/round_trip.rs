//! Scenes that are written and read back.

use msd_scene::{Options, SceneFile, catalog, changes};

#[test]
fn a_scene_written_as_json_makes_the_same_world() {
    for entry in catalog::ENTRIES {
        let first = entry.open(&Options::default()).unwrap();
        let canonical = first.scene().canonical().unwrap();
        let text = canonical.to_json();
        let second = SceneFile::parse(&text, "scene.json", &Options::default()).unwrap();
        assert_eq!(&canonical, second.scene(), "{}", entry.name);
        assert!(changes(first.scene(), second.scene()).unwrap().is_empty(), "{}", entry.name);
        let (mut a, mut b) = (first.build().unwrap(), second.build().unwrap());
        for _ in 0..3 {
            a.step();
            b.step();
        }
        assert_eq!(a.world().state_hash(), b.world().state_hash(), "{}", entry.name);
        assert_eq!(a.world().settings(), b.world().settings(), "{}", entry.name);
        assert_eq!((a.dt(), a.steps()), (b.dt(), b.steps()), "{}", entry.name);
    }
}

#[test]
fn every_scene_has_a_title_a_description_and_a_comment() {
    for entry in catalog::ENTRIES {
        let file = entry.open(&Options::default()).unwrap();
        assert!(!file.scene().title.is_empty() && !file.scene().description.is_empty());
        assert!(entry.comment().len() > 60, "{}: {}", entry.name, entry.comment());
    }
}

#[test]
fn the_canonical_form_keeps_the_accuracy_and_the_values_it_implies() {
    let parse = |settings: &str| {
        let text = format!("version = 1\n[world]\n{settings}\n");
        SceneFile::parse(&text, "scene.toml", &Options::default()).unwrap()
    };
    for (settings, same) in [
        (
            "",
            "accuracy = \"balanced\"\nmax_exact_bodies = 128\nmax_exact_cost = 4294967295\nnewton_work = 30000\nnewton_steps = 40",
        ),
        ("accuracy = \"exact\"", "accuracy = \"exact\"\nmax_exact_bodies = 4294967295"),
        ("accuracy = \"fast\"", "accuracy = \"fast\""),
    ] {
        let (first, second) = (parse(settings), parse(same));
        assert!(changes(first.scene(), second.scene()).unwrap().is_empty(), "{settings}");
        let canonical = first.scene().canonical().unwrap();
        let again = SceneFile::parse(&canonical.to_json(), "scene.json", &Options::default());
        let (a, b) = (first.build().unwrap(), again.unwrap().build().unwrap());
        assert_eq!(a.world().settings(), b.world().settings(), "{settings}");
    }
    // The limits of a balanced scene are pinned; a fast one has none.
    let json = |settings: &str| parse(settings).scene().canonical().unwrap().to_json();
    assert!(json("").contains("\"max_exact_bodies\":128"));
    assert!(!json("accuracy = \"fast\"").contains("max_exact_bodies"));
    let changed = changes(parse("").scene(), parse("accuracy = \"fast\"").scene()).unwrap();
    assert!(!changed.is_empty());
}
