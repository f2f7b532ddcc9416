package trace_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"straggler-examples/internal/trace"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata/*.golden; commit only differences that you understand")

// Each fixture holds every trap of its format that we know of; the golden file is the log in the normal form, and below
// it what was counted.
func TestGolden(t *testing.T) {
	for _, file := range []string{"spark.log", "rumen.json", "lines.jsonl", "eventlog_v2_app-2"} {
		t.Run(file, func(t *testing.T) {
			log, err := trace.Open(filepath.Join("testdata", file))
			require.NoError(t, err)
			var got bytes.Buffer
			require.NoError(t, trace.Write(&got, log))
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
