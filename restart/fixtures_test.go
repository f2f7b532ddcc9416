package restart_test

import (
	"testing"

	"github.com/straggler-go/straggler/restart/restarttest"
)

// The journals of testdata are worked examples of the policies; read them. After a change that is meant to change
// decisions, rewrite them with
//
//	go test ./restart -run TestFixtures -restart.rewrite
//
// and commit only differences that you can explain.
func TestFixtures(t *testing.T) { restarttest.Run(t, "testdata/*.txt") }
