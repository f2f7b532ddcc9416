package asynqplugin

import (
	"context"
	"time"

	"github.com/straggler-go/straggler/restart/engine"
)

// Copy makes a copy of a running attempt, as the coordinator does, and reports whether it has.
func (p *Plugin) Copy(ctx context.Context, queue, id string) (bool, error) {
	c := &coordinator{
		p: p, kinds: map[string]*kind{}, names: map[string]*task{}, read: map[string]string{queue: "0"},
		machines: new(engine.Machines), looked: time.Now(), at: time.Now(), watches: time.Now().Add(time.Hour),
	}
	if err := c.turn(ctx); err != nil {
		return false, err
	}
	for _, t := range c.names {
		if t.Task == id && !t.over && t.copyID == "" {
			c.copy(ctx, t, "a copy", nil, "a test")
			return t.copy != "" && t.open, nil
		}
	}
	return false, nil
}
