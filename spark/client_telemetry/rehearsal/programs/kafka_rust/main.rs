//! The steps of a rehearsal with the crate kafka.
use kafka::client::{Compression, FetchOffset, GroupOffsetStorage, KafkaClient};
use kafka::consumer::Consumer;
use kafka::producer::{Producer, Record};
use std::env::var;
use std::time::{Duration, Instant};

fn report(step: &str, result: Result<(), String>) -> bool {
    let outcome = result.as_ref().err().map_or("ok", |error| error.as_str());
    println!("{{\"step\": {:?}, \"outcome\": {:?}}}", step, outcome);
    result.is_ok()
}

fn hosts() -> Vec<String> {
    vec![var("BOOTSTRAP").unwrap()]
}

fn connect() -> Result<(), String> {
    let mut client = KafkaClient::new(hosts());
    client.load_metadata_all().map_err(|e| e.to_string())
}

fn produce(topic: &str) -> Result<(), String> {
    let mut client = KafkaClient::new(hosts());
    // The broker makes the topic when it is first asked for.
    let _ = client.load_metadata(&[topic]);
    std::thread::sleep(Duration::from_secs(2));
    let mut producer = Producer::from_hosts(hosts())
        .with_compression(Compression::GZIP)
        .create()
        .map_err(|e| e.to_string())?;
    producer
        .send(&Record::from_value(topic, "record".as_bytes()).with_partition(0))
        .map_err(|e| e.to_string())
}

fn consume(topic: &str, group: &str) -> Result<Consumer, String> {
    let mut consumer = Consumer::from_hosts(hosts())
        .with_topic(topic.to_owned())
        .with_group(group.to_owned())
        .with_fallback_offset(FetchOffset::Earliest)
        .with_offset_storage(Some(GroupOffsetStorage::Kafka))
        .create()
        .map_err(|e| e.to_string())?;
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(15) {
        let read = consumer.poll().map_err(|e| e.to_string())?;
        for set in read.iter() {
            consumer.consume_messageset(set).map_err(|e| e.to_string())?;
        }
        if !read.is_empty() {
            return Ok(consumer);
        }
    }
    Err("no record in 15 s".to_owned())
}

fn main() {
    let (topic, group) = (var("TOPIC").unwrap(), var("GROUP").unwrap());
    if !report("connect", connect()) {
        return;
    }
    report("produce", produce(&topic));
    report("consume", consume(&topic, "").map(|_| ()));
    match consume(&topic, &group) {
        Ok(mut consumer) => {
            report("group", Ok(()));
            report("commit", consumer.commit_consumed().map_err(|e| e.to_string()));
        }
        Err(error) => {
            report("group", Err(error));
        }
    }
    report("txn", Err("n/a".to_owned()));
}
