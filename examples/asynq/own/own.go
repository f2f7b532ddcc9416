// Package own is an example of a job queue that its author writes on Redis alone, and that copies and restarts slow
// tasks. This file has all of it: the worker, the scheduler and the saved state. A program with asynq uses
// restart/engine/asynqplugin instead.
package own

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/straggler-go/straggler/restart/engine"
)

// Queue is one batch of tasks. Its keys in Redis begin with its name.
type Queue struct {
	Redis *redis.Client
	Name  string
}

// Handler runs an attempt of a task. Two attempts of a task may run at the same time, on two hosts.
type Handler func(ctx context.Context, task int, progress func(share float64)) (result string, err error)

// tell sends the state of an attempt to the scheduler.
func (q Queue) tell(a engine.Attempt) error {
	text, _ := json.Marshal(a)
	event := redis.XAddArgs{Stream: q.Name + ":events", Values: []any{"attempt", text}}
	return q.Redis.XAdd(context.Background(), &event).Err()
}

// Work runs the attempts that are submitted to a host until ctx ends, at most as many at once as the host has slots.
func (q Queue) Work(ctx context.Context, host engine.Machine, h Handler) {
	var running sync.Map // for the ID of each attempt, the function that cancels it
	cancelled := q.Redis.Subscribe(ctx, q.Name+":cancel")
	defer cancelled.Close()
	go func() {
		for m := range cancelled.Channel() {
			if cancel, ok := running.Load(m.Payload); ok {
				cancel.(context.CancelFunc)()
			}
		}
	}()
	var slots sync.WaitGroup
	for range host.Slots {
		slots.Go(func() {
			for ctx.Err() == nil {
				got, err := q.Redis.BLPop(ctx, time.Second, q.Name+":at:"+host.Name).Result()
				var a engine.Attempt
				if err != nil || json.Unmarshal([]byte(got[1]), &a) != nil {
					continue
				}
				own, cancel := context.WithCancel(ctx)
				running.Store(a.ID, cancel)
				q.attempt(own, a, h)
				running.Delete(a.ID)
				cancel()
			}
		})
	}
	slots.Wait()
}

// attempt runs an attempt, unless it has begun before.
func (q Queue) attempt(ctx context.Context, a engine.Attempt, h Handler) {
	if first, err := q.Redis.HSetNX(ctx, q.Name+":begun", a.ID, a.Machine).Result(); err != nil || !first {
		return
	}
	a.State, a.Begun = engine.Running, time.Now()
	_ = q.tell(a)
	result, err := h(ctx, a.Task, func(share float64) {
		a.Progress.Score, a.AsOf = share, time.Now()
		_ = q.tell(a)
	})
	a.State, a.Ended = engine.Succeeded, time.Now()
	switch {
	case ctx.Err() != nil:
		a.State = engine.Cancelled
	case err != nil || q.Redis.HSet(ctx, q.Name+":outputs", a.ID, result).Err() != nil:
		a.State = engine.Failed
	}
	_ = q.tell(a)
}

// Run runs the tasks of the configuration on the hosts, and returns their results. After an error or a crash, call Run
// again: it goes on from the saved state.
func (q Queue) Run(ctx context.Context, c engine.Config, list []engine.Machine) (results map[string]string, err error) {
	if c.Machines, err = engine.NewMachines(engine.MachinesConfig{Machines: list}); err != nil {
		return nil, err
	}
	saved, err := q.Redis.HGetAll(ctx, q.Name+":state").Result()
	if err != nil {
		return nil, err
	}
	phase, last := (*engine.Phase)(nil), "0"
	if len(saved) == 0 {
		phase, err = engine.New(c)
	} else if err = c.Machines.UnmarshalBinary([]byte(saved["hosts"])); err == nil {
		last = saved["last"]
		phase, err = engine.Restore(c, engine.Saved{Snapshot: []byte(saved["phase"])})
	}
	for err == nil && !phase.Done() {
		var events []engine.Attempt
		if events, last, err = q.read(ctx, last, c.Interval); err != nil {
			return nil, err
		}
		for _, a := range phase.Push(time.Now(), events).Actions {
			if err := q.carryOut(ctx, a); err != nil {
				return nil, err
			}
			phase.Published(a.ID) // this changes nothing if the action was not to publish
		}
		p, _ := phase.MarshalBinary()
		h, _ := c.Machines.MarshalBinary()
		err = q.Redis.HSet(ctx, q.Name+":state", "phase", p, "hosts", h, "last", last).Err()
	}
	if err != nil {
		return nil, err
	}
	return q.Redis.HGetAll(ctx, q.Name+":results").Result()
}

// read waits for events after the event last, for at most an interval.
func (q Queue) read(ctx context.Context, last string, interval time.Duration) ([]engine.Attempt, string, error) {
	streams := []string{q.Name + ":events", last}
	got, err := q.Redis.XRead(ctx, &redis.XReadArgs{Streams: streams, Block: interval}).Result()
	if errors.Is(err, redis.Nil) {
		return nil, last, nil
	}
	var events []engine.Attempt
	for _, stream := range got {
		for _, m := range stream.Messages {
			var a engine.Attempt
			if text, ok := m.Values["attempt"].(string); ok && json.Unmarshal([]byte(text), &a) == nil {
				events = append(events, a)
			}
			last = m.ID
		}
	}
	return events, last, err
}

// carryOut carries out an action. An action that was carried out before changes nothing.
func (q Queue) carryOut(ctx context.Context, a engine.Action) error {
	switch a.Op {
	case engine.Submit:
		text, _ := json.Marshal(engine.Attempt{ID: a.ID, Task: a.Task, Machine: a.Machine})
		return q.Redis.RPush(ctx, q.Name+":at:"+a.Machine, text).Err()
	case engine.Cancel:
		if first, err := q.Redis.HSetNX(ctx, q.Name+":begun", a.ID, "").Result(); err != nil || !first {
			return errors.Join(err, q.Redis.Publish(ctx, q.Name+":cancel", a.ID).Err())
		}
		// The attempt has not begun, and now never begins.
		return q.tell(engine.Attempt{ID: a.ID, Task: a.Task, State: engine.Cancelled})
	default: // Publish
		result, err := q.Redis.HGet(ctx, q.Name+":outputs", a.ID).Result()
		if err != nil {
			return err
		}
		return q.Redis.HSetNX(ctx, q.Name+":results", strconv.Itoa(a.Task), result).Err()
	}
}
