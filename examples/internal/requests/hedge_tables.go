package requests

import (
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/hedgerules"
)

// Tables are the tables by name. Each prints the results of the given number of seeds, from the seed first on. The
// table percentile has one seed: it takes the mean over many moments.
var Tables = map[string]func(out io.Writer, seeds int, first uint64) error{
	"budget": budget, "percentile": percentile, "mimir": mimir, "grace": grace, "load": load, "storm": storm,
}

// Took returns the p-quantile of the times of the calls, in seconds.
func Took(calls []Call, p float64) float64 {
	list := make([]float64, len(calls))
	for i := range calls {
		list[i] = calls[i].Took.Seconds()
	}
	slices.Sort(list)
	return stat.Quantile(p, stat.Empirical, list, nil)
}

// Share returns the share of the calls that satisfy a condition.
func Share(calls []Call, is func(c *Call) bool) float64 {
	n := 0
	for i := range calls {
		if is(&calls[i]) {
			n++
		}
	}
	return float64(n) / float64(len(calls))
}

func sent(c *Call) bool { return c.Sent > 0 }

func writer(out io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
}

// table writes a table with a row for each name. Each figure of a row has the spread over the seeds.
func table(
	out io.Writer, head string, names []string, seeds int, first uint64, figures func(row int, seed uint64) []float64,
) error {
	t := writer(out)
	fmt.Fprintln(t, head)
	for i, name := range names {
		var all []spread
		for seed := range uint64(seeds) {
			for k, x := range figures(i, first+seed) {
				if seed == 0 {
					all = append(all, nil)
				}
				all[k] = append(all[k], x)
			}
		}
		fmt.Fprint(t, name, "\t")
		for _, s := range all {
			fmt.Fprint(t, s)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// must returns a value. It panics on an error, because the choices are fixed in this program.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// spread is the mean of some numbers, and the least and the largest.
type spread []float64

func (s spread) String() string {
	return fmt.Sprintf("%.4g\t(%.4g to %.4g)\t", stat.Mean(s, nil), slices.Min(s), slices.Max(s))
}

// means describes the numbers of a table.
func means(seeds int) string { return fmt.Sprintf("mean of %d seeds (least to largest)", seeds) }

// The requests that are learned from first, and all requests.
const learnt, all = 20_000, 220_000

// Budgeted returns the percentile k in ms and the second requests in percent of a learned plan within a budget.
func Budgeted(k, budget float64, seed uint64) (ms, copies float64) {
	calls := Hedge(Alone(all, seed), must(hedge.New(hedge.Config{Percentile: k, Budget: budget})))[learnt:]
	return 1000 * Took(calls, k), 100 * Share(calls, sent)
}

// budget prints the percentile that is reached while it is learned, and its second requests.
func budget(out io.Writer, seeds int, first uint64) error {
	fmt.Fprintf(out, "Lognormal 5 +- 2 ms, 5 %% ten times slower; requests %d to %d; %s\n", learnt, all, means(seeds))
	plans := []struct{ k, budget float64 }{{0.99, 0.071}, {0.999, 0.0235}}
	var names []string
	for _, of := range plans {
		names = append(names, fmt.Sprintf("%v\t%.4g", of.k, 100*of.budget))
	}
	return table(out, "percentile\tbudget in %\tms\t\tsecond requests in %\t\t", names, seeds, first,
		func(row int, seed uint64) []float64 {
			ms, copies := Budgeted(plans[row].k, plans[row].budget, seed)
			return []float64{ms, copies}
		})
}

// Learned says how far a learned quantile is from the true one, at many moments, in percent of the true one.
type Learned struct {
	// Mean is the mean error, Worst the largest one, and Within the share of moments with at most 5 %.
	Mean, Worst, Within float64
}

// Learn plays a law while up to 30 % of the requests get a second one, and compares the learned quantile p with the
// true one. That is far more than a client sends: it is a test of the learning.
func Learn(l Law, p float64, window, requests int, seed uint64) (e Learned, copies float64) {
	h := must(hedge.New(hedge.Config{Percentile: 0.9, Budget: 0.3, Wins: hedge.Off, Window: window, Keep: time.Hour}))
	var errors []float64
	w := World{Requests: requests, Rate: 1000, Seed: seed, Watch: func(i int, at time.Duration) {
		if i >= 2*window && i%1000 == 0 {
			errors = append(errors, 100*(h.Quantile(0, 0, p)/l.Quantile(p, at)-1))
		}
	}}
	w.Seconds = func(r *rand.Rand, _ float64, at time.Duration) float64 { return l.Draw(r, at) }
	calls := Hedge(w, h)
	for _, x := range errors {
		e.Worst = max(e.Worst, math.Abs(x))
		if math.Abs(x) <= 5 {
			e.Within += 100 / float64(len(errors))
		}
	}
	e.Mean = stat.Mean(errors, nil)
	return e, 100 * Share(calls, sent)
}

// percentile prints how far learned quantiles are from the true ones.
func percentile(out io.Writer, _ int, first uint64) error {
	fmt.Fprintln(out, "Learned quantiles against true ones; 10^6 requests, a moment for 1000 of them; one seed")
	t := writer(out)
	fmt.Fprintln(t, "law\twindow\tquantile\tmean error in %\tworst in %\tmoments within 5 %\tsecond requests in %\t")
	for _, l := range Laws() {
		for _, window := range []int{10_000, 50_000} {
			for _, p := range []float64{0.5, 0.9, 0.95} {
				e, copies := Learn(l, p, window, 1_000_000, first)
				fmt.Fprintf(t, "%s\t%d\t%v\t%+.2f\t%.1f\t%.1f\t%.1f\t\n", l.Name, window, p, e.Mean, e.Worst, e.Within, copies)
			}
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "A rule that sends after the quantile 0.9 of the winners' times means to send 10 %, and sends:")
	for _, l := range Laws() {
		fmt.Fprintf(out, "%24s  %.1f %%\n", l.Name, Winners(l, 0.9, 200_000, first))
	}
	return nil
}

// Winners returns the share of second requests, in percent, of a rule that sends them after the p-quantile of the
// winners' times.
func Winners(l Law, p float64, requests int, seed uint64) float64 {
	w := World{Requests: requests, Rate: 1000, Seed: seed}
	w.Seconds = func(r *rand.Rand, _ float64, at time.Duration) float64 { return l.Draw(r, at) }
	return 100 * Share(Hedge(w, must(hedgerules.New(hedgerules.Quantile(p))))[requests/2:], sent)
}

// Cure is the effect of second requests on slow attempts, in percent.
type Cure struct{ Needless, Cured, Sent float64 }

// Cured counts the calls of a world of Mimir. A second request is needless if the first attempt was not slow. A slow
// attempt is cured if the call took less than half of the time of the first attempt.
func Cured(calls []Call) (c Cure) {
	slow := 0.0
	for i := range calls {
		switch call := &calls[i]; {
		case call.slowed():
			slow++
			if call.Took.Seconds() < call.First/2 {
				c.Cured++
			}
		case call.Sent > 0:
			c.Needless++
		}
	}
	n := float64(len(calls))
	return Cure{100 * c.Needless / n, 100 * c.Cured / max(slow, 1), 100 * Share(calls, sent)}
}

// Careful are the choices for a service whose slow requests are mostly heavy: nine of ten second requests must win.
var Careful = hedge.Config{Percentile: 0.999, Wins: 0.9}

// mimir prints Mimir's case.
func mimir(out io.Writer, seeds int, first uint64) error {
	fmt.Fprintln(out, "Reads, of which 5 % need 3 to 10 s by themselves; 1 % of attempts are ten times slower.")
	fmt.Fprintf(out, "From the 200th of 100,000; %s\n", means(seeds))
	names := []string{"Hedger, sizes told", "Hedger, sizes untold", "fixed 3 s", "quantile 0.99", "Finagle, 1 %"}
	return table(out, "rule\tneedless in %\t\tslow attempts cured in %\t\t", names, seeds, first,
		func(row int, seed uint64) []float64 {
			var rule hedge.Rule
			switch row {
			case 0, 1:
				rule = must(hedge.New(Careful))
			case 2:
				rule = must(hedgerules.New(hedgerules.Fixed(3 * time.Second)))
			case 3:
				rule = must(hedgerules.New(hedgerules.Quantile(0.99)))
			case 4:
				rule = must(hedgerules.New(hedgerules.Finagle(0.01)))
			}
			c := Cured(Hedge(Mimir(100_000, row == 0, seed), rule)[200:])
			return []float64{c.Needless, c.Cured}
		})
}

// grace prints the answers that a learned grace leaves out, and the time of a query.
func grace(out io.Writer, seeds int, first uint64) error {
	fmt.Fprintf(out, "A query needs 45 of 50 answers and waits for the rest; 20,000 queries; %s\n", means(seeds))
	fans := Fans(20_000, first)
	names := slices.Sorted(maps.Keys(fans))
	return table(out, "world\thealthy answers left out in %\t\tmean time / last healthy answer\t\tif it waits for all\t\t", names, seeds,
		first, func(row int, seed uint64) []float64 {
			f := fans[names[row]]
			f.Seed = seed
			c := f.Run()
			return []float64{100 * c.LeftOut, c.Took, c.All}
		})
}

// Rule is a rule with a name.
type Rule struct {
	Name string
	Rule func() hedge.Rule
}

// Storms are the rules that the storm compares. A Hedger with the budget Off sends nothing.
var Storms = []Rule{
	{"none", func() hedge.Rule { return must(hedge.New(hedge.Config{Budget: hedge.Off})) }},
	{"Hedger", func() hedge.Rule { return must(hedge.New(hedge.Config{})) }},
	{"fixed 60 ms", func() hedge.Rule { return must(hedgerules.New(hedgerules.Fixed(60 * time.Millisecond))) }},
	{"quantile 0.95", func() hedge.Rule { return must(hedgerules.New(hedgerules.Quantile(0.95))) }},
	{"Finagle, 5 %", func() hedge.Rule { return must(hedgerules.New(hedgerules.Finagle(0.05))) }},
	{"Cassandra, 99p", func() hedge.Rule { return must(hedgerules.New(hedgerules.Cassandra(0.99))) }},
	{"gRPC, 60 ms", func() hedge.Rule { return must(hedgerules.New(hedgerules.GRPC(60 * time.Millisecond))) }},
}

// load prints the p99 and the second requests of the rules at five loads: with servers that ignore a cancelled request, and
// with servers that end it.
func load(out io.Writer, seeds int, first uint64) error {
	const whole, warm = 20, 5 // seconds
	fmt.Fprintf(out, "50 servers with queues: p99 in ms / second requests in %%; means of %d seeds\n", seeds)
	t := writer(out)
	for _, deaf := range []bool{true, false} {
		fmt.Fprintln(t, map[bool]string{true: "cancels are ignored", false: "cancels end the work"}[deaf]+
			"\tload 0.1\tload 0.3\tload 0.5\tload 0.7\tload 0.9\t")
		for _, of := range append(Storms, Rule{"at once", func() hedge.Rule { return must(hedgerules.New(hedgerules.Fixed(0))) }}) {
			fmt.Fprint(t, of.Name, "\t")
			for _, load := range []float64{0.1, 0.3, 0.5, 0.7, 0.9} {
				var p99, second spread
				for seed := range uint64(seeds) {
					w := Busy(load, whole, first+seed)
					w.Deaf = deaf
					calls := Hedge(w, of.Rule())[int(warm*w.Rate):]
					p99, second = append(p99, 1000*Took(calls, 0.99)), append(second, 100*Share(calls, sent))
				}
				fmt.Fprintf(t, "%.0f / %.1f\t", stat.Mean(p99, nil), stat.Mean(second, nil))
			}
			fmt.Fprintln(t)
		}
	}
	return t.Flush()
}

// Weather is the result of a rule in a storm.
type Weather struct {
	// Before is the p99 before the storm, in ms. Worst is the largest p99 of a second from the storm on.
	Before, Worst float64
	// Back is the number of seconds after the storm until the p99 of a second is within 5 % of Before; +Inf if never.
	// Alone is the same for the p99 that there was before the storm without second requests.
	Back, Alone float64
	// Most is the largest share of second requests in ten seconds, in percent.
	Most float64
}

// Weathered measures the calls of a storm. Without second requests, the p99 before the storm was alone, in ms; 0 means
// that these are the calls without.
func Weathered(calls []Call, alone float64) (w Weather) {
	const warm, ten = 10, 10 // seconds
	seconds := make([][]Call, 1+int(calls[len(calls)-1].Came/time.Second))
	for _, c := range calls {
		at := int(c.Came / time.Second)
		seconds[at] = append(seconds[at], c)
	}
	storm, end := int(stormFrom/time.Second), int(stormTo/time.Second)
	w.Before = 1000 * Took(slices.Concat(seconds[warm:storm]...), 0.99)
	w.Back, w.Alone = math.Inf(1), math.Inf(1)
	if alone == 0 {
		alone = w.Before
	}
	for at := len(seconds) - 1; at >= storm; at-- {
		p99 := 1000 * Took(seconds[at], 0.99)
		w.Worst = max(w.Worst, p99)
		if at >= end && p99 <= 1.05*w.Before {
			w.Back = float64(at - end)
		}
		if at >= end && p99 <= 1.05*alone {
			w.Alone = float64(at - end)
		}
	}
	for at := warm; at+ten <= len(seconds); at++ {
		w.Most = max(w.Most, 100*Share(slices.Concat(seconds[at:at+ten]...), sent))
	}
	return w
}

// storm prints how the rules come through a storm.
func storm(out io.Writer, seeds int, first uint64) error {
	fmt.Fprintln(out, "50 servers at load 0.45, three times slower from 30 s to 34 s; cancels are ignored")
	fmt.Fprintln(out, means(seeds))
	var names []string
	for _, of := range Storms {
		names = append(names, of.Name)
	}
	alone := map[uint64]float64{} // by seed
	return table(out, "rule\tp99 before in ms\t\tworst p99\t\tback after s\t\tback to none's after s\t\tmost in 10 s, in %\t\t", names, seeds,
		first, func(row int, seed uint64) []float64 {
			w := Weathered(Hedge(Storm(seed), Storms[row].Rule()), alone[seed])
			if row == 0 { // this rule sends nothing
				alone[seed] = w.Before
			}
			return []float64{w.Before, w.Worst, w.Back, w.Alone, w.Most}
		})
}
