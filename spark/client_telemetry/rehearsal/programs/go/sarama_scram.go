package main

import (
	"crypto/sha256"
	"crypto/sha512"

	"github.com/xdg-go/scram"
)

// scramClient is the conversation that Sarama leaves to its user.
type scramClient struct{ conversation *scram.ClientConversation }

func (c *scramClient) Begin(user, password, authzID string) error {
	hash := scram.HashGeneratorFcn(sha256.New)
	if env("MECHANISM") == "SCRAM-SHA-512" {
		hash = sha512.New
	}
	client, err := hash.NewClient(user, password, authzID)
	if err != nil {
		return err
	}
	c.conversation = client.NewConversation()
	return nil
}

func (c *scramClient) Step(challenge string) (string, error) { return c.conversation.Step(challenge) }
func (c *scramClient) Done() bool                            { return c.conversation.Done() }
