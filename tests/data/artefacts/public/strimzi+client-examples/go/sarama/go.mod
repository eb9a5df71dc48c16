module github.com/strimzi/client-examples/go/sarama

go 1.13

require github.com/Shopify/sarama v1.27.2
