//! Messages read in place: bytes by tag, without objects, and each run of labels looked up by its bytes.

use crate::Outcome;
use crate::objects::Payloads;
use crate::points::{Decoder, Numbers, Origin, Texts, micros};
use ahash::AHashMap;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BinaryArray, DictionaryArray, Int32Array, StringArray};
use std::ops::Range;
use std::sync::Arc;

const GAUGE: i32 = 0;
const SUM: i32 = 1;

#[derive(Default)]
pub struct Points {
    payloads: Payloads,
    found: Found,
}

#[derive(Default)]
struct Found {
    origin: Origin,
    numbers: Numbers,
    instance: Vec<Option<i32>>,
    metric: Vec<i32>,
    kind: Vec<i32>,
    temporality: Vec<Option<i32>>,
    label_names: Vec<i32>,
    label_texts: Vec<i32>,
    instances: Distinct,
    metrics: Distinct,
    names: Distinct,
    label_values: Distinct,
    runs: Runs,
}

/// Distinct byte strings, numbered as they come.
#[derive(Default)]
struct Distinct {
    numbers: AHashMap<Box<[u8]>, i32>,
    values: Vec<Box<[u8]>>,
}

impl Distinct {
    fn number(&mut self, bytes: &[u8]) -> i32 {
        if let Some(&number) = self.numbers.get(bytes) {
            return number;
        }
        let number = self.values.len() as i32;
        self.numbers.insert(bytes.into(), number);
        self.values.push(bytes.into());
        number
    }

    fn taken(&mut self) -> Vec<Box<[u8]>> {
        self.numbers.clear();
        std::mem::take(&mut self.values)
    }
}

/// Runs of labels by their bytes: the pairs of each, as numbers of a name and of a text.
#[derive(Default)]
struct Runs {
    known: AHashMap<Box<[u8]>, Range<usize>>,
    pairs: Vec<(i32, i32)>,
}

impl Decoder for Points {
    fn add(&mut self, record: &[u8]) -> Outcome<()> {
        let (mut origin, mut instance, mut payload): (Origin, &[u8], &[u8]) = Default::default();
        let (mut sequence, mut received, mut codec, mut crc32c) = (0, 0, 0, 0);
        let mut cluster: &[u8] = &[];
        let mut incarnation: &[u8] = &[];
        for field in Fields(record) {
            match field? {
                (1, Value::Bytes(value)) => cluster = value,
                (2, Value::Number(value)) => origin.broker_id = value as i32,
                (3, Value::Bytes(value)) => incarnation = value,
                (4, Value::Number(value)) => sequence = value,
                (5, Value::Number(value)) => received = value,
                (7, Value::Bytes(value)) => instance = value,
                (10, Value::Number(value)) => codec = value as i32,
                (11, Value::Bytes(value)) => payload = value,
                (12, Value::Number(value)) => crc32c = value as u32,
                _ => {}
            }
        }
        if self.found.origin.incarnation != incarnation {
            origin.cluster_id = std::str::from_utf8(cluster)?.to_owned();
            origin.incarnation = incarnation.to_owned();
            self.found.origin = origin;
        }
        let instance = (!instance.is_empty()).then(|| self.found.instances.number(instance));
        let before = self.found.len();
        for resource in Fields(self.payloads.plain(payload, codec, crc32c)?) {
            let (1, Value::Bytes(resource)) = resource? else { continue };
            for scope in Fields(resource) {
                let (2, Value::Bytes(scope)) = scope? else { continue };
                for metric in Fields(scope) {
                    let (2, Value::Bytes(metric)) = metric? else { continue };
                    self.found.metric(metric)?;
                }
            }
        }
        let points = self.found.len() - before;
        self.found.numbers.sequence.extend(std::iter::repeat_n(sequence as i64, points));
        self.found.numbers.received_at.extend(std::iter::repeat_n((received / 1000) as i64, points));
        self.found.numbers.point_index.extend(0..points as i32);
        self.found.instance.extend(std::iter::repeat_n(instance, points));
        Ok(())
    }

    fn len(&self) -> usize {
        self.found.len()
    }

    fn columns(&mut self) -> Outcome<Vec<(&'static str, ArrayRef)>> {
        self.found.columns()
    }
}

impl Found {
    fn len(&self) -> usize {
        self.metric.len()
    }

    fn columns(&mut self) -> Outcome<Vec<(&'static str, ArrayRef)>> {
        let instances = BinaryArray::from_iter_values(self.instances.taken());
        self.runs.known.clear();
        self.runs.pairs.clear();
        let texts = Texts {
            instance: coded(std::mem::take(&mut self.instance).into(), Arc::new(instances)),
            metric: coded(std::mem::take(&mut self.metric).into(), texts(self.metrics.taken())?),
            kind: coded(std::mem::take(&mut self.kind).into(), Arc::new(StringArray::from(vec!["gauge", "sum"]))),
            temporality: coded(
                std::mem::take(&mut self.temporality).into(),
                Arc::new(StringArray::from(vec!["delta", "cumulative"])),
            ),
            label_names: coded(std::mem::take(&mut self.label_names).into(), texts(self.names.taken())?),
            label_texts: coded(std::mem::take(&mut self.label_texts).into(), texts(self.label_values.taken())?),
        };
        self.numbers.columns(&self.origin, texts)
    }

    fn metric(&mut self, metric: &[u8]) -> Outcome<()> {
        let (mut name, mut data, mut kind): (&[u8], &[u8], i32) = (&[], &[], GAUGE);
        for field in Fields(metric) {
            match field? {
                (1, Value::Bytes(value)) => name = value,
                (5, Value::Bytes(value)) => (data, kind) = (value, GAUGE),
                (7, Value::Bytes(value)) => (data, kind) = (value, SUM),
                _ => {}
            }
        }
        let name = self.metrics.number(name);
        let (before, mut temporality, mut is_monotonic) = (self.len(), None, false);
        for field in Fields(data) {
            match field? {
                (1, Value::Bytes(point)) => {
                    self.point(point)?;
                    self.metric.push(name);
                }
                (2, Value::Number(value @ 1..=2)) => temporality = Some(value as i32 - 1),
                (3, Value::Number(value)) => is_monotonic = value != 0,
                _ => {}
            }
        }
        for _ in before..self.len() {
            self.kind.push(kind);
            self.temporality.push(temporality);
            self.numbers.is_monotonic.append_option((kind == SUM).then_some(is_monotonic));
        }
        Ok(())
    }

    fn point(&mut self, point: &[u8]) -> Outcome<()> {
        let (mut start, mut time, mut double, mut int) = (0, 0, None, None);
        let mut run: Range<usize> = 0..0;
        let mut fields = Fields(point);
        loop {
            let at = point.len() - fields.0.len();
            let Some(field) = fields.next() else { break };
            match field? {
                (2, Value::Number(value)) => start = value,
                (3, Value::Number(value)) => time = value,
                (4, Value::Number(value)) => (double, int) = (Some(f64::from_bits(value)), None),
                (6, Value::Number(value)) => (double, int) = (None, Some(value as i64)),
                (7, Value::Bytes(_)) => {
                    let end = point.len() - fields.0.len();
                    if run.is_empty() {
                        run = at..end;
                    } else if run.end == at {
                        run.end = end;
                    } else {
                        return Err("labels that do not follow one another".into());
                    }
                }
                _ => {}
            }
        }
        self.labels(&point[run])?;
        self.numbers.label_ends.push(self.label_names.len() as i32);
        self.numbers.start_time.append_option(micros(start));
        self.numbers.time.append_option(micros(time));
        self.numbers.value.append_option(double);
        self.numbers.value_int.append_option(int);
        Ok(())
    }

    fn labels(&mut self, run: &[u8]) -> Outcome<()> {
        if run.is_empty() {
            return Ok(());
        }
        let pairs = match self.runs.known.get(run) {
            Some(pairs) => pairs.clone(),
            None => self.new_run(run)?,
        };
        for &(name, text) in &self.runs.pairs[pairs] {
            self.label_names.push(name);
            self.label_texts.push(text);
        }
        Ok(())
    }

    fn new_run(&mut self, run: &[u8]) -> Outcome<Range<usize>> {
        let first = self.runs.pairs.len();
        for label in Fields(run) {
            let (_, Value::Bytes(label)) = label? else { continue };
            let (mut name, mut text): (&[u8], Option<i32>) = (&[], None);
            for field in Fields(label) {
                match field? {
                    (1, Value::Bytes(value)) => name = value,
                    (2, Value::Bytes(any)) => {
                        text = match Fields(any).next().transpose()? {
                            Some((1, Value::Bytes(value))) => Some(self.label_values.number(value)),
                            Some((3, Value::Number(value))) => {
                                Some(self.label_values.number((value as i64).to_string().as_bytes()))
                            }
                            _ => None,
                        }
                    }
                    _ => {}
                }
            }
            let text = text.ok_or("a label that is neither text nor integer")?;
            self.runs.pairs.push((self.names.number(name), text));
        }
        let pairs = first..self.runs.pairs.len();
        self.runs.known.insert(run.into(), pairs.clone());
        Ok(pairs)
    }
}

fn coded(numbers: Int32Array, values: ArrayRef) -> ArrayRef {
    Arc::new(DictionaryArray::<Int32Type>::new(numbers, values))
}

fn texts(values: Vec<Box<[u8]>>) -> Outcome<ArrayRef> {
    let texts: Result<Vec<&str>, _> = values.iter().map(|value| std::str::from_utf8(value)).collect();
    Ok(Arc::new(StringArray::from(texts?)))
}

/// Fields of a message, by number.
struct Fields<'a>(&'a [u8]);

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Iterator for Fields<'a> {
    type Item = Outcome<(u64, Value<'a>)>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| self.field().ok_or_else(|| "a message that ends early".into()))
    }
}

impl<'a> Fields<'a> {
    #[inline(always)]
    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => Value::Number(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?)),
            2 => {
                let size = self.varint()?;
                Value::Bytes(self.bytes(size as usize)?)
            }
            5 => Value::Number(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?).into()),
            _ => return None,
        };
        Some((tag >> 3, value))
    }

    #[inline(always)]
    fn bytes(&mut self, size: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(bytes)
    }

    #[inline(always)]
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for (place, &byte) in self.0.iter().take(10).enumerate() {
            value |= u64::from(byte & 127) << (7 * place);
            if byte < 128 {
                self.0 = &self.0[place + 1..];
                return Some(value);
            }
        }
        None
    }
}
