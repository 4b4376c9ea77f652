//! Time of one answer, ours and parry3d-f64's, for every question and pair of shapes:
//! `cargo bench --bench geometry -- "cuboid - cuboid"`

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use msd_bench::{Case, Question, pairs, shapes};

/// Asks one of the two at one of the poses.
type Ask<'a> = fn(&mut Case<'a>, usize);

fn geometry(criterion: &mut Criterion) {
    let shapes = shapes();
    for question in Question::ALL {
        let mut group = criterion.benchmark_group(question.name());
        for (name, a, b) in pairs(&shapes) {
            // Poses are found when one is first measured: pairs filtered out cost nothing.
            let mut case = None;
            for (engine, ask) in
                [("msd", Case::ask_ours as Ask), ("parry", Case::ask_theirs as Ask)]
            {
                group.bench_function(format!("{name}/{engine}"), |bencher| {
                    let case = case.get_or_insert_with(|| Case::new(a, b, question));
                    let mut i = 0;
                    bencher.iter(|| {
                        ask(case, i);
                        i += 1;
                    });
                });
            }
        }
        group.finish();
    }
}

/// Every question of every pair within a few minutes.
fn quick() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        .sample_size(15)
        .nresamples(5_000)
        .without_plots()
}

criterion_group! { name = benches; config = quick(); targets = geometry }
criterion_main!(benches);
