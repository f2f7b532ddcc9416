package asynqplugin_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/restart/engine/asynqplugin"
)

// socketOfServer is the variable that makes this program a server of the test below: it is the socket of Redis.
const socketOfServer = "STRAGGLER_TEST_SOCKET"

func TestMain(m *testing.M) {
	socket := os.Getenv(socketOfServer)
	if socket == "" {
		os.Exit(m.Run())
	}
	conn := asynq.RedisClientOpt{Network: "unix", Addr: socket}
	p, err := asynqplugin.New(conn, asynqplugin.Options{Kinds: kinds})
	if err != nil {
		panic(err)
	}
	go p.Run(context.Background())
	handler := p.Middleware(patient(1, make(chan error, 9)))
	if err := asynq.NewServer(conn, asynq.Config{Concurrency: 1, Logger: quiet{}}).Run(handler); err != nil {
		panic(err)
	}
}

// A server is killed while it runs a task. A copy does the work after seconds. The task ends with its result when asynq recovers
// it, one to two minutes later, and the handler does not run again.
func TestAServerIsKilled(t *testing.T) {
	long(t)
	d := newDatabase(t)
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), socketOfServer+"="+d.conn.Addr)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	d.enqueue("work", "hangs")
	require.Eventually(t, func() bool { return d.row("hangs").State == "active" }, 10*time.Second, 10*time.Millisecond)
	for range 2 {
		d.start(setup{options: asynqplugin.Options{Kinds: kinds}, runs: true}, patient(1, make(chan error, 9)))
	}
	require.NoError(t, server.Process.Kill())
	killed := time.Now()
	d.warm()
	require.Eventually(t, func() bool {
		return d.redis.HGet(t.Context(), "straggler:{default}:task:hangs", "result").Val() == "done"
	}, 20*time.Second, 10*time.Millisecond)
	t.Log("a copy has done the work after", time.Since(killed))
	require.Equal(t, "active", d.row("hangs").State)
	require.Eventually(t, func() bool { return d.row("hangs").State == "completed" }, 3*time.Minute, 10*time.Millisecond)
	t.Log("the task has ended after", time.Since(killed))
	assert.Equal(t, "done", d.row("hangs").Result)
	assert.Equal(t, 1, d.row("hangs").Retried)
	const events = 2*40 + 3 // of the tasks that warm, the attempt that was lost, and its copy: no other attempt has begun
	assert.EqualValues(t, events, d.redis.XLen(t.Context(), "straggler:{default}:events").Val())
}
