use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{Case, Measurement, SHORTFALLS, Shortfall, Tolerance, cases, farthest};

/// Published values of what the formulas give, correct to half a unit of the last digit.
const DIGITS: [(&str, &str, &str); 32] = [
    ("precession", "angle about L after 10 s", "14.14"),
    ("tumbling", "flips in 60 s", "9"),
    ("tumbling", "first flip", "2.767"),
    ("tumbling", "time between flips, worst", "6.451"),
    ("polyhedra", "icosahedron", "0.261803398875"),
    ("polyhedra", "dodecahedron", "0.607355503742"),
    ("polyhedra", "truncated cube", "0.930181405317"),
    ("polyhedra", "truncated octahedron", "0.791666666667"),
    ("polyhedra", "truncated tetrahedron", "0.345652173913"),
    ("corner-tetrahedron", "Ixx", "0.4875"),
    ("corner-tetrahedron", "Iyy", "0.375"),
    ("corner-tetrahedron", "Izz", "0.1875"),
    ("corner-tetrahedron", "Ixy", "0.025"),
    ("corner-tetrahedron", "Ixz", "0.0375"),
    ("corner-tetrahedron", "Iyz", "0.075"),
    ("rod-hit", "ball", "0.4891719745"),
    ("rod-hit", "rod", "0.5108280255"),
    ("rod-hit", "rod's spin", "1.2229299363"),
    ("sphere-skid-sliding", "v_t", "2.4"),
    ("sphere-skid-sliding", "r omega", "1.5"),
    ("sphere-skid-rolling", "v_t", "2.142857"),
    ("slide-to-stop", "distance", "2.5484"),
    ("slide-to-stop", "time", "1.0194"),
    ("skid-to-roll", "time until it rolls", "0.485413"),
    ("skid-to-roll", "distance until it rolls", "2.080343"),
    ("belt", "slip until then", "0.407747"),
    ("free-wedge", "a from speed", "1.887935"),
    ("ladder-45", "mu", "0.49000"),
    ("ladder-60", "mu", "0.27868"),
    ("ladder-70", "mu", "0.17199"),
    ("three-cylinders-between", "mu between", "0.267949"),
    ("three-cylinders-floor", "mu at the floor", "0.089316"),
];

/// Runs every case, on all cores.
fn run_all() -> Vec<(&'static Case, Vec<Measurement>)> {
    let (next, cases) = (AtomicUsize::new(0), cases());
    let work = || {
        let mut done = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = case.run().unwrap_or_else(|error| panic!("{}: {error}", case.name));
            done.push((case, found));
        }
        done
    };
    thread::scope(|scope| {
        let count = thread::available_parallelism().map_or(1, |count| count.get());
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no case panics")).collect()
    })
}

#[test]
fn every_case_meets_its_tolerance_except_the_known_shortfalls() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (case, found) in run_all() {
        assert!(!found.is_empty(), "{} measures nothing", case.name);
        let known = case.shortfall();
        let missed: Vec<_> = found.iter().filter(|m| !m.passes()).collect();
        if known.is_some() && missed.is_empty() {
            wrong.push(format!("{} passes: remove it from the list", case.name));
        }
        for m in
            missed.into_iter().filter(|m| known.is_none_or(|known| !(m.error() <= known.limit)))
        {
            wrong.push(format!("{}: off by {:e}: {m:?}", case.name, m.error()));
        }
        let mut quantities = HashSet::new();
        for m in &found {
            assert!(quantities.insert(m.quantity), "{}: {} twice", case.name, m.quantity);
            assert!(m.expected.is_finite(), "{}: {m:?}", case.name);
            let digits = DIGITS.iter().find(|row| (row.0, row.1) == (case.name, m.quantity));
            if let Some((.., digits)) = digits {
                let known: f64 = digits.parse().expect("a number");
                let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
                let half_unit = 0.5 * 0.1_f64.powi(places as i32);
                assert!((m.expected - known).abs() <= half_unit, "{}: {m:?}", case.name);
                compared += 1;
            }
            if let Tolerance::Relative(_) = m.tolerance {
                assert!(m.expected != 0.0, "{}: no fraction of zero: {m:?}", case.name);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(compared, DIGITS.len(), "digits of a quantity that no case measures");
}

#[test]
fn names_are_unique_and_known_shortfalls_are_cases() {
    let mut names = HashSet::new();
    for case in cases() {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(case.name.chars().all(plain), "{}", case.name);
        assert!(names.insert(case.name), "{} twice", case.name);
        assert!(!case.setup.is_empty());
        let groups = ["flight", "mass", "impact", "friction", "stability", "invariance", "ledger"];
        assert!(groups.contains(&case.group), "{}", case.group);
    }
    for Shortfall { case, limit, why } in SHORTFALLS {
        assert!(names.contains(case), "there is no case {case}");
        assert!(why.contains(&format!("{limit:e}")), "{case}: {why}");
    }
}

#[test]
fn a_measurement_passes_within_its_tolerance_only() {
    let absolute = |measured| Measurement::absolute("x", "m", 2.0, measured, 0.5);
    let relative = |measured| Measurement::relative("x", "m", -2.0, measured, 0.25);
    assert!(absolute(2.5).passes() && absolute(1.5).passes());
    assert!(!absolute(2.6).passes() && !absolute(1.4).passes());
    assert!(relative(-2.5).passes() && !relative(-2.6).passes() && !relative(2.0).passes());
    assert_eq!(relative(-2.5).error(), 0.25);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(!absolute(bad).passes() && !relative(bad).passes());
    }
    // A relative error of an expected zero is undefined.
    assert!(!Measurement::relative("x", "m", 0.0, 0.0, 1.0).passes());
}

#[test]
fn the_farthest_value_is_the_worst_even_if_it_is_nan() {
    assert_eq!(farthest(1.0, [1.5, 0.2, 1.1]), 0.2);
    assert_eq!(farthest(1.0, []), 1.0);
    assert!(farthest(1.0, [1.5, f64::NAN, 9.0]).is_nan());
}
