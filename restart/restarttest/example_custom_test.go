package restarttest_test

import (
	"os"
	"testing"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/restarttest"
	"github.com/straggler-go/straggler/restart/tracker"
)

// How does a journal replay that needs the record of its machines? The record was saved beside the journal when
// the phase began: night.txt and night.txt.record. The example is the body of a test function.
func ExampleOptionsFor() {
	TestNights := func(t *testing.T) {
		restarttest.Run(t, "testdata/*.txt", restarttest.OptionsFor(func(file string) journal.Options {
			return journal.Options{Configure: func(_ int, c *tracker.Config) {
				data, err := os.ReadFile(file + ".record")
				if err != nil {
					t.Fatal(err)
				}
				record := new(machines.Record)
				if err := record.UnmarshalBinary(data); err != nil {
					t.Fatal(err)
				}
				c.Record = record
			}}
		}))
	}
	_ = TestNights
}
