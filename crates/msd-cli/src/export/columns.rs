//! Rows as the columns of a Parquet file.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::Sink;
use super::table::{Cell, Kind};

/// Rows that are kept before they are written as a group.
const GROUP: usize = 1 << 16;

/// Writes rows as columns.
pub struct Columns {
    writer: SerializedFileWriter<Box<dyn Write + Send>>,
    columns: Vec<Column>,
    rows: usize,
}

/// The values of a column.
enum Column {
    Whole(Vec<i64>),
    Text(Vec<ByteArray>),
    /// Those that are there, and of every row whether it is.
    Real(Vec<f64>, Vec<i16>),
}

impl Columns {
    /// Begins a file.
    pub fn new(
        file: Box<dyn Write + Send>,
        columns: &[(&str, Kind)],
    ) -> Result<Self, ParquetError> {
        let mut schema = "message table {".to_owned();
        for (name, kind) in columns {
            schema += &match kind {
                Kind::Whole => format!(" required int64 {name};"),
                Kind::Text => format!(" required binary {name} (UTF8);"),
                Kind::Real => format!(" optional double {name};"),
            };
        }
        let schema = Arc::new(parse_message_type(&(schema + " }"))?);
        let zstd = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(zstd).build();
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
        let columns = columns.iter().map(|(_, kind)| match kind {
            Kind::Whole => Column::Whole(Vec::new()),
            Kind::Text => Column::Text(Vec::new()),
            Kind::Real => Column::Real(Vec::new(), Vec::new()),
        });
        Ok(Self { writer, columns: columns.collect(), rows: 0 })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        if std::mem::take(&mut self.rows) == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for values in &mut self.columns {
            let Some(mut column) = group.next_column()? else { break };
            match values {
                Column::Whole(list) => {
                    column.typed::<Int64Type>().write_batch(list, None, None)?;
                    list.clear();
                }
                Column::Text(list) => {
                    column.typed::<ByteArrayType>().write_batch(list, None, None)?;
                    list.clear();
                }
                Column::Real(list, there) => {
                    column.typed::<DoubleType>().write_batch(list, Some(there), None)?;
                    list.clear();
                    there.clear();
                }
            }
            column.close()?;
        }
        group.close()?;
        Ok(())
    }
}

impl Sink for Columns {
    fn put(&mut self, row: &[Cell<'_>]) -> Result<(), String> {
        for (column, cell) in self.columns.iter_mut().zip(row) {
            match (column, cell) {
                (Column::Whole(list), Cell::Whole(value)) => list.push(*value as i64),
                (Column::Text(list), Cell::Text(value)) => list.push(ByteArray::from(*value)),
                (Column::Real(list, there), Cell::Real(value)) => {
                    list.extend(value);
                    there.push(value.is_some().into());
                }
                _ => return Err("a value of another kind than its column".to_owned()),
            }
        }
        self.rows += 1;
        if self.rows < GROUP {
            return Ok(());
        }
        self.write_group().map_err(|error| error.to_string())
    }

    fn end(mut self: Box<Self>) -> Result<(), String> {
        let written = self.write_group();
        written.and_then(|()| self.writer.close().map(|_| ())).map_err(|error| error.to_string())
    }
}
