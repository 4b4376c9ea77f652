//! The modules of the engine depend on each other in one direction: every `crate::` path in `src/` is checked against the
//! table "Module dependencies" in `ARCHITECTURE.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A row of the table: modules that may use each other, and the modules that they may use besides.
struct Group {
    modules: Vec<String>,
    uses: BTreeSet<String>,
}

/// Reads the table's rows: modules in the first column, the modules they use in the second, in backticks.
fn table(page: &str) -> Vec<Group> {
    let section = page.split("\n## ").find(|section| section.starts_with("Module dependencies"));
    let section = section.expect("ARCHITECTURE.md has a section \"Module dependencies\"");
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let names = |cell: &str| -> Vec<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').collect();
        Group { modules: names(cells[1]), uses: names(cells[2]).into_iter().collect() }
    })
    .collect()
}

/// Removes line comments, and the unit tests at the end of a file: these may use any module.
fn production_code(source: &str) -> String {
    let end = source.find("#[cfg(test)]\nmod tests").unwrap_or(source.len());
    let lines = source[..end].lines().map(|line| line.split("//").next().unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the first segments of the `crate::` paths in a source text, braces included: `crate::{a::B, c}` has two.
fn mentions(code: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let first = |text: &str| text.chars().take_while(|&c| is_name(c)).collect::<String>();
    let mut found = BTreeSet::new();
    for (at, marker) in code.match_indices("crate::") {
        if code[..at].chars().next_back().is_some_and(|c| is_name(c) || c == '$') {
            continue;
        }
        let rest = &code[at + marker.len()..];
        match rest.strip_prefix('{') {
            None => {
                found.insert(first(rest));
            }
            Some(list) => {
                let mut depth = 0;
                let mut item = String::new();
                for c in list.chars() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            found.insert(first(item.trim()));
                            item.clear();
                            continue;
                        }
                        _ => {}
                    }
                    item.push(c);
                }
                found.insert(first(item.trim()));
            }
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Returns the dependencies of each top-level module, with a file that has each.
fn dependencies() -> BTreeMap<String, BTreeMap<String, PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut found: BTreeMap<String, BTreeMap<String, PathBuf>> = BTreeMap::new();
    for file in files {
        let path = file.strip_prefix(&root).unwrap();
        let module = path.components().next().unwrap().as_os_str().to_str().unwrap();
        let module = module.trim_end_matches(".rs").to_owned();
        if module == "lib" {
            continue;
        }
        let code = production_code(&std::fs::read_to_string(&file).unwrap());
        let own = found.entry(module.clone()).or_default();
        for name in mentions(&code).into_iter().filter(|name| *name != module) {
            own.entry(name).or_insert_with(|| path.to_owned());
        }
    }
    found
}

fn architecture() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ARCHITECTURE.md");
    std::fs::read_to_string(path).unwrap()
}

/// Returns what is wrong with dependencies according to a table.
fn violations(
    table: &[Group],
    dependencies: &BTreeMap<String, BTreeMap<String, PathBuf>>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let group_of = |module: &str| {
        table.iter().position(|group| group.modules.iter().any(|name| name == module))
    };
    for (number, group) in table.iter().enumerate() {
        // A module may use those of earlier rows only, so there is no ring.
        for name in &group.uses {
            if group_of(name).is_none_or(|other| other >= number) {
                wrong.push(format!("{:?} may use `{name}`, which is not above", group.modules));
            }
        }
        // The table lists no more than there is.
        let used = |name: &String| {
            let own = group.modules.iter().filter_map(|module| dependencies.get(module));
            own.into_iter().any(|uses| uses.contains_key(name))
        };
        for name in group.uses.iter().filter(|name| !used(name)) {
            wrong.push(format!("{:?} may use `{name}`, but does not", group.modules));
        }
    }
    for (module, uses) in dependencies {
        let Some(at) = group_of(module) else {
            wrong.push(format!("module `{module}` is not in the table"));
            continue;
        };
        let group = &table[at];
        for (name, file) in uses {
            if !group.uses.contains(name) && !group.modules.contains(name) {
                wrong.push(format!("{}: `{module}` may not use `{name}`", file.display()));
            }
        }
    }
    wrong
}

#[test]
fn modules_depend_on_each_other_only_as_the_architecture_page_allows() {
    let wrong = violations(&table(&architecture()), &dependencies());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_forbidden_dependency_is_found() {
    let table = table(&architecture());
    let mut found = dependencies();
    let file = PathBuf::from("geometry/shape.rs");
    found.get_mut("geometry").unwrap().insert("collision".to_owned(), file);
    assert_eq!(
        violations(&table, &found),
        ["geometry/shape.rs: `geometry` may not use `collision`"]
    );
}

#[test]
fn paths_are_read_in_every_form() {
    let code = "use crate::math::Vec3;\nuse crate::{bodies::{A, B}, joints};\nfn f() -> crate::id::BodyId { $crate::x!() }";
    assert_eq!(mentions(code).into_iter().collect::<Vec<_>>(), ["bodies", "id", "joints", "math"]);
    let tests = "use crate::a::A; // crate::b\n#[cfg(test)]\nmod tests {\n use crate::c::C;\n}";
    assert_eq!(mentions(&production_code(tests)).into_iter().collect::<Vec<_>>(), ["a"]);
}
