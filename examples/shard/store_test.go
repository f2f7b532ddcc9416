package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/examples/shard/internal/shardqueue"
)

func join(machine string, packages int) shardqueue.Request {
	c := &shardqueue.Config{Machines: 2, Lease: 1000}
	for i := range packages {
		c.Pieces = append(c.Pieces, shardqueue.Piece{Package: fmt.Sprint("p", i), Seconds: 1})
	}
	return shardqueue.Request{Op: shardqueue.Join, Machine: machine, Session: "s", Lanes: 1, Config: c}
}

// A log that ends at any byte is read up to its last whole line, and goes on from there. So no kill loses an answer. The
// test ends the log at each byte beside a line break and at each fifth byte, or at each with STRAGGLER_LIVES.
func TestALogThatEndsAnywhere(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l, err := openLog(path, time.Now())
	require.NoError(t, err)
	_, err = l.ask(time.Now(), join("a", 3))
	require.NoError(t, err)
	answer, err := l.ask(time.Now(), shardqueue.Request{Op: shardqueue.Draw, Machine: "a", Session: "s"})
	require.NoError(t, err)
	require.Len(t, answer.Calls, 1)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for n := range text {
		if beside := text[n] == '\n' || n > 0 && text[n-1] == '\n'; n%5 > 0 && !beside && !long {
			continue
		}
		require.NoError(t, os.WriteFile(path, text[:n], 0o600))
		l, err := openLog(path, time.Now())
		require.NoError(t, err)
		_, err = l.ask(time.Now(), join("a", 3))
		require.NoError(t, err)
		again, err := l.ask(time.Now(), shardqueue.Request{Op: shardqueue.Draw, Machine: "a", Session: "s"})
		require.NoError(t, err)
		require.Equal(t, len(answer.Calls), len(again.Calls))
		l, err = openLog(path, time.Now())
		require.NoError(t, err, "after %d bytes", n)
		repeated, err := l.ask(time.Now(), shardqueue.Request{Op: shardqueue.Draw, Machine: "a", Session: "s"})
		require.NoError(t, err)
		require.Equal(t, again.Batch, repeated.Batch)
		require.Equal(t, again.Calls[0].Package, repeated.Calls[0].Package)
	}
	text[len(text)/2] ^= 1
	require.NoError(t, os.WriteFile(path, text, 0o600))
	_, err = openLog(path, time.Now())
	assert.ErrorContains(t, err, path+": line ")
	assert.ErrorContains(t, err, "it is damaged; move the file away, and the machines begin anew")
	require.NoError(t, os.WriteFile(path, []byte("rubbish\n"), 0o600))
	_, err = openLog(path, time.Now())
	assert.ErrorContains(t, err, "line 1 has no checksum of eight digits")
}

// A half line that is longer than the next event leaves nothing behind. Machines are not lost because the server was
// away.
func TestALogAfterAPause(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	now := time.Now()
	l, err := openLog(path, now)
	require.NoError(t, err)
	for _, m := range []string{"a", "b"} {
		_, err = l.ask(now, join(m, 1))
		require.NoError(t, err)
	}
	first, err := l.ask(now, shardqueue.Request{Op: shardqueue.Draw, Machine: "a", Session: "s"})
	require.NoError(t, err)
	require.Len(t, first.Calls, 1)
	_, err = l.file.WriteAt(bytes.Repeat([]byte("x"), 1000), l.size)
	require.NoError(t, err)
	now = now.Add(time.Hour)
	l, err = openLog(path, now)
	require.NoError(t, err)
	answer, err := l.ask(now, shardqueue.Request{Op: shardqueue.Draw, Machine: "b", Session: "s"})
	require.NoError(t, err)
	assert.Empty(t, answer.Calls, "machine a has its lease again")
	_, err = l.ask(now, shardqueue.Request{Op: shardqueue.Leave, Machine: "b", Session: "s"})
	require.NoError(t, err)
	_, err = openLog(path, now)
	assert.NoError(t, err)
}

// If an event cannot be stored, the queue does not change.
func TestADiskThatIsFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	now := time.Now() // one moment, since the status tells when a machine was heard
	l, err := openLog(path, now)
	require.NoError(t, err)
	_, err = l.ask(now, join("a", 3))
	require.NoError(t, err)
	before := l.q.Status(time.UnixMilli(0))
	l.file.Close()
	_, err = l.ask(now, shardqueue.Request{Op: shardqueue.Draw, Machine: "a", Session: "s"})
	assert.ErrorIs(t, err, os.ErrClosed)
	assert.Equal(t, before, l.q.Status(time.UnixMilli(0)))
}

// Machines that share a directory and nothing else run each package once.
func TestAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var mu sync.Mutex
	var wait sync.WaitGroup
	ran, want := map[string]int{}, map[string]int{}
	for m := range 5 {
		wait.Go(func() {
			f, err := openFolder(dir)
			assert.NoError(t, err)
			r := join(fmt.Sprint(m), 60)
			r.Config.Lease = 60_000
			_, err = f.ask(t.Context(), r)
			assert.NoError(t, err)
			for !t.Failed() {
				r.Op = shardqueue.Draw
				a, err := f.ask(t.Context(), r)
				if !assert.NoError(t, err) || a.Done {
					return
				}
				r.Op, r.Batch, r.Calls = shardqueue.End, a.Batch, nil
				mu.Lock()
				for _, c := range a.Calls {
					ran[c.Package]++
					r.Calls = append(r.Calls, shardqueue.Ran{Seconds: 1})
				}
				mu.Unlock()
				if len(a.Calls) > 0 {
					_, err = f.ask(t.Context(), r)
					assert.NoError(t, err)
				} else {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	wait.Wait()
	for i := range 60 {
		want[fmt.Sprint("p", i)] = 1
	}
	assert.Equal(t, want, ran)
	files, err := filepath.Glob(filepath.Join(dir, ".event-*"))
	require.NoError(t, err)
	assert.Empty(t, files, "no file is left behind")
	f, err := openFolder(dir)
	require.NoError(t, err)
	text, passed, err := f.status(t.Context())
	require.NoError(t, err)
	assert.True(t, passed, text)
}

// A machine that vanishes from a directory is lost after the lease, by the clock of the file system.
func TestAMachineVanishesFromAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *folder {
		f, err := openFolder(dir)
		require.NoError(t, err)
		return f
	}
	ask := func(f *folder, r shardqueue.Request) shardqueue.Answer {
		a, err := f.ask(t.Context(), r)
		require.NoError(t, err)
		require.Empty(t, a.Refused)
		return a
	}
	a, b := open(), open()
	first := join("a", 1)
	first.Config.Lease = 3000
	ask(a, first)
	ask(b, join("b", 1))
	require.Len(t, ask(a, shardqueue.Request{Op: shardqueue.Draw, Machine: "a", Session: "s"}).Calls, 1)
	require.Empty(t, ask(b, shardqueue.Request{Op: shardqueue.Draw, Machine: "b", Session: "s"}).Calls)
	second := join("a", 1)
	second.Session = "t"
	assert.NotZero(t, ask(open(), second).Wait, "two machines of one name")
	gone := time.Now().Add(-4 * time.Second) // a has been silent for longer than the lease of three seconds
	require.NoError(t, os.Chtimes(a.beat("a", "s"), gone, gone))
	require.Empty(t, ask(b, shardqueue.Request{Op: shardqueue.Draw, Machine: "b", Session: "s"}).Calls,
		"its last event is younger")
	time.Sleep(3100 * time.Millisecond)
	require.Len(t, ask(b, shardqueue.Request{Op: shardqueue.Draw, Machine: "b", Session: "s"}).Calls, 1)
	late := shardqueue.Request{Op: shardqueue.End, Machine: "a", Session: "s", Calls: []shardqueue.Ran{{Seconds: 3}}}
	ask(a, late)
	assert.True(t, ask(a, shardqueue.Request{Op: shardqueue.Draw, Machine: "a", Session: "s"}).Done, "its late result counts")
}

// An event file that is not whole, or not the next event, is named.
func TestAFolderThatIsDamaged(t *testing.T) {
	dir := t.TempDir()
	f, err := openFolder(dir)
	require.NoError(t, err)
	_, err = f.ask(t.Context(), join("a", 1))
	require.NoError(t, err)
	whole, err := os.ReadFile(f.file(1))
	require.NoError(t, err)
	for want, text := range map[string]string{
		"00000001 is half written; choose another directory": string(whole[:20]),
		"it is damaged; choose another directory":            "00000000 {}\n",
		"Event.Kind is \"opened\", but the queue is open":    "",
	} {
		if text == "" {
			first, err := os.ReadFile(f.file(0))
			require.NoError(t, err)
			text = string(first)
		}
		require.NoError(t, os.WriteFile(f.file(1), []byte(text), 0o600))
		other, err := openFolder(dir)
		require.NoError(t, err)
		_, err = other.ask(t.Context(), shardqueue.Request{Op: shardqueue.Draw, Machine: "a", Session: "s"})
		assert.ErrorContains(t, err, want)
	}
	_, err = openFolder(f.file(0))
	assert.Error(t, err, "a file is no directory")
}

// Each wrong request over HTTP gets a status and a sentence, and no file is made.
func TestRubbishOverHTTP(t *testing.T) {
	dir := t.TempDir()
	host := httptest.NewServer(&server{dir: dir, token: "secret", queues: map[string]*eventLog{}})
	defer host.Close()
	good, err := json.Marshal(join("a", 1))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.log"), []byte("rubbish\n"), 0o600))
	for _, c := range []struct {
		method, path, token, body string
		status                    int
		want                      string
	}{
		{"POST", "/run", "", string(good), 401, "the token is missing or wrong"},
		{"POST", "/run", "Bearer secret2", string(good), 401, "the token is missing or wrong"},
		{"POST", "/run", "secret", string(good), 401, "the token is missing or wrong"},
		{"GET", "/run", "Bearer secret", "", 404, "there is no run run"},
		{"GET", "/", "Bearer secret", "", 404, "the path is the name of a run, such as /build-17"},
		{"GET", "/a/b", "Bearer secret", "", 404, "the name is \"a/b\""},
		{"GET", "/.log", "Bearer secret", "", 404, "the path is the name of a run"},
		{"POST", "/%2e%2e%2fx", "Bearer secret", string(good), 404, "the name is \"../x\""},
		{"PUT", "/run", "Bearer secret", string(good), 405, "the method is PUT, want GET or POST"},
		{"POST", "/run", "Bearer secret", "", 400, "the body is no request of a machine: EOF"},
		{"POST", "/run", "Bearer secret", "[]", 400, "the body is no request of a machine"},
		{"POST", "/run", "Bearer secret", `{"op":"join","color":"red"}`, 400, `unknown field "color"`},
		{"POST", "/run", "Bearer secret", `{"op":"draw","machine":"a","session":"s"}`, 200, `{"closed":true}`},
		{"POST", "/bad", "Bearer secret", `{"op":"draw","machine":"a","session":"s"}`, 409, "line 1 has no checksum"},
		{"GET", "/bad", "Bearer secret", "", 409, "line 1 has no checksum"},
		{"GET", "/x.shard", "", "", 401, "the token is missing or wrong"},
		{"GET", "/x.shard", "Bearer secret", "", 200, magic},
		{"POST", "/x.shard", "Bearer secret", "rubbish", 400, "the body is no history: line 1 is not a line of a history"},
		{"DELETE", "/x.shard", "Bearer secret", "", 405, "the method is DELETE, want GET or POST"},
	} {
		r, err := http.NewRequest(c.method, host.URL+c.path, strings.NewReader(c.body))
		require.NoError(t, err)
		r.Header.Set("Authorization", c.token)
		a, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		var text bytes.Buffer
		_, err = text.ReadFrom(a.Body)
		require.NoError(t, err)
		a.Body.Close()
		assert.Equal(t, c.status, a.StatusCode, c)
		assert.Contains(t, text.String(), c.want)
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 1)
}

// The file of a queue is removed a week after its last event, when another queue is made.
func TestOldQueuesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	s := &server{dir: dir, queues: map[string]*eventLog{}}
	_, err := s.open("old", true)
	require.NoError(t, err)
	old := time.Now().Add(-keepQueue - time.Minute)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "old.log"), old, old))
	_, err = s.open("new", true)
	require.NoError(t, err)
	l, err := s.open("old", false)
	require.NoError(t, err)
	assert.Nil(t, l)
	l, err = s.open("new", false)
	require.NoError(t, err)
	assert.NotNil(t, l)
}

// A machine gives up if the server is away for too long, and at once if the server says that the request is wrong.
func TestRemoteGivesUp(t *testing.T) {
	asked := 0
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch r.URL.Path {
		case "/no":
			http.Error(w, "not you", http.StatusUnauthorized)
		case "/page":
			fmt.Fprint(w, "<html>")
		default:
			http.Error(w, "later", http.StatusInternalServerError)
		}
	}))
	defer host.Close()
	var said bytes.Buffer
	for path, want := range map[string]string{
		"/no": "/no: 401 Unauthorized: not you", "/later": "/later: 500 Internal Server Error: later",
		"/page": "/page is no server of shard",
	} {
		asked = 0
		c := &remote{url: host.URL + path, pause: time.Millisecond, patience: 30 * time.Millisecond, log: &said}
		_, err := c.ask(t.Context(), shardqueue.Request{})
		assert.ErrorContains(t, err, want)
		assert.Equal(t, path == "/no", asked == 1)
	}
	assert.Equal(t, 2, strings.Count(said.String(), "this machine asks again for 30ms\n"),
		"one line for each server that is away")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := (&remote{url: host.URL, pause: time.Hour, patience: time.Hour}).ask(ctx, shardqueue.Request{})
	assert.ErrorIs(t, err, context.Canceled)
}

// An interrupt ends the wait for a server that is away.
func TestAnInterruptedWaitForAHistory(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, args := range [][]string{{"plan"}, {"record"}, {"simulate", "http://127.0.0.1:1/m.shard"}} {
		if args[0] != "simulate" {
			args = append(args, "-history", "http://127.0.0.1:1/m.shard")
		}
		var out bytes.Buffer
		assert.Equal(t, 1, command(ctx, args, strings.NewReader(""), &out, &out))
		assert.Contains(t, out.String(), "http://127.0.0.1:1/m.shard")
	}
	assert.ErrorContains(t, newHistory().save(ctx, "http://127.0.0.1:1/m.shard"), "http://127.0.0.1:1/m.shard")
}

// Machines that save their times to one file or server at the same time lose none.
func TestHistoryThatMachinesShare(t *testing.T) {
	host := httptest.NewServer(&server{dir: t.TempDir(), queues: map[string]*eventLog{}})
	defer host.Close()
	for _, at := range []string{filepath.Join(t.TempDir(), "history"), host.URL + "/m.shard"} {
		var wait sync.WaitGroup
		for m := range 8 {
			wait.Go(func() {
				h := newHistory()
				id := fmt.Sprintf("run/%d", m)
				h.addRun(id, ran{machine: "m"})
				h.add(name{"p", "TestA"}, id, took{seconds: float64(m)})
				assert.NoError(t, h.save(t.Context(), at))
			})
		}
		wait.Wait()
		h, err := loadHistory(t.Context(), at)
		require.NoError(t, err)
		assert.Len(t, h.runs, 8)
		assert.Len(t, h.samples[name{"p", "TestA"}], 8)
	}
	bad := filepath.Join(t.TempDir(), "bad")
	require.NoError(t, os.WriteFile(bad, []byte("<<<<<<< ours\n"), 0o644))
	assert.ErrorContains(t, newHistory().save(t.Context(), bad), "bad: line 1 is not a line of a history")
	text, err := os.ReadFile(bad)
	require.NoError(t, err)
	assert.Equal(t, "<<<<<<< ours\n", string(text), "what cannot be read is not overwritten")
}
