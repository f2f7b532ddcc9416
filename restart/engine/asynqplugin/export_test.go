package asynqplugin

import (
	"cmp"
	"context"
	"time"
)

// Coordinator is a coordinator that a test turns.
type Coordinator struct{ c *coordinator }

// NewCoordinator returns the coordinator of a plugin whose Run is not called.
func NewCoordinator(p *Plugin) Coordinator {
	return Coordinator{newCoordinator(p)}
}

// Turn looks once and acts once.
func (c Coordinator) Turn(ctx context.Context) error { return c.c.turn(ctx) }

// Copy makes a copy of a running attempt, as the coordinator does, and reports whether it has.
func (p *Plugin) Copy(ctx context.Context, queue, id string) (bool, error) {
	return NewCoordinator(p).Copy(ctx, queue, id)
}

// Copy makes a copy of a running attempt, and reports whether it has. The coordinator decides nothing by itself.
func (k Coordinator) Copy(ctx context.Context, queue, id string) (bool, error) {
	c := k.c
	c.read[queue], c.looked, c.at, c.watches = cmp.Or(c.read[queue], "0"), time.Now(), time.Now(), time.Now().Add(time.Hour)
	if err := c.turn(ctx); err != nil {
		return false, err
	}
	for _, t := range c.tasks {
		if t.Task == id && open(t.original) && t.copied.ID == "" {
			c.copy(ctx, t, "a copy", nil, "a test")
			return t.copy != "" && open(t.copied), nil
		}
	}
	return false, nil
}

// Act reads the events, and decides at once.
func (k Coordinator) Act(ctx context.Context) error {
	k.c.at, k.c.watches = time.Now(), time.Time{}
	return k.c.turn(ctx)
}

// Knows returns the number of attempts that the coordinator knows, how many of them run, and whether it decides.
func (k Coordinator) Knows() (attempts, running int, decides bool) {
	for _, kind := range k.c.kinds {
		for _, t := range kind.tasks {
			attempts++
			if open(t.original) {
				running++
			}
		}
	}
	return attempts, running, !time.Now().Before(k.c.watches)
}

// Servers returns the number of servers of a queue that may take copies. It is negative if one of them lacks the plugin.
func (k Coordinator) Servers(queue string) int { return k.c.servers[queue] }
