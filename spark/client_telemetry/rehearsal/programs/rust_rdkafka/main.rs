//! The steps of a rehearsal with the crate rdkafka, which carries librdkafka. It connects without login and without TLS.
use rdkafka::client::ClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{BorrowedMessage, Message};
use rdkafka::producer::{BaseRecord, DeliveryResult, Producer, ProducerContext, ThreadedProducer};
use rdkafka::{Offset, TopicPartitionList};
use std::env::var;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(15);

fn report(step: &str, result: Result<(), String>) -> bool {
    let outcome = result.as_ref().err().map_or("ok", |error| error.as_str());
    println!("{{\"step\": {:?}, \"outcome\": {:?}}}", step, outcome);
    result.is_ok()
}

fn words(error: KafkaError) -> String {
    error.to_string()
}

fn settings(more: &[(&str, &str)]) -> ClientConfig {
    let mut found = ClientConfig::new();
    found.set("bootstrap.servers", var("BOOTSTRAP").unwrap());
    found.set("socket.timeout.ms", "8000");
    for (name, value) in more {
        found.set(*name, *value);
    }
    found
}

/// Passes on what became of each record.
struct Reports(SyncSender<Result<(), String>>);

impl ClientContext for Reports {}

impl ProducerContext for Reports {
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, _: ()) {
        let outcome = result.as_ref().map(|_| ()).map_err(|(error, _)| error.to_string());
        let _ = self.0.send(outcome);
    }
}

struct Sending {
    producer: ThreadedProducer<Reports>,
    reports: Receiver<Result<(), String>>,
    topic: String,
}

impl Sending {
    fn new(topic: &str, more: &[(&str, &str)]) -> Result<Sending, String> {
        let (sender, reports) = sync_channel(10);
        let producer = settings(more).create_with_context(Reports(sender)).map_err(words)?;
        Ok(Sending { producer, reports, topic: topic.to_owned() })
    }

    fn send(&self) -> Result<(), String> {
        let record = BaseRecord::to(&self.topic).partition(0).key("k").payload("record");
        self.producer.send(record).map_err(|(error, _)| error.to_string())?;
        self.reports.recv_timeout(TIMEOUT).map_err(|_| "no delivery report in 15 s".to_owned())?
    }
}

fn connect() -> Result<(), String> {
    let consumer: BaseConsumer = settings(&[]).create().map_err(words)?;
    consumer.fetch_metadata(None, Duration::from_secs(10)).map(|_| ()).map_err(words)
}

fn produce(topic: &str) -> Result<(), String> {
    Sending::new(topic, &[("compression.type", "gzip"), ("message.timeout.ms", "10000")])?.send()
}

fn read(consumer: &BaseConsumer) -> Result<BorrowedMessage<'_>, String> {
    for _ in 0..20 {
        if let Some(message) = consumer.poll(Duration::from_secs(1)) {
            return message.map_err(words);
        }
    }
    Err("no record in 20 s".to_owned())
}

fn partition_list(topic: &str, offset: Offset) -> TopicPartitionList {
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, 0, offset).unwrap();
    list
}

fn consume(topic: &str, group: &str) -> Result<(), String> {
    let own = format!("{group}-assigned");
    let consumer: BaseConsumer = settings(&[("group.id", own.as_str())]).create().map_err(words)?;
    consumer.assign(&partition_list(topic, Offset::Beginning)).map_err(words)?;
    read(&consumer).map(|_| ())
}

fn group(topic: &str, group: &str) -> Result<(), String> {
    let own = [("group.id", group), ("auto.offset.reset", "earliest"), ("enable.auto.commit", "false")];
    let consumer: BaseConsumer = settings(&own).create().map_err(words)?;
    consumer.subscribe(&[topic]).map_err(words)?;
    let message = read(&consumer)?;
    report("group", Ok(()));
    consumer.commit_message(&message, CommitMode::Sync).map_err(words)?;
    let committed = consumer
        .committed_offsets(partition_list(topic, Offset::Invalid), TIMEOUT)
        .map_err(words)?;
    match committed.elements()[0].offset() {
        Offset::Offset(offset) if offset == message.offset() + 1 => Ok(()),
        other => Err(format!("committed offset is {other:?}")),
    }
}

fn transaction(topic: &str, group: &str) -> Result<(), String> {
    let own = format!("{group}-txn");
    let sending = Sending::new(topic, &[("transactional.id", own.as_str()), ("transaction.timeout.ms", "15000")])?;
    sending.producer.init_transactions(TIMEOUT).map_err(words)?;
    for _ in 0..2 {
        sending.producer.begin_transaction().map_err(words)?;
        sending.send()?;
        sending.producer.commit_transaction(TIMEOUT).map_err(words)?;
    }
    Ok(())
}

fn main() {
    let (topic, name) = (var("TOPIC").unwrap(), var("GROUP").unwrap());
    if !report("connect", connect()) {
        return;
    }
    report("produce", produce(&topic));
    report("consume", consume(&topic, &name));
    report("commit", group(&topic, &name));
    report("txn", transaction(&topic, &name));
    report("create", Err("n/a".to_owned()));
}
