package restarttest_test

import (
	"os"
	"testing"

	"github.com/straggler-go/straggler/restart/journal"
	"github.com/straggler-go/straggler/restart/restarttest"
	"github.com/straggler-go/straggler/restart/tracker"
)

// How does a journal replay that needs what earlier phases had learnt? The Knowledge was saved beside the journal
// when the phase began: night.txt and night.txt.knowledge. The example is the body of a test function.
func ExampleOptionsFor() {
	TestNights := func(t *testing.T) {
		restarttest.Run(t, "testdata/*.txt", restarttest.OptionsFor(func(file string) journal.Options {
			return journal.Options{Configure: func(_ int, c *tracker.Config) {
				data, err := os.ReadFile(file + ".knowledge")
				if err != nil {
					t.Fatal(err)
				}
				c.Knowledge = new(tracker.Knowledge)
				if err := c.Knowledge.UnmarshalBinary(data); err != nil {
					t.Fatal(err)
				}
			}}
		}))
	}
	_ = TestNights
}
