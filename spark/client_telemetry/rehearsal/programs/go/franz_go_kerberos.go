package main

import (
	gokrb5 "github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/kerberos"
)

func kerberosLogin() sasl.Mechanism {
	settings, err := config.Load(env("KRB5_CONFIG"))
	if err != nil {
		panic(err)
	}
	keys, err := keytab.Load(env("KEYTAB"))
	if err != nil {
		panic(err)
	}
	own := gokrb5.NewWithKeytab(env("USERNAME"), env("REALM"), keys, settings, gokrb5.DisablePAFXFAST(true))
	return kerberos.Auth{Client: own, Service: "kafka"}.AsMechanism()
}
