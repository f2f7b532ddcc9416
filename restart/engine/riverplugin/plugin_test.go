package riverplugin_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"

	"github.com/straggler-go/straggler/restart/engine/riverplugin"
)

// A job hangs at the client that works it first. Its copy ends it before a rescue would, which the number of its attempt shows,
// and the attempt that hangs is ended. No row of the copy is left. Subscribers learn of the end.
func TestACopyEndsAJobThatHangs(t *testing.T) {
	pool := database(t)
	ended := make(chan error, 1)
	handle := func(ctx context.Context, name string, job *river.Job[work]) error {
		if job.Args.Name == "hangs" && job.Attempt == 1 && !strings.Contains(string(job.Metadata), "straggler") {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return context.Cause(ctx)
		}
		_ = river.RecordOutput(ctx, name)
		return pause(ctx, job.Args.Lasts)
	}
	s := setup{options: riverplugin.Options{Kinds: map[string]riverplugin.Kind{"work": {Copies: true}}}}
	a, b := start(t, pool, "a", s, handle), start(t, pool, "b", s, handle)
	warm(t, a, 40)
	events, more := a.Subscribe(river.EventKindJobCompleted)
	defer more()
	others, more := b.Subscribe(river.EventKindJobCompleted)
	defer more()
	begun := time.Now()
	id := insert(t, a, work{"hangs", 300 * time.Millisecond}, nil)
	got := outputs(t, a, id)
	t.Log("took", time.Since(begun), got)
	assert.Equal(t, riverplugin.ErrOver, <-ended)
	select { // the client of the copy tells its subscribers
	case e := <-events:
		assert.Equal(t, id, e.Job.ID)
	case e := <-others:
		assert.Equal(t, id, e.Job.ID)
	case <-time.After(5 * time.Second):
		t.Error("no event")
	}
	assert.Eventually(t, func() bool { return rows(t, pool, "river_job WHERE metadata ? 'straggler'") == 0 }, 3*time.Second, 50*time.Millisecond)
	assert.Equal(t, 1, rows(t, pool, "river_job WHERE id = $1 AND state = 'completed' AND attempt = 1", id))
}
