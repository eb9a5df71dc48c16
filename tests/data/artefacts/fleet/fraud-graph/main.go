package main

import _ "github.com/confluentinc/confluent-kafka-go/v2/kafka"

func main() {}
