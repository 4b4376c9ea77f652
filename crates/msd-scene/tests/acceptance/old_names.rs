//! Old spellings of settings are read wherever a scene is read; errors point at them and give the current name.

use msd_scene::{Limits, Options, SceneError, SceneFile, changes, schema};
use msd_sim::Settings;

/// The settings that were renamed: old spelling, current name, a value that differs from the default.
const RENAMED: [(&str, &str, &str); 3] = [
    ("crowd", "max_exact_bodies", "7"),
    ("recovery", "position_correction", "0.125"),
    ("recovery_speed", "position_correction_speed", "3.5"),
];

const BALL: &str = "[[body]]\nkind = \"inertial\"\nshape = { sphere = { radius = 1 } }\n";

/// A scene whose third line is the first setting.
fn toml(settings: &str) -> String {
    format!("version = 1\n[world]\n{settings}\n{BALL}")
}

/// The same scene in JSON, one setting per line.
fn json(settings: &[(&str, &str)]) -> String {
    let lines = settings.iter().map(|(name, value)| format!("\"{name}\": {value}"));
    let ball = r#"{"kind": "inertial", "shape": {"sphere": {"radius": 1}}}"#;
    let settings = lines.collect::<Vec<_>>().join(",\n");
    format!("{{\"version\": 1, \"world\": {{\n{settings}}},\n\"body\": [{ball}]}}")
}

fn read(name: &str, text: &str, set: &[(&str, &str)]) -> Result<SceneFile, SceneError> {
    let set = set.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    SceneFile::parse(text, name, &Options { set, ..Options::default() })
}

fn settings(file: &SceneFile) -> Settings {
    file.build().unwrap().world().settings().clone()
}

/// The error of reading or building a TOML scene.
fn rejected(text: &str, set: &[(&str, &str)]) -> SceneError {
    read("scene.toml", text, set).and_then(|file| file.build()).unwrap_err()
}

#[test]
fn old_spellings_mean_the_same_in_toml_in_json_and_on_the_command_line() {
    for (old, new, value) in RENAMED {
        let plain = read("scene.toml", &toml(""), &[]).unwrap();
        let expected = read("scene.toml", &toml(&format!("{new} = {value}")), &[]).unwrap();
        assert_ne!(settings(&expected), settings(&plain), "{new} = {value} is the default");
        let written = [
            read("scene.toml", &toml(&format!("{old} = {value}")), &[]),
            // A dotted key, and a text that is read as a whole: a quoted header keeps it from being split.
            read("scene.toml", &format!("version = 1\nworld.{old} = {value}\n{BALL}"), &[]),
            read(
                "scene.toml",
                &format!("{}['materials']\n", toml(&format!("{old} = {value}"))),
                &[],
            ),
            read("scene.json", &json(&[(old, value)]), &[]),
            read("scene.toml", &toml(""), &[(old, value)]),
            read("scene.toml", &toml(""), &[(&format!("world.{old}"), value)]),
            read("scene.toml", &toml(""), &[("world", &format!("{{ {old} = {value} }}"))]),
        ];
        for file in written.map(Result::unwrap) {
            assert_eq!(settings(&file), settings(&expected), "{old}");
            assert!(changes(file.scene(), expected.scene()).unwrap().is_empty(), "{old}");
            // The canonical form, which recordings contain, has the current name.
            let canonical = file.scene().canonical().unwrap().to_json();
            assert!(canonical.contains(&format!("\"{new}\":{value}")), "{canonical}");
            assert!(!canonical.contains(&format!("\"{old}\"")), "{canonical}");
        }
    }
}

#[test]
fn an_override_replaces_a_setting_in_either_spelling() {
    for (old, new, value) in RENAMED {
        for (written, set) in [(old, new), (new, old), (old, old)] {
            let file = read("scene.toml", &toml(&format!("{written} = 2")), &[(set, value)]);
            let expected = read("scene.toml", &toml(&format!("{new} = {value}")), &[]).unwrap();
            assert_eq!(settings(&file.unwrap()), settings(&expected), "{written}, --set {set}");
        }
        // The last one counts.
        let file = read("scene.toml", &toml(""), &[(new, "2"), (old, value)]).unwrap();
        let expected = read("scene.toml", &toml(&format!("{new} = {value}")), &[]).unwrap();
        assert_eq!(settings(&file), settings(&expected), "{old}");
    }
}

#[test]
fn an_invalid_value_is_reported_with_the_scenes_spelling() {
    for (old, new, bad) in [
        ("crowd", "max_exact_bodies", "-1"),
        ("recovery", "position_correction", "7"),
        ("recovery", "position_correction", "\"much\""),
        ("recovery_speed", "position_correction_speed", "-2"),
    ] {
        let column = old.len() + 4;
        let error = rejected(&toml(&format!("{old} = {bad}")), &[]);
        assert_eq!(error.path(), format!("world.{old}"), "{error}");
        assert_eq!(error.position(), Some((3, column)), "{error}");
        let hint = format!("`{old}` is the old name of `{new}`");
        assert_eq!(error.help(), Some(hint.as_str()), "{error}");
        // In JSON, with the quotes around the name.
        let error = read("scene.json", &json(&[(old, bad)]), &[]).and_then(|file| file.build());
        let error = error.unwrap_err();
        assert_eq!(error.path(), format!("world.{old}"), "{error}");
        assert_eq!(error.position(), Some((2, old.len() + 5)), "{error}");
        // On the command line, over a value in the other spelling.
        let error = rejected(&toml(&format!("{new} = 1")), &[(old, bad)]);
        assert!(error.to_string().starts_with(&format!("--set {old}={bad}: ")), "{error}");
        assert_eq!((error.path(), error.help()), (&*format!("world.{old}"), Some(&*hint)));
        let error = rejected(&toml(&format!("{old} = 1")), &[(new, bad)]);
        assert_eq!((error.path(), error.help()), (&*format!("world.{new}"), None));
    }
}

#[test]
fn a_setting_without_effect_is_rejected_under_the_spelling_that_the_scene_uses() {
    let error = rejected(&toml("solver = \"pgs\"\ncrowd = 7"), &[]);
    assert_eq!((error.path(), error.position()), ("world.crowd", Some((4, 9))), "{error}");
    assert!(error.message().starts_with("has no effect"), "{error}");
    assert_eq!(error.help(), Some("`crowd` is the old name of `max_exact_bodies`"));
    // A swept world; the hint that it has anyway is kept.
    let error = rejected(&toml("crowd = 0\nrecovery = 0.125"), &[]);
    assert_eq!((error.path(), error.position()), ("world.recovery", Some((4, 12))), "{error}");
    let hint = "leave it out; `recovery` is the old name of `position_correction`";
    assert_eq!(error.help(), Some(hint));
    let error = rejected(&toml("crowd = 0\nposition_correction = 0.125"), &[]);
    assert_eq!((error.path(), error.help()), ("world.position_correction", Some("leave it out")));
    // Where they are accepted, as in recordings, the old spelling is accepted too.
    let limits = Limits { unused_settings: true, ..Limits::default() };
    let text = toml("solver = \"pgs\"\ncrowd = 7");
    let file = SceneFile::parse(&text, "scene.toml", &Options { limits, set: Vec::new() });
    assert_eq!(file.unwrap().build().unwrap().ignored_settings(), ["max_exact_bodies"]);
}

#[test]
fn a_setting_in_both_spellings_is_rejected_as_given_twice() {
    for (old, new, value) in RENAMED {
        for [first, second] in [[old, new], [new, old]] {
            let error = rejected(&toml(&format!("{first} = {value}\n{second} = {value}")), &[]);
            assert_eq!(error.message(), "is given twice");
            assert_eq!(error.path(), format!("world.{second}"));
            assert_eq!(error.position(), Some((4, 1)), "{error}");
            let help = format!("leave out `{old}`, the old name of `{new}`");
            assert_eq!(error.help(), Some(help.as_str()));
            let text = json(&[(first, value), (second, value)]);
            let error = read("scene.json", &text, &[]).unwrap_err();
            assert_eq!((error.message(), error.position()), ("is given twice", Some((3, 1))));
        }
        let table = format!("{{ {old} = {value}, {new} = {value} }}");
        let error = rejected(&toml(""), &[("world", &table)]);
        assert!(error.to_string().starts_with("--set world="), "{error}");
        assert_eq!(error.message(), "is given twice");
    }
}

#[test]
fn only_the_current_names_are_listed_as_expected_fields() {
    let error = rejected(&toml("position_corection = 1"), &[]);
    assert_eq!(error.help(), Some("did you mean `position_correction`?"));
    let schema = schema();
    let fields = schema["$defs"]["WorldTable"]["properties"].as_object().unwrap();
    for (old, new, _) in RENAMED {
        assert!(error.message().contains(&format!("`{new}`")), "{error}");
        assert!(!error.message().contains(&format!("`{old}`")), "{error}");
        assert!(fields.contains_key(new) && !fields.contains_key(old), "{old}");
    }
}

#[test]
fn old_spellings_are_unknown_outside_the_world_table() {
    let error = rejected(&format!("version = 1\n{BALL}crowd = 3\n"), &[]);
    assert_eq!((error.path(), error.position()), ("body[0].crowd", Some((5, 1))), "{error}");
    assert!(error.message().starts_with("unknown field `crowd`"), "{error}");
}
