package tracker

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/internal/snapshot"
)

// A snapshot lists each trial that has not come out, and each once: what it lacks could not be ended.
func TestSnapshotsListAllTrials(t *testing.T) {
	b := &book{histories: []history{{}, {trial: trial{kind: byCopy}}, {trial: trial{kind: byRestart}}}}
	for _, of := range []struct {
		open []int32
		fits bool
	}{{[]int32{2, 1}, true}, {[]int32{1}, false}, {[]int32{1, 1}, false}, {[]int32{0, 1, 2}, false}} {
		written, read := trials{on: true, open: of.open}, trials{on: true}
		data, err := snapshot.Append(nil, 1, func(c *snapshot.Codec) { written.code(c, b) })
		require.NoError(t, err)
		c := snapshot.Codec{In: snapshot.NewReader("trials", 1, data)}
		read.code(&c, b)
		assert.Equal(t, of.fits, c.In.Close() == nil, "%v", of.open)
	}
}
