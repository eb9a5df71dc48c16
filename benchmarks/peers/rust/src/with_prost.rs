//! prost's messages, walked through into plain columns.

use crate::Outcome;
use crate::objects::Payloads;
use crate::points::{Decoder, Numbers, Origin, Texts, micros};
use arrow_array::ArrayRef;
use arrow_array::builder::{ArrayBuilder, BinaryBuilder, StringBuilder};
use prost::Message;
use std::sync::Arc;

// What prost generates from the contract and from OpenTelemetry's files, as far as these records have it.

#[derive(Clone, PartialEq, Message)]
struct ClientPush {
    #[prost(string, tag = "1")]
    cluster_id: String,
    #[prost(int32, tag = "2")]
    broker_id: i32,
    #[prost(bytes = "vec", tag = "3")]
    incarnation: Vec<u8>,
    #[prost(uint64, tag = "4")]
    sequence: u64,
    #[prost(fixed64, tag = "5")]
    received_at_nanos: u64,
    #[prost(bytes = "vec", tag = "7")]
    client_instance_id: Vec<u8>,
    #[prost(int32, tag = "10")]
    compression_type: i32,
    #[prost(bytes = "vec", tag = "11")]
    payload: Vec<u8>,
    #[prost(fixed32, tag = "12")]
    payload_crc32c: u32,
}

#[derive(Clone, PartialEq, Message)]
struct MetricsData {
    #[prost(message, repeated, tag = "1")]
    resource_metrics: Vec<ResourceMetrics>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeMetrics {
    #[prost(message, repeated, tag = "2")]
    metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    description: String,
    #[prost(string, tag = "3")]
    unit: String,
    #[prost(oneof = "Data", tags = "5, 7")]
    data: Option<Data>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Data {
    #[prost(message, tag = "5")]
    Gauge(Gauge),
    #[prost(message, tag = "7")]
    Sum(Sum),
}

#[derive(Clone, PartialEq, Message)]
struct Gauge {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<NumberDataPoint>,
}

#[derive(Clone, PartialEq, Message)]
struct Sum {
    #[prost(message, repeated, tag = "1")]
    data_points: Vec<NumberDataPoint>,
    #[prost(int32, tag = "2")]
    aggregation_temporality: i32,
    #[prost(bool, tag = "3")]
    is_monotonic: bool,
}

#[derive(Clone, PartialEq, Message)]
struct NumberDataPoint {
    #[prost(fixed64, tag = "2")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    time_unix_nano: u64,
    #[prost(message, repeated, tag = "7")]
    attributes: Vec<KeyValue>,
    #[prost(oneof = "Value", tags = "4, 6")]
    value: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Value {
    #[prost(double, tag = "4")]
    AsDouble(f64),
    #[prost(sfixed64, tag = "6")]
    AsInt(i64),
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(oneof = "Any", tags = "1, 3")]
    value: Option<Any>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Any {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(int64, tag = "3")]
    Number(i64),
}

#[derive(Default)]
pub struct Points {
    payloads: Payloads,
    origin: Origin,
    numbers: Numbers,
    instance: BinaryBuilder,
    metric: StringBuilder,
    kind: StringBuilder,
    temporality: StringBuilder,
    label_names: StringBuilder,
    label_texts: StringBuilder,
}

impl Decoder for Points {
    fn add(&mut self, record: &[u8]) -> Outcome<()> {
        let push = ClientPush::decode(record)?;
        let payload = self.payloads.plain(&push.payload, push.compression_type, push.payload_crc32c)?;
        let data = MetricsData::decode(payload)?;
        let mut index = 0;
        for resource in &data.resource_metrics {
            for metric in resource.scope_metrics.iter().flat_map(|scope| &scope.metrics) {
                let (points, sum) = match &metric.data {
                    Some(Data::Gauge(gauge)) => (&gauge.data_points, None),
                    Some(Data::Sum(sum)) => (&sum.data_points, Some(sum)),
                    None => continue,
                };
                for point in points {
                    self.point(&push, index, &metric.name, sum, point)?;
                    index += 1;
                }
            }
        }
        self.origin = Origin { cluster_id: push.cluster_id, broker_id: push.broker_id, incarnation: push.incarnation };
        Ok(())
    }

    fn len(&self) -> usize {
        self.numbers.sequence.len()
    }

    fn columns(&mut self) -> Outcome<Vec<(&'static str, ArrayRef)>> {
        let texts = Texts {
            instance: Arc::new(self.instance.finish()),
            metric: Arc::new(self.metric.finish()),
            kind: Arc::new(self.kind.finish()),
            temporality: Arc::new(self.temporality.finish()),
            label_names: Arc::new(self.label_names.finish()),
            label_texts: Arc::new(self.label_texts.finish()),
        };
        self.numbers.columns(&self.origin, texts)
    }
}

impl Points {
    fn point(
        &mut self,
        push: &ClientPush,
        index: i32,
        metric: &str,
        sum: Option<&Sum>,
        point: &NumberDataPoint,
    ) -> Outcome<()> {
        let numbers = &mut self.numbers;
        numbers.sequence.push(push.sequence as i64);
        numbers.point_index.push(index);
        numbers.received_at.push((push.received_at_nanos / 1000) as i64);
        let instance = &push.client_instance_id;
        self.instance.append_option((!instance.is_empty()).then_some(instance));
        self.metric.append_value(metric);
        self.kind.append_value(if sum.is_some() { "sum" } else { "gauge" });
        self.temporality.append_option(match sum.map_or(0, |sum| sum.aggregation_temporality) {
            1 => Some("delta"),
            2 => Some("cumulative"),
            _ => None,
        });
        numbers.is_monotonic.append_option(sum.map(|sum| sum.is_monotonic));
        for label in &point.attributes {
            self.label_names.append_value(&label.key);
            match label.value.as_ref().and_then(|any| any.value.as_ref()) {
                Some(Any::Text(text)) => self.label_texts.append_value(text),
                Some(Any::Number(number)) => self.label_texts.append_value(number.to_string()),
                None => return Err("a label that is neither text nor integer".into()),
            }
        }
        numbers.label_ends.push(self.label_names.len() as i32);
        numbers.start_time.append_option(micros(point.start_time_unix_nano));
        numbers.time.append_option(micros(point.time_unix_nano));
        let (double, int) = match point.value {
            Some(Value::AsDouble(value)) => (Some(value), None),
            Some(Value::AsInt(value)) => (None, Some(value)),
            None => (None, None),
        };
        numbers.value.append_option(double);
        numbers.value_int.append_option(int);
        Ok(())
    }
}
