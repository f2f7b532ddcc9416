package queue_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/queue/queuetest"
)

// source is a source whose store has some attempts for one worker.
type source struct {
	begin []queue.Order
	beats chan queue.Beat
	ends  chan queue.End
}

func (s *source) Beat(_ context.Context, b queue.Beat) (o queue.Orders, err error) {
	select {
	case s.beats <- b:
	default:
	}
	if b.Free > 0 {
		o.Begin, s.begin = s.begin, nil
	}
	return o, nil
}

func (s *source) End(_ context.Context, e queue.End) error {
	s.ends <- e
	return nil
}

// handled lets a worker handle an attempt, and returns the end that it reports.
func handled(t *testing.T, handle queue.Handler) (e queue.End, beats chan queue.Beat) {
	s := &source{
		begin: []queue.Order{{Name: "1/0.0", Job: queue.Job{Kind: "k"}}},
		beats: make(chan queue.Beat, 1000), ends: make(chan queue.End, 9),
	}
	w := queue.Worker{Name: "a", Slots: 1, Interval: time.Millisecond, Log: slog.New(slog.DiscardHandler)}
	go w.Run(t.Context(), s, map[string]queue.Handler{"k": handle})
	select {
	case e = <-s.ends:
	case <-time.After(5 * time.Second):
		require.FailNow(t, "the attempt does not end")
	}
	return e, s.beats
}

// Postgres keeps no NUL and only UTF-8 in a text. An error with other bytes is reported all the same.
func TestErrorsOfAnyBytes(t *testing.T) {
	e, _ := handled(t, func(context.Context, []byte) ([]byte, error) { return nil, errors.New("a\x00b\xffc") })
	assert.Equal(t, engine.Failed, e.State)
	assert.Equal(t, "a\uFFFDb\uFFFDc", e.Error)
	assert.True(t, utf8.ValidString(e.Error))
}

// However a handler ends, the attempt's end is reported.
func TestOddEnds(t *testing.T) {
	for want, end := range map[string]func(){
		"queue: panic: panic called with nil argument": func() { panic(error(nil)) },
		"queue: panic: an error":                       func() { panic(errors.New("an error")) },
		"queue: the handler has called runtime.Goexit": runtime.Goexit,
	} {
		e, _ := handled(t, func(context.Context, []byte) ([]byte, error) { end(); return nil, nil })
		assert.Equal(t, engine.Failed, e.State)
		assert.Contains(t, e.Error, want)
	}
}

// Shares are from 0 to 1, whatever a handler reports.
func TestOddProgress(t *testing.T) {
	for share, want := range map[float64]float64{math.NaN(): 0, math.Inf(1): 1, -1: 0, 7: 1, .5: .5} {
		_, beats := handled(t, func(ctx context.Context, _ []byte) ([]byte, error) {
			queue.Progress(ctx, share)
			time.Sleep(20 * time.Millisecond)
			return nil, nil
		})
		last := math.NaN()
		for len(beats) > 0 {
			for _, r := range (<-beats).Running {
				last = r.Share
			}
		}
		assert.Equal(t, want, last, "%v", share)
	}
}

// A worker that ends gracefully is no lost worker: while its attempts end by themselves, they do not begin elsewhere.
func TestGrace(t *testing.T) {
	m := queuetest.NewMemory(time.Now)
	m.Insert("x", queue.Batch("k", nil, nil)...)
	quiet := slog.New(slog.DiscardHandler)
	var calls atomic.Int64
	slow := func(context.Context, []byte) ([]byte, error) {
		calls.Add(1)
		time.Sleep(500 * time.Millisecond)
		return nil, nil
	}
	go queue.Serve(t.Context(), m, queue.Options{Log: quiet, Silence: 200 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w := queue.Worker{Name: "a", Slots: 2, Interval: 10 * time.Millisecond, Grace: time.Minute, Log: quiet}
		_ = w.Run(ctx, m, map[string]queue.Handler{"k": slow})
	}()
	require.Eventually(t, func() bool { return calls.Load() == 2 }, 5*time.Second, time.Millisecond)
	other := queue.Worker{Name: "b", Slots: 2, Interval: 10 * time.Millisecond, Log: quiet}
	go other.Run(t.Context(), m, map[string]queue.Handler{"k": slow})
	cancel()
	<-ended
	require.Eventually(t, func() bool { _, ended := m.Results("x"); return ended }, 5*time.Second, time.Millisecond)
	require.EqualValues(t, 2, calls.Load(), "each job runs once")
	workers, err := m.Workers(t.Context())
	require.NoError(t, err)
	require.Len(t, workers, 1, "the worker has left")
}
