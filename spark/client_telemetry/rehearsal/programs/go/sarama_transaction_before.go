package main

import "fmt"

// Sarama has transactions since 1.38.
func transaction() error { return fmt.Errorf("n/a") }
