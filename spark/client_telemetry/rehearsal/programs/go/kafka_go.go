// The steps of a rehearsal with segmentio/kafka-go, and the two ways to create a topic.
package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

func mechanism() sasl.Mechanism {
	switch env("MECHANISM") {
	case "PLAIN":
		return plain.Mechanism{Username: env("USERNAME"), Password: env("PASSWORD")}
	case "SCRAM-SHA-256", "SCRAM-SHA-512":
		algorithm := scram.SHA256
		if env("MECHANISM") == "SCRAM-SHA-512" {
			algorithm = scram.SHA512
		}
		made, err := scram.Mechanism(algorithm, env("USERNAME"), env("PASSWORD"))
		if err != nil {
			panic(err)
		}
		return made
	}
	return nil
}

func dialer() *kafka.Dialer {
	return &kafka.Dialer{Timeout: 8 * time.Second, SASLMechanism: mechanism(), TLS: tlsSettings()}
}

func client() *kafka.Client {
	return &kafka.Client{Addr: kafka.TCP(env("BOOTSTRAP")), Timeout: 10 * time.Second, Transport: &kafka.Transport{SASL: mechanism(), TLS: tlsSettings()}}
}

func connect() error {
	ctx, cancel := within(12)
	defer cancel()
	connection, err := dialer().DialContext(ctx, "tcp", env("BOOTSTRAP"))
	if err != nil {
		return err
	}
	defer connection.Close()
	_, err = connection.Brokers()
	return err
}

func produce() error {
	writer := newWriter()
	defer writer.Close()
	ctx, cancel := within(12)
	defer cancel()
	for {
		err := writer.WriteMessages(ctx, kafka.Message{Value: []byte("record")})
		if !errors.Is(err, kafka.UnknownTopicOrPartition) || ctx.Err() != nil {
			return err
		}
		time.Sleep(500 * time.Millisecond) // until the topic is there
	}
}

func consume() error {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{env("BOOTSTRAP")}, Topic: env("TOPIC"), Partition: 0, Dialer: dialer()})
	defer reader.Close()
	ctx, cancel := within(15)
	defer cancel()
	_, err := reader.ReadMessage(ctx)
	return err
}

func group() (error, error) {
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{env("BOOTSTRAP")}, GroupID: env("GROUP"), Topic: env("TOPIC"), StartOffset: kafka.FirstOffset,
		Dialer: dialer(), MaxAttempts: 2,
	})
	defer reader.Close()
	ctx, cancel := within(25)
	defer cancel()
	message, err := reader.FetchMessage(ctx)
	if err != nil {
		return err, fmt.Errorf("not reached")
	}
	if err := reader.CommitMessages(ctx, message); err != nil {
		return nil, err
	}
	offsets, err := client().OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: env("GROUP"), Topics: map[string][]int{env("TOPIC"): {0}}})
	if err != nil {
		return nil, err
	}
	if offsets.Topics[env("TOPIC")][0].CommittedOffset < 1 {
		return nil, fmt.Errorf("no committed offset")
	}
	return nil, nil
}

func createTopic() error {
	if env("CONFIGURATION") == "Conn" {
		connection, err := dialer().Dial("tcp", env("BOOTSTRAP"))
		if err != nil {
			return err
		}
		defer connection.Close()
		return connection.CreateTopics(kafka.TopicConfig{Topic: env("TOPIC") + "-conn", NumPartitions: 1, ReplicationFactor: 1})
	}
	ctx, cancel := within(12)
	defer cancel()
	topic := env("TOPIC") + "-client"
	created, err := client().CreateTopics(ctx, &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: topic, NumPartitions: 1, ReplicationFactor: 1}},
	})
	if err != nil {
		return err
	}
	return created.Errors[topic]
}

func main() {
	if steps(connect, produce, consume, group, func() error { return fmt.Errorf("n/a") }) {
		report("create", createTopic())
	}
}
