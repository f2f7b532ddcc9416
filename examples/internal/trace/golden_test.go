package trace_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/internal/trace"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata/*.golden; commit only differences that you understand")

// fixtures are logs of every format, made for these tests.
var fixtures = []string{
	"spark.log", "rumen.json", "lines.jsonl", "table.csv", "job.jhist", "history.log", "shark.txt", "batch_instance.csv", "batch_task.csv",
	"swim.tsv", "gotest.json", "bazel.json", "timeline.json", "kube.json", "argo.json", "topology.json", "journal.txt", "spans.json", "profile.json",
	"steps_perfetto.json", "steps_otel.json",
}

// Each fixture holds every trap of its format that we know of; the golden file is the log in the normal form, and below
// it what was counted.
func TestGolden(t *testing.T) {
	for _, file := range append(fixtures, "eventlog_v2_app-2") {
		t.Run(file, func(t *testing.T) {
			log, err := trace.Open(filepath.Join("testdata", file))
			require.NoError(t, err)
			var got bytes.Buffer
			require.NoError(t, trace.Write(&got, log))
			for _, job := range log.Arrivals {
				fmt.Fprintln(&got, "arrival:", job.Job, job.Submitted, job.Input, job.Shuffle, job.Output)
			}
			fmt.Fprintf(&got, "format: %v\n", log.Format)
			for _, kind := range slices.Sorted(maps.Keys(log.Passed)) {
				fmt.Fprintf(&got, "ignored: %s: %d\n", kind, log.Passed[kind])
			}
			for _, hint := range log.Hints {
				got.WriteString("hint: " + hint + "\n")
			}
			for f := range log.Faults {
				if log.Faults[f] > 0 {
					got.WriteString("fault: " + one(trace.Fault(f), log.Faults[f]) + "\n")
				}
			}
			golden := filepath.Join("testdata", file+".golden")
			if *rewrite {
				require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got.String())
		})
	}
}

func one(f trace.Fault, count int) string {
	var faults trace.Faults
	faults[f] = count
	return faults.String()
}
