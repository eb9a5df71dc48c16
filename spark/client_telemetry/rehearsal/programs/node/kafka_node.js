// The steps of a rehearsal with kafka-node.
const kafka = require("kafka-node");
const { report, within, env, tls } = require("./steps.js");

const settings = { kafkaHost: env("BOOTSTRAP"), connectTimeout: 8000, requestTimeout: 8000, connectRetryOptions: { retries: 1 }, sslOptions: tls() };
const topic = env("TOPIC");
let client;

function connect() {
  client = new kafka.KafkaClient(settings);
  return within(12, new Promise((resolve, reject) => client.on("ready", resolve).on("error", reject)));
}

function produce() {
  const producer = new kafka.Producer(client, { requireAcks: 1 });
  const payload = [{ topic, partition: 0, messages: "record", attributes: 1 }];
  return within(12, new Promise((resolve, reject) => {
    producer.on("error", reject);
    client.createTopics([topic], () => producer.send(payload, (error, sent) => (error ? reject(error) : resolve(sent))));
  }));
}

function consume() {
  const consumer = new kafka.Consumer(client, [{ topic, partition: 0, offset: 0 }], { fromOffset: true, autoCommit: false });
  return within(15, new Promise((resolve, reject) => consumer.on("message", resolve).on("error", reject)));
}

async function group() {
  const consumer = new kafka.ConsumerGroup({ ...settings, groupId: env("GROUP"), fromOffset: "earliest", autoCommit: false }, topic);
  await within(20, new Promise((resolve, reject) => consumer.on("message", resolve).on("error", reject)));
  await report("group");
  await within(10, new Promise((resolve, reject) => consumer.commit(true, (error) => (error ? reject(error) : resolve()))));
}

(async () => {
  if (await report("connect", connect)) {
    await report("produce", produce);
    await report("consume", consume);
    await report("commit", group);
    await report("txn", "n/a");
  }
  process.exit(0);
})();
