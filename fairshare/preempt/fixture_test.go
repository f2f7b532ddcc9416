package preempt

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/straggler-go/straggler/fairshare"
)

// The fixture is a list of worked examples. Each section has pools with their running tasks, a line of dashes, and
// the claims and victims of a plan one hour later. This command rewrites the fixture:
//
//	go test ./fairshare/preempt -run Fixtures -rewrite
//
// Check every line of the difference.
var rewrite = flag.Bool("rewrite", false, "rewrite the fixtures in testdata")

func TestFixturesMatchTheirWorking(t *testing.T) {
	const name = "testdata/plans.txt"
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	var out strings.Builder
	for i, section := range strings.Split(string(data), "\n\n") {
		question, _, _ := strings.Cut(section, "\n----\n")
		if i > 0 {
			out.WriteString("\n")
		}
		question = strings.TrimSuffix(strings.TrimSpace(question), "\n----")
		fmt.Fprintf(&out, "%s\n----\n%s", question, work(t, question))
	}
	if *rewrite {
		require.NoError(t, os.WriteFile(name, []byte(out.String()), 0o644))
	}
	assert.Equal(t, string(data), out.String())
}

func number(t *testing.T, text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err, text)
	return n
}

// work computes the answer of one section. A question has comments, a line such as "plan total=6", and a line for
// each pool. A task is written as its units, and then @ and its machine, c for a copy, ! for protected, and - for
// dying. The plan line may list the free units of each machine, as in free=2,0,2.
func work(t *testing.T, question string) string {
	c := cluster{forest: &forest{}}
	var names []string
	var waiting []Waiting
	var free []int64
	var config Config
	for line := range strings.SplitSeq(question, "\n") {
		fields := strings.Fields(line)
		if fields[0] == "#" {
			continue
		}
		if fields[0] != "plan" {
			names, waiting = append(names, fields[0]), append(waiting, Waiting{})
			c.forest.pools = append(c.forest.pools, fairshare.Pool{})
		}
		for _, f := range fields[1:] {
			key, value, _ := strings.Cut(f, "=")
			pool := len(names) - 1
			switch key {
			case "total":
				c.total = number(t, value)
			case "free":
				for units := range strings.SplitSeq(value, ",") {
					free = append(free, number(t, units))
				}
			case "strict":
				config.StrictFloor = true
			case "under":
				c.forest.pools[pool].Parent = fairshare.Under(slices.Index(names, value))
			case "demand":
				c.forest.pools[pool].Demand = number(t, value)
			case "waiting":
				units, one := strings.CutSuffix(value, "@1")
				waiting[pool] = Waiting{Units: number(t, units), OneMachine: one}
			case "tasks":
				for i, task := range strings.Split(value, ",") {
					c.tasks = append(c.tasks, fixtureTask(t, pool, i, task))
				}
			default:
				t.Fatalf("unknown key %q", key)
			}
		}
	}
	return c.plan(t, config, names, waiting, free)
}

func fixtureTask(t *testing.T, pool, i int, text string) Task {
	units, machine, some := strings.Cut(strings.TrimRight(text, "c!-"), "@")
	task := Task{
		Pool: pool, Started: time.Unix(int64(i), 0), Slots: number(t, units), Copy: strings.Contains(text, "c"),
		Protected: strings.Contains(text, "!"), Dying: strings.Contains(text, "-"),
	}
	if some {
		task.Machine = int(number(t, machine))
	}
	return task
}

// plan prints the claims, the victims, and each pool before and after the plan. A # is a unit in use, and | is the
// share.
func (c *cluster) plan(t *testing.T, config Config, names []string, waiting []Waiting, free []int64) string {
	c.usage = make([]int64, len(names))
	for _, task := range c.tasks {
		c.usage[task.Pool] += task.Slots
	}
	s, shares := watched(t, c.pools, c.total, config)
	c.shares = shares
	for i, w := range waiting {
		s.SetWaiting(i, w)
	}
	var out strings.Builder
	bars := func(title string) {
		for i, name := range names {
			bar := []byte(strings.Repeat("#", int(c.used(i))) + strings.Repeat(" ", int(c.total-c.used(i))+1))
			bar[c.shares[i].Slots] = '|'
			fmt.Fprintf(&out, "%-6s %s %s\n", title, name, strings.TrimRight(string(bar), " "))
		}
	}
	bars("before")
	require.NoError(t, s.Observe(time.Unix(0, 0), shares, c.usage))
	if free == nil {
		free = []int64{c.free()}
	}
	plan := s.Plan(time.Unix(3600, 0), c.tasks, free)
	for _, claim := range plan.Claims {
		fmt.Fprintln(&out, claim)
	}
	for _, v := range plan.Victims {
		fmt.Fprintln(&out, v)
	}
	c.kill(plan)
	c.endDying()
	for _, claim := range plan.Claims {
		c.start(claim.Pool, claim.Granted, waiting)
	}
	bars("after")
	return out.String()
}

// kill ends the victims of a plan.
func (c *cluster) kill(plan Plan) {
	var left []Task
	for i, task := range c.tasks {
		if plan.Outcomes[i] == Killed {
			c.usage[task.Pool] -= task.Slots
		} else {
			left = append(left, task)
		}
	}
	c.tasks = left
}
