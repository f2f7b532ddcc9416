package asynqplugin_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/asynqplugin"
)

// A copy never runs at the server of its original, also if that server has more free slots than the other: it passes the copy
// on.
func TestPassesACopyOn(t *testing.T) {
	s := newStage(t)
	var mu sync.Mutex
	where := map[string]string{}
	at := func(name string) asynq.HandlerFunc {
		return func(ctx context.Context, task *asynq.Task) error {
			mu.Lock()
			where[fmt.Sprint(string(task.Payload()), isCopy(ctx))] = name
			mu.Unlock()
			return s.handle(ctx, task)
		}
	}
	s.start(setup{slots: 30, options: asynqplugin.Options{Kinds: kinds}, runs: true}, at("large"))
	p := s.start(setup{slots: 10, options: asynqplugin.Options{Kinds: kinds}, runs: true}, at("small"))
	var group sync.WaitGroup
	for i := range 10 {
		group.Go(func() {
			name := fmt.Sprint("task ", i)
			s.enqueue("work", name)
			id := s.begins(name + " original")
			made, err := p.Copy(t.Context(), "default", name)
			if !assert.NoError(t, err) || !assert.True(t, made, name) {
				return
			}
			row := s.begins(name + " copy")
			s.end(name+" original", id, ok)
			s.end(name+" copy", row, ok)
			assert.Equal(t, "completed", s.settled(name).State)
		})
	}
	group.Wait()
	mu.Lock()
	defer mu.Unlock()
	for i := range 10 {
		name := fmt.Sprint("task ", i)
		assert.NotEqual(t, where[name+"false"], where[name+"true"], name)
	}
}

// The original ends. Its copy runs, and ignores its context: the row of the copy is gone at once all the same.
func TestACopyEndsWithItsOriginal(t *testing.T) {
	s := newStage(t)
	s.start(setup{options: asynqplugin.Options{Kinds: kinds}, runs: true}, s.handle)
	p := s.start(setup{options: asynqplugin.Options{Kinds: kinds}, runs: true}, s.handle)
	s.enqueue("work", "a")
	id := s.begins("a original")
	made, err := p.Copy(t.Context(), "default", "a")
	require.NoError(t, err)
	require.True(t, made)
	s.begins("a copy")
	time.Sleep(2 * time.Second) // until the plugins know the copy
	s.end("a original", id, fails)
	assert.Equal(t, "retry", s.settled("a").State)
	assert.Eventually(t, func() bool { return s.copies() == 0 }, 20*time.Second, 10*time.Millisecond)
}

// All slots are busy. A copy waits at the head of the queue, before the tasks that waited already.
func TestACopyWaitsAtTheHead(t *testing.T) {
	s := newStage(t)
	p := s.start(setup{slots: 2, options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	for _, name := range []string{"a", "b", "c", "d"} {
		s.enqueue("work", name, asynq.Timeout(time.Minute), asynq.Deadline(time.Now().Add(time.Hour)))
	}
	s.begins("a original")
	s.begins("b original")
	made, err := p.Copy(t.Context(), "default", "a")
	require.NoError(t, err)
	require.True(t, made)
	waiting, err := s.redis.LRange(t.Context(), "asynq:{default}:pending", 0, -1).Result()
	require.NoError(t, err)
	require.Len(t, waiting, 3)
	assert.Equal(t, []string{"d", "c"}, waiting[:2])
	assert.Contains(t, waiting[2], "a:copy:")
	task, err := s.inspector.GetTaskInfo("default", "a")
	require.NoError(t, err)
	copied, err := s.inspector.GetTaskInfo("default", waiting[2])
	require.NoError(t, err)
	assert.Equal(t, task.Payload, copied.Payload)
	assert.Equal(t, []any{task.Type, task.Timeout, time.Time{}}, []any{copied.Type, copied.Timeout, copied.Deadline})
	assert.Zero(t, copied.Retention)
}

// The server of a copy is lost, and asynq tries the copy again. The copy does not begin a second time, and leaves no row.
func TestACopyBeginsOnce(t *testing.T) {
	s := newStage(t)
	for range 2 {
		s.start(setup{options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	}
	p := s.start(setup{slots: 1, options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	s.enqueue("work", "a")
	id := s.begins("a original")
	made, err := p.Copy(t.Context(), "default", "a")
	require.NoError(t, err)
	require.True(t, made)
	s.recover(s.begins("a copy"))
	assert.Eventually(t, func() bool { return s.copies() == 0 }, 20*time.Second, 10*time.Millisecond)
	_, begun := s.at("a copy")
	assert.Empty(t, begun)
	s.end("a original", id, ok)
	assert.Equal(t, row{State: "completed", Result: "original"}, s.settled("a"))
}

// A server in the shadow mode runs its tasks as asynq alone does: another server that acts can't copy them.
func TestATaskInTheShadowModeGetsNoCopy(t *testing.T) {
	s := newStage(t)
	s.start(setup{slots: 1, options: asynqplugin.Options{Kinds: kinds, Shadow: true}, runs: true}, s.handle)
	s.enqueue("work", "a")
	id := s.begins("a original")
	p := s.start(setup{options: asynqplugin.Options{Kinds: kinds}, runs: true}, s.handle)
	made, err := p.Copy(t.Context(), "default", "a")
	require.NoError(t, err)
	assert.False(t, made)
	assert.Zero(t, s.redis.Exists(t.Context(), "straggler:{default}:task:a").Val())
	s.end("a original", id, ok)
	assert.Equal(t, row{State: "completed", Result: "original"}, s.settled("a"))
	events, err := s.redis.XRange(t.Context(), "straggler:{default}:events", "-", "+").Result()
	require.NoError(t, err)
	require.Len(t, events, 2)
	assert.Contains(t, events[0].Values["event"], `"shadow":true`)
	assert.Contains(t, events[1].Values["event"], `"state":"succeeded"`)
	s.enqueue("work", "b")
	s.end("b original", s.begins("b original"), panics)
	assert.Equal(t, "retry", s.settled("b").State)
	assert.Eventually(t, func() bool {
		events, err := s.redis.XRange(t.Context(), "straggler:{default}:events", "-", "+").Result()
		return err == nil && len(events) == 4
	}, 5*time.Second, 10*time.Millisecond)
}

// A server in the shadow mode passes on the copies that it gets, until a server that acts gets them.
func TestAServerInTheShadowModePassesACopyOn(t *testing.T) {
	s := newStage(t)
	p := s.start(setup{slots: 1, options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	s.enqueue("work", "a")
	id := s.begins("a original")
	s.start(setup{options: asynqplugin.Options{Kinds: kinds, Shadow: true}}, func(ctx context.Context, task *asynq.Task) error {
		assert.False(t, isCopy(ctx))
		return nil
	})
	made, err := p.Copy(t.Context(), "default", "a")
	require.NoError(t, err)
	require.True(t, made)
	time.Sleep(time.Second) // only the server in the shadow mode can take the copy
	require.Equal(t, 1, s.copies())
	s.start(setup{options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	s.end("a copy", s.begins("a copy"), ok)
	s.wins("a")
	s.end("a original", id, fails)
	assert.Equal(t, row{State: "completed", Result: "copy"}, s.settled("a"))
	assert.Eventually(t, func() bool { return s.copies() == 0 }, 5*time.Second, 10*time.Millisecond)
}

// A copy ends with the deadline of its task, and nothing of it is left.
func TestTheDeadlineOfATaskEndsItsCopy(t *testing.T) {
	s := newStage(t)
	until, deadline := make(chan time.Time, 1), time.Now().Add(4*time.Second).Truncate(time.Second)
	faults := make(chan string, 9)
	handle := func(ctx context.Context, task *asynq.Task) error {
		if !isCopy(ctx) {
			return s.handle(ctx, task)
		}
		end, _ := ctx.Deadline()
		until <- end
		<-ctx.Done()
		return ctx.Err()
	}
	s.start(setup{options: asynqplugin.Options{Kinds: kinds}, faults: faults}, handle)
	p := s.start(setup{options: asynqplugin.Options{Kinds: kinds}, faults: faults}, handle)
	s.enqueue("work", "a", asynq.Deadline(deadline))
	s.begins("a original")
	made, err := p.Copy(t.Context(), "default", "a")
	require.NoError(t, err)
	require.True(t, made)
	assert.True(t, deadline.Equal(<-until))
	assert.Eventually(t, func() bool { return s.row("a").State == "retry" && s.copies() == 0 }, 8*time.Second, 10*time.Millisecond)
	time.Sleep(4 * time.Second) // asynq would try the copy again
	assert.Zero(t, s.copies())
	assert.Equal(t, "a", <-faults)
	assert.Empty(t, faults)
}

// The server that has made a copy deletes its row when the task has ended, also if the copy has ended before and is archived.
func TestTheRowOfACopyEndsWithItsTask(t *testing.T) {
	s := newStage(t)
	s.start(setup{slots: 2, options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	p := s.start(setup{slots: 2, options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	c := asynqplugin.NewCoordinator(p)
	s.enqueue("work", "a")
	id := s.begins("a original")
	made, err := c.Copy(t.Context(), "default", "a")
	require.NoError(t, err)
	require.True(t, made)
	copied := s.begins("a copy")
	s.end("a copy", copied, cancels)
	require.Eventually(t, func() bool { return s.inspector.ArchiveTask("default", copied) == nil }, 5*time.Second, time.Millisecond)
	require.Equal(t, "archived", s.row(copied).State)
	s.end("a original", id, ok)
	assert.Equal(t, "completed", s.settled("a").State)
	for range 4 {
		assert.NoError(t, c.Act(t.Context()))
	}
	assert.Zero(t, s.copies())
}

// The server that has made a copy deletes its row also if another server has passed the copy on. The queue is paused, so that the
// copy waits.
func TestTheRowOfACopyThatWasPassedOnEndsWithItsTask(t *testing.T) {
	s := newStage(t)
	p := s.start(setup{slots: 2, options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	c := asynqplugin.NewCoordinator(p)
	s.enqueue("work", "a")
	id := s.begins("a original")
	made, err := c.Copy(t.Context(), "default", "a")
	require.NoError(t, err)
	require.True(t, made)
	require.Eventually(t, func() bool {
		waiting, err := s.redis.LRange(t.Context(), "asynq:{default}:pending", 0, -1).Result()
		return err == nil && len(waiting) == 1 && !strings.HasSuffix(waiting[0], ":0")
	}, 5*time.Second, time.Millisecond)
	require.NoError(t, s.inspector.PauseQueue("default"))
	time.Sleep(time.Second) // until a server that took the copy before has passed it on
	require.Equal(t, 1, s.copies())
	s.end("a original", id, ok)
	assert.Equal(t, "completed", s.settled("a").State)
	for range 4 {
		assert.NoError(t, c.Act(t.Context()))
	}
	assert.Zero(t, s.copies())
}
