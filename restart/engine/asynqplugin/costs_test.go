package asynqplugin_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/asynqplugin"
)

// sent returns the number of commands that Redis has got while f runs, without those in scripts.
func (d *database) sent(f func()) float64 {
	c, err := net.Dial("unix", d.conn.Addr)
	require.NoError(d.t, err)
	_, err = fmt.Fprint(c, "MONITOR\r\n")
	require.NoError(d.t, err)
	count := make(chan float64)
	go func() {
		n := 0.
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if line := lines.Text(); strings.Contains(line, "unix:") { // a script has lua there
				n++
			}
		}
		count <- n
	}()
	f()
	assert.NoError(d.t, c.Close())
	return <-count
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
		idle[plain] = d.sent(func() { time.Sleep(10 * time.Second) }) / 10
		const tasks = 2000
		each[plain] = d.sent(func() {
			for i := range tasks {
				d.enqueue("work", fmt.Sprint(i))
			}
			require.Eventually(t, func() bool {
				return d.redis.ZCard(t.Context(), "asynq:{default}:completed").Val() == tasks
			}, time.Minute, 100*time.Millisecond)
		}) / tasks
	}
	t.Logf("idle: asynq alone %.1f a second, with the plugin %.1f; for each task: %.2f and %.2f", idle[true], idle[false], each[true], each[false])
	assert.Less(t, idle[false]-idle[true], 40.)
	assert.Less(t, each[false]-each[true], 3.)
}
