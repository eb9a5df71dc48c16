// The steps of a rehearsal with confluent-kafka-go, which carries librdkafka.
package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/confluentinc/confluent-kafka-go/kafka"
)

func settings(extra kafka.ConfigMap) *kafka.ConfigMap {
	all := kafka.ConfigMap{"bootstrap.servers": env("BOOTSTRAP"), "socket.timeout.ms": 8000}
	if env("PROTOCOL") != "" {
		all["security.protocol"] = env("PROTOCOL")
	}
	if strings.HasSuffix(env("PROTOCOL"), "SSL") {
		all["ssl.ca.location"] = env("CA")
		all["ssl.certificate.location"] = env("CERTIFICATE")
		all["ssl.key.location"] = env("KEY")
	}
	if env("MECHANISM") != "" {
		all["sasl.mechanisms"] = env("MECHANISM")
		all["sasl.username"] = env("USERNAME")
		all["sasl.password"] = env("PASSWORD")
	}
	for name, value := range extra {
		all[name] = value
	}
	return &all
}

func connect() error {
	admin, err := kafka.NewAdminClient(settings(kafka.ConfigMap{}))
	if err != nil {
		return err
	}
	defer admin.Close()
	_, err = admin.GetMetadata(nil, true, 10000)
	return err
}

func send(producer *kafka.Producer) error {
	topic := env("TOPIC")
	done := make(chan kafka.Event, 1)
	message := &kafka.Message{
		TopicPartition: kafka.TopicPartition{Topic: &topic, Partition: 0}, Value: []byte("record"),
	}
	if err := producer.Produce(message, done); err != nil {
		return err
	}
	select {
	case event := <-done:
		return event.(*kafka.Message).TopicPartition.Error
	case <-time.After(12 * time.Second):
		return fmt.Errorf("no delivery report in 12 s")
	}
}

func produce() error {
	producer, err := kafka.NewProducer(settings(kafka.ConfigMap{"compression.type": "gzip", "message.timeout.ms": 10000}))
	if err != nil {
		return err
	}
	defer producer.Close()
	return send(producer)
}

func read(consumer *kafka.Consumer) (*kafka.Message, error) {
	deadline := time.Now().Add(15 * time.Second)
	var last error = fmt.Errorf("no record in 15 s")
	for time.Now().Before(deadline) {
		message, err := consumer.ReadMessage(time.Second)
		if err == nil {
			return message, nil
		}
		if err.(kafka.Error).Code() != kafka.ErrTimedOut {
			last = err
		}
	}
	return nil, last
}

func consume() error {
	consumer, err := kafka.NewConsumer(settings(kafka.ConfigMap{"group.id": env("GROUP") + "-assigned"}))
	if err != nil {
		return err
	}
	defer consumer.Close()
	topic := env("TOPIC")
	if err := consumer.Assign([]kafka.TopicPartition{{Topic: &topic, Partition: 0, Offset: kafka.OffsetBeginning}}); err != nil {
		return err
	}
	_, err = read(consumer)
	return err
}

func group() (error, error) {
	extra := kafka.ConfigMap{
		"group.id": env("GROUP"), "auto.offset.reset": "earliest", "enable.auto.commit": false, "session.timeout.ms": 10000,
	}
	if env("CONFIGURATION") == "group.protocol=consumer" {
		delete(extra, "session.timeout.ms")
		extra["group.protocol"] = "consumer"
	}
	consumer, err := kafka.NewConsumer(settings(extra))
	if err != nil {
		return err, err
	}
	defer consumer.Close()
	if err := consumer.SubscribeTopics([]string{env("TOPIC")}, nil); err != nil {
		return err, err
	}
	message, err := read(consumer)
	if err != nil {
		return err, fmt.Errorf("not reached")
	}
	if _, err := consumer.CommitMessage(message); err != nil {
		return nil, err
	}
	position := []kafka.TopicPartition{message.TopicPartition}
	position[0].Offset = kafka.OffsetInvalid
	committed, err := consumer.Committed(position, 10000)
	if err == nil && committed[0].Offset != message.TopicPartition.Offset+1 {
		err = fmt.Errorf("committed offset is %v", committed[0].Offset)
	}
	return nil, err
}

func transaction() error {
	producer, err := kafka.NewProducer(settings(kafka.ConfigMap{"transactional.id": env("GROUP") + "-txn", "message.timeout.ms": 10000, "transaction.timeout.ms": 15000}))
	if err != nil {
		return err
	}
	defer producer.Close()
	if err := producer.InitTransactions(nil); err != nil {
		return err
	}
	for attempt := 0; attempt < 2; attempt++ {
		if err := producer.BeginTransaction(); err != nil {
			return err
		}
		if err := send(producer); err != nil {
			return err
		}
		if err := producer.CommitTransaction(nil); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	_, version := kafka.LibraryVersion()
	report("version "+version, nil)
	steps(connect, produce, consume, group, transaction)
}
