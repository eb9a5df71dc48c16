package main

import (
	"github.com/IBM/sarama"
)

func main() {
	config := sarama.NewConfig()
	_ = config
}
