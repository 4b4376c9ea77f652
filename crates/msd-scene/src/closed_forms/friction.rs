//! Sliding and rolling on a level floor.

use msd_sim::math::Vec3;

use super::rig::{G, Rig, ball, cube, floor};
use super::{Case, Measurement, Outcome};

pub(super) const SLIDE_TO_STOP: Case = Case {
    name: "slide-to-stop",
    group: "friction",
    setup: "a cube at 5 m/s, mu .5, stops after a distance of v^2 / (2 mu g) and a time of v / (mu g)",
    peers: "-.2..-1.6 %",
    run: slide_to_stop,
};

pub(super) const BACKSPIN: Case = Case {
    name: "backspin",
    group: "friction",
    setup: "a sphere of r .5 m at 5 m/s with 10 rad/s of backspin, mu .3, ends rolling at \
            (5 v - 2 r omega) / 7",
    peers: "1e-3",
    run: backspin,
};

pub(super) const SKID_TO_ROLL: Case = Case {
    name: "skid-to-roll",
    group: "friction",
    setup: "a sphere of r .5 m thrown at 5 m/s without spin, mu .3, rolls from t = 2 v / (7 mu g), \
            at a distance of v t - mu g t^2 / 2",
    peers: "1e-3",
    run: skid_to_roll,
};

pub(super) const BELT: Case = Case {
    name: "belt",
    group: "friction",
    setup: "a cube placed on a belt at 2 m/s, mu .5, reaches its speed after v / (mu g), having \
            slipped by v^2 / (2 mu g)",
    peers: "",
    run: belt,
};

fn slide_to_stop() -> Outcome {
    let (speed, friction) = (5.0, 0.5);
    let mut rig = Rig::new()?;
    rig.floor(0.5, friction)?;
    let def = cube(0.5, friction)?.position(Vec3::Z * 0.5).velocity(Vec3::X * speed);
    let id = rig.add(def)?;
    let (time, _) = rig.zero_crossing(id, 3.0, |rig| rig.velocity(id).x)?;
    let distance = speed * speed / (2.0 * friction * G);
    Ok(vec![
        Measurement::relative("distance", "m", distance, rig.position(id).x, 5e-4),
        Measurement::relative("time", "s", speed / (friction * G), time, 5e-4),
    ])
}

fn backspin() -> Outcome {
    let (speed, spin, radius) = (5.0, 10.0, 0.5);
    let mut rig = Rig::new()?;
    rig.floor(0.0, 0.3)?;
    let def = ball(0.0, 0.3)?.position(Vec3::Z * radius).velocity(Vec3::X * speed);
    let id = rig.add(def.angular_velocity(Vec3::Y * -spin))?;
    rig.run_for(2.0)?;
    // Angular momentum about a point of the floor is conserved: v + 2/5 r omega.
    let end = (5.0 * speed - 2.0 * radius * spin) / 7.0;
    Ok(vec![
        Measurement::relative("v", "m/s", end, rig.velocity(id).x, 1e-3),
        Measurement::relative("r omega", "m/s", end, radius * rig.spin(id).y, 1e-3),
    ])
}

fn skid_to_roll() -> Outcome {
    let (speed, friction, radius) = (5.0, 0.3, 0.5);
    let mut rig = Rig::new()?;
    rig.floor(0.0, friction)?;
    let def = ball(0.0, friction)?.position(Vec3::Z * radius).velocity(Vec3::X * speed);
    let id = rig.add(def)?;
    let slip = |rig: &Rig| rig.velocity(id).x - radius * rig.spin(id).y;
    let (time, place) = rig.zero_crossing(id, 2.0, slip)?;
    // The slip velocity decreases at (1 + 5/2) mu g.
    let exact = 2.0 * speed / (7.0 * friction * G);
    let distance = speed * exact - 0.5 * friction * G * exact * exact;
    Ok(vec![
        Measurement::relative("time until it rolls", "s", exact, time, 1e-3),
        Measurement::relative("distance until it rolls", "m", distance, place.x, 1e-3),
        Measurement::relative("speed then", "m/s", 5.0 / 7.0 * speed, rig.velocity(id).x, 1e-3),
    ])
}

fn belt() -> Outcome {
    let (speed, friction) = (2.0, 0.5);
    let mut rig = Rig::new()?;
    let belt = rig.add(floor(0.0, friction)?.velocity(Vec3::X * speed))?;
    let id = rig.add(cube(0.0, friction)?.position(Vec3::Z * 0.5))?;
    let (time, _) = rig.zero_crossing(id, 2.0, |rig| speed - rig.velocity(id).x)?;
    let slipped = rig.position(belt).x - rig.position(id).x;
    let distance = speed * speed / (2.0 * friction * G);
    Ok(vec![
        Measurement::relative("time until it keeps up", "s", speed / (friction * G), time, 2e-3),
        Measurement::relative("slip until then", "m", distance, slipped, 2e-3),
    ])
}
