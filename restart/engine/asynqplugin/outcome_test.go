package asynqplugin_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/asynqplugin"
)

// ending is how an attempt ends.
type ending string

const (
	ok      ending = "ok"
	fails   ending = "error"
	panics  ending = "panic"
	skips   ending = "SkipRetry"
	revokes ending = "RevokeTask"
	cancels ending = "cancel" // by Inspector.CancelProcessing; the handler ignores its context
	hangs   ending = "hang"   // until asynq's timeout; the handler ignores its context
)

var endings = []ending{ok, fails, panics, skips, revokes, cancels, hangs}

// stage lets a test decide when each attempt ends, and how.
type stage struct {
	*database
	mu      sync.Mutex
	release map[string]chan ending // by the name of an attempt
	begun   map[string]chan string // by the same name; it gets the ID of the attempt's row
}

func newStage(t *testing.T) *stage {
	return &stage{database: newDatabase(t), release: map[string]chan ending{}, begun: map[string]chan string{}}
}

func (s *stage) at(name string) (chan ending, chan string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.release[name] == nil {
		s.release[name], s.begun[name] = make(chan ending, 1), make(chan string, 4)
	}
	return s.release[name], s.begun[name]
}

// handle runs an attempt as the test says. The attempt ignores the end of its context.
func (s *stage) handle(ctx context.Context, t *asynq.Task) error {
	role := "original"
	if isCopy(ctx) {
		role = "copy"
	}
	release, begun := s.at(string(t.Payload()) + " " + role)
	id, _ := asynq.GetTaskID(ctx)
	if _, err := t.ResultWriter().Write([]byte(role)); err != nil {
		return err
	}
	begun <- id
	switch <-release {
	case fails:
		return errors.New("failed")
	case panics:
		panic("panicked")
	case skips:
		return fmt.Errorf("skipped: %w", asynq.SkipRetry)
	case revokes:
		return fmt.Errorf("revoked: %w", asynq.RevokeTask)
	}
	return nil
}

// begins waits until an attempt runs, and returns the ID of its row.
func (s *stage) begins(name string) string {
	_, begun := s.at(name)
	select {
	case id := <-begun:
		return id
	case <-time.After(time.Minute):
		s.t.Error("does not begin: ", name)
		return ""
	}
}

// end ends an attempt whose row has this ID. An attempt that hangs ends by asynq's timeout.
func (s *stage) end(name, id string, how ending) {
	release, _ := s.at(name)
	switch how {
	case hangs:
	case cancels:
		assert.NoError(s.t, s.inspector.CancelProcessing(id), name)
	default:
		release <- how
	}
}

// place is the place of a panic in an error of asynq. It is in the plugin if the plugin passes a panic on.
var place = regexp.MustCompile(`\[.*\]`)

func (r row) withoutPlace() row {
	if strings.HasPrefix(r.Fault, "panic") {
		r.Fault = place.ReplaceAllString(r.Fault, "[]")
	}
	return r
}

// timeoutOf is asynq's timeout of the tasks of a pair.
func timeoutOf(original, copied ending) asynq.Option {
	if original == hangs || copied == hangs {
		return asynq.Timeout(4 * time.Second)
	}
	return asynq.Timeout(time.Minute)
}

// alone returns how asynq alone leaves a task whose attempt ends in this way.
func (s *stage) alone(how ending) row {
	s.enqueue("plain", "alone-"+string(how), timeoutOf(how, how), asynq.MaxRetry(1))
	s.end("alone-"+string(how)+" original", s.begins("alone-"+string(how)+" original"), how)
	return s.settled("alone-" + string(how)).withoutPlace()
}

// A task and its copy end in every pair of ways, in both orders. The first end of the original decides, as with asynq
// alone. The first success of the copy decides. Nothing changes the task afterwards, and no row of a copy is left.
func TestOutcomes(t *testing.T) {
	long(t)
	s := newStage(t)
	for range 2 {
		s.start(setup{slots: 120, options: asynqplugin.Options{Kinds: kinds}, runs: true}, s.handle)
	}
	p := s.start(setup{slots: 1, options: asynqplugin.Options{Kinds: kinds}, runs: true}, s.handle)
	plain := map[ending]row{}
	for _, how := range endings {
		plain[how] = s.alone(how)
		t.Logf("| %s | alone | | %s | %q |", how, state(plain[how]), plain[how].Result)
	}
	var group sync.WaitGroup
	for _, original := range endings {
		for _, copied := range endings {
			group.Go(func() { s.pair(p, original, copied, true, plain[original]) })
			if copied != hangs { // a copy that hangs does not end first
				group.Go(func() { s.pair(p, original, copied, false, plain[original]) })
			}
		}
	}
	group.Wait()
	assert.Eventually(t, func() bool { return s.copies() == 0 }, time.Minute, 100*time.Millisecond, "rows of copies are left")
}

// state returns the state of a task for the table.
func state(r row) string {
	if r.State == "" {
		return "deleted"
	}
	return r.State
}

// pair lets a task and its copy end.
func (s *stage) pair(p *asynqplugin.Plugin, original, copied ending, originalFirst bool, plain row) {
	t, first := s.t, "copy"
	if originalFirst {
		first = "original"
	}
	name := fmt.Sprint(original, "-", copied, "-", first)
	s.enqueue("work", name, timeoutOf(original, copied), asynq.MaxRetry(1))
	id := s.begins(name + " original")
	made, err := p.Copy(t.Context(), "default", name)
	if !assert.NoError(t, err) || !assert.True(t, made, name) {
		return
	}
	row := s.begins(name + " copy")
	want := plain
	if originalFirst {
		s.end(name+" original", id, original)
		s.settled(name)
		s.end(name+" copy", row, copied)
	} else {
		s.end(name+" copy", row, copied)
		if copied == ok {
			want.State, want.Result, want.Fault, want.Retried = "completed", "copy", "", 0
			s.settled(name)
		} else {
			time.Sleep(300 * time.Millisecond)
		}
		s.end(name+" original", id, original)
	}
	got := s.settled(name)
	t.Logf("| %s | %s | %s | %s | %q |", original, copied, first, state(got), got.Result)
	assert.Equal(t, want, got.withoutPlace(), name)
	time.Sleep(2 * time.Second)
	assert.Equal(t, got, s.row(name), "%s: changed afterwards", name)
	assert.Zero(t, s.redis.Exists(t.Context(), "straggler:{default}:task:"+name).Val(), "%s: a later attempt must run", name)
}

// An original and its copy succeed at the same moment. One of them is the result, and nothing changes it afterwards.
func TestNearTies(t *testing.T) {
	s := newStage(t)
	for range 2 {
		s.start(setup{slots: 150, options: asynqplugin.Options{Kinds: kinds}, runs: true}, s.handle)
	}
	p := s.start(setup{slots: 1, options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			name := fmt.Sprint("tie ", i)
			s.enqueue("work", name)
			id := s.begins(name + " original")
			made, err := p.Copy(t.Context(), "default", name)
			if !assert.NoError(t, err) || !assert.True(t, made, name) {
				return
			}
			row := s.begins(name + " copy")
			s.end(name+" original", id, ok)
			s.end(name+" copy", row, ok)
			got := s.settled(name)
			assert.Equal(t, "completed", got.State, name)
			assert.Contains(t, []string{"original", "copy"}, got.Result, name)
			time.Sleep(time.Second)
			assert.Equal(t, got, s.row(name), "%s: changed afterwards", name)
		})
	}
	group.Wait()
	require.Eventually(t, func() bool { return s.copies() == 0 }, 20*time.Second, 100*time.Millisecond)
}

// The server of an original is lost after the copy has succeeded. When asynq recovers the task, the next attempt ends it with
// the result of the copy, and the handler does not run again.
func TestALostOriginalTakesTheResultOfItsCopy(t *testing.T) {
	s := newStage(t)
	for range 2 { // without Run: the original does not hear of the win
		s.start(setup{options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	}
	p := s.start(setup{slots: 1, options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	s.enqueue("work", "lost")
	s.begins("lost original")
	made, err := p.Copy(t.Context(), "default", "lost")
	require.NoError(t, err)
	require.True(t, made)
	s.end("lost copy", s.begins("lost copy"), ok)
	s.wins("lost")
	s.recover("lost")
	assert.Eventually(t, func() bool { return s.row("lost").State == "completed" }, 20*time.Second, 10*time.Millisecond)
	assert.Equal(t, row{State: "completed", Result: "copy"}, s.row("lost"))
	assert.Zero(t, s.redis.Exists(t.Context(), "straggler:{default}:task:lost").Val(), "a later task of this ID runs")
}

// A copy has won whose original was lost. If its task is deleted, and another task is enqueued with the same ID and payload, the new task
// runs: the result is not its own.
func TestANewTaskOfTheSameIDRuns(t *testing.T) {
	s := newStage(t)
	s.start(setup{options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	p := s.start(setup{options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	s.enqueue("work", "daily")
	s.begins("daily original")
	made, err := p.Copy(t.Context(), "default", "daily")
	require.NoError(t, err)
	require.True(t, made)
	s.end("daily copy", s.begins("daily copy"), ok)
	s.wins("daily")
	require.NoError(t, s.redis.LRem(t.Context(), "asynq:{default}:active", 1, "daily").Err())
	require.NoError(t, s.redis.ZRem(t.Context(), "asynq:{default}:lease", "daily").Err())
	require.NoError(t, s.redis.Del(t.Context(), "asynq:{default}:t:daily").Err())
	s.enqueue("work", "daily")
	s.end("daily original", s.begins("daily original"), ok)
	assert.Equal(t, row{State: "completed", Result: "original"}, s.settled("daily"))
}

// A copy wins without a result, and asynq ends the original by a cancel before it knows. The next attempt ends at once, too.
func TestAnOriginalThatAsynqHasEndedKeepsTheWin(t *testing.T) {
	d, begun := newDatabase(t), make(chan string, 9)
	handle := func(ctx context.Context, _ *asynq.Task) error {
		id, _ := asynq.GetTaskID(ctx)
		begun <- id
		if !isCopy(ctx) {
			<-ctx.Done()
		}
		return ctx.Err()
	}
	d.start(setup{options: asynqplugin.Options{Kinds: kinds}}, handle)
	p := d.start(setup{options: asynqplugin.Options{Kinds: kinds}}, handle)
	d.enqueue("work", "a")
	require.Equal(t, "a", <-begun)
	made, err := p.Copy(t.Context(), "default", "a")
	require.NoError(t, err)
	require.True(t, made)
	<-begun
	require.Eventually(t, func() bool {
		return d.redis.HExists(t.Context(), "straggler:{default}:task:a", "won").Val()
	}, 5*time.Second, time.Millisecond)
	require.NoError(t, d.inspector.CancelProcessing("a"))
	require.Equal(t, "retry", d.settled("a").State)
	time.Sleep(time.Second) // until the attempt has asked
	require.NoError(t, d.inspector.RunTask("default", "a"))
	assert.Eventually(t, func() bool { return d.row("a").State == "completed" }, 5*time.Second, 10*time.Millisecond)
	assert.Empty(t, begun)
}

// wins waits until the copy of a task has won.
func (s *stage) wins(id string) {
	require.Eventually(s.t, func() bool {
		won, err := s.redis.HGet(s.t.Context(), "straggler:{default}:task:"+id, "result").Result()
		return err == nil && won == "copy"
	}, 20*time.Second, 10*time.Millisecond)
}

// recover puts a task back as asynq does a minute after its server was lost.
func (d *database) recover(id string) {
	ctx := d.t.Context()
	require.NoError(d.t, d.redis.HSet(ctx, "asynq:{default}:t:"+id, "state", "pending").Err())
	require.NoError(d.t, d.redis.LRem(ctx, "asynq:{default}:active", 1, id).Err())
	require.NoError(d.t, d.redis.LPush(ctx, "asynq:{default}:pending", id).Err())
}
