//! Columns of client_metrics, and Parquet files of them as this project writes them.

use crate::Outcome;
use arrow_array::builder::{BooleanBuilder, PrimitiveBuilder};
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Array, ArrayRef, Date32Array, DictionaryArray, Int32Array, MapArray, RecordBatch, StringArray, StructArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use std::fs::File;
use std::sync::Arc;

pub const ROWS: usize = 200_000;

/// Points of pushes, collected until they are written.
pub trait Decoder: Default {
    fn add(&mut self, record: &[u8]) -> Outcome<()>;
    fn len(&self) -> usize;
    /// Columns in the table's order but its day; empties this.
    fn columns(&mut self) -> Outcome<Vec<(&'static str, ArrayRef)>>;
}

/// Columns of numbers, which both decoders fill alike.
#[derive(Default)]
pub struct Numbers {
    pub sequence: Vec<i64>,
    pub point_index: Vec<i32>,
    pub received_at: Vec<i64>,
    pub is_monotonic: BooleanBuilder,
    pub label_ends: Vec<i32>,
    pub start_time: PrimitiveBuilder<TimestampMicrosecondType>,
    pub time: PrimitiveBuilder<TimestampMicrosecondType>,
    pub value: PrimitiveBuilder<Float64Type>,
    pub value_int: PrimitiveBuilder<Int64Type>,
}

/// Columns of texts, in the form that a decoder has them.
pub struct Texts {
    pub instance: ArrayRef,
    pub metric: ArrayRef,
    pub kind: ArrayRef,
    pub temporality: ArrayRef,
    pub label_names: ArrayRef,
    pub label_texts: ArrayRef,
}

/// Who dumped an object; the same in all its records.
#[derive(Clone, Default)]
pub struct Origin {
    pub cluster_id: String,
    pub broker_id: i32,
    pub incarnation: Vec<u8>,
}

pub fn micros(nanos: u64) -> Option<i64> {
    (nanos != 0).then_some((nanos / 1000) as i64)
}

impl Numbers {
    pub fn columns(&mut self, origin: &Origin, texts: Texts) -> Outcome<Vec<(&'static str, ArrayRef)>> {
        let rows = self.sequence.len();
        let incarnation: String = origin.incarnation.iter().map(|byte| format!("{byte:02x}")).collect();
        let attributes = maps(std::mem::take(&mut self.label_ends), texts.label_names, texts.label_texts)?;
        Ok(vec![
            ("cluster_id", same_text(&origin.cluster_id, rows)),
            ("broker_id", Arc::new(Int32Array::from_value(origin.broker_id, rows))),
            ("broker_incarnation", same_text(&incarnation, rows)),
            ("sequence", numbers::<Int64Type>(&mut self.sequence)),
            ("point_index", numbers::<Int32Type>(&mut self.point_index)),
            ("client_instance_id", texts.instance),
            ("received_at", in_utc(numbers::<TimestampMicrosecondType>(&mut self.received_at))),
            ("metric", texts.metric),
            ("kind", texts.kind),
            ("temporality", texts.temporality),
            ("is_monotonic", Arc::new(self.is_monotonic.finish())),
            ("attributes", attributes),
            ("start_time", in_utc(Arc::new(self.start_time.finish()))),
            ("time", in_utc(Arc::new(self.time.finish()))),
            ("value", Arc::new(self.value.finish())),
            ("value_int", Arc::new(self.value_int.finish())),
            ("resource_index", Arc::new(Int32Array::from_value(0, rows))),
        ])
    }
}

fn numbers<T: arrow_array::ArrowPrimitiveType>(values: &mut Vec<T::Native>) -> ArrayRef {
    Arc::new(arrow_array::PrimitiveArray::<T>::new(std::mem::take(values).into(), None))
}

fn in_utc(times: ArrayRef) -> ArrayRef {
    let times = times.as_any().downcast_ref::<arrow_array::TimestampMicrosecondArray>().expect("times");
    Arc::new(times.clone().with_timezone("UTC"))
}

fn same_text(text: &str, rows: usize) -> ArrayRef {
    let values = Arc::new(StringArray::from(vec![text]));
    Arc::new(DictionaryArray::new(Int32Array::from_value(0, rows), values))
}

fn maps(ends: Vec<i32>, names: ArrayRef, texts: ArrayRef) -> Outcome<ArrayRef> {
    let fields = Fields::from(vec![
        Field::new("key", names.data_type().clone(), false),
        Field::new("value", texts.data_type().clone(), true),
    ]);
    let entries = StructArray::new(fields.clone(), vec![names, texts], None);
    let offsets: Vec<i32> = std::iter::once(0).chain(ends).collect();
    let entry = Arc::new(Field::new("key_value", DataType::Struct(fields), false));
    Ok(Arc::new(MapArray::try_new(entry, OffsetBuffer::new(ScalarBuffer::from(offsets)), entries, None, false)?))
}

/// A Parquet file, made when the first points arrive.
pub struct PointFile {
    path: String,
    day: i32,
    writer: Option<ArrowWriter<File>>,
}

impl PointFile {
    pub fn new(path: String, day: i32) -> Self {
        Self { path, day, writer: None }
    }

    pub fn write(&mut self, points: &mut impl Decoder) -> Outcome<()> {
        if points.len() == 0 {
            return Ok(());
        }
        let rows = points.len();
        let mut columns = points.columns()?;
        columns.insert(1, ("dt", Arc::new(Date32Array::from_value(self.day, rows))));
        let nullable =
            ["client_instance_id", "temporality", "is_monotonic", "start_time", "time", "value", "value_int"];
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, array)| Field::new(*name, array.data_type().clone(), nullable.contains(name)))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new(schema.clone(), arrays)?;
        if self.writer.is_none() {
            self.writer =
                Some(ArrowWriter::try_new(File::create(&self.path)?, schema.clone(), Some(properties(&schema)))?);
        }
        let writer = self.writer.as_mut().expect("just made");
        writer.write(&batch)?;
        Ok(writer.flush()?)
    }

    pub fn close(self) -> Outcome<()> {
        if let Some(writer) = self.writer {
            writer.close()?;
        }
        Ok(())
    }
}

/// Dictionaries for texts only, statistics for numbers, times and the partition only: what this project's writer sets.
fn properties(schema: &Schema) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None);
    for field in schema.fields() {
        let name = field.name().as_str();
        let paths = match field.data_type() {
            DataType::Dictionary(..) | DataType::Utf8 | DataType::Binary => vec![vec![name]],
            DataType::Map(..) => vec![vec![name, "key_value", "key"], vec![name, "key_value", "value"]],
            _ => vec![],
        };
        for path in paths {
            let path: Vec<String> = path.into_iter().map(str::to_owned).collect();
            properties = properties.set_column_dictionary_enabled(path.into(), true);
        }
        if name == "cluster_id" || field.data_type().is_integer() || field.data_type().is_temporal() {
            properties =
                properties.set_column_statistics_enabled(vec![name.to_owned()].into(), EnabledStatistics::Chunk);
        }
    }
    properties.build()
}
