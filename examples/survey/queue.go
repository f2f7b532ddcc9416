package main

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/queuesim"
)

// queues contains the flags of the survey of a job queue.
type queues struct {
	scenarios, policies string
	seeds               int
	shadow              bool
}

const (
	tooSlow    = 1.03 // x the time of the naive rule; a scenario that takes longer is listed
	fastEnough = .95  // x the time of the naive rule; a scenario that takes at most this is counted as faster
)

// writeShadow writes a table that compares what acting saves with the bill of the shadow mode.
func (o queues) writeShadow(w io.Writer) error {
	scenarios, err := o.chosen()
	if err != nil {
		return err
	}
	cells, err := batches(scenarios, []queuesim.Player{{Engine: true, Shadow: true}, {Engine: true}}, o.seeds)
	if err != nil {
		return err
	}
	fmt.Fprint(w, "\n| scenario | shadow, s | acting, s | acting saves | the bill says | at most | points off |\n"+
		"|---|---|---|---|---|---|---|\n")
	worst := 0.
	for i := range cells {
		c, bill := &cells[i], cells[i].Sums[0].Bill
		n := float64(o.seeds)
		saves := 1 - c.Time(1, 0)
		off := 100 * (bill.Saved - saves)
		worst = max(worst, math.Abs(off))
		fmt.Fprintf(w, "| %s | %.1f | %.1f | %.1f %% | %.1f %% | %.1f %% | %+.1f |\n", c.Scenario.Name, c.Sums[0].Time.Seconds()/n,
			c.Sums[1].Time.Seconds()/n, 100*saves, 100*bill.Saved, 100*bill.AtMost, off)
	}
	_, err = fmt.Fprintf(w, "\nThe bill of the shadow mode is at most %.1f points off what acting saves, on the same "+
		"seeds. \"At most\" is the saving if every slow attempt that nothing else explains was slow by bad luck.\n", worst)
	return err
}

// write writes the table of the scenarios, its legend, and the counts of each player.
func (o queues) write(w io.Writer) error {
	if o.shadow {
		return o.writeShadow(w)
	}
	players := queuesim.Players()
	for _, text := range profiles(o.policies) {
		policy, err := rules.Parse(text)
		if err != nil {
			return err
		}
		players = append(players, queuesim.Player{Name: text, Engine: true, Policy: policy})
	}
	scenarios, err := o.chosen()
	if err != nil {
		return err
	}
	cells, err := batches(scenarios, players, o.seeds)
	if err != nil {
		return err
	}
	fmt.Fprint(w, "\n| scenario | nothing, s |")
	for _, p := range players[queuesim.Naive:] {
		fmt.Fprintf(w, " %s |", p.Name)
	}
	for _, p := range players[queuesim.Naive+1:] {
		fmt.Fprintf(w, " %s/naive, median, won |", p.Name)
	}
	fmt.Fprintf(w, "\n|---|---|%s\n", strings.Repeat("---|", 2*len(players)-queuesim.Naive-2))
	for i := range cells {
		c := &cells[i]
		nothing := c.Sums[queuesim.Nothing].Time.Seconds() / float64(o.seeds)
		fmt.Fprintf(w, "| %s | %.1f%s |", c.Scenario.Name, nothing, lost(c, queuesim.Nothing))
		for p := queuesim.Naive; p < len(players); p++ {
			fmt.Fprintf(w, " %.2f %.2f %.2f%s |", c.Time(p, queuesim.Nothing), c.Slots(p, queuesim.Nothing), c.Wasted(p), lost(c, p))
		}
		for p := queuesim.Naive + 1; p < len(players); p++ {
			fmt.Fprintf(w, " %.3f %.3f %.2f |", c.Time(p, queuesim.Naive), c.Median(p, queuesim.Naive), c.Won(p, queuesim.Naive))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, queueLegend)
	for p := queuesim.Naive + 1; p < len(players); p++ {
		o.judge(w, cells, p, players[p].Name)
	}
	return nil
}

// queueLegend explains the table of a job queue.
const queueLegend = `
"nothing, s" is the mean time of the batch without help, in seconds. The column of a player has three numbers: its time and its
slot time divided by those without help, and the share of its slot time that is wasted. The columns with "/naive" have the
player's time divided by naive's, the median of this ratio over the seeds, and the share of seeds in which the player is faster.

`

// lost writes the number of tasks without a result, over all seeds; empty if there is none.
func lost(c *queuesim.Cell, player int) string {
	if n := c.Sums[player].Lost; n > 0 {
		return fmt.Sprintf(", %d lost", n)
	}
	return ""
}

// judge writes a line that compares a player with the naive rule over all scenarios.
func (o queues) judge(w io.Writer, cells []queuesim.Cell, player int, name string) {
	var slow, often []string
	fast, tasks := 0, 0
	for i := range cells {
		c := &cells[i]
		if c.Time(player, queuesim.Naive) > tooSlow {
			slow = append(slow, c.Scenario.Name)
		}
		if c.Median(player, queuesim.Naive) > tooSlow {
			often = append(often, c.Scenario.Name)
		}
		if c.Time(player, queuesim.Naive) <= fastEnough {
			fast++
		}
		tasks += c.Sums[player].Lost
	}
	list := func(names []string) string {
		if len(names) == 0 {
			return "none"
		}
		return fmt.Sprintf("%d (%s)", len(names), strings.Join(names, "; "))
	}
	fmt.Fprintf(w, "%s in %d scenarios: over %.2f of naive's time in %s, and by the median seed in %s; at most %.2f of "+
		"naive's time in %d; %d tasks without a result.\n",
		name, len(cells), tooSlow, list(slow), list(often), fastEnough, fast, tasks)
}

// chosen returns the scenarios with names that match the expression.
func (o queues) chosen() ([]queuesim.Scenario, error) {
	match, err := regexp.Compile(o.scenarios)
	if err != nil {
		return nil, fmt.Errorf("-cells: %w", err)
	}
	found := slices.DeleteFunc(queuesim.Scenarios(), func(s queuesim.Scenario) bool { return !match.MatchString(s.Name) })
	if len(found) == 0 {
		return nil, fmt.Errorf("-cells: no scenario matches %q", o.scenarios)
	}
	return found, nil
}

// batches simulates the scenarios, on all processors.
func batches(of []queuesim.Scenario, players []queuesim.Player, seeds int) ([]queuesim.Cell, error) {
	cells, errs := make([]queuesim.Cell, len(of)), make([]error, len(of))
	limit := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for i, s := range of {
		wait.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			cells[i], errs[i] = queuesim.Play(s, players, seeds)
		})
	}
	wait.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	return cells, nil
}
