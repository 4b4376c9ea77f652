//! Old spellings of the settings in `world`, which scenes may still use.
//!
//! They are replaced once, in the tree of values, so that all other code sees only the current names. Errors name a
//! setting as the scene spells it.

use crate::error::{Fault, Segment};
use crate::node::{Entry, Node, Value};

/// A setting that was renamed.
#[derive(Debug)]
struct Renamed {
    old: &'static str,
    new: &'static str,
}

/// All settings that were renamed.
const RENAMED: [Renamed; 3] = [
    Renamed { old: "crowd", new: "max_exact_bodies" },
    Renamed { old: "recovery", new: "position_correction" },
    Renamed { old: "recovery_speed", new: "position_correction_speed" },
];

/// The old spellings that a scene uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct OldNames(Vec<&'static Renamed>);

impl OldNames {
    /// Replaces the old spellings in a scene's tree. Fails if a setting is given in both spellings.
    pub(crate) fn replace(root: &mut Node) -> Result<Self, Fault> {
        let mut used = Vec::new();
        for renamed in &RENAMED {
            let Some(settings) = settings(root) else { break };
            let position = |name: &str| settings.iter().position(|entry| entry.key == name);
            let Some(old) = position(renamed.old) else { continue };
            if let Some(new) = position(renamed.new) {
                return Err(given_twice(renamed, &settings[old.max(new)]));
            }
            settings[old].key = renamed.new.to_owned();
            used.push(renamed);
        }
        Ok(Self(used))
    }

    /// Replaces an old spelling in the path of a value that overrides the scene's; its spelling counts from now on.
    pub(crate) fn replace_in_path(&mut self, path: &mut [Segment]) {
        let Some(key) = setting_of(path) else { return };
        self.0.retain(|renamed| renamed.new != *key);
        if let Some(renamed) = RENAMED.iter().find(|renamed| renamed.old == *key) {
            self.0.retain(|other| other.new != renamed.new);
            self.0.push(renamed);
            *key = renamed.new.to_owned();
        }
    }

    /// Restores the scene's spelling in an error about a setting, and relates it to the current name.
    pub(crate) fn restore(&self, mut fault: Fault) -> Fault {
        let Some(key) = setting_of(&mut fault.path) else { return fault };
        let Some(Renamed { old, new }) = self.0.iter().find(|renamed| renamed.new == *key) else {
            return fault;
        };
        *key = (*old).to_owned();
        let hint = format!("`{old}` is the old name of `{new}`");
        let help = fault.help.take().map_or(hint.clone(), |help| format!("{help}; {hint}"));
        fault.help(help)
    }
}

/// Returns the entries of a scene's `world` table.
fn settings(root: &mut Node) -> Option<&mut Vec<Entry>> {
    let Value::Table(tables) = &mut root.value else { return None };
    let world = tables.iter_mut().find(|entry| entry.key == "world")?;
    match &mut world.node.value {
        Value::Table(settings) => Some(settings),
        _ => None,
    }
}

/// Returns the setting's key in a path that leads to or into a setting.
fn setting_of(path: &mut [Segment]) -> Option<&mut String> {
    match path {
        [Segment::Key(world), Segment::Key(key), ..] if world == "world" => Some(key),
        _ => None,
    }
}

/// Returns the error about the second of two spellings of a setting.
fn given_twice(Renamed { old, new }: &Renamed, second: &Entry) -> Fault {
    let help = format!("leave out `{old}`, the old name of `{new}`");
    let fault = Fault::of(&format!("world.{}", second.key), "is given twice");
    fault.at(second.key_span.clone()).help(help)
}
