// What the Go programs share: their settings come in the environment, each step goes out as a line of JSON.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

func env(name string) string { return os.Getenv(name) }

// tlsSettings are nil where the program connects without TLS.
func tlsSettings() *tls.Config {
	if !strings.HasSuffix(env("PROTOCOL"), "SSL") {
		return nil
	}
	trusted, err := os.ReadFile(env("CA"))
	if err != nil {
		panic(err)
	}
	own, err := tls.LoadX509KeyPair(env("CERTIFICATE"), env("KEY"))
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(trusted)
	return &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{own}}
}

func report(step string, err error) bool {
	outcome := "ok"
	if err != nil {
		outcome = err.Error()
	}
	line, _ := json.Marshal(map[string]string{"step": step, "outcome": outcome})
	fmt.Println(string(line))
	return err == nil
}

func within(seconds int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
}

// Everything that needs a connection: nothing of it is tried without one.
func steps(connect, produce, consume func() error, group func() (error, error), transaction func() error) bool {
	if !report("connect", connect()) {
		return false
	}
	report("produce", produce())
	report("consume", consume())
	joined, committed := group()
	report("group", joined)
	report("commit", committed)
	report("txn", transaction())
	return true
}
