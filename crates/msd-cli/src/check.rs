//! `msd check`: looks at a scene without running it.

use msd_scene::{Finding, lint};
use msd_sim::BodyKind;
use serde_json::{Value, json};

use crate::args::CheckArgs;
use crate::failure::{Failure, Outcome};
use crate::run::open;
use crate::show;
use crate::verdict::Verdict;

/// Looks at a scene.
pub fn check(args: &CheckArgs) -> Result<Outcome, Failure> {
    let file = open(&args.scene.scene, &args.scene.opening.options())?;
    let simulation = file.build()?;
    let (bodies, steps, dt) =
        (simulation.world().bodies().len(), simulation.steps(), simulation.dt());
    let world = simulation.world();
    let mass: f64 = world.bodies().map(|body| body.mass()).sum();
    let inertial = world.bodies().filter(|body| body.kind() == BodyKind::Inertial).count();
    let settings = world.settings();
    let (swept, limit) = (settings.sweeps_world(inertial), settings.max_exact_bodies);
    // The lint builds a world of its own: two of a large scene are not needed at once.
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
            "method": if swept { "swept" } else { "exact" },
            "bodies": bodies,
            "steps": steps,
            "dt": dt,
            "warnings": list,
        });
        show::out(&object.to_string());
        return Outcome::from(good);
    }
    let name = args.scene.scene.display();
    for Finding { rule, path, position, message } in &findings {
        let word = show::verdict(Verdict::Warn, "warning");
        let place = position.map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
        let path = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let message = show::plain(message);
        show::out(&format!("{name}{place}: {word} ({rule}): {path}{message}"));
    }
    let warnings = match findings.len() {
        0 => "nothing to warn of".to_owned(),
        1 => "1 warning".to_owned(),
        n => format!("{n} warnings"),
    };
    show::out(&format!(
        "{name}: {} of {} in all, {} of {}, {warnings}",
        show::count(bodies, "body").replace("bodys", "bodies"),
        show::quantity(mass * 1e3, "g"),
        show::count(steps as usize, "step"),
        show::quantity(dt, "s")
    ));
    if swept {
        show::out(&format!(
            "{name}: {inertial} moving bodies are more than max_exact_bodies = {}: they will be swept, which is faster and approximate",
            limit
        ));
    }
    Outcome::from(good)
}
