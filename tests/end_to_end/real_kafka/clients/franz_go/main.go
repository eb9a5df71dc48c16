// A franz-go client for the end-to-end tests: franz-go BOOTSTRAP NAME [SETTING=VALUE ...].
//
// A producer and a consumer until the input ends; one JSON object a line. Settings: sasl.username and sasl.password
// (SCRAM-SHA-256), ssl.ca.location, ssl.certificate.location and ssl.key.location, as librdkafka calls them.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

const pause = 100 * time.Millisecond

func tell(event string, value string) {
	line, _ := json.Marshal(map[string]string{"event": event, "value": value})
	fmt.Println(string(line))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func secured(settings map[string]string) []kgo.Opt {
	var options []kgo.Opt
	if authority, isTLS := settings["ssl.ca.location"]; isTLS {
		pem, err := os.ReadFile(authority)
		if err != nil {
			fail(err)
		}
		trusted := x509.NewCertPool()
		trusted.AppendCertsFromPEM(pem)
		config := &tls.Config{RootCAs: trusted}
		if certificate, isMutual := settings["ssl.certificate.location"]; isMutual {
			pair, err := tls.LoadX509KeyPair(certificate, settings["ssl.key.location"])
			if err != nil {
				fail(err)
			}
			config.Certificates = []tls.Certificate{pair}
		}
		options = append(options, kgo.DialTLSConfig(config))
	}
	if user, isSASL := settings["sasl.username"]; isSASL {
		login := scram.Auth{User: user, Pass: settings["sasl.password"]}
		options = append(options, kgo.SASL(login.AsSha256Mechanism()))
	}
	return options
}

func main() {
	bootstrap, name := os.Args[1], os.Args[2]
	settings := map[string]string{}
	for _, argument := range os.Args[3:] {
		key, value, _ := strings.Cut(argument, "=")
		settings[key] = value
	}
	over, end := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		end()
	}()
	topic := "e2e-" + name
	options := append(secured(settings), kgo.SeedBrokers(strings.Split(bootstrap, ",")...), kgo.AllowAutoTopicCreation())
	producer, err := kgo.NewClient(append(options, kgo.ClientID(name+"-producer"))...)
	if err != nil {
		fail(err)
	}
	consumer, err := kgo.NewClient(append(options, kgo.ClientID(name+"-consumer"),
		kgo.ConsumerGroup(name+"-group"), kgo.ConsumeTopics(topic))...)
	if err != nil {
		fail(err)
	}
	for isTold := false; over.Err() == nil; {
		produced := producer.ProduceSync(over, &kgo.Record{Topic: topic, Value: []byte("value")}).FirstErr()
		waited, done := context.WithTimeout(over, 2*pause)
		consumer.PollFetches(waited)
		done()
		if produced == nil && !isTold {
			tell("started", name)
			isTold = true
		}
		time.Sleep(pause)
	}
	producer.Close()
	consumer.Close()
	tell("closed", name)
}
