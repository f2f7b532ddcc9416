package riverplugin

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// sighted returns a coordinator without a database. Its looks are what a test says.
func sighted(t *testing.T, log *strings.Builder) *coordinator {
	o := Options{Kinds: map[string]Kind{"work": {}}, Log: slog.New(slog.NewTextHandler(log, nil))}
	require.NoError(t, o.fill())
	return &coordinator{p: &Plugin{options: o}, state: state{
		machines: new(engine.Machines), kinds: map[string]*kind{}, stored: map[string]*tracker.Experience{},
		beats: map[string]heard{}, lost: map[string]bool{}, strange: map[place]time.Time{}, shadow: map[string]int{},
	}}
}

// seen is a look that shows the client a, which beats at a time.
func seen(now, beat time.Time) *view {
	return &view{
		now: now, clients: map[string]*client{"a": {seen: beat, slots: 1, running: map[string]float64{}}},
		rows: map[int64]*row{}, copies: map[job][]*row{}, ends: map[job]ending{},
	}
}

// The end of a job stays in sight for some looks. The phase learns from the job once.
func TestAJobIsLearntFromOnce(t *testing.T) {
	c, begun := sighted(t, new(strings.Builder)), time.Now()
	for i := range 5 {
		v := seen(begun.Add(time.Duration(i)*time.Second), begun.Add(time.Duration(i)*time.Second))
		if i == 0 {
			v.rows[1] = &row{id: 1, kind: "work", attempt: 1, state: "running", begun: begun, client: "a", known: true}
		} else {
			v.ends[job{1, 1}] = ending{by: 1, ok: true, kind: "work", began: begun, ended: begun.Add(time.Second)}
		}
		c.notice(v)
		c.judgeClients(v)
		c.tell(v, new(orders))
	}
	assert.Equal(t, 1, c.kinds["work"].phase.Add(-1), "the phase has had one task")
}

// The coordinator was blind for a while. A client that was lost before is not back before it beats.
func TestALostClientIsNotBackByAGapOfSight(t *testing.T) {
	log := new(strings.Builder)
	c, beat := sighted(t, log), time.Now()
	look := func(beat time.Time) {
		v := seen(time.Now(), beat)
		c.notice(v)
		c.judgeClients(v)
	}
	look(beat)
	c.beats["a"] = heard{beat, time.Now().Add(-2 * silence)}
	look(beat)
	assert.True(t, c.lost["a"])
	c.looked = time.Now().Add(-time.Minute)
	look(beat)
	assert.True(t, c.lost["a"])
	assert.NotContains(t, log.String(), "is back")
	look(beat.Add(time.Second))
	assert.False(t, c.lost["a"])
	assert.Contains(t, log.String(), "is back")
}

// A client that was lost, or that lacked the plugin, is forgotten when it is gone.
func TestClientsThatAreGoneAreForgotten(t *testing.T) {
	c := sighted(t, new(strings.Builder))
	now := time.Now()
	c.lost["gone"], c.strange[place{"q", "gone"}] = true, now.Add(-2*strangeFor)
	c.notice(seen(now, now))
	assert.Empty(t, c.lost)
	assert.Empty(t, c.strange)
}
