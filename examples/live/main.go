// Command live shows a batch while it runs, as a web page with its stragglers.
//
//	go run ./examples/live
//
// It prints the address of the page. The batch is a toy: 400 tasks of half a second to two seconds on eight machines with
// eight slots each. One machine is four times slower, and 1 % of the attempts hang. When the batch is over, the next one
// begins. Flags:
//
//   - -address HOST:PORT: where the page is; by default on this machine only, on any free port
//   - -shadow: the policy decides, and nothing is copied or killed
//   - -token TOKEN: who wants to see the page has to know it
//   - -batches N: end after N batches; 0: go on until Ctrl-C
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
	"github.com/straggler-go/straggler/restart/engine/live"
	"github.com/straggler-go/straggler/restart/engine/shadow"
	"github.com/straggler-go/straggler/restart/tracker"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], func(address string) { fmt.Println("the page is at", address) }); err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}

// run runs batches, and calls shown with the address of the page.
func run(ctx context.Context, args []string, shown func(address string)) error {
	flags := flag.NewFlagSet("live", flag.ContinueOnError)
	address := flags.String("address", "127.0.0.1:0", "where the page is")
	onlyShadow := flags.Bool("shadow", false, "decide, and carry out nothing")
	token := flags.String("token", "", "a token that guards the page")
	batches := flags.Int("batches", 0, "how many batches to run; 0: until Ctrl-C")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	view := live.New(live.Options{Title: "Stragglers of a toy batch", Token: *token})
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: view, ReadHeaderTimeout: 5 * time.Second}
	defer server.Close()
	go func() { _ = server.Serve(listener) }()
	query := ""
	if *token != "" {
		query = "?token=" + *token
	}
	shown("http://" + listener.Addr().String() + "/" + query)
	for n := 1; *batches == 0 || n <= *batches; n++ {
		if err := batch(ctx, view, uint64(n), *onlyShadow); err != nil {
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
	}
	return nil
}

const (
	tasks    = 400
	machines = 8
	slots    = 8
	slow     = 4   // times slower: the last machine
	hangs    = .01 // share of attempts that hang
	interval = 200 * time.Millisecond
	longest  = 20 * time.Second // hard timeout of an attempt
)

// attempt is an attempt of the toy.
type attempt struct {
	engine.Attempt
	takes time.Duration // 0: it hangs
}

// batch runs a batch on toy machines, which only wait.
func batch(ctx context.Context, view *live.View, seed uint64, onlyShadow bool) error {
	r := rand.New(rand.NewPCG(seed, 0))
	var list []engine.Machine
	for i := range machines {
		list = append(list, engine.Machine{Name: machine(i), Slots: slots})
	}
	set, err := engine.NewMachines(engine.MachinesConfig{Machines: list})
	if err != nil {
		return err
	}
	watch := view.Watch("toy", live.Names{Machine: machine})
	config := engine.Config{Tasks: tasks, Machines: set, Interval: interval, Timeout: longest, OnEvent: watch.OnEvent}
	if onlyShadow {
		config.Shadow = func(int, restart.Decision) {}
	}
	phase, err := engine.New(config)
	if err != nil {
		return err
	}
	running := map[string]*attempt{}
	for billed := time.Now(); !phase.Done(); {
		now := time.Now()
		var seen []engine.Attempt
		for id, a := range running {
			if age := now.Sub(a.Begun); a.takes > 0 && age >= a.takes {
				a.State, a.Ended = engine.Succeeded, a.Begun.Add(a.takes)
				delete(running, id)
			} else if a.takes > 0 {
				a.Progress, a.AsOf = tracker.Report{Score: age.Seconds() / a.takes.Seconds()}, now
			}
			seen = append(seen, a.Attempt)
		}
		slices.SortFunc(seen, func(a, b engine.Attempt) int { return a.Task - b.Task })
		for _, action := range phase.Poll(now, seen).Actions {
			switch action.Op {
			case engine.Submit:
				running[action.ID] = &attempt{engine.Attempt{
					ID: action.ID, Task: action.Task, State: engine.Running, Machine: action.Machine, Begun: now,
				}, takes(r, action.Machine)}
			case engine.Cancel:
				if a := running[action.ID]; a != nil {
					delete(running, action.ID)
					phase.Push(now, []engine.Attempt{{
						ID: a.ID, Task: a.Task, State: engine.Cancelled, Machine: a.Machine, Begun: a.Begun, Ended: now,
					}})
				}
			case engine.Publish:
				phase.Published(action.ID)
			}
		}
		watch.SetLedger(phase.Ledger())
		if onlyShadow && now.Sub(billed) > time.Second {
			billed = now
			record := shadow.Record{
				Machines: list, Attempts: phase.Attempts(), Reports: true, Interval: interval, Lag: interval / 2, Timeout: longest,
			}
			bill, err := shadow.Replay(record, nil, restart.Limits{})
			if err != nil {
				return err
			}
			watch.SetBill(bill)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval / 4):
		}
	}
	phase.Close(time.Now())
	return nil
}

func machine(i int) string { return fmt.Sprint("machine-", i+1) }

// takes returns the time of an attempt; 0: it hangs.
func takes(r *rand.Rand, on string) time.Duration {
	seconds := .5 + 1.5*r.Float64()
	if r.Float64() < hangs {
		return 0
	}
	if on == machine(machines-1) {
		seconds *= slow
	}
	return time.Duration(math.Round(seconds*1e3)) * time.Millisecond
}
