package main

import (
	"fmt"

	"github.com/IBM/sarama"
)

func transaction() error {
	config := settings()
	if !config.Version.IsAtLeast(sarama.V0_11_0_0) {
		return fmt.Errorf("n/a")
	}
	config.Producer.Idempotent = true
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Net.MaxOpenRequests = 1
	config.Producer.Transaction.ID = env("GROUP") + "-txn"
	config.Producer.Partitioner = sarama.NewManualPartitioner
	producer, err := sarama.NewSyncProducer(brokers(), config)
	if err != nil {
		return err
	}
	defer producer.Close()
	for attempt := 0; attempt < 2; attempt++ {
		if err := producer.BeginTxn(); err != nil {
			return err
		}
		if _, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: env("TOPIC"), Value: sarama.StringEncoder("record")}); err != nil {
			return err
		}
		if err := producer.CommitTxn(); err != nil {
			return err
		}
	}
	return nil
}
