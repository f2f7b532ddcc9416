package own_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/asynq/own"
	"github.com/straggler-go/straggler/restart/engine"
)

func startRedis(t *testing.T) *redis.Client {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("there is no redis-server here (apt-get install redis-server)")
	}
	dir, err := os.MkdirTemp("", "own")
	require.NoError(t, err)
	socket := filepath.Join(dir, "redis")
	server := exec.Command(binary, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir)
	require.NoError(t, server.Start())
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	t.Cleanup(func() {
		_ = rdb.Close()
		_ = server.Process.Kill()
		_ = server.Wait()
		_ = os.RemoveAll(dir)
	})
	require.Eventually(t, func() bool { return rdb.Ping(t.Context()).Err() == nil }, 10*time.Second, 10*time.Millisecond)
	return rdb
}

// One host of three is sixty times slow, a task fails the first time, and the scheduler is stopped at random moments:
// each task has its result, long before the slow host would have had its own.
func TestQueue(t *testing.T) {
	rdb := startRedis(t)
	const tasks = 60
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rdb := redis.NewClient(rdb.Options()) // the waiting workers of all games need more connections than one client has
			defer rdb.Close()
			q := own.Queue{Redis: rdb, Name: fmt.Sprint("batch-", seed)}
			ctx, cancel := context.WithCancel(t.Context())
			var hosts []engine.Machine
			for i, takes := range []time.Duration{100 * time.Millisecond, 100 * time.Millisecond, 6 * time.Second} {
				host := engine.Machine{Name: fmt.Sprint("host-", i), Slots: 4}
				hosts = append(hosts, host)
				failed := i > 0
				go q.Work(ctx, host, func(ctx context.Context, task int, progress func(float64)) (string, error) {
					if task == 0 && !failed {
						failed = true
						return "", context.DeadlineExceeded
					}
					for k := range 10 {
						progress(float64(k) / 10)
						select {
						case <-ctx.Done():
							return "", ctx.Err()
						case <-time.After(takes / 10):
						}
					}
					return strconv.Itoa(task * task), nil
				})
			}
			c := engine.Config{Tasks: tasks, Interval: 50 * time.Millisecond}
			began, rng := time.Now(), rand.New(rand.NewPCG(seed, 1))
			for stops := 0; ; stops++ {
				life := time.Hour
				if stops < 5 {
					life = time.Duration(rng.IntN(300)) * time.Millisecond
				}
				short, stop := context.WithTimeout(ctx, life)
				got, err := q.Run(short, c, hosts)
				stop()
				if err != nil {
					require.Less(t, stops, 5, "%v", err)
					continue
				}
				require.Len(t, got, tasks)
				for i := range tasks {
					require.Equal(t, strconv.Itoa(i*i), got[strconv.Itoa(i)])
				}
				break
			}
			assert.Less(t, time.Since(began), 5*time.Second)
			cancel()
		})
	}
}

// What the README and the page of package engine say of it.
func TestLines(t *testing.T) {
	source, err := os.ReadFile("own.go")
	require.NoError(t, err)
	n := 0
	for line := range strings.Lines(string(source)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	assert.LessOrEqual(t, n, 141)
	t.Logf("%d lines of code", n)
}
