//! Time of one query in msd and in parry3d-f64, for every kind of query and pair of shapes:
//! `cargo bench --bench geometry -- "cuboid - cuboid"`

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use msd_bench::{Case, Query, pairs, shapes};

/// A query of one engine at one of the poses.
type RunQuery<'a> = fn(&mut Case<'a>, usize);

fn geometry(criterion: &mut Criterion) {
    let shapes = shapes();
    for query in Query::ALL {
        let mut group = criterion.benchmark_group(query.name());
        for (name, a, b) in pairs(&shapes) {
            // Poses are generated on first use: filtered-out pairs cost nothing.
            let mut case = None;
            for (engine, run_query) in
                [("msd", Case::query_msd as RunQuery), ("parry", Case::query_parry as RunQuery)]
            {
                group.bench_function(format!("{name}/{engine}"), |bencher| {
                    let case = case.get_or_insert_with(|| Case::new(a, b, query));
                    let mut i = 0;
                    bencher.iter(|| {
                        run_query(case, i);
                        i += 1;
                    });
                });
            }
        }
        group.finish();
    }
}

/// A configuration that measures every query of every pair within a few minutes.
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
