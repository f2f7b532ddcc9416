package asynqplugin_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/asynqplugin"
)

func TestOptionsOutOfRange(t *testing.T) {
	for want, o := range map[string]asynqplugin.Options{
		"asynqplugin: Options.Interval is 1ms, want 10ms to 1s, or 0 for 100ms": {Interval: time.Millisecond},
		"asynqplugin: Options.Interval is -1s, want 10ms to 1s, or 0 for 100ms": {Interval: -time.Second},
		"asynqplugin: Options.Interval is 2s, want 10ms to 1s, or 0 for 100ms":  {Interval: 2 * time.Second},
	} {
		_, err := asynqplugin.New(asynq.RedisClientOpt{}, o)
		assert.EqualError(t, err, want)
	}
	_, err := asynqplugin.New(nil, asynqplugin.Options{})
	assert.EqualError(t, err, "asynqplugin: New: the connection is of type <nil>, want one of asynq's")
}

// A program that works asynq gets the plugin by seven lines, import and error check counted. Nothing else of it changes.
func TestSevenLines(t *testing.T) {
	read := func(name string) []string {
		text, err := os.ReadFile(filepath.Join("testdata", name, "main.go"))
		require.NoError(t, err)
		return strings.Split(string(text), "\n")[1:] // without the comment that says which of both it is
	}
	plain, plugged := read("plain"), read("plugged")
	added := 0
	for _, line := range plugged {
		if len(plain) > 0 && line == plain[0] {
			plain = plain[1:]
		} else {
			added++
		}
	}
	assert.Empty(t, plain, "the lines of the program are all there, in their order")
	assert.Equal(t, 7, added)
}

// The program of the seven lines works tasks.
func TestTheProgramOfTheSevenLines(t *testing.T) {
	d := newDatabase(t)
	binary := filepath.Join(t.TempDir(), "plugged")
	out, err := exec.Command("go", "build", "-o", binary, "./testdata/plugged").CombinedOutput()
	require.NoError(t, err, string(out))
	c := exec.Command(binary)
	c.Env = append(os.Environ(), "REDIS_URL=redis-socket://"+d.conn.Addr)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	d.enqueue("resize", "a")
	assert.Equal(t, row{State: "completed", Result: "small a"}, d.settled("a"))
}

// Nothing changes for a kind that the options do not name. Redis does not know its attempts, and the handler runs on asynq's
// own goroutine.
func TestAKindWithoutAName(t *testing.T) {
	d := newDatabase(t)
	var stack []byte
	d.start(setup{options: asynqplugin.Options{Kinds: kinds}}, func(context.Context, *asynq.Task) error {
		stack = make([]byte, 1<<16)
		stack = stack[:runtime.Stack(stack, false)]
		return nil
	})
	d.enqueue("other", "a")
	require.Equal(t, "completed", d.settled("a").State)
	assert.Contains(t, string(stack), "asynq.(*processor).perform")
	keys, err := d.redis.Keys(t.Context(), "straggler*").Result()
	require.NoError(t, err)
	assert.Empty(t, keys)
	d.enqueue("work", "b")
	require.Equal(t, "completed", d.settled("b").State)
	assert.False(t, bytes.Contains(stack, []byte("asynq.(*processor).perform")))
}

// patient runs a task of 100 ms. A task whose ID begins with "hang" hangs in its first attempts, until its context ends, or
// for ever if it "ignores" its context.
func patient(hanging int, causes chan error) asynq.HandlerFunc {
	return func(ctx context.Context, t *asynq.Task) error {
		id := string(t.Payload())
		retried, _ := asynq.GetRetryCount(ctx)
		if strings.HasPrefix(id, "hang") && retried < hanging && !isCopy(ctx) {
			if strings.Contains(id, "ignores") {
				select {}
			}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
			_, err := t.ResultWriter().Write([]byte("done"))
			return err
		}
	}
}

// A task hangs. In a kind with copies its copy ends it, also if the handler ignores its context. No retry is counted, and no
// row of a copy is left.
func TestACopyEndsATaskThatHangs(t *testing.T) {
	long(t)
	d, causes := newDatabase(t), make(chan error, 9)
	for range 2 {
		d.start(setup{options: asynqplugin.Options{Kinds: kinds}, runs: true}, patient(1, causes))
	}
	d.warm()
	for _, id := range []string{"hangs", "hangs and ignores"} {
		begun := time.Now()
		d.enqueue("work", id)
		assert.Equal(t, row{State: "completed", Result: "done"}, d.settled(id))
		t.Log(id, time.Since(begun))
		assert.Less(t, time.Since(begun), 4*time.Second)
	}
	assert.Equal(t, asynqplugin.ErrOver, <-causes)
	assert.Eventually(t, func() bool { return d.copies() == 0 }, 5*time.Second, 50*time.Millisecond)
}

// A task hangs in a kind without copies. The attempt is ended with an error of its own, and asynq tries the task again by its
// own rules. The next attempt may run twice as long.
func TestAnAttemptThatHangsIsEnded(t *testing.T) {
	long(t)
	d, causes, log := newDatabase(t), make(chan error, 9), &lines{}
	d.start(setup{options: asynqplugin.Options{Kinds: map[string]asynqplugin.Kind{"work": {}}, Log: log.log()}, runs: true}, patient(2, causes))
	d.warm()
	begun := time.Now()
	d.enqueue("work", "hangs")
	assert.Equal(t, asynqplugin.ErrHangs, <-causes)
	first := time.Since(begun)
	assert.Eventually(t, func() bool { return d.row("hangs").Retried == 1 }, time.Second, time.Millisecond)
	assert.Equal(t, asynqplugin.ErrHangs.Error(), d.row("hangs").Fault)
	assert.Equal(t, asynqplugin.ErrHangs, <-causes)
	second := time.Since(begun) - first
	t.Log(first, second)
	assert.Greater(t, first, 2*time.Second, "at least 20 intervals")
	assert.Less(t, first, 4*time.Second)
	assert.Greater(t, second, 2*first)
	assert.Eventually(t, func() bool { return d.row("hangs").State == "completed" }, 20*time.Second, 50*time.Millisecond)
	assert.Equal(t, 2, log.count("ended=true"))
}

// In the shadow mode the log says what would be done, and nothing is.
func TestShadow(t *testing.T) {
	long(t)
	d, causes, log := newDatabase(t), make(chan error, 9), &lines{}
	for range 2 {
		d.start(setup{options: asynqplugin.Options{Kinds: kinds, Shadow: true, Log: log.log()}, runs: true}, patient(1, causes))
	}
	d.warm()
	d.enqueue("work", "hangs", asynq.Timeout(8*time.Second))
	assert.Equal(t, context.DeadlineExceeded, <-causes)
	assert.Zero(t, d.copies())
	assert.NotZero(t, log.count("would get a copy"))
	assert.Zero(t, log.count("gets a copy"))
}

// A coordinator that has just begun, or was blind for three seconds, decides nothing for five seconds. Then it makes the copy of a
// task that hangs.
func TestABlindCoordinatorWaits(t *testing.T) {
	long(t)
	d, causes := newDatabase(t), make(chan error, 9)
	d.start(setup{options: asynqplugin.Options{Kinds: kinds}}, patient(1, causes))
	p := d.start(setup{options: asynqplugin.Options{Kinds: kinds}}, patient(1, causes))
	c := asynqplugin.NewCoordinator(p)
	require.NoError(t, c.Turn(t.Context())) // it says that this process has a plugin
	d.warm()
	d.enqueue("work", "hangs")
	time.Sleep(3 * time.Second) // the coordinator is blind
	began := time.Now()
	require.Eventually(t, func() bool {
		assert.NoError(t, c.Turn(t.Context()))
		return d.redis.HExists(t.Context(), "straggler:{default}:task:hangs", "copy").Val()
	}, 20*time.Second, 100*time.Millisecond)
	t.Log(time.Since(began))
	assert.GreaterOrEqual(t, time.Since(began), 5*time.Second)
	assert.Less(t, time.Since(began), 8*time.Second)
}

// Redis does not answer for eight seconds. Tasks whose handlers have returned meanwhile end afterwards: nobody takes their
// silence for a hang, and they get no copies.
func TestRedisAway(t *testing.T) {
	long(t)
	d, log := newDatabase(t), &lines{}
	var runs atomic.Int32
	for range 2 {
		d.start(setup{options: asynqplugin.Options{Kinds: kinds, Log: log.log()}, runs: true}, func(context.Context, *asynq.Task) error {
			runs.Add(1)
			time.Sleep(time.Second)
			return nil
		})
	}
	d.warm()
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		d.enqueue("work", id)
	}
	require.Eventually(t, func() bool { return runs.Load() == 46 }, 5*time.Second, time.Millisecond)
	_ = d.redis.Do(t.Context(), "DEBUG", "SLEEP", "8").Err() // the answer comes too late
	for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
		assert.Equal(t, "completed", d.settled(id).State)
	}
	assert.EqualValues(t, 46, runs.Load())
	assert.Zero(t, log.count("gets a copy"))
	assert.Zero(t, log.count("hangs"))
}

// A server without the plugin works the same queue. Its tasks are never touched, and no task of the queue gets a copy. The log
// names it.
func TestAServerWithoutThePlugin(t *testing.T) {
	long(t)
	d, causes, log := newDatabase(t), make(chan error, 9), &lines{}
	for range 2 {
		d.start(setup{options: asynqplugin.Options{Kinds: kinds, Log: log.log()}, runs: true}, patient(1, causes))
	}
	d.warm()
	binary := filepath.Join(t.TempDir(), "plain")
	out, err := exec.Command("go", "build", "-o", binary, "./testdata/plain").CombinedOutput()
	require.NoError(t, err, string(out))
	c := exec.Command(binary)
	c.Env = append(os.Environ(), "REDIS_URL=redis-socket://"+d.conn.Addr)
	before := time.Now().UnixNano()
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	// An earlier process with the same name had a plugin, and was killed.
	host, err := os.Hostname()
	require.NoError(t, err)
	require.NoError(t, d.redis.Set(t.Context(), fmt.Sprintf("straggler:process:%s:%d", host, c.Process.Pid), before, 0).Err())
	assert.Eventually(t, func() bool { return log.count("lacks the plugin") > 0 }, 15*time.Second, 50*time.Millisecond)
	d.enqueue("work", "hangs", asynq.Timeout(6*time.Second), asynq.MaxRetry(9))
	time.Sleep(4 * time.Second)
	assert.Zero(t, log.count("gets a copy"))
	time.Sleep(10 * time.Second)
	assert.Equal(t, 2, log.count("lacks the plugin"), "each plugin says it once")
}

// The events tell the size of a task by its payload. A size that is not a positive number is not known, and is told as -1.
func TestWork(t *testing.T) {
	for size, want := range map[float64]string{7: `"work":7}`, 0: `"work":-1}`, -3: `"work":-1}`, math.Inf(1): `"work":-1}`, math.NaN(): `"work":-1}`} {
		d := newDatabase(t)
		work := map[string]asynqplugin.Kind{"work": {Work: func(payload []byte) float64 {
			assert.Equal(t, "a", string(payload))
			return size
		}}}
		d.start(setup{options: asynqplugin.Options{Kinds: work}}, func(context.Context, *asynq.Task) error { return nil })
		d.enqueue("work", "a")
		require.Equal(t, "completed", d.settled("a").State)
		events, err := d.redis.XRange(t.Context(), "straggler:{default}:events", "-", "+").Result()
		require.NoError(t, err)
		require.Len(t, events, 2)
		assert.Contains(t, events[0].Values["event"], want, size)
		assert.Contains(t, events[1].Values["event"], `"state":"succeeded"`)
	}
}

// A coordinator does not read for so long that Redis deletes events before they are read: the end of task a is among them. Then it
// knows no task any more, and waits before it decides.
func TestEventsThatAreDeletedUnread(t *testing.T) {
	s := newStage(t)
	p := s.start(setup{options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	c := asynqplugin.NewCoordinator(p)
	s.enqueue("work", "a")
	id := s.begins("a original")
	require.NoError(t, c.Act(t.Context()))
	require.NoError(t, c.Act(t.Context()))
	_, running, decides := c.Knows()
	require.Equal(t, 1, running)
	require.True(t, decides)
	s.end("a original", id, ok)
	require.Equal(t, "completed", s.settled("a").State)
	require.NoError(t, s.redis.XTrimMaxLen(t.Context(), "straggler:{default}:events", 0).Err())
	s.enqueue("work", "b")
	s.begins("b original")
	assert.ErrorContains(t, c.Turn(t.Context()), "events of the queue default were deleted before they were read")
	require.NoError(t, c.Turn(t.Context()))
	_, running, decides = c.Knows()
	assert.Equal(t, 1, running, "task b alone")
	assert.False(t, decides)
	s.end("b original", "", ok)
}

// A turn reads all events that wait.
func TestATurnReadsAllEvents(t *testing.T) {
	s := newStage(t)
	p := s.start(setup{options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	c := asynqplugin.NewCoordinator(p)
	for i := range 3000 {
		s.tell(fmt.Sprint(i), fmt.Sprint(i), "running", fmt.Sprintf(`{"queue":"default","task":"%d","kind":"work","server":"a","work":-1}`, i))
	}
	require.NoError(t, c.Turn(t.Context()))
	_, running, _ := c.Knows()
	assert.Equal(t, 3000, running)
}

// A coordinator forgets a task that has ended as soon as the phase knows it, also if it ends the copy of another task in the same turn.
func TestATaskThatHasEndedIsForgotten(t *testing.T) {
	s := newStage(t)
	p := s.start(setup{options: asynqplugin.Options{Kinds: kinds}}, s.handle)
	c := asynqplugin.NewCoordinator(p)
	require.NoError(t, c.Act(t.Context()))
	s.tell("1", "a", "running", `{"queue":"default","task":"1","kind":"work","server":"a","work":-1}`)
	s.tell("1", "copy of a", "running", `{"queue":"default","task":"1","of":"a","kind":"work","server":"b","work":-1}`)
	s.tell("2", "b", "running", `{"queue":"default","task":"2","kind":"work","server":"b","work":-1}`)
	require.NoError(t, c.Act(t.Context()))
	attempts, _, _ := c.Knows()
	require.Equal(t, 2, attempts)
	s.tell("1", "a", "succeeded", "{}")
	s.tell("2", "b", "succeeded", "{}")
	require.NoError(t, c.Act(t.Context()))
	attempts, _, _ = c.Knows()
	assert.Equal(t, 1, attempts, "task a, whose copy is being ended")
	require.NoError(t, c.Act(t.Context()))
	attempts, _, _ = c.Knows()
	assert.Zero(t, attempts)
}

// tell writes an event about an attempt of a task.
func (d *database) tell(task, name, state, about string) {
	require.NoError(d.t, d.redis.XAdd(d.t.Context(), &redis.XAddArgs{Stream: "straggler:{default}:events", Values: []string{
		"event", fmt.Sprintf(`{"key":"straggler:{default}:task:%s","name":"%s","state":"%s","about":%s}`, task, name, state, about)}}).Err())
}

// A plugin whose Run has returned says at once that its process has none.
func TestAPluginLeaves(t *testing.T) {
	d, log := newDatabase(t), &lines{}
	p, err := asynqplugin.New(d.conn, asynqplugin.Options{Kinds: kinds, Log: log.log()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { p.Run(ctx) })
	keys := func() int {
		keys, err := d.redis.Keys(t.Context(), "straggler:process:*").Result()
		require.NoError(t, err)
		return len(keys)
	}
	assert.Eventually(t, func() bool { return keys() == 1 }, 5*time.Second, 10*time.Millisecond)
	cancel()
	group.Wait()
	assert.Zero(t, keys())
	assert.Zero(t, log.count("level"))
}

// A server that starts after its plugin has looked does not count as one without the plugin for longer than a second.
func TestAServerThatStartsIsKnownSoon(t *testing.T) {
	d, log := newDatabase(t), &lines{}
	p, err := asynqplugin.New(d.conn, asynqplugin.Options{Kinds: kinds, Log: log.log()})
	require.NoError(t, err)
	c := asynqplugin.NewCoordinator(p)
	require.NoError(t, c.Turn(t.Context()))
	for range 2 {
		d.start(setup{options: asynqplugin.Options{Kinds: kinds}}, patient(0, nil))
	}
	require.Eventually(t, func() bool {
		servers, err := d.inspector.Servers()
		return err == nil && len(servers) == 2
	}, 5*time.Second, 10*time.Millisecond)
	time.Sleep(time.Second)
	require.NoError(t, c.Turn(t.Context()))
	assert.Equal(t, 2, c.Servers("default"))
	assert.Zero(t, log.count("lacks"))
}
