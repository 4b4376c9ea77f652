//! The Parquet sink: buffers rows as columns and writes them in row groups.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::Sink;
use super::table::{Cell, ColumnType};

/// Rows per row group.
const GROUP: usize = 1 << 16;

/// A sink that writes a Parquet file.
pub struct ParquetSink {
    writer: SerializedFileWriter<Box<dyn Write + Send>>,
    columns: Vec<Column>,
    rows: usize,
}

/// The values of a column.
enum Column {
    Integer(Vec<i64>),
    Text(Vec<ByteArray>),
    /// The values present, and the definition level (0 or 1) of each row.
    Real(Vec<f64>, Vec<i16>),
}

impl ParquetSink {
    /// Starts a file.
    pub fn new(
        file: Box<dyn Write + Send>,
        columns: &[(&str, ColumnType)],
    ) -> Result<Self, ParquetError> {
        let mut schema = "message table {".to_owned();
        for (name, kind) in columns {
            schema += &match kind {
                ColumnType::Integer => format!(" required int64 {name};"),
                ColumnType::Text => format!(" required binary {name} (UTF8);"),
                ColumnType::Real => format!(" optional double {name};"),
            };
        }
        let schema = Arc::new(parse_message_type(&(schema + " }"))?);
        let zstd = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(zstd).build();
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
        let columns = columns.iter().map(|(_, kind)| match kind {
            ColumnType::Integer => Column::Integer(Vec::new()),
            ColumnType::Text => Column::Text(Vec::new()),
            ColumnType::Real => Column::Real(Vec::new(), Vec::new()),
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
                Column::Integer(list) => {
                    column.typed::<Int64Type>().write_batch(list, None, None)?;
                    list.clear();
                }
                Column::Text(list) => {
                    column.typed::<ByteArrayType>().write_batch(list, None, None)?;
                    list.clear();
                }
                Column::Real(list, definition_levels) => {
                    column.typed::<DoubleType>().write_batch(
                        list,
                        Some(definition_levels),
                        None,
                    )?;
                    list.clear();
                    definition_levels.clear();
                }
            }
            column.close()?;
        }
        group.close()?;
        Ok(())
    }
}

impl Sink for ParquetSink {
    fn put(&mut self, row: &[Cell<'_>]) -> Result<(), String> {
        for (column, cell) in self.columns.iter_mut().zip(row) {
            match (column, cell) {
                (Column::Integer(list), Cell::Integer(value)) => list.push(*value as i64),
                (Column::Text(list), Cell::Text(value)) => list.push(ByteArray::from(&**value)),
                (Column::Real(list, definition_levels), Cell::Real(value)) => {
                    list.extend(value);
                    definition_levels.push(value.is_some().into());
                }
                _ => return Err("a value does not have the type of its column".to_owned()),
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
