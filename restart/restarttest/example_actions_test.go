package restarttest_test

import (
	"testing"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/restarttest"
)

// Does a new threshold still take the same actions? OnlyActions compares actions, tasks and attempts, and
// ignores reasons and numbers. The example is the body of a test function.
func ExampleOnlyActions() {
	TestNewThreshold := func(t *testing.T) {
		o := journal.Options{Policy: restart.Mantri{CopyThreshold: 0.3}}
		restarttest.Run(t, "testdata/*.txt", restarttest.Options(o), restarttest.OnlyActions())
	}
	_ = TestNewThreshold
}
