//! The modules of the engine depend on each other in one direction: every `crate::` path in `src/` is checked against
//! the table "Module dependencies" in `ARCHITECTURE.md`. Its solvers share no code with the oracles.

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

/// The unit tests at the end of a file: they may use any module.
const TESTS: &str = "#[cfg(test)]\nmod tests {";

/// Removes line comments and unit tests.
fn production_code(source: &str) -> String {
    let end = source.find(TESTS).unwrap_or(source.len());
    let lines = source[..end].lines().map(|line| line.split("//").next().unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the first segments of a path that begins here, braces included: `{a::B, c}` has two.
fn first_segments(path: &str) -> Vec<String> {
    let first = |text: &str| text.chars().take_while(|&c| is_name(c) || c == '*').collect();
    let Some(list) = path.strip_prefix('{') else { return vec![first(path)] };
    let mut depth = 0;
    let mut items = vec![String::new()];
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(String::new());
                continue;
            }
            _ => {}
        }
        items.last_mut().unwrap().push(c);
    }
    items.iter().map(|item| first(item.trim())).filter(|name: &String| !name.is_empty()).collect()
}

/// Returns the modules of the crate's root that a source text names by `crate::` paths, or by `super::` paths that lead
/// up to the root from a module `depth` levels below it. A `*` stands for all of them. In modules within a file
/// `super::` leads elsewhere: of these paths only names of `modules` count.
fn mentions(code: &str, depth: usize, modules: &BTreeSet<String>) -> BTreeSet<String> {
    let paths = |root: &str| -> Vec<String> {
        let starts = code.match_indices(root).filter(|(at, _)| {
            let before = code[..*at].chars().next_back();
            !before.is_some_and(|c| is_name(c) || c == ':')
        });
        starts.flat_map(|(at, _)| first_segments(&code[at + root.len()..])).collect()
    };
    let mut found = BTreeSet::from_iter(paths("crate::"));
    let above = paths(&"super::".repeat(depth));
    found.extend(above.into_iter().filter(|name| modules.contains(name)));
    // Another name of the root would hide paths.
    for hidden in ["crate as ", "extern crate self"] {
        if code.contains(hidden) {
            found.insert("*".to_owned());
        }
    }
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

/// Returns the folder of the engine's sources.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Returns the dependencies of each top-level module, with a file that has each.
fn dependencies() -> BTreeMap<String, BTreeMap<String, PathBuf>> {
    let root = root();
    let mut files = Vec::new();
    sources(&root, &mut files);
    let module_of = |file: &Path| {
        let path = file.strip_prefix(&root).unwrap();
        let module = path.components().next().unwrap().as_os_str().to_str().unwrap();
        module.trim_end_matches(".rs").to_owned()
    };
    let modules: BTreeSet<String> = files.iter().map(|file| module_of(file)).collect();
    let mut found: BTreeMap<String, BTreeMap<String, PathBuf>> = BTreeMap::new();
    for file in files {
        let path = file.strip_prefix(&root).unwrap();
        let module = module_of(&file);
        if module == "lib" {
            continue;
        }
        let source = std::fs::read_to_string(&file).unwrap();
        assert!(ends_with_tests(&source), "{}: code behind the unit tests", path.display());
        let own = found.entry(module.clone()).or_default();
        let names = mentions(&production_code(&source), depth(path), &modules);
        for name in names.into_iter().filter(|name| *name != module) {
            own.entry(name).or_insert_with(|| path.to_owned());
        }
    }
    found
}

/// Returns how many modules a file's module is below the root: 1 for `a.rs` and `a/mod.rs`, 2 for `a/b.rs`.
fn depth(path: &Path) -> usize {
    path.components().count() - usize::from(path.file_name().is_some_and(|name| name == "mod.rs"))
}

/// Returns whether nothing follows the unit tests of a file, if it has any.
fn ends_with_tests(source: &str) -> bool {
    let Some(start) = source.find(TESTS) else { return true };
    source[start..].find("\n}\n").is_none_or(|end| source[start + end + 3..].trim().is_empty())
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
        for module in group.modules.iter().filter(|&module| !dependencies.contains_key(module)) {
            wrong.push(format!("there is no module `{module}`"));
        }
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
fn only_the_file_that_chooses_the_method_names_the_oracles() {
    let mut files = Vec::new();
    sources(&root(), &mut files);
    let names_oracles = |file: &PathBuf| {
        let code = production_code(&std::fs::read_to_string(file).unwrap());
        ["msd_oracle", "Delassus"].iter().any(|name| code.contains(name))
    };
    files.retain(names_oracles);
    assert_eq!(files, [root().join("solver/mod.rs")]);
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
    let modules = BTreeSet::from(["bodies", "joints"].map(str::to_owned));
    let names = |code: &str, depth| mentions(code, depth, &modules).into_iter().collect::<Vec<_>>();
    let code = "use crate::math::Vec3;\nuse crate::{bodies::{A, B}, joints};\nfn f() -> crate::id::BodyId {}";
    assert_eq!(names(code, 1), ["bodies", "id", "joints", "math"]);
    // Up to the root: `super` in `a.rs`, twice in `a/b.rs`.
    assert_eq!(names("use super::{bodies, joints::J};", 1), ["bodies", "joints"]);
    assert_eq!(names("use super::sibling::S;\nuse super::super::bodies::B;", 2), ["bodies"]);
    // All modules at once, which no table allows.
    assert_eq!(names("use crate::*;", 1), ["*"]);
    assert_eq!(names("use crate as root;", 1), ["*"]);
    let tests = "use crate::a::A; // crate::b\n#[cfg(test)]\nmod tests {\n use crate::c::C;\n}\n";
    assert_eq!(names(&production_code(tests), 1), ["a"]);
    assert!(ends_with_tests(tests));
    assert!(!ends_with_tests(&format!("{tests}use crate::d::D;\n")));
    assert_eq!(["a.rs", "a/mod.rs", "a/b.rs"].map(|path| depth(Path::new(path))), [1, 1, 2]);
}
