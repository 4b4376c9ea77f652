//! `msd scenes` and `msd schema`: the built-in scenes and the scene format.

use msd_scene::{Options, catalog, nearest, schema as scene_schema};
use serde_json::{Value, json};

use crate::args::ScenesArgs;
use crate::atomic_file;
use crate::failure::{Failure, Outcome};
use crate::output;

/// Lists, prints or writes the built-in scenes.
pub fn scenes(args: &ScenesArgs) -> Result<Outcome, Failure> {
    if let Some(name) = &args.name {
        let entry = catalog::find(name).ok_or_else(|| {
            let known = nearest(name, catalog::ENTRIES.iter().map(|entry| entry.name));
            let help = known.map_or(String::new(), |known| format!("; did you mean `{known}`?"));
            Failure::Input(format!("no scene `{name}`{help}"))
        })?;
        output::print(entry.text.trim_end());
        return Ok(Outcome::Good);
    }
    if let Some(folder) = &args.write {
        std::fs::create_dir_all(folder).map_err(|error| Failure::io(folder, error))?;
        for entry in catalog::ENTRIES {
            let path = folder.join(format!("{}.toml", entry.name));
            atomic_file::write(&path, entry.text)?;
        }
        output::print(&format!("{} scenes in {}", catalog::ENTRIES.len(), folder.display()));
        return Ok(Outcome::Good);
    }
    let mut list = Vec::new();
    for entry in catalog::ENTRIES {
        let file = entry.open(&Options::default())?;
        let scene = file.scene();
        list.push((entry.name, scene.title.clone(), scene.description.clone()));
    }
    if args.json {
        let list: Vec<Value> = list
            .iter()
            .map(|(name, title, text)| json!({ "name": name, "title": title, "description": text }))
            .collect();
        output::print(&Value::from(list).to_string());
    } else {
        let rows: Vec<_> =
            list.into_iter().map(|(name, _, text)| (name.to_owned(), text)).collect();
        output::print(&output::facts(&rows));
        output::print("\nRun a scene with `msd run NAME`, or print it with `msd scenes NAME`.");
    }
    Ok(Outcome::Good)
}

/// Prints the JSON Schema of scene files.
pub fn schema() -> Result<Outcome, Failure> {
    output::print(&serde_json::to_string_pretty(&scene_schema()).unwrap_or_default());
    Ok(Outcome::Good)
}
