// The steps of a rehearsal with Sarama. CONFIGURATION: settings joined by blanks, such as
// "config.Version=2.1.0 Consumer.Offsets.Retention=24h".
package main

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

func settings() *sarama.Config {
	config := sarama.NewConfig()
	config.Producer.Return.Successes = true
	config.Consumer.Return.Errors = true
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	// Sarama has it since 1.25.
	if commits := reflect.ValueOf(config).Elem().FieldByName("Consumer").FieldByName("Offsets").FieldByName("AutoCommit"); commits.IsValid() {
		commits.FieldByName("Enable").SetBool(false)
	}
	config.Metadata.Retry.Max = 2
	config.Net.DialTimeout, config.Net.ReadTimeout = 8*time.Second, 8*time.Second
	for _, setting := range strings.Fields(env("CONFIGURATION")) {
		name, value, _ := strings.Cut(setting, "=")
		switch name {
		case "config.Version":
			if value == "newest" {
				config.Version = sarama.MaxVersion
				break
			}
			version, err := sarama.ParseKafkaVersion(value)
			if err != nil {
				panic(err)
			}
			config.Version = version
		case "Consumer.Offsets.Retention":
			retention, err := time.ParseDuration(value)
			if err != nil {
				panic(err)
			}
			config.Consumer.Offsets.Retention = retention
		default:
			panic("unknown setting " + setting)
		}
	}
	if settings := tlsSettings(); settings != nil {
		config.Net.TLS.Enable, config.Net.TLS.Config = true, settings
	}
	if env("MECHANISM") == "GSSAPI" {
		kerberosLogin(config)
	} else if env("MECHANISM") != "" {
		config.Net.SASL.Enable = true
		config.Net.SASL.Handshake = true
		config.Net.SASL.Version = sarama.SASLHandshakeV1
		config.Net.SASL.User, config.Net.SASL.Password = env("USERNAME"), env("PASSWORD")
		config.Net.SASL.Mechanism = sarama.SASLMechanism(env("MECHANISM"))
		config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &scramClient{} }
	}
	return config
}

// kerberosLogin sets fields that Sarama has since 1.23: before, it panics and says so.
func kerberosLogin(config *sarama.Config) {
	config.Net.SASL.Enable = true
	config.Net.SASL.Mechanism = "GSSAPI"
	kerberos := reflect.ValueOf(config).Elem().FieldByName("Net").FieldByName("SASL").FieldByName("GSSAPI")
	if !kerberos.IsValid() {
		panic("this Sarama has no GSSAPI")
	}
	kerberos.FieldByName("AuthType").SetInt(2) // KRB5_KEYTAB_AUTH
	settings := map[string]string{
		"KeyTabPath": env("KEYTAB"), "KerberosConfigPath": env("KRB5_CONFIG"), "ServiceName": "kafka",
		"Username": env("USERNAME"), "Realm": env("REALM"),
	}
	for name, value := range settings {
		kerberos.FieldByName(name).SetString(value)
	}
	if fast := kerberos.FieldByName("DisablePAFXFAST"); fast.IsValid() {
		fast.SetBool(true)
	}
}

func brokers() []string { return []string{env("BOOTSTRAP")} }

func connect() error {
	client, err := sarama.NewClient(brokers(), settings())
	if err != nil {
		return err
	}
	defer client.Close()
	return client.RefreshMetadata(env("TOPIC"))
}

func produce() error {
	config := settings()
	config.Producer.Compression = sarama.CompressionGZIP
	config.Producer.Partitioner = sarama.NewManualPartitioner
	producer, err := sarama.NewSyncProducer(brokers(), config)
	if err != nil {
		return err
	}
	defer producer.Close()
	_, _, err = producer.SendMessage(&sarama.ProducerMessage{Topic: env("TOPIC"), Value: sarama.StringEncoder("record")})
	return err
}

func consume() error {
	consumer, err := sarama.NewConsumer(brokers(), settings())
	if err != nil {
		return err
	}
	defer consumer.Close()
	partition, err := consumer.ConsumePartition(env("TOPIC"), 0, sarama.OffsetOldest)
	if err != nil {
		return err
	}
	defer partition.Close()
	select {
	case <-partition.Messages():
		return nil
	case err := <-partition.Errors():
		return err
	case <-time.After(15 * time.Second):
		return fmt.Errorf("no record in 15 s")
	}
}

type handler struct{ read chan *sarama.ConsumerMessage }

func (handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (h handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		session.MarkMessage(message, "")
		// Sarama commits by itself up to 1.26.
		if committing, ok := session.(interface{ Commit() }); ok {
			committing.Commit()
		}
		select {
		case h.read <- message:
		default:
		}
	}
	return nil
}

func group() (error, error) {
	consumer, err := sarama.NewConsumerGroup(brokers(), env("GROUP"), settings())
	if err != nil {
		return err, fmt.Errorf("not reached")
	}
	defer consumer.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	failed := make(chan error, 16)
	go func() {
		for err := range consumer.Errors() {
			select {
			case failed <- err:
			default:
			}
		}
	}()
	read := make(chan *sarama.ConsumerMessage, 1)
	ended := make(chan error, 1)
	go func() { ended <- consumer.Consume(ctx, []string{env("TOPIC")}, handler{read}) }()
	select {
	case <-read:
	case err := <-ended:
		return fmt.Errorf("consume ended: %v", err), fmt.Errorf("not reached")
	case <-ctx.Done():
		select {
		case err := <-failed:
			return err, fmt.Errorf("not reached")
		default:
			return fmt.Errorf("no record in 25 s"), fmt.Errorf("not reached")
		}
	}
	time.Sleep(2 * time.Second)
	return nil, committed()
}

func committed() error {
	admin, err := sarama.NewClusterAdmin(brokers(), settings())
	if err != nil {
		return err
	}
	defer admin.Close()
	offsets, err := admin.ListConsumerGroupOffsets(env("GROUP"), map[string][]int32{env("TOPIC"): {0}})
	if err != nil {
		return err
	}
	block := offsets.GetBlock(env("TOPIC"), 0)
	if block == nil || block.Offset < 1 {
		return fmt.Errorf("no committed offset: %+v", block)
	}
	return nil
}

func main() {
	steps(connect, produce, consume, group, transaction)
}
