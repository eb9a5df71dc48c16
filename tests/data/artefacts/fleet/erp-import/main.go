package main

import (
	"github.com/Shopify/sarama"
)

func main() {
	config := sarama.NewConfig()
	config.Version = sarama.V0_10_2_0
	_ = config
}
