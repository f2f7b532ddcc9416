package batch

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/tracker"
)

// keys names what is kept of a batch in Redis, all of it in one slot of a cluster.
type keys string

func (k keys) key(what string) string     { return "straggler:{" + string(k) + "}:" + what }
func (k keys) events() string             { return k.key("events") }  // a stream
func (k keys) begun() string              { return k.key("begun") }   // by attempt, its worker; empty if it never will
func (k keys) results() string            { return k.key("results") } // by task
func (k keys) state() string              { return k.key("state") }
func (k keys) lease() string              { return k.key("lease") }
func (k keys) message(id string) string   { return string(k) + "/" + id } // what asynq calls an attempt
func (k keys) all() []string              { return []string{k.events(), k.begun(), k.results(), k.state()} }
func split(message string) (keys, string) { k, id, _ := strings.Cut(message, "/"); return keys(k), id }

// told is what is told of an attempt.
type told struct {
	Attempt, Host string
	State         engine.State
	Begun         time.Time
	Share         float64 // of its work that is done
	Error         string
}

// tell appends an event to the stream, which dates it.
func (k keys) tell(ctx context.Context, rdb redis.Cmdable, t told) error {
	_, err := k.tellAt(ctx, rdb, t)
	return err
}

func (k keys) tellAt(ctx context.Context, rdb redis.Cmdable, t told) (time.Time, error) {
	values := []any{"attempt", t.Attempt, "host", t.Host, "state", t.State.String()}
	if !t.Begun.IsZero() {
		values = append(values, "begun", t.Begun.UnixMilli())
	}
	if t.Share > 0 {
		values = append(values, "share", t.Share)
	}
	if t.Error != "" {
		values = append(values, "error", t.Error)
	}
	id, err := rdb.XAdd(ctx, &redis.XAddArgs{Stream: k.events(), Values: values}).Result()
	return date(id), err
}

// date returns when Redis took an entry of a stream.
func date(id string) time.Time {
	ms, _, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n)
}

// read waits for what is told, for an interval at most, and returns it as the phase wants it.
func (r *run) read(ctx context.Context) (events []engine.Attempt, err error) {
	got, err := r.rdb.XRead(ctx, &redis.XReadArgs{
		Streams: []string{r.events(), r.last}, Block: max(r.Interval, time.Millisecond), Count: 10_000,
	}).Result()
	if errors.Is(err, redis.Nil) || err != nil {
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		return nil, err
	}
	for _, m := range got[0].Messages {
		r.last = m.ID
		if a, ok := r.event(m); ok {
			events = append(events, a)
		}
	}
	return events, nil
}

func (r *run) event(m redis.XMessage) (a engine.Attempt, ok bool) {
	text := func(key string) string { s, _ := m.Values[key].(string); return s }
	task, _, _ := strings.Cut(text("attempt"), ".")
	a = engine.Attempt{ID: text("attempt"), Host: text("host")}
	var err error
	if a.Task, err = strconv.Atoi(task); err != nil || a.State.UnmarshalText([]byte(text("state"))) != nil {
		return a, false
	}
	if ms, err := strconv.ParseInt(text("begun"), 10, 64); err == nil {
		a.Begun = time.UnixMilli(ms)
	}
	switch at := date(m.ID); a.State {
	case engine.Running:
		if a.Begun.IsZero() {
			a.Begun = at
		}
		if share, err := strconv.ParseFloat(text("share"), 64); err == nil {
			a.Progress, a.AsOf = tracker.Report{Score: share}, at
		}
	default:
		a.Ended = at
	}
	switch a.State {
	case engine.Failed:
		r.trouble[a.Task] = text("error")
	case engine.Cancelled:
		r.ended = append(r.ended, queueOf(a.Host)+" "+r.message(a.ID))
	}
	return a, true
}
