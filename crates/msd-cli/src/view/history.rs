//! The course of a run in numbers, thinned out as it grows.

use msd_record::Frame;

use crate::totals::Energy;

/// Rows are thinned to half of this when they reach it.
const MOST_ROWS: usize = 4096;

/// What becomes of two values of a column when two rows become one.
#[derive(Clone, Copy)]
enum Of {
    /// The later one stays.
    Last,
    /// The one of larger size stays.
    Peak,
    /// They add up.
    Sum,
}

/// The columns of a row: the name that the page knows, and how it is thinned.
const COLUMNS: [(&str, Of); 28] = [
    ("step", Of::Last),
    ("time", Of::Last),
    ("kinetic", Of::Last),
    ("potential", Of::Last),
    ("restitution", Of::Last),
    ("friction", Of::Last),
    ("joints", Of::Last),
    ("correction", Of::Last),
    ("damping", Of::Last),
    ("user", Of::Last),
    ("environment", Of::Last),
    ("integration", Of::Last),
    ("unsplit", Of::Last),
    ("energy_error", Of::Peak),
    ("momentum_x", Of::Last),
    ("momentum_y", Of::Last),
    ("momentum_z", Of::Last),
    ("angular_x", Of::Last),
    ("angular_y", Of::Last),
    ("angular_z", Of::Last),
    ("momentum_error", Of::Peak),
    ("penetration", Of::Peak),
    ("joint_error", Of::Peak),
    ("residual", Of::Peak),
    ("contacts", Of::Peak),
    ("islands", Of::Peak),
    ("iterations", Of::Peak),
    ("begun", Of::Sum),
];

/// One row.
pub type Row = [f64; COLUMNS.len()];

/// The names of the columns.
pub fn columns() -> Vec<&'static str> {
    COLUMNS.iter().map(|(name, _)| *name).collect()
}

/// The course of a run.
#[derive(Debug)]
pub struct History {
    rows: Vec<Row>,
    /// Steps to a row.
    stride: u64,
    /// Steps since the last row, as one.
    open: Option<Row>,
    seen: u64,
    /// The last step seen.
    last: u64,
    energy: Energy,
    /// How often rows were thinned: who knows rows of another number starts over.
    thinned: u32,
}

impl Default for History {
    fn default() -> Self {
        let (rows, energy) = (Vec::new(), Energy::default());
        Self { rows, stride: 1, open: None, seen: 0, last: 0, energy, thinned: 0 }
    }
}

impl History {
    /// Adds a step.
    pub fn see(&mut self, frame: &Frame) {
        let row = self.row(frame);
        self.seen += 1;
        let row = self.open.take().map_or(row, |open| merged(&open, &row));
        if !self.seen.is_multiple_of(self.stride) {
            self.open = Some(row);
            return;
        }
        self.rows.push(row);
        if self.rows.len() >= MOST_ROWS {
            self.rows = self.rows.chunks_exact(2).map(|two| merged(&two[0], &two[1])).collect();
            self.stride *= 2;
            self.thinned += 1;
        }
    }

    /// Books energy that somebody outside of the simulation gave or took, J, as work of the user's.
    pub fn book(&mut self, energy: f64) {
        let user = &mut self.energy.terms.user;
        *user = Some(user.unwrap_or(0.0) + energy);
    }

    /// Adds what is left of the last steps, if they are not enough for a row.
    pub fn finish(&mut self) {
        self.rows.extend(self.open.take());
    }

    /// All rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// How often they were thinned.
    pub fn thinned(&self) -> u32 {
        self.thinned
    }

    fn row(&mut self, frame: &Frame) -> Row {
        let report = &frame.report;
        let mut row = [f64::NAN; COLUMNS.len()];
        row[0] = frame.step as f64;
        row[1] = frame.time;
        if frame.step > std::mem::replace(&mut self.last, frame.step) + 1 {
            self.energy.skip();
        }
        if let Some(ledger) = frame.ledger() {
            self.energy.add(ledger, self.seen == 0);
            for (value, sum) in row[2..13].iter_mut().zip(self.energy.terms.each_mut()) {
                *value = sum.unwrap_or(f64::NAN);
            }
            let (momentum, error) = (ledger.momentum, ledger.momentum_error());
            row[13] = ledger.energy_error().unwrap_or(f64::NAN);
            row[14..17].copy_from_slice(&momentum.linear.to_array());
            row[17..20].copy_from_slice(&momentum.angular.to_array());
            row[20] = error.linear.length();
        }
        let measured = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let counts = [
            measured(report.max_penetration),
            measured(report.max_joint_error),
            measured(report.residual()),
            report.contacts as f64,
            measured(report.islands.map(|islands| islands as f64)),
            measured(report.solve.map(|solve| solve.iterations as f64)),
            frame.events.begun.len() as f64,
        ];
        row[21..].copy_from_slice(&counts);
        row
    }
}

/// Two rows as one.
fn merged(a: &Row, b: &Row) -> Row {
    std::array::from_fn(|column| match COLUMNS[column].1 {
        Of::Last => b[column],
        Of::Peak if a[column].abs() > b[column].abs() || b[column].is_nan() => a[column],
        Of::Peak => b[column],
        Of::Sum => a[column] + b[column],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100,000 steps fit, their last values, peaks and sums with them: the peak of step 33,333 and all of
    /// the contacts that began, one a step, are still there.
    #[test]
    fn thinning_keeps_peaks_and_sums() {
        let mut history = History::default();
        let steps = 100_000;
        for step in 1..=steps {
            let mut frame = Frame { step, time: step as f64, ..Frame::default() };
            frame.report.max_penetration = Some(if step == 33_333 { 0.25 } else { 1e-6 });
            frame.events.begun.push(Default::default());
            history.see(&frame);
        }
        let rows = history.rows();
        assert!(rows.len() < MOST_ROWS && rows.len() >= MOST_ROWS / 2);
        let column = |name| columns().iter().position(|column| *column == name).expect("it exists");
        let peak = rows.iter().find(|row| row[column("penetration")] == 0.25).expect("it is kept");
        assert!((peak[column("step")] - 33_333.0).abs() < history.stride as f64);
        let begun: f64 = rows.iter().map(|row| row[column("begun")]).sum();
        assert_eq!(begun, rows[rows.len() - 1][column("step")]);
        assert!(steps as f64 - begun < history.stride as f64);
        history.finish();
        assert_eq!(history.rows()[history.rows().len() - 1][column("step")], steps as f64);
    }
}
