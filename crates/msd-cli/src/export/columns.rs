//! Rows as the columns of a Parquet file.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::{Row, Sink};

/// Rows that are kept before they are written as a group.
const GROUP: usize = 1 << 16;

const SCHEMA: &str = "message motion {
    required int64 step; required double time; required binary body (UTF8);
    required double px; required double py; required double pz;
    required double qx; required double qy; required double qz; required double qw;
    required double vx; required double vy; required double vz;
    required double wx; required double wy; required double wz; }";

/// Writes rows as columns.
pub struct Columns {
    writer: SerializedFileWriter<Box<dyn Write + Send>>,
    steps: Vec<i64>,
    bodies: Vec<ByteArray>,
    /// Time, and the thirteen numbers of a state.
    numbers: [Vec<f64>; 14],
}

impl Columns {
    /// Begins a file.
    pub fn new(file: Box<dyn Write + Send>) -> Result<Self, ParquetError> {
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let zstd = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(zstd).build();
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
        let numbers = std::array::from_fn(|_| Vec::new());
        Ok(Self { writer, steps: Vec::new(), bodies: Vec::new(), numbers })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        if self.steps.is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        let [time, state @ ..] = &self.numbers;
        if let Some(mut column) = group.next_column()? {
            column.typed::<Int64Type>().write_batch(&self.steps, None, None)?;
            column.close()?;
        }
        if let Some(mut column) = group.next_column()? {
            column.typed::<DoubleType>().write_batch(time, None, None)?;
            column.close()?;
        }
        if let Some(mut column) = group.next_column()? {
            column.typed::<ByteArrayType>().write_batch(&self.bodies, None, None)?;
            column.close()?;
        }
        for values in state {
            if let Some(mut column) = group.next_column()? {
                column.typed::<DoubleType>().write_batch(values, None, None)?;
                column.close()?;
            }
        }
        group.close()?;
        self.steps.clear();
        self.bodies.clear();
        self.numbers.iter_mut().for_each(Vec::clear);
        Ok(())
    }
}

impl Sink for Columns {
    fn put(&mut self, row: &Row<'_>) -> Result<(), String> {
        let &Row { step, time, body, px, py, pz, qx, qy, qz, qw, vx, vy, vz, wx, wy, wz } = row;
        self.steps.push(step as i64);
        self.bodies.push(ByteArray::from(body));
        let values = [time, px, py, pz, qx, qy, qz, qw, vx, vy, vz, wx, wy, wz];
        self.numbers.iter_mut().zip(values).for_each(|(list, value)| list.push(value));
        if self.steps.len() < GROUP {
            return Ok(());
        }
        self.write_group().map_err(|error| error.to_string())
    }

    fn end(mut self: Box<Self>) -> Result<(), String> {
        let written = self.write_group();
        written.and_then(|()| self.writer.close().map(|_| ())).map_err(|error| error.to_string())
    }
}
