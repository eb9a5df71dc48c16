package main

import _ "github.com/twmb/franz-go/pkg/kgo"

func main() {}
