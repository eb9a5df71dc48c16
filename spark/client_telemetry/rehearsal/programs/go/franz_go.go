// The steps of a rehearsal with franz-go.
package main

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

func client(extra ...kgo.Opt) (*kgo.Client, error) {
	options := []kgo.Opt{kgo.SeedBrokers(env("BOOTSTRAP")), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.AllowAutoTopicCreation()}
	if settings := tlsSettings(); settings != nil {
		options = append(options, kgo.DialTLSConfig(settings))
	}
	switch env("MECHANISM") {
	case "GSSAPI":
		options = append(options, kgo.SASL(kerberosLogin()))
	case "OAUTHBEARER":
		options = append(options, kgo.SASL(oauth.Auth{Token: env("TOKEN")}.AsMechanism()))
	case "PLAIN":
		options = append(options, kgo.SASL(plain.Auth{User: env("USERNAME"), Pass: env("PASSWORD")}.AsMechanism()))
	case "SCRAM-SHA-256":
		options = append(options, kgo.SASL(scram.Auth{User: env("USERNAME"), Pass: env("PASSWORD")}.AsSha256Mechanism()))
	case "SCRAM-SHA-512":
		options = append(options, kgo.SASL(scram.Auth{User: env("USERNAME"), Pass: env("PASSWORD")}.AsSha512Mechanism()))
	}
	return kgo.NewClient(append(options, extra...)...)
}

func record() *kgo.Record {
	return &kgo.Record{Topic: env("TOPIC"), Partition: 0, Value: []byte("record")}
}

func connect() error {
	c, err := client()
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := within(12)
	defer cancel()
	return c.Ping(ctx)
}

func produce() error {
	c, err := client(kgo.ProducerBatchCompression(kgo.GzipCompression()))
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := within(12)
	defer cancel()
	return c.ProduceSync(ctx, record()).FirstErr()
}

func poll(c *kgo.Client) error {
	ctx, cancel := within(20)
	defer cancel()
	for {
		fetches := c.PollFetches(ctx)
		for read := fetches.RecordIter(); !read.Done(); {
			return nil
		}
		for _, failed := range fetches.Errors() {
			return failed.Err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("no record in 20 s")
		}
	}
}

func consume() error {
	c, err := client(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{env("TOPIC"): {0: kgo.NewOffset().AtStart()}}))
	if err != nil {
		return err
	}
	defer c.Close()
	return poll(c)
}

func group() (error, error) {
	c, err := client(
		kgo.ConsumerGroup(env("GROUP")), kgo.ConsumeTopics(env("TOPIC")), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		return err, err
	}
	defer c.Close()
	if err := poll(c); err != nil {
		return err, fmt.Errorf("not reached")
	}
	ctx, cancel := within(12)
	defer cancel()
	if err := c.CommitUncommittedOffsets(ctx); err != nil {
		return nil, err
	}
	if c.CommittedOffsets()[env("TOPIC")][0].Offset < 1 {
		return nil, fmt.Errorf("no committed offset")
	}
	return nil, nil
}

func transaction() error {
	c, err := client(kgo.TransactionalID(env("GROUP")+"-txn"), kgo.TransactionTimeout(15*time.Second))
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := within(30)
	defer cancel()
	for attempt := 0; attempt < 2; attempt++ {
		if err := c.BeginTransaction(); err != nil {
			return err
		}
		if err := c.ProduceSync(ctx, record()).FirstErr(); err != nil {
			return err
		}
		if err := c.EndTransaction(ctx, kgo.TryCommit); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	steps(connect, produce, consume, group, transaction)
}
