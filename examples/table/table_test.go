package table_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/table"
	"github.com/straggler-go/straggler/restart/engine"
)

// One worker of three is far slower, one dies in the middle, a task fails the first time, and the coordinator is stopped at
// random moments. Each task has its result, and long before the slow worker would have had its own.
func TestTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "queue")
	q, err := table.Open(file)
	require.NoError(t, err)
	defer q.Close()
	var inputs, want []string
	for i := range 40 {
		inputs, want = append(inputs, fmt.Sprint(i)), append(want, fmt.Sprint("done ", i))
	}
	tx, err := q.DB().Begin()
	require.NoError(t, err)
	require.NoError(t, table.Add(t.Context(), tx, "batch", inputs))
	require.NoError(t, tx.Commit())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var machines []engine.Machine
	var failed atomic.Bool
	for name, takes := range map[string]time.Duration{"fast": 50 * time.Millisecond, "dies": 50 * time.Millisecond, "slow": time.Minute} {
		machines = append(machines, engine.Machine{Name: name, Slots: 4})
		life := ctx
		if name == "dies" {
			var end context.CancelFunc
			life, end = context.WithTimeout(ctx, 350*time.Millisecond)
			defer end()
		}
		w, err := table.Open(file) // as another process would
		require.NoError(t, err)
		defer w.Close()
		go w.Work(life, name, 4, func(ctx context.Context, input string, progress func(float64)) (string, error) {
			if input == "0" && !failed.Swap(true) {
				return "", errors.New("the first time")
			}
			for i := range 10 {
				progress(float64(i) / 10)
				select {
				case <-ctx.Done():
					return "", ctx.Err()
				case <-time.After(takes / 10):
				}
			}
			return "done " + input, nil
		})
	}
	begun := time.Now()
	for life := 150 * time.Millisecond; ; life *= 2 {
		some, end := context.WithTimeout(ctx, life)
		got, err := q.Run(some, "batch", engine.Config{Interval: 25 * time.Millisecond}, machines)
		end()
		if err == nil {
			assert.Equal(t, want, got)
			break
		}
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	assert.Less(t, time.Since(begun), 30*time.Second)
}
