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
