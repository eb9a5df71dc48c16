package main

import (
	"reflect"

	"github.com/segmentio/kafka-go"
)

func newWriter() *kafka.Writer {
	writer := &kafka.Writer{
		Addr: kafka.TCP(env("BOOTSTRAP")), Topic: env("TOPIC"), Compression: kafka.Gzip,
		Transport: &kafka.Transport{SASL: mechanism(), TLS: tlsSettings()},
		Balancer:  kafka.BalancerFunc(func(kafka.Message, ...int) int { return 0 }),
	}
	if creation := reflect.ValueOf(writer).Elem().FieldByName("AllowAutoTopicCreation"); creation.IsValid() {
		creation.SetBool(true)
	}
	return writer
}
