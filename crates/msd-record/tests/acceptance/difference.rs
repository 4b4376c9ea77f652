use msd_record::{Difference, EventsRecord, Frame, Stage, first_difference};

use crate::colliders::{every_event, furniture};
use crate::run::Scene;

/// Returns the first difference after `change` to a frame.
fn found(change: impl FnOnce(&mut Frame)) -> Difference {
    let mut scene = Scene::new();
    // By then bodies have landed on the floor.
    for _ in 0..40 {
        scene.step();
    }
    let frame = Frame::of(&scene.world);
    let mut other = frame.clone();
    change(&mut other);
    first_difference(&frame, &other).expect("a difference")
}

fn next_up(value: &mut f64) {
    *value = value.next_up();
}

#[test]
fn equal_frames_have_no_difference() {
    let frame = Frame::of(&Scene::new().world);
    assert!(first_difference(&frame, &frame.clone()).is_none());
}

#[test]
fn a_change_of_one_bit_names_the_body_and_the_field() {
    let d = found(|frame| next_up(&mut frame.states[5].position.x));
    assert_eq!((d.stage, d.body, d.field.as_str()), (Stage::State, Some(5), "position.x"));
    let d = found(|frame| next_up(&mut frame.states[3].rotation.w));
    assert_eq!((d.stage, d.body, d.field.as_str()), (Stage::State, Some(3), "rotation.w"));
    let d = found(|frame| next_up(&mut frame.states[4].angular_velocity.z));
    assert_eq!((d.stage, d.body, d.field.as_str()), (Stage::State, Some(4), "angular_velocity.z"));
}

#[test]
fn the_sign_of_zero_is_a_difference_and_a_nan_equals_itself() {
    let d = found(|frame| frame.states[0].velocity.y = -0.0);
    assert_eq!((d.stage, d.body, d.field.as_str()), (Stage::State, Some(0), "velocity.y"));
    let mut frame = Frame::of(&Scene::new().world);
    frame.time = f64::NAN;
    assert!(first_difference(&frame, &frame.clone()).is_none());
}

#[test]
fn a_pair_is_named_by_its_bodies() {
    let d = found(|frame| next_up(&mut frame.contacts[0].normal.z));
    assert_eq!((d.stage, d.field.as_str()), (Stage::Contacts, "normal.z"));
    assert_eq!(d.other, Some(0), "the floor is the first of the pair");
    assert!(d.body.is_some_and(|body| body > 0));
    let d = found(|frame| next_up(&mut frame.points[1].impulse.y));
    assert_eq!((d.stage, d.field.as_str()), (Stage::Impulses, "point 1 impulse.y"));
    let d = found(|frame| next_up(&mut frame.contacts[0].impulse.x));
    assert_eq!((d.stage, d.field.as_str()), (Stage::Impulses, "impulse.x"));
}

#[test]
fn a_pair_is_named_by_its_colliders_where_bodies_have_several() {
    let (frame, other) = (furniture(60), furniture(60));
    let changed = |change: fn(&mut Frame)| {
        let mut other = other.clone();
        change(&mut other);
        first_difference(&frame, &other).expect("a difference")
    };
    let leg = frame.contacts[0].colliders[1];
    assert_ne!(leg.index, frame.contacts[0].b.index, "a collider of the table, not its first");
    let d = changed(|frame| frame.contacts[0].normal.z = 2.0);
    assert_eq!((d.other, d.body, d.colliders.map(|pair| pair[1])), (Some(0), Some(1), Some(leg)));
    let end = format!("bodies 0 and 1, colliders 0 and {}, normal.z: 1.0 or 2.0", leg.index);
    assert!(d.to_string().ends_with(&end), "{d}");
    let d = changed(|frame| frame.contacts[0].colliders[1].generation += 1);
    assert_eq!((d.stage, d.field.as_str()), (Stage::Contacts, "pair"));
}

#[test]
fn colliders_of_events_and_hits_are_compared_and_so_is_what_enters_and_leaves_sensors() {
    let frame = Frame { events: every_event(), ..Frame::default() };
    let changed = |change: fn(&mut EventsRecord)| {
        let mut other = frame.clone();
        change(&mut other.events);
        let found = first_difference(&frame, &other).expect("a difference");
        assert_eq!(found.stage, Stage::Events);
        (found.field, found.colliders.map(|pair| pair.map(|key| key.index)))
    };
    let field = |(field, _): (String, _)| field;
    assert_eq!(field(changed(|events| events.begun[0].colliders[1].index = 9)), "begun");
    assert_eq!(field(changed(|events| events.ended[0].colliders[0].generation = 9)), "ended");
    assert_eq!(field(changed(|events| events.hits[0].colliders[1].index = 9)), "hit");
    let entered = changed(|events| events.entered.clear());
    assert_eq!(entered, ("entered".to_owned(), Some([7, 3])));
    let left = changed(|events| events.left[0].other.index = 9);
    assert_eq!(left, ("left".to_owned(), Some([7, 4])));
}

#[test]
fn the_earliest_stage_is_reported() {
    let d = found(|frame| {
        next_up(&mut frame.report.audit.as_mut().unwrap().terms.as_mut().unwrap().friction);
        next_up(&mut frame.states[4].position.z);
        next_up(&mut frame.report.solve.as_mut().unwrap().residual.cone);
        next_up(&mut frame.points[0].gap);
    });
    assert_eq!((d.stage, d.field.as_str()), (Stage::Contacts, "point 0 gap"));
    let d = found(|frame| {
        next_up(&mut frame.states[4].position.z);
        next_up(&mut frame.report.solve.as_mut().unwrap().residual.cone);
    });
    assert_eq!((d.stage, d.body, d.field.as_str()), (Stage::Impulses, None, "residual.cone"));
}

#[test]
fn energy_and_events_are_compared_last() {
    let d = found(|frame| next_up(&mut frame.report.audit.as_mut().unwrap().momentum.angular.y));
    assert_eq!((d.stage, d.field.as_str()), (Stage::Energy, "momentum.angular.y"));
    let d = found(|frame| frame.report.audit = None);
    assert_eq!((d.stage, d.field.as_str()), (Stage::Energy, "ledger"));
    let d = found(|frame| frame.events.quarantined.push(frame.states[6].body));
    assert_eq!((d.stage, d.body, d.field.as_str()), (Stage::Events, Some(6), "quarantined"));
}

#[test]
fn a_missing_body_or_pair_is_named() {
    let d = found(|frame| _ = frame.states.remove(7));
    assert_eq!((d.stage, d.body, d.field.as_str()), (Stage::State, Some(7), "body"));
    assert_eq!((d.a.to_string(), d.b.to_string()), ("7".to_owned(), "none".to_owned()));
    let d = found(|frame| _ = frame.contacts.remove(0));
    assert_eq!((d.stage, d.field.as_str()), (Stage::Contacts, "pair"));
    assert!(d.to_string().starts_with("step 40, contacts of bodies 0 and "), "{d}");
}
