package asynqplugin_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/asynqplugin"
)

// commands returns the number of commands that Redis has got, without those in scripts.
func (d *database) commands() (n float64) {
	text, err := d.redis.Info(d.t.Context(), "commandstats").Result()
	require.NoError(d.t, err)
	for _, line := range strings.Split(text, "\r\n") {
		name, rest, _ := strings.Cut(line, ":calls=")
		calls, _, _ := strings.Cut(rest, ",")
		switch strings.TrimPrefix(name, "cmdstat_") {
		case "evalsha", "xrange", "time", "smembers", "zrangebyscore":
			c, _ := strconv.ParseFloat(calls, 64)
			n += c
		}
	}
	return n
}

// Four servers without a task send so many commands, and one task costs so many.
func TestCosts(t *testing.T) {
	long(t)
	idle, each := map[bool]float64{}, map[bool]float64{}
	for _, plain := range []bool{true, false} {
		d := newDatabase(t)
		for range 4 {
			d.start(setup{plain: plain, runs: !plain, options: asynqplugin.Options{Kinds: kinds}}, func(context.Context, *asynq.Task) error {
				return nil
			})
		}
		time.Sleep(3 * time.Second)
		before := d.commands()
		time.Sleep(10 * time.Second)
		idle[plain] = (d.commands() - before) / 10
		before = d.commands()
		const tasks = 2000
		for i := range tasks {
			d.enqueue("work", fmt.Sprint(i))
		}
		require.Eventually(t, func() bool {
			return d.redis.ZCard(t.Context(), "asynq:{default}:completed").Val() == tasks
		}, time.Minute, 10*time.Millisecond)
		each[plain] = (d.commands() - before) / tasks
	}
	t.Logf("idle: asynq alone %.1f a second, with the plugin %.1f; for each task: %.2f and %.2f", idle[true], idle[false], each[true], each[false])
	assert.Less(t, idle[false]-idle[true], 20.)
	assert.Less(t, each[false]-each[true], 3.)
}
