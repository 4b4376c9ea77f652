//! The check that bodies have not left the scene.

use super::monitor::Monitor;
use super::worst_value::WorstValue;
use super::{Check, Verdict};
use crate::departures::{Departure, DepartureKind};
use crate::output;

impl Monitor {
    pub(super) fn check_bounds(&self) -> Check {
        let name = "bounds";
        if !self.departures.has_places_to_leave() {
            return self.skip(name, "the scene has no environment bodies");
        }
        let departures = self.departures.list();
        let kinds = [
            (DepartureKind::Fell, "falls past everything that could catch it"),
            (DepartureKind::Drove, "drives away from the inertial bodies"),
            (DepartureKind::Flew, "flies away without gravity"),
        ];
        if departures.is_empty() {
            let judged = kinds.iter().filter(|(kind, _)| self.departures.judges(*kind));
            let judged: Vec<&str> = judged.map(|(_, what)| *what).collect();
            if judged.is_empty() {
                return self
                    .skip(name, "no body could leave: nothing falls onto something or drives");
            }
            let message = format!("no body {}", judged.join(" or "));
            return self.conclude(name, Verdict::Pass, &WorstValue::default(), message);
        }
        let parts: Vec<String> =
            kinds.into_iter().filter_map(|(kind, _)| self.describe(&departures, kind)).collect();
        let worst = WorstValue {
            bodies: departures.iter().map(|departure| departure.body).collect(),
            ..WorstValue::default()
        };
        self.conclude(name, Verdict::Warn, &worst, parts.join("; "))
    }

    /// Describes the bodies that left in one way; `None` if there are none.
    fn describe(&self, departures: &[Departure], kind: DepartureKind) -> Option<String> {
        let mut left = departures.iter().filter(|departure| departure.kind == kind);
        let first = left.next()?;
        let others = left.count();
        let (name, distance) =
            (output::quoted(&self.name(first.body)), output::quantity(first.distance, "m"));
        let who = match others {
            0 => name,
            n => format!("{name} and {}", output::others(n)),
        };
        let verb = |one: &'static str, many: &'static str| if others == 0 { one } else { many };
        Some(match kind {
            DepartureKind::Fell => format!(
                "{who} {} past everything that could catch {}, and {} {distance} below it at the end",
                verb("falls", "fall"),
                verb("it", "them"),
                verb("is", "are up to"),
            ),
            DepartureKind::Drove => format!(
                "{who} {} driven away and {} {distance} from the inertial bodies: environment bodies keep their velocity for ever",
                verb("has", "have"),
                verb("is", "are up to"),
            ),
            DepartureKind::Flew => format!(
                "{who} {} flown off without gravity and {} {distance} from everything else",
                verb("has", "have"),
                verb("is", "are up to"),
            ),
        })
    }
}
