// The steps of a rehearsal with node-rdkafka, which carries librdkafka.
const rdkafka = require("node-rdkafka");
const { report, within, authentication, env } = require("./steps.js");

const settings = {
  "metadata.broker.list": env("BOOTSTRAP"),
  "socket.timeout.ms": 8000,
  ...(env("PROTOCOL") ? { "security.protocol": env("PROTOCOL") } : {}),
  ...(env("PROTOCOL").endsWith("SSL")
    ? { "ssl.ca.location": env("CA"), "ssl.certificate.location": env("CERTIFICATE"), "ssl.key.location": env("KEY") }
    : {}),
  ...authentication((mechanism, username, password) => ({
    "sasl.mechanisms": mechanism,
    "sasl.username": username,
    "sasl.password": password,
  })),
};
const topic = env("TOPIC");
const groupId = env("GROUP");

// A function of node-rdkafka that takes a callback last, as a promise.
function done(work) {
  return new Promise((resolve, reject) => work((error, result) => (error ? reject(error) : resolve(result))));
}

async function connected(client) {
  await done((callback) => client.connect({ topic, timeout: 10000 }, callback));
  return client;
}

async function connect() {
  const client = await connected(new rdkafka.Producer(settings));
  await done((callback) => client.disconnect(callback));
}

async function send(producer) {
  producer.setPollInterval(100);
  const sent = new Promise((resolve, reject) => producer.once("delivery-report", (error) => (error ? reject(error) : resolve())));
  producer.produce(topic, 0, Buffer.from("record"));
  await within(15, sent);
}

async function produce() {
  const own = { dr_cb: true, "compression.codec": "gzip", "message.timeout.ms": 10000 };
  const producer = await connected(new rdkafka.Producer({ ...settings, ...own }));
  await send(producer);
  await done((callback) => producer.disconnect(callback));
}

async function read(consumer) {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const messages = await done((callback) => consumer.consume(1, callback));
    if (messages.length) return messages[0];
  }
  throw new Error("no record in 20 reads");
}

async function consume() {
  const consumer = await connected(new rdkafka.KafkaConsumer({ ...settings, "group.id": `${groupId}-assigned` }, {}));
  consumer.assign([{ topic, partition: 0, offset: 0 }]);
  await read(consumer);
  await done((callback) => consumer.disconnect(callback));
}

async function group() {
  const own = { "group.id": groupId, "enable.auto.commit": false };
  const consumer = await connected(new rdkafka.KafkaConsumer({ ...settings, ...own }, { "auto.offset.reset": "earliest" }));
  consumer.subscribe([topic]);
  const message = await read(consumer);
  await report("group");
  consumer.commitMessageSync(message);
  const partition = { topic, partition: message.partition };
  const [committed] = await done((callback) => consumer.committed([partition], 10000, callback));
  if (committed.offset !== message.offset + 1) throw new Error(`committed offset is ${committed.offset}`);
  await done((callback) => consumer.disconnect(callback));
}

async function transaction() {
  const own = { dr_cb: true, "transactional.id": `${groupId}-txn`, "transaction.timeout.ms": 15000 };
  const producer = await connected(new rdkafka.Producer({ ...settings, ...own }));
  await done((callback) => producer.initTransactions(15000, callback));
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await done((callback) => producer.beginTransaction(callback));
    await send(producer);
    await done((callback) => producer.commitTransaction(15000, callback));
  }
  await done((callback) => producer.disconnect(callback));
}

async function create() {
  const admin = rdkafka.AdminClient.create(settings);
  const created = { topic: `${topic}-created`, num_partitions: 1, replication_factor: 1 };
  await done((callback) => admin.createTopic(created, 15000, callback));
  admin.disconnect();
}

(async () => {
  if (await report("connect", connect)) {
    await report("produce", produce);
    await report("consume", consume);
    await report("commit", group);
    await report("txn", transaction);
    await report("create", create);
  }
  process.exit(0);
})();
