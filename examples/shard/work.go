package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/examples/internal/words"
	"github.com/straggler-go/straggler/examples/shard/internal/shardqueue"
)

// worker is this machine: it draws batches from a queue until all tests have been run.
type worker struct {
	streams
	desk
	name, session string
	lanes         int
	flags         []string
	spread        estimate.Distribution // of the times of packages, divided by their medians
	run, kind     string
	log           io.Writer // gets the output of go test -json

	mu     sync.Mutex
	into   *history
	ran    int // calls
	failed int // calls with a failed test
}

// work is the command work.
func work(ctx context.Context, args []string, s streams) error {
	f := s.flags("work", "[package ...]")
	file := historyOf(f)
	var o options
	o.add(f)
	where := f.String("queue", "",
		"the `queue`: a directory that the machines share, or http://HOST:7077/RUN of shard serve. The first "+
			"machine fills it. Each run of the suite needs another name")
	name := f.String("name", hostname(),
		"the `name` of this machine. A machine that is retried under its name gets its tests again")
	jobs := f.Int("jobs", runtime.GOMAXPROCS(0), "the number of packages that run at once")
	lease := f.Duration("lease", time.Minute,
		"the time after which the tests of a silent machine are given to others; the first machine sets it")
	kind := f.String("machine", hostname(), "the `kind` of this machine")
	log := f.String("log", "", "write the output of go test -json to a `file`")
	if err := parse(f, args); err != nil {
		return err
	}
	if err := shardqueue.CheckName(*name); err != nil {
		return usage("-name: %v", err)
	}
	if *jobs < 1 || badName(*kind) {
		return usage("want 1 or more in -jobs, and a name without spaces and @ in -machine")
	}
	at, err := openDesk(*where, true)
	if err != nil {
		return err
	}
	run := path.Base(strings.TrimRight(*where, "/"))
	if err := shardqueue.CheckName(run); err != nil {
		return usage("-queue ends in the name of the run: %v", err)
	}
	h, err := loadHistory(ctx, *file)
	if err != nil {
		return err
	}
	m, err := newModel(h)
	if err != nil {
		return err
	}
	w := &worker{streams: s, desk: at, name: *name, session: strings.ToLower(rand.Text()), lanes: *jobs,
		flags:  strings.Fields(o.flags),
		spread: m.spread(), run: run, kind: *kind, log: io.Discard, into: h}
	w.out = &oneAtATime{to: s.out}
	if *log != "" {
		to, err := os.Create(*log)
		if err != nil {
			return err
		}
		defer to.Close()
		w.log = to
	}
	join := shardqueue.Request{Op: shardqueue.Join, Lanes: *jobs}
	if len(m.numbers) > 1 { // machines of several kinds have been compared
		if _, known := m.numbers[*kind]; known {
			join.Factor = m.factor(*kind)
		}
	}
	fill := func() (*shardqueue.Config, error) { return o.fill(ctx, *file, f.Args(), s.in, *lease) }
	of, err := w.join(ctx, join, fill)
	if err != nil {
		return err
	}
	return w.work(ctx, of, *file)
}

// fill returns the pieces of the suite for a new queue.
func (o options) fill(
	ctx context.Context, history string, patterns []string, stdin io.Reader, lease time.Duration,
) (*shardqueue.Config, error) {
	r, err := o.report(ctx, history, patterns, stdin)
	if err != nil {
		return nil, err
	}
	all, err := pieces(r.suites, r.machines())
	if err != nil {
		return nil, err
	}
	c := &shardqueue.Config{Pieces: all, Machines: len(r.shards), Lease: lease.Milliseconds()}
	return c, c.Validate()
}

// request sends a request of this machine.
func (w *worker) request(ctx context.Context, r shardqueue.Request) (shardqueue.Answer, error) {
	r.Machine, r.Session = w.name, w.session
	a, err := w.ask(ctx, r)
	if err == nil && a.Refused != "" {
		err = fmt.Errorf("the queue refuses: %s", a.Refused)
	}
	return a, err
}

// join joins the queue, and returns its lease. If nobody has filled the queue, this machine fills it. If a machine of
// this name is there, join waits until it must have been heard again.
func (w *worker) join(
	ctx context.Context, r shardqueue.Request, fill func() (*shardqueue.Config, error),
) (time.Duration, error) {
	var waited time.Duration
	for {
		a, err := w.request(ctx, r)
		wait := time.Duration(a.Wait) * time.Millisecond
		switch {
		case err != nil:
			return 0, err
		case a.Closed && r.Config != nil:
			return 0, fmt.Errorf("the queue does not open")
		case a.Closed:
			if r.Config, err = fill(); err != nil {
				return 0, err
			}
		case wait == 0:
			lease := time.Duration(a.Lease) * time.Millisecond
			if lease < time.Second { // no queue has so short a lease
				err = fmt.Errorf("the queue answers with a lease of %v, want 1s or more: is it a server of shard?", lease)
			}
			return lease, err
		case waited > 0 && wait > waited/2: // the silence has ended
			return 0, fmt.Errorf("a machine %s is at work already: give each machine a name of its own in -name", w.name)
		default:
			fmt.Fprintf(w.out, "A machine %s was at work a moment ago. If it is gone, this machine takes its place after %v.\n",
				w.name, wait.Round(time.Second))
			waited = wait
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(wait):
			}
		}
	}
}

// work draws and runs batches on all lanes until all tests have been run. Then it adds the times to the history.
func (w *worker) work(ctx context.Context, lease time.Duration, file string) error {
	beats, stop := context.WithCancel(ctx)
	go w.beat(beats, lease/4)
	errs := make([]error, w.lanes)
	lanes, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	for lane := range w.lanes {
		wait.Go(func() {
			if errs[lane] = w.lane(lanes, lane); errs[lane] != nil {
				cancel()
			}
		})
	}
	wait.Wait()
	cancel()
	stop()
	last, end := context.WithTimeout(context.WithoutCancel(ctx), longestPause)
	defer end()
	_, _ = w.request(last, shardqueue.Request{Op: shardqueue.Leave}) // if this fails, the lease frees the tests of the machine
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) { // the other lanes were cancelled after the first error
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := w.into.save(ctx, file); err != nil {
		return err
	}
	fmt.Fprintf(w.out, "machine %s: %s\n", w.name, words.Counted(w.ran, "call"))
	if w.failed > 0 {
		fmt.Fprintf(w.out, "FAIL: %s\n", words.Counted(w.failed, "package"))
		return errFailed
	}
	return nil
}

// beat tells the queue from time to time that the machine works.
func (w *worker) beat(ctx context.Context, every time.Duration) {
	for tick := time.NewTicker(every); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
			_, _ = w.request(ctx, shardqueue.Request{Op: shardqueue.Beat}) // the next beat may arrive
		}
	}
}

// lane draws and runs batches, one after the other.
func (w *worker) lane(ctx context.Context, lane int) error {
	for {
		a, err := w.request(ctx, shardqueue.Request{Op: shardqueue.Draw, Lane: lane})
		switch {
		case err != nil:
			return err
		case a.Done:
			return nil
		case len(a.Calls) > 0:
			ran, err := w.batch(ctx, a)
			if err == nil {
				_, err = w.request(ctx, shardqueue.Request{Op: shardqueue.End, Batch: a.Batch, Calls: ran})
			}
			if err != nil {
				return err
			}
		default:
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(a.Wait) * time.Millisecond):
			}
		}
	}
}

// batch runs the calls of a batch, and returns their times and results. All whole packages are one call of go test, so
// that the next package is built while one runs.
func (w *worker) batch(ctx context.Context, a shardqueue.Answer) ([]shardqueue.Ran, error) {
	h := &host{streams: w.streams, flags: w.flags, jobs: 1, look: time.Second, may: func(string) bool { return false }}
	whole := -1 // the part with the whole packages
	for _, c := range a.Calls {
		switch p := partOf(c); {
		case p.whole && whole >= 0:
			h.parts[whole].with = append(h.parts[whole].with, p.pkg)
			h.parts[whole].seconds += p.seconds
		case p.whole:
			whole = len(h.parts)
			fallthrough
		default:
			h.parts = append(h.parts, p)
		}
	}
	failed, err := h.run(ctx, w.spread)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ran += len(a.Calls)
	w.failed += failed
	if _, err := w.log.Write(h.events.Bytes()); err != nil {
		return nil, err
	}
	if t, err := readTimings(&h.events); err == nil {
		id := fmt.Sprintf("%s/%s.%d", w.run, w.name, a.Batch)
		w.into.addTimes(t, id)
		w.into.addRun(id, ran{at: t.first.UTC().Truncate(time.Second), machine: w.kind, gap: h.gap()})
	}
	real := h.real()
	ran := make([]shardqueue.Ran, len(a.Calls))
	for i, c := range a.Calls {
		ran[i] = real[c.Package]
	}
	return ran, nil
}

// partOf returns the part that runs a call.
func partOf(c shardqueue.Call) part {
	p := part{suite: &suite{pkg: c.Package}, seconds: c.Seconds, whole: len(c.Tests)+len(c.Skip) == 0,
		rest: len(c.Skip) > 0}
	for _, name := range c.Tests {
		p.tests = append(p.tests, test{name: name})
	}
	for _, name := range c.Skip {
		p.others = append(p.others, test{name: name})
	}
	return p
}

// oneAtATime lets several goroutines write to one writer.
type oneAtATime struct {
	mu sync.Mutex
	to io.Writer
}

func (o *oneAtATime) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.to.Write(text)
}
