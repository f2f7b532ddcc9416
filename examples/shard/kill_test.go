//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/shard/internal/shardqueue"
)

// asShard is the variable of the environment with which the test binary behaves like the command shard.
const asShard = "SHARD_TEST_IS_SHARD"

// asMachine is the variable of the environment with which the test binary draws from a directory: its arguments are
// the directory and the name of the machine. It runs no tests.
const asMachine = "SHARD_TEST_IS_MACHINE"

// beMachine draws until all pieces are done. It exits with 1 after an error.
func beMachine(dir, name string) {
	f, err := openFolder(dir)
	session := strings.ToLower(rand.Text())
	ask := func(r shardqueue.Request) (a shardqueue.Answer) {
		if err == nil {
			r.Machine, r.Session = name, session
			if a, err = f.ask(context.Background(), r); err == nil && a.Refused != "" {
				err = errors.New(a.Refused)
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		time.Sleep(time.Duration(a.Wait) * time.Millisecond)
		return a
	}
	for ask(shardqueue.Request{Op: shardqueue.Join, Lanes: 1}).Wait > 0 {
	}
	for {
		a := ask(shardqueue.Request{Op: shardqueue.Draw})
		if a.Done {
			ask(shardqueue.Request{Op: shardqueue.Leave})
			return
		}
		if len(a.Calls) > 0 {
			time.Sleep(20 * time.Millisecond)
			ask(shardqueue.Request{Op: shardqueue.End, Batch: a.Batch, Calls: make([]shardqueue.Ran, len(a.Calls))})
		}
	}
}

// kills is how often a test kills a process.
func kills() int {
	if long {
		return 100
	}
	return 10
}

func TestMain(m *testing.M) {
	switch {
	case filepath.Base(os.Args[0]) == "go":
		os.Exit(standIn(os.Args[1:]))
	case os.Getenv(asShard) != "":
		main()
	case os.Getenv(asMachine) != "":
		beMachine(os.Args[1], os.Args[2])
		return
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // tests that run at the same time mostly wait
		panic(err)
	}
	os.Exit(m.Run())
}

// shardProcess returns a process of the command shard.
func shardProcess(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(os.Environ(), asShard+"=1")
	return c
}

// started starts shard serve and returns its address.
func started(t *testing.T, dir, address string) (*exec.Cmd, string) {
	t.Helper()
	c := shardProcess(t.Context(), "serve", "-state", dir, "-listen", address)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	c.Stderr = os.Stderr
	require.NoError(t, c.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return c, strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
}

// drawn draws from a queue as four machines until all pieces have been run, and counts the runs of each piece.
func drawn(t *testing.T, url string, c *shardqueue.Config) map[string]int {
	t.Helper()
	var mu sync.Mutex
	var wait sync.WaitGroup
	ran := map[string]int{}
	for m := range 4 {
		wait.Go(func() {
			at := &remote{url: url, pause: 2 * time.Millisecond, patience: 2 * time.Minute, log: io.Discard}
			ask := func(r shardqueue.Request) shardqueue.Answer {
				r.Machine, r.Session = fmt.Sprint(m), "s"
				a, err := at.ask(t.Context(), r)
				assert.NoError(t, err)
				assert.Empty(t, a.Refused)
				return a
			}
			ask(shardqueue.Request{Op: shardqueue.Join, Lanes: 1, Config: c})
			for !t.Failed() {
				a := ask(shardqueue.Request{Op: shardqueue.Draw})
				if a.Done {
					return
				}
				r := shardqueue.Request{Op: shardqueue.End, Batch: a.Batch}
				mu.Lock()
				for _, c := range a.Calls {
					ran[c.Package]++
					r.Calls = append(r.Calls, shardqueue.Ran{Seconds: c.Seconds})
				}
				mu.Unlock()
				if len(a.Calls) > 0 {
					ask(r)
				} else {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	wait.Wait()
	return ran
}

// shard serve is killed at ten random moments, or at a hundred with STRAGGLER_LIVES, while four machines draw. No test
// is lost, and none is run twice.
func TestServeIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	process, url := started(t, dir, "127.0.0.1:0")
	r := mathrand.New(mathrand.NewPCG(1, 5))
	runs, stop, stopped := 0, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for ; ; runs++ {
			select {
			case <-stop:
				return
			default:
			}
			c := &shardqueue.Config{Machines: 4, Lease: 60_000}
			want := map[string]int{}
			for i := range 150 {
				c.Pieces = append(c.Pieces, shardqueue.Piece{Package: fmt.Sprint("p", i), Seconds: float64(1 + i%7)})
				want[c.Pieces[i].Package] = 1
			}
			if !assert.Equal(t, want, drawn(t, fmt.Sprintf("%s/run-%d", url, runs), c)) {
				return
			}
		}
	}()
	for range kills() {
		time.Sleep(time.Duration(r.IntN(30_000)) * time.Microsecond)
		require.NoError(t, process.Process.Signal(syscall.SIGKILL))
		_ = process.Wait()
		process, _ = started(t, dir, strings.TrimPrefix(url, "http://"))
	}
	close(stop)
	<-stopped
	t.Logf("%d runs of 150 packages", runs)
	text, passed, err := (&remote{url: url + "/run-0"}).status(t.Context())
	require.NoError(t, err)
	assert.True(t, passed)
	assert.True(t, strings.HasPrefix(text, "150 of 150 pieces done, 0 held by machines, 0 waiting: 0s of tests\n"), text)
	assert.NoError(t, process.Process.Signal(syscall.SIGKILL))
	_ = process.Wait()
}

// Machines that share a directory are killed at ten random moments, or at a hundred with STRAGGLER_LIVES, and come
// back under their names. All pieces are run, and no file is left half written.
func TestMachinesAreKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := &shardqueue.Config{Machines: 4, Lease: 1000}
	for i := range 60 {
		c.Pieces = append(c.Pieces, shardqueue.Piece{Package: fmt.Sprint("p", i), Seconds: 1})
	}
	f, err := openFolder(dir)
	require.NoError(t, err)
	open := shardqueue.Request{Op: shardqueue.Join, Machine: "open", Session: "s", Lanes: 1, Config: c}
	_, err = f.ask(t.Context(), open)
	require.NoError(t, err)
	open.Op = shardqueue.Leave
	_, err = f.ask(t.Context(), open)
	require.NoError(t, err)
	r := mathrand.New(mathrand.NewPCG(1, 6))
	machine := func(i int) *exec.Cmd {
		m := exec.CommandContext(t.Context(), os.Args[0], dir, fmt.Sprint(i%4))
		m.Env, m.Stderr = append(os.Environ(), asMachine+"=1"), os.Stderr
		require.NoError(t, m.Start())
		return m
	}
	machines := []*exec.Cmd{machine(0), machine(1), machine(2), machine(3)}
	for range kills() {
		time.Sleep(time.Duration(r.IntN(30_000)) * time.Microsecond)
		i := r.IntN(4)
		_ = machines[i].Process.Signal(syscall.SIGKILL) // it may have ended
		_ = machines[i].Wait()
		machines[i] = machine(i)
	}
	for _, m := range machines {
		assert.NoError(t, m.Wait())
	}
	text, passed, err := f.status(t.Context())
	require.NoError(t, err)
	assert.True(t, passed, text)
	assert.Contains(t, text, "60 of 60 pieces done, 0 held by machines, 0 waiting: 0s of tests\n")
}
