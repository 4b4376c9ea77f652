//! Reads recordings without msd's reader: with the MCAP crate, and by the protobuf descriptors in the schemas.

use std::collections::BTreeMap;

use msd_record::Recording;
use prost_reflect::{DescriptorPool, DynamicMessage, Value};

use crate::run::{Run, STEPS, recorded};

/// Returns all messages by topic, with their times in ns.
fn messages(run: &Run) -> BTreeMap<String, Vec<(u64, DynamicMessage)>> {
    let mut found: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for message in mcap::MessageStream::new(&run.bytes()).unwrap() {
        let message = message.unwrap();
        let schema = message.channel.schema.as_ref().unwrap();
        assert_eq!(schema.encoding, "protobuf");
        let pool = DescriptorPool::decode(schema.data.as_ref()).unwrap();
        let descriptor = pool.get_message_by_name(&schema.name).unwrap();
        let decoded = DynamicMessage::decode(descriptor, message.data.as_ref()).unwrap();
        assert_eq!(decoded.unknown_fields().count(), 0);
        let topic = message.channel.topic.clone();
        found.entry(topic).or_default().push((message.log_time, decoded));
    }
    found
}

fn get(message: &DynamicMessage, field: &str) -> Value {
    message.get_field_by_name(field).unwrap_or_else(|| panic!("{field}")).into_owned()
}

fn list(message: &DynamicMessage, field: &str) -> Vec<Value> {
    get(message, field).as_list().unwrap().to_vec()
}

fn text(message: &DynamicMessage, field: &str) -> String {
    get(message, field).as_str().unwrap().to_owned()
}

fn numbers(message: &DynamicMessage, field: &str) -> Vec<u64> {
    list(message, field).iter().map(|value| value.as_f64().unwrap().to_bits()).collect()
}

#[test]
fn the_schemas_in_the_file_decode_every_message() {
    let run = recorded();
    let messages = messages(&run);
    let count = |topic: &str| messages[topic].len() as u64;
    assert_eq!([count("/msd/header"), count("/msd/summary")], [1, 1]);
    assert_eq!([count("/msd/step"), count("/msd/contacts")], [STEPS + 1; 2]);
    assert_eq!(count("/msd/body"), Recording::open(&run.path).unwrap().bodies().len() as u64);
    for ((time, step), frame) in messages["/msd/step"].iter().zip(&run.frames) {
        assert_eq!(*time, (frame.time * 1e9).round() as u64);
        assert_eq!(get(step, "step").as_u64(), Some(frame.step));
        assert_eq!(get(step, "state_hash").as_u64(), Some(frame.state_hash));
        let positions = frame.states.iter().flat_map(|state| state.position.to_array());
        assert_eq!(numbers(step, "position"), positions.map(f64::to_bits).collect::<Vec<_>>());
    }
    for ((_, contacts), frame) in messages["/msd/contacts"].iter().zip(&run.frames) {
        let gaps = frame.points.iter().map(|point| point.gap.to_bits());
        assert_eq!(numbers(contacts, "gap"), gaps.collect::<Vec<_>>());
    }
}

#[test]
fn foxglove_gets_the_pose_of_every_body() {
    let run = recorded();
    let messages = messages(&run);
    let frames = |topic: &str, place: usize| -> Vec<String> {
        let (_, message) = &messages[topic][place];
        let transforms = list(message, "transforms");
        transforms.iter().map(|t| text(t.as_message().unwrap(), "child_frame_id")).collect()
    };
    assert_eq!(frames("/tf_static", 0), ["floor", "body#1"]);
    assert_eq!(frames("/tf", 0)[..4], ["belt", "cube", "cube#4", "cube#5"]);
    // 1.5 s at 30 per second, and the initial one.
    assert_eq!(messages["/tf"].len(), 46);
    let times: Vec<u64> = messages["/tf"].iter().map(|(time, _)| *time).collect();
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] >= 33_333_333));
    assert!(frames("/tf", 0).contains(&"guest".to_owned()));
    assert!(!frames("/tf", 45).contains(&"guest".to_owned()));
    assert!(frames("/tf", 45).contains(&"tenant".to_owned()));
}

#[test]
fn foxglove_gets_the_geometry_of_every_body() {
    let run = recorded();
    let scenes = &messages(&run)["/scene"];
    let (_, first) = &scenes[0];
    let entities = list(first, "entities");
    let entity = |name: &str| {
        let found = entities.iter().map(|entity| entity.as_message().unwrap());
        found.into_iter().find(|entity| text(entity, "frame_id") == name).unwrap().clone()
    };
    assert_eq!(entities.len(), 14);
    let parts = |name: &str| {
        let entity = entity(name);
        ["cubes", "spheres", "cylinders", "triangles"].map(|field| list(&entity, field).len())
    };
    assert_eq!(parts("floor"), [1, 0, 0, 0]);
    assert_eq!(parts("bob"), [0, 1, 0, 0]);
    assert_eq!(parts("capsule"), [0, 2, 1, 0]);
    assert_eq!(parts("cone"), [0, 0, 1, 0]);
    assert_eq!(parts("hull"), [0, 0, 0, 1]);
    let hull = list(&entity("hull"), "triangles");
    assert_eq!(list(hull[0].as_message().unwrap(), "indices").len(), 12);
    // Added after step 20, removed after 30, then two more.
    assert_eq!(scenes.len(), 5);
    let removed = list(&scenes[2].1, "deletions");
    assert_eq!(text(removed[0].as_message().unwrap(), "id"), "guest");
}
