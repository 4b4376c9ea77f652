//! `msd check`: checks a scene without running it.

use msd_scene::{Finding, lint};
use msd_sim::BodyKind;
use serde_json::{Value, json};

use crate::args::CheckArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::run::{ignored_settings, open};
use crate::summary::accuracy_of;
use crate::verdict::Verdict;

/// Checks a scene.
pub fn check(args: &CheckArgs) -> Result<Outcome, Failure> {
    let file = open(&args.scene.scene, &args.scene.opening.options())?;
    let simulation = file.build()?;
    let (bodies, steps, dt) =
        (simulation.world().bodies().len(), simulation.steps(), simulation.dt());
    let world = simulation.world();
    let mass: f64 = world.bodies().map(|body| body.mass()).sum();
    let inertial = world.bodies().filter(|body| body.kind() == BodyKind::Inertial).count();
    let settings = world.settings();
    let (swept, limit) = (settings.may_sweep(inertial), settings.exact_body_limit());
    let (level, accuracy) = (settings.accuracy, accuracy_of(settings));
    let ignored = ignored_settings(&simulation);
    // The lint builds its own world: avoids two worlds of a large scene in memory.
    drop(simulation);
    let findings = lint(&file)?;
    let good = findings.is_empty() || !args.strict;
    if args.json {
        let list: Vec<Value> = findings
            .iter()
            .map(|Finding { rule, path, position, message }| {
                let (line, column) = position.unzip();
                json!({ "rule": rule, "path": path, "line": line, "column": column, "message": message })
            })
            .collect();
        let object = json!({
            "scene": args.scene.scene.display().to_string(),
            "accuracy": level.name(),
            "method": match (swept, limit) {
                (false, _) => "exact",
                (true, 0) => "swept",
                (true, _) => "by island",
            },
            "bodies": bodies,
            "steps": steps,
            "dt": dt,
            "warnings": list,
            "notes": ignored,
        });
        output::print(&object.to_string());
        return Outcome::from(good);
    }
    let name = args.scene.scene.display();
    for Finding { rule, path, position, message } in &findings {
        let word = output::verdict(Verdict::Warn, "warning");
        let place = position.map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
        let path = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let message = output::plain(message);
        output::print(&format!("{name}{place}: {word} ({rule}): {path}{message}"));
    }
    let warnings = match findings.len() {
        0 => "no warnings".to_owned(),
        1 => "1 warning".to_owned(),
        n => format!("{n} warnings"),
    };
    output::print(&format!(
        "{name}: {}, total mass {}, {} of {}, accuracy {accuracy}, {warnings}",
        output::count(bodies, "body").replace("bodys", "bodies"),
        output::quantity(mass * 1e3, "g"),
        output::count(steps as usize, "step"),
        output::quantity(dt, "s")
    ));
    for note in ignored {
        output::print(&format!("note: {}", output::plain(&note)));
    }
    if swept {
        let which = match limit {
            0 => "all of them".to_owned(),
            _ if inertial > limit as usize => format!("islands of more than {limit}"),
            _ => "islands in motion whose exact steps cost more than max_exact_cost".to_owned(),
        };
        output::print(&format!(
            "note: {name} has {inertial} inertial bodies; {which} will be swept, which is faster but approximate"
        ));
    }
    Outcome::from(good)
}
