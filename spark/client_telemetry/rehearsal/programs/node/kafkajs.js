// The steps of a rehearsal with kafkajs.
const { Kafka, logLevel } = require("kafkajs");
const { report, within, authentication, env, tls } = require("./steps.js");

function login(mechanism, username, password) {
  if (mechanism === "oauthbearer") return { mechanism, oauthBearerProvider: async () => ({ value: env("TOKEN") }) };
  return { mechanism, username, password };
}

const kafka = new Kafka({
  brokers: [env("BOOTSTRAP")],
  logLevel: logLevel.NOTHING,
  connectionTimeout: 8000,
  retry: { retries: 2 },
  ssl: tls(),
  ...authentication((mechanism, username, password) => ({ sasl: login(mechanism.toLowerCase(), username, password) })),
});
const topic = env("TOPIC");
const group = env("GROUP");

async function connect() {
  const admin = kafka.admin();
  await admin.connect();
  await admin.disconnect();
}

async function produce() {
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic, compression: 1, messages: [{ partition: 0, value: "record" }] });
  await producer.disconnect();
}

async function consume() {
  const consumer = kafka.consumer({ groupId: group, sessionTimeout: 10000 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const read = new Promise((resolve, reject) => {
    consumer.on(consumer.events.CRASH, (event) => reject(event.payload.error));
    consumer.run({ autoCommitThreshold: 1, autoCommitInterval: 500, eachMessage: async () => resolve() }).catch(reject);
  });
  await within(25, read);
  report("group", "ok");
  const admin = kafka.admin();
  await admin.connect();
  let fetched;
  for (let attempt = 0; attempt < 10; attempt += 1) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    fetched = await admin.fetchOffsets({ groupId: group, topic });
    const partitions = fetched[0] && fetched[0].partitions ? fetched[0].partitions : fetched;
    if (partitions.some((each) => Number(each.offset) > 0)) break;
    if (attempt === 9) throw new Error(`committed: ${JSON.stringify(fetched)}`);
  }
  await admin.disconnect();
  await within(8, consumer.disconnect()).catch(() => {});
}

async function transaction() {
  const producer = kafka.producer({ transactionalId: `${group}-txn`, idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const begun = await producer.transaction();
    await begun.send({ topic, messages: [{ partition: 0, value: "record" }] });
    await begun.commit();
  }
  await producer.disconnect();
}

(async () => {
  if (await report("connect", connect)) {
    await report("produce", produce);
    report("consume", "n/a"); // kafkajs reads in groups only
    await report("commit", consume);
    await report("txn", transaction);
  }
  process.exit(0);
})();
