package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/straggler-go/straggler/examples/shard/internal/shardqueue"
	"github.com/straggler-go/straggler/skew"
)

// simulate is the command that plays plans and the queue in virtual time, and compares them with the bound of
// hindsight.
func simulate(ctx context.Context, args []string, s streams) error {
	f := s.flags("simulate", "history ...")
	number := f.Int("suites", 200, "the `number` of suites")
	seed := f.Uint64("seed", 2, "the `seed` of the suites and of the luck of their runs")
	text := f.String("machines", "m*2,m/0.5,m+90s",
		"the machines, as in shard plan; the plans take all machines for average ones "+
			"that are there at once, except the plan that is told")
	if err := parse(f, args); err != nil {
		return err
	}
	if *number < 1 || *number > 100_000 || f.NArg() == 0 {
		return usage("want 1 to 100000 in -suites, and the history of at least one project with several runs")
	}
	kinds, luck, err := projects(ctx, f.Args())
	if err != nil {
		return err
	}
	m, err := newModel(newHistory())
	if err != nil {
		return err
	}
	machines, err := m.parse(*text, 0)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(*seed, 0))
	over := make([][]float64, len(contestants))
	for i := range *number {
		w := world{suites: kinds[i%len(kinds)](r), machines: slices.Clone(machines)}
		r.Shuffle(len(machines), func(i, k int) { w.machines[i], w.machines[k] = w.machines[k], w.machines[i] })
		for k := range w.suites {
			w.suites[k].at = k
			w.luck = append(w.luck, luck[r.IntN(len(luck))])
		}
		bound := w.bound()
		for k, c := range contestants {
			end, err := c.end(&w)
			if err != nil {
				return err
			}
			over[k] = append(over[k], 100*(end/bound-1))
		}
	}
	return printOver(s.out, over)
}

// projects returns the kinds of suites: two that are described, and one for each history. luck has the luck of all
// runs.
func projects(ctx context.Context, files []string) (kinds []worlds, luck []float64, err error) {
	kinds = []worlds{forem, spree}
	for _, file := range files {
		h, err := loadHistory(ctx, file)
		if err != nil {
			return nil, nil, err
		}
		m, err := newModel(h)
		if err != nil {
			return nil, nil, err
		}
		of, err := m.resampled()
		if err != nil {
			return nil, nil, err
		}
		kinds, luck = append(kinds, of), append(luck, m.luck()...)
	}
	if len(luck) == 0 {
		return nil, nil, usage("no package of the histories has several runs of %v s or more", worthLuck)
	}
	return kinds, luck, nil
}

// printOver prints how far each contestant was over the bound in each suite.
func printOver(out io.Writer, over [][]float64) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "over the bound of hindsight, in %\tmean\tmedian\t19 of 20\tworst\t")
	for k, c := range contestants {
		slices.Sort(over[k])
		mean := 0.
		for _, o := range over[k] {
			mean += o / float64(len(over[k]))
		}
		fmt.Fprintf(table, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t\n", c.name, mean, median(over[k]), over[k][len(over[k])*19/20],
			slices.Max(over[k]))
	}
	return table.Flush()
}

// worlds draws a suite.
type worlds func(*rand.Rand) []suite

// The suites of two projects in Ruby, as far as they are described in public: 836 files of forem take 1,928 s, and one
// file takes 382.8 s; spree has 210 to 222 files. The times of the other files are log-normal. A file cannot be cut.
func forem(r *rand.Rand) []suite {
	const number, all, longest = 836, 1928, 382.8
	return append(files(r, number-1, all-longest), suite{pkg: "longest", fixed: longest, known: true})
}

func spree(r *rand.Rand) []suite {
	return files(r, 210+r.IntN(13), 600+float64(1200*r.Float64()))
}

// files returns files whose log-normal times have the given sum.
func files(r *rand.Rand, number int, all float64) []suite {
	const sigma = 1.2 // of the logarithms of the times
	suites, sum := make([]suite, number), 0.
	for i := range suites {
		suites[i] = suite{pkg: fmt.Sprintf("file%d", i), fixed: math.Exp(sigma * r.NormFloat64()), known: true}
		sum += suites[i].fixed
	}
	for i := range suites {
		suites[i].fixed *= all / sum
	}
	return suites
}

// resampled draws suites of 40 to 160 packages of a project, with repetition. All times are multiplied by one
// number, so that the suite takes 10 to 60 minutes.
func (m *model) resampled() (worlds, error) {
	var sources []source
	for _, n := range sortedNames(m.samples) {
		if n.test == "" {
			sources = append(sources, source{path: n.pkg})
		}
	}
	of, err := m.suites(sources)
	if err != nil {
		return nil, err
	}
	of = slices.DeleteFunc(of, func(s suite) bool { return s.whole() == 0 })
	if len(of) == 0 {
		return nil, usage("a history has no package that takes time")
	}
	return func(r *rand.Rand) []suite {
		suites, sum := make([]suite, 40+r.IntN(121)), 0.
		for i := range suites {
			suites[i] = of[r.IntN(len(of))]
			suites[i].pkg = fmt.Sprintf("%s#%d", suites[i].pkg, i)
			sum += suites[i].whole()
		}
		by := (600 + float64(3000*r.Float64())) / sum
		for i := range suites {
			suites[i] = suites[i].times(by)
		}
		return suites
	}, nil
}

// times returns the suite with all its times multiplied by a number.
func (s suite) times(by float64) suite {
	s.fixed *= by
	s.tests = slices.Clone(s.tests)
	for i := range s.tests {
		s.tests[i].seconds *= by
	}
	return s
}

// worthLuck is the smallest median time of a package whose runs show luck, in seconds.
const worthLuck = .1

// luck returns the time of each run of a package divided by the median of its other runs.
func (m *model) luck() (ratios []float64) {
	for _, n := range sortedNames(m.samples) {
		if usual, _ := m.time(n); n.test != "" || usual < worthLuck || len(m.samples[n]) < 2 {
			continue
		}
		for _, id := range m.order() {
			var others []float64
			for other, t := range m.samples[n] {
				if other != id {
					others = append(others, t.seconds)
				}
			}
			if t, ok := m.samples[n][id]; ok {
				ratios = append(ratios, t.seconds/median(others))
			}
		}
	}
	return ratios
}

// world is a suite, the machines that run it, and the luck of this run: the time of each package divided by its
// predicted time. Each call of go test has an overhead as well.
type world struct {
	suites   []suite
	machines []machine
	luck     []float64
}

// bound returns a time before which nobody ends the tests, not even with knowledge of all times and machines, if
// packages could be cut anywhere and each package had the overhead of one call.
func (w *world) bound() float64 {
	suites := make([]suite, len(w.suites))
	for i, s := range w.suites {
		suites[i] = s.times(w.luck[i])
		suites[i].fixed, suites[i].again = suites[i].fixed+s.again, 0
	}
	least, _ := floor(suites, w.machines)
	return max(least, (&packed{suites: suites, machines: w.machines}).ideal())
}

// takes returns the real time of a call on a machine.
func (w *world) takes(suite int, seconds float64, on machine) float64 {
	return (float64(seconds*w.luck[suite]) + w.suites[suite].again) * on.factor
}

// average returns the machines as a plan knows them that is not told how they differ.
func (w *world) average() []machine {
	return slices.Repeat([]machine{{name: "m", factor: 1, width: 1}}, len(w.machines))
}

// obey returns the end of a plan.
func (w *world) obey(of plan) (end float64) {
	for i, s := range of.shards {
		at := w.machines[i].start
		for _, p := range s.parts {
			at += w.takes(p.at, p.of(p.tests), w.machines[i])
		}
		end = max(end, at)
	}
	return end
}

// draw returns the end if the machines draw from a queue. If told is set, the queue knows the speeds of the machines.
func (w *world) draw(told bool) (float64, error) {
	pieces, err := pieces(w.suites, w.average())
	if err != nil {
		return 0, err
	}
	at := map[string]int{}
	for i := range w.suites {
		at[w.suites[i].pkg] = i
	}
	return play(&shardqueue.Config{Pieces: pieces, Machines: len(w.machines), Lease: 60_000}, w.machines, told,
		func(c shardqueue.Call, on machine) float64 {
			i := at[c.Package]
			return w.takes(i, max(c.Seconds-w.suites[i].again, 0), on)
		})
}

// drawing is the time between the end of a batch and the first package of the next one, in seconds: the draw itself,
// and the start of go test.
const drawing = .4

// play runs a queue in virtual time: machines draw, and the calls that they get take some seconds. It returns the last
// end of a call. Told machines know their speed.
func play(
	c *shardqueue.Config, machines []machine, told bool, takes func(shardqueue.Call, machine) float64,
) (end float64, err error) {
	var q shardqueue.Queue
	at := func(s float64) time.Time { return time.UnixMilli(int64(s * 1000)) }
	ask := func(s float64, r shardqueue.Request) shardqueue.Answer {
		for {
			answer, event := q.Decide(at(s), r)
			if event == nil || err != nil {
				return answer
			}
			err = q.Apply(*event)
		}
	}
	next := make([]float64, len(machines))
	begun := make([]bool, len(machines))
	ended := make([]*shardqueue.Request, len(machines))
	for i, m := range machines {
		next[i] = m.start
	}
	for err == nil {
		i := 0
		for k := range machines {
			if next[k] < next[i] {
				i = k
			}
		}
		now := next[i]
		if math.IsInf(now, 1) {
			return end, nil
		}
		r := shardqueue.Request{Machine: fmt.Sprint(i), Session: "s"}
		q.HearAll(at(now))
		if !begun[i] {
			begun[i] = true
			join := r
			join.Op, join.Lanes, join.Config = shardqueue.Join, 1, c
			if told {
				join.Factor = machines[i].factor
			}
			ask(now, join)
		}
		if ended[i] != nil {
			ask(now, *ended[i])
			ended[i] = nil
		}
		r.Op = shardqueue.Draw
		switch a := ask(now, r); {
		case a.Refused != "":
			return end, fmt.Errorf("%s", a.Refused)
		case a.Done:
			next[i] = math.Inf(1)
		case len(a.Calls) == 0:
			next[i] += float64(a.Wait) / 1000
		default:
			r.Op, r.Batch = shardqueue.End, a.Batch
			next[i] += drawing
			for _, c := range a.Calls {
				s := takes(c, machines[i])
				r.Calls = append(r.Calls, shardqueue.Ran{Seconds: s})
				next[i] += s
			}
			ended[i], end = &r, max(end, next[i])
		}
	}
	return end, err
}

// contestant is a way to share a suite among machines.
type contestant struct {
	name string
	end  func(*world) (float64, error)
}

var contestants = []contestant{
	{"by number", func(w *world) (float64, error) { return w.ruled(skew.Policy{Rule: skew.ByHash}) }},
	{"longest first, by file", func(w *world) (float64, error) { return w.ruled(skew.Policy{}) }},
	{"plan", func(w *world) (float64, error) { return w.planned(w.average()) }},
	{"plan, told the machines", func(w *world) (float64, error) { return w.planned(w.machines) }},
	{"queue", func(w *world) (float64, error) { return w.draw(false) }},
	{"queue, told the speeds", func(w *world) (float64, error) { return w.draw(true) }},
}

func (w *world) ruled(by skew.Policy) (float64, error) {
	of, err := (&packed{suites: w.suites, machines: w.average(), policy: by, pieces: ones(len(w.suites))}).assign()
	return w.obey(of), err
}

func (w *world) planned(machines []machine) (float64, error) {
	of, err := newPlan(w.suites, machines)
	return w.obey(of), err
}
