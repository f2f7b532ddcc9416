package fanout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/journal"
)

// nineActivities is a server with a workflow whose last activity takes ten times as long as the others.
func nineActivities() *imitation {
	s := newImitation()
	begun := time.Now()
	for i := range 9 {
		s.schedules(fmt.Sprint("a", i), "input")
	}
	s.pending = func(poll int) (list []*workflowpb.PendingActivityInfo) {
		for i := range 9 {
			if poll < 20 || i == 8 && poll < 200 {
				list = append(list, started(fmt.Sprint("a", i), begun))
			}
		}
		return list // nil after the last poll: the workflow has ended
	}
	return s
}

// The imitation of a server has no requests that reset or move an activity: Watch would panic. It has copies, and gets
// none.
func TestShadowWatchChangesNothing(t *testing.T) {
	s := nineActivities()
	wanted, ends := map[string]int{}, []Summary{}
	w := s.watcher(t, onceEach{}, func(e Event) {
		assert.Equal(t, "shadow", e.Kind)
		assert.Equal(t, "a", e.Machine)
		assert.True(t, strings.HasPrefix(e.Why, "copy idle-slot"), e.Why)
		wanted[e.ID]++
	})
	w.Shadow, w.Journal, w.OnEnd = true, true, func(s Summary) { ends = append(ends, s) }
	s.watch(t, w)
	assert.Empty(t, s.copies)
	assert.Empty(t, s.cancelled)
	assert.Len(t, wanted, 9)
	for id, n := range wanted {
		assert.Equal(t, 1, n, id)
	}
	require.Len(t, ends, 1)
	assert.Equal(t, 9, ends[0].Ledger.Finished)
	assert.Equal(t, 9, ends[0].Bill.Tasks, "also the activity that ended with the workflow")
	assert.Positive(t, ends[0].Bill.Copies)
	_, err := journal.Replay(ends[0].Journal, journal.Options{Policy: onceEach{}})
	require.NoError(t, err)
}

// With NoCopy no activity is copied. Configure changes each phase.
func TestWatchWithoutCopies(t *testing.T) {
	for _, noCopy := range []bool{false, true} {
		s := newImitation()
		s.schedules("chunk", "input")
		begun := time.Now().Add(-time.Minute)
		s.pending = func(poll int) []*workflowpb.PendingActivityInfo {
			if poll < 10 {
				return []*workflowpb.PendingActivityInfo{started("chunk", begun)}
			}
			return nil
		}
		w := s.watcher(t, restart.Never{}, nil)
		w.NoCopy, w.Configure = noCopy, func(c *engine.Config) { c.Policy = onceEach{} }
		s.watch(t, w)
		assert.Len(t, s.copies, map[bool]int{false: 1}[noCopy])
	}
}

// restartOnce is a policy that restarts each activity once.
type restartOnce struct{}

func (restartOnce) Decide(t restart.Task, _ restart.Phase) restart.Decision {
	if len(t.Attempts) != 1 || t.Restarts > 0 || t.Attempts[0].Elapsed == 0 {
		return restart.Decision{}
	}
	return restart.Decision{Action: restart.Restart, Reason: restart.FreshSooner, Gain: 1}
}

// With NoCopy the bill has no copies. It has restarts, as Watch restarts activities then.
func TestBillOfWatchWithoutCopies(t *testing.T) {
	for _, policy := range []restart.Policy{onceEach{}, restartOnce{}} {
		s := nineActivities()
		var sum Summary
		w := s.watcher(t, policy, nil)
		w.Shadow, w.NoCopy, w.OnEnd = true, true, func(s Summary) { sum = s }
		s.watch(t, w)
		assert.Equal(t, 9, sum.Bill.Tasks)
		assert.Zero(t, sum.Bill.Copies)
		assert.Equal(t, policy == restartOnce{}, sum.Bill.Restarts > 0, "%v", sum.Bill)
	}
}

// The answer to a query has everything else if there is no bill, and says why there is none.
func TestQueryWithoutABill(t *testing.T) {
	known, err := engine.NewMachines(engine.MachinesConfig{Machines: []engine.Machine{{Name: "a", Slots: 1}}})
	require.NoError(t, err)
	c := engine.Config{Tasks: 1, Interval: time.Second, Machines: known}
	p, err := engine.New(c)
	require.NoError(t, err)
	c.Interval = 0 // for which there is no simulation
	f := fanOut{options: Options{Name: "x", Shadow: true, Machines: known}, phase: p, config: c, tasks: make([]Task, 1)}
	s, err := f.query()
	require.NoError(t, err)
	assert.Equal(t, "x", s.Name)
	assert.Equal(t, "there is no bill: restart/engine/shadow: Record.Interval is 0s, want a positive duration", s.Bill.String())
}
