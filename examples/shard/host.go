package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/examples/shard/internal/shardqueue"
	"github.com/straggler-go/straggler/restart/engine"
)

// host runs the parts of a shard as the engine decides. An attempt of a part is one call of go test.
type host struct {
	streams
	flags []string
	parts []part
	jobs  int
	look  time.Duration // time between two polls of the engine
	may   func(pkg string) bool

	mu     sync.Mutex
	calls  []*call
	wake   chan struct{}
	events bytes.Buffer // output of the attempts that ended their parts
}

// call is an attempt of a part: one call of go test.
type call struct {
	engine.Attempt
	kill     context.CancelFunc
	asked    time.Time    // when the go command was called
	output   bytes.Buffer // events of go test -json
	failed   bool
	packages map[string]took // see results
	told     bool            // the call has been told to end
}

// least is the smallest work of a package, in seconds: starting a package takes time, too.
const least = 1.

// run runs all parts and returns the number of parts with failed tests. Spread is the prior distribution of the times
// of packages, divided by the predicted times.
func (h *host) run(ctx context.Context, spread estimate.Distribution) (failed int, err error) {
	work := make([]float64, len(h.parts))
	for i, p := range h.parts {
		work[i] = max(p.seconds, least)
	}
	if len(work) == 0 {
		return 0, nil
	}
	phase, err := engine.New(engine.Config{
		Work: work, Slots: h.jobs, Interval: h.look, UnitTimes: estimate.UnitTimesConfig{Prior: spread},
	})
	if err != nil {
		return 0, err
	}
	for i, p := range h.parts {
		phase.SetEligible(i, h.may(p.pkg), true)
	}
	h.wake = make(chan struct{}, 1)
	tick := time.NewTicker(h.look)
	defer tick.Stop()
	defer h.stop()
	for {
		for _, a := range phase.Poll(time.Now(), h.list()).Actions {
			switch a.Op {
			case engine.Submit:
				h.submit(ctx, a)
			case engine.Cancel:
				h.cancel(a)
			case engine.Publish:
				failed += h.publish(a)
				phase.Published(a.ID)
			}
		}
		if phase.Done() {
			return failed, nil
		}
		select {
		case <-ctx.Done():
			return failed, ctx.Err()
		case <-tick.C:
		case <-h.wake:
		}
	}
}

// stop kills the calls that still run, and waits until all calls have ended.
func (h *host) stop() {
	for ; ; time.Sleep(h.look / 20) {
		running := false
		for _, c := range h.calls {
			h.mu.Lock()
			if c.State == engine.Queued || c.State == engine.Running {
				c.kill()
				running = true
			}
			h.mu.Unlock()
		}
		if !running {
			return
		}
	}
}

func (h *host) list() []engine.Attempt {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]engine.Attempt, len(h.calls))
	for i, c := range h.calls {
		list[i] = c.Attempt
	}
	return list
}

func (h *host) call(id string) *call {
	if i := slices.IndexFunc(h.calls, func(c *call) bool { return c.ID == id }); i >= 0 {
		return h.calls[i]
	}
	return nil
}

// submit starts an attempt of a part. The attempt is queued while the package is built. It runs from the first start
// event of go test.
func (h *host) submit(ctx context.Context, a engine.Action) {
	if h.call(a.ID) != nil {
		return
	}
	ctx, kill := context.WithCancel(ctx)
	c := &call{Attempt: engine.Attempt{ID: a.ID, Task: a.Task}, kill: kill, asked: time.Now()}
	h.calls = append(h.calls, c)
	p := h.parts[a.Task]
	args := append([]string{"test", "-json"}, h.flags...)
	if !p.whole {
		args = append(args, p.pattern())
	}
	run := goCommand(ctx, append(append(args, p.pkg), p.with...)...)
	in, out := io.Pipe()
	run.Stdout, run.Stderr = out, out
	read := make(chan struct{})
	go func() {
		defer close(read)
		h.read(c, in)
	}()
	go func() {
		err := run.Run()
		_ = out.Close()
		<-read
		h.change(c, func() {
			c.failed = err != nil
			// an attempt with a failed test has succeeded: the failure is the result
			c.State, c.Ended = engine.Succeeded, time.Now()
			if err != nil && ctx.Err() != nil {
				c.State = engine.Cancelled
			}
		})
		kill()
	}()
}

// change changes a call under the lock, and wakes the loop of run.
func (h *host) change(c *call, how func()) {
	h.mu.Lock()
	how()
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// read stores the output of a call, and changes its state to running when the tests begin.
func (h *host) read(c *call, in io.Reader) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		h.mu.Lock()
		c.output.Write(line)
		h.mu.Unlock()
		if bytes.Contains(line, []byte(`"Action":"start"`)) {
			h.change(c, func() {
				if c.State == engine.Queued {
					c.State, c.Begun = engine.Running, time.Now()
				}
			})
		}
		if err != nil {
			return
		}
	}
}

// cancel ends a call. If its tests were running, it prints the package, the age and the decision for the user.
func (h *host) cancel(a engine.Action) {
	c := h.call(a.ID)
	if c == nil {
		return
	}
	h.mu.Lock()
	first := c.State == engine.Running && !c.told
	c.told = true
	h.mu.Unlock()
	if c.kill(); first {
		ran := time.Since(c.Begun).Seconds()
		fmt.Fprintf(h.out, "%s: killed after %s: %v\n", h.parts[a.Task].pkg, duration(ran), a.Decision)
	}
}

// publish makes the result of a call the result of its part, and prints it. It returns the number of failed packages.
func (h *host) publish(a engine.Action) (failed int) {
	c, p := h.call(a.ID), h.parts[a.Task]
	if c == nil || c.Published {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c.Published = true
	h.events.Write(c.output.Bytes())
	if c.failed {
		fmt.Fprint(h.out, text(c.output.Bytes(), c.failedIn))
	}
	for _, pkg := range append([]string{p.pkg}, p.with...) {
		if c.failedIn(pkg) {
			failed++
		} else {
			fmt.Fprintf(h.out, "ok  \t%s\t%.3fs\n", pkg, c.results()[pkg].seconds)
		}
	}
	return failed
}

// event has the fields of an event of go test -json that a host needs while it runs.
type event struct {
	Action, Package, Test string
	Elapsed               float64 // seconds
	Output                string
}

// results returns the time and the result of each package of a call, as go test reports them.
func (c *call) results() map[string]took {
	if c.packages == nil {
		c.packages = map[string]took{}
		for line := range bytes.Lines(c.output.Bytes()) {
			var v event
			if !bytes.Contains(line, []byte(`"Action":"output"`)) && json.Unmarshal(line, &v) == nil && v.Test == "" &&
				v.Package != "" && (v.Action == "pass" || v.Action == "fail" || v.Action == "skip") {
				c.packages[v.Package] = took{seconds: v.Elapsed, failed: v.Action == "fail"}
			}
		}
	}
	return c.packages
}

// failedIn reports whether a package of the call failed. If the call failed, a package without a result failed, too.
func (c *call) failedIn(pkg string) bool {
	r, known := c.results()[pkg]
	return c.failed && (r.failed || !known)
}

// real returns the real time of each package of a published call: the time that go test reports, and an equal part of
// the rest of the call.
func (h *host) real() map[string]shardqueue.Ran {
	all := map[string]shardqueue.Ran{}
	for _, c := range h.calls {
		if !c.Published {
			continue
		}
		p := h.parts[c.Task]
		for _, pkg := range append([]string{p.pkg}, p.with...) {
			all[pkg] = shardqueue.Ran{Seconds: c.results()[pkg].seconds + c.rest(1+len(p.with)), Failed: c.failedIn(pkg)}
		}
	}
	return all
}

// rest returns the time of a call that go test does not report, divided by the number of its packages.
func (c *call) rest(packages int) float64 {
	rest := c.Ended.Sub(c.asked).Seconds()
	for _, pkg := range slices.Sorted(maps.Keys(c.results())) {
		rest -= c.packages[pkg].seconds
	}
	return max(rest, 0) / float64(packages)
}

// gap returns the overhead of a package in a call of the go command, in seconds: the median over the calls of rest.
func (h *host) gap() float64 {
	var gaps []float64
	for _, c := range h.calls {
		if c.Published && !c.failed && !bytes.Contains(c.output.Bytes(), []byte(`\t(cached)`)) {
			gaps = append(gaps, c.rest(1+len(h.parts[c.Task].with)))
		}
	}
	return median(gaps)
}

// text returns the output that go test would have printed without -json, of the packages that failed and of the build.
func text(events []byte, failed func(pkg string) bool) string {
	var out strings.Builder
	for line := range bytes.Lines(events) {
		var v event
		switch {
		case json.Unmarshal(line, &v) != nil:
			out.Write(line)
		case v.Action == "output" && failed(v.Package), v.Action == "build-output":
			out.WriteString(v.Output)
		}
	}
	return out.String()
}
