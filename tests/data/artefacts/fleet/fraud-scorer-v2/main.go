package main

import _ "github.com/confluentinc/confluent-kafka-go/kafka"

func main() {}
