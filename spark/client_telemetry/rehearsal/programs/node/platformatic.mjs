// The steps of a rehearsal with @platformatic/kafka. CONFIGURATION: groupProtocol=consumer.
import { Admin, Consumer, Producer, stringDeserializers, stringSerializers } from "@platformatic/kafka";
import steps from "./steps.js";

const { env, report, within, authentication, tls } = steps;
const common = {
  clientId: "fixes",
  bootstrapBrokers: [env("BOOTSTRAP")],
  timeout: 8000,
  autocreateTopics: true,
  tls: tls(),
  ...authentication((mechanism, username, password) => ({ sasl: { mechanism, username, password } })),
};
const topic = env("TOPIC");
const groupId = env("GROUP");

async function connect() {
  const admin = new Admin(common);
  await admin.listTopics();
  await admin.close();
}

async function produce() {
  const producer = new Producer({ ...common, serializers: stringSerializers });
  await producer.send({ messages: [{ topic, partition: 0, key: "k", value: "record" }] });
  await producer.close();
}

async function consume() {
  const groupProtocol = env("CONFIGURATION") ? { groupProtocol: "consumer" } : {};
  const consumer = new Consumer({ ...common, groupId, autocommit: false, deserializers: stringDeserializers, ...groupProtocol });
  const stream = await consumer.consume({ topics: [topic], mode: "committed", fallbackMode: "earliest" });
  const message = await within(25, new Promise((resolve, reject) => {
    stream.on("data", resolve);
    stream.on("error", reject);
  }));
  await report("group", "ok");
  await message.commit();
  const committed = await consumer.listCommittedOffsets({ topics: [{ topic, partitions: [message.partition] }] });
  if (committed.get(topic)[0] < 1n) throw new Error(`committed: ${committed.get(topic)}`);
  await within(8, consumer.close(true)).catch(() => {});
}

async function transaction() {
  const producer = new Producer({ ...common, idempotent: true, transactionalId: `${groupId}-txn`, serializers: stringSerializers });
  if (!producer.beginTransaction) throw new Error("n/a");
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const begun = await producer.beginTransaction();
    await begun.send({ messages: [{ topic, partition: 0, key: "k", value: "record" }] });
    await begun.commit();
  }
  await producer.close();
}

if (await report("connect", connect)) {
  await report("produce", produce);
  await report("consume", "n/a"); // reads in groups
  await report("commit", consume);
  await report("txn", transaction);
}
process.exit(0);
