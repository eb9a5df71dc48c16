package main

import "github.com/segmentio/kafka-go"

// Up to 0.4.0 a writer is made from a WriterConfig.
func newWriter() *kafka.Writer {
	return kafka.NewWriter(kafka.WriterConfig{
		Brokers: []string{env("BOOTSTRAP")}, Topic: env("TOPIC"), Dialer: dialer(), CompressionCodec: kafka.Gzip.Codec(),
		Balancer: kafka.BalancerFunc(func(kafka.Message, ...int) int { return 0 }), MaxAttempts: 2,
	})
}
