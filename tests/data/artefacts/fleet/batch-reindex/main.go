package main

import (
	"github.com/Shopify/sarama"
)

func main() {
	config := sarama.NewConfig()
	_ = config
}
