package main

import (
	"testing"

	"github.com/straggler-go/straggler/restart/restarttest"
)

func TestRecordedPhases(t *testing.T) {
	restarttest.Run(t, "testdata/*.txt")
}
