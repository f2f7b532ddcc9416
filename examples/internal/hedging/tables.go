package hedging

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
	"budget": budget, "percentile": percentile, "mimir": mimir, "grace": grace, "storm": storm,
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

// table begins a table.
func table(out io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
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
func Budgeted(k, budget float64, seed uint64) (ms, copies float64, err error) {
	h, err := hedge.New(hedge.Config{Percentile: k, Budget: budget})
	if err != nil {
		return 0, 0, err
	}
	calls := Run(Alone(all, seed), h)[learnt:]
	return 1000 * Took(calls, k), 100 * Share(calls, sent), nil
}

// budget prints the percentile that is reached while it is learned, and its second requests.
func budget(out io.Writer, seeds int, first uint64) error {
	fmt.Fprintf(out, "Lognormal 5 +- 2 ms, 5 %% ten times slower; requests %d to %d; %s\n", learnt, all, means(seeds))
	t := table(out)
	fmt.Fprintln(t, "percentile\tbudget in %\tms\t\tsecond requests in %\t\t")
	for _, of := range []struct{ k, budget float64 }{{0.99, 0.071}, {0.999, 0.0235}} {
		var ms, copies spread
		for seed := range uint64(seeds) {
			m, c, err := Budgeted(of.k, of.budget, first+seed)
			if err != nil {
				return err
			}
			ms, copies = append(ms, m), append(copies, c)
		}
		fmt.Fprintf(t, "%v\t%.4g\t%v%v\n", of.k, 100*of.budget, ms, copies)
	}
	return t.Flush()
}

// Learned says how far a learned quantile is from the true one, at many moments, in percent of the true one.
type Learned struct {
	// Mean is the mean error, Worst the largest one, and Within the share of moments with at most 5 %.
	Mean, Worst, Within float64
}

// Learn plays a law while up to 30 % of the requests get a second one, and compares the learned quantile p with the
// true one. That is far more than a client sends: it is a test of the learning.
func Learn(l Law, p float64, window, requests int, seed uint64) (e Learned, copies float64, err error) {
	h, err := hedge.New(hedge.Config{Percentile: 0.9, Budget: 0.3, Wins: hedge.Off, Window: window, Keep: time.Hour})
	if err != nil {
		return e, 0, err
	}
	var errors []float64
	w := World{Requests: requests, Rate: 1000, Seed: seed, Watch: func(i int, at time.Duration) {
		if i >= 2*window && i%1000 == 0 {
			errors = append(errors, 100*(h.Quantile(0, 0, p)/l.Quantile(p, at)-1))
		}
	}}
	w.Seconds = func(r *rand.Rand, _ float64, at time.Duration) float64 { return l.Draw(r, at) }
	calls := Run(w, h)
	for _, x := range errors {
		e.Worst = max(e.Worst, math.Abs(x))
		if math.Abs(x) <= 5 {
			e.Within += 100 / float64(len(errors))
		}
	}
	e.Mean = stat.Mean(errors, nil)
	return e, 100 * Share(calls, sent), nil
}

// percentile prints how far learned quantiles are from the true ones.
func percentile(out io.Writer, _ int, first uint64) error {
	fmt.Fprintln(out, "Learned quantiles against true ones; 10^6 requests, a moment for 1000 of them; one seed")
	t := table(out)
	fmt.Fprintln(t, "law\twindow\tquantile\tmean error in %\tworst in %\tmoments within 5 %\tsecond requests in %\t")
	for _, l := range Laws() {
		for _, window := range []int{10_000, 50_000} {
			for _, p := range []float64{0.5, 0.9, 0.95} {
				e, copies, err := Learn(l, p, window, 1_000_000, first)
				if err != nil {
					return err
				}
				fmt.Fprintf(t, "%s\t%d\t%v\t%+.2f\t%.1f\t%.1f\t%.1f\t\n", l.Name, window, p, e.Mean, e.Worst, e.Within, copies)
			}
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "A rule that sends after the quantile 0.9 of the winners' times means to send 10 %, and sends:")
	for _, l := range Laws() {
		copies, err := Winners(l, 0.9, 200_000, first)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%24s  %.1f %%\n", l.Name, copies)
	}
	return nil
}

// Winners returns the share of second requests, in percent, of a rule that sends them after the p-quantile of the
// winners' times.
func Winners(l Law, p float64, requests int, seed uint64) (copies float64, err error) {
	rule, err := hedgerules.New(hedgerules.Quantile(p))
	if err != nil {
		return 0, err
	}
	w := World{Requests: requests, Rate: 1000, Seed: seed}
	w.Seconds = func(r *rand.Rand, _ float64, at time.Duration) float64 { return l.Draw(r, at) }
	return 100 * Share(Run(w, rule)[requests/2:], sent), nil
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
	t := table(out)
	fmt.Fprintln(t, "rule\tneedless in %\t\tslow attempts cured in %\t\t")
	for _, of := range []struct {
		name string
		tell bool
		rule func() (hedge.Rule, error)
	}{
		{"Hedger, sizes told", true, func() (hedge.Rule, error) { return hedge.New(Careful) }},
		{"Hedger, sizes untold", false, func() (hedge.Rule, error) { return hedge.New(Careful) }},
		{"fixed 3 s", false, func() (hedge.Rule, error) { return hedgerules.New(hedgerules.Fixed(3 * time.Second)) }},
		{"quantile 0.99", false, func() (hedge.Rule, error) { return hedgerules.New(hedgerules.Quantile(0.99)) }},
		{"Finagle, 1 %", false, func() (hedge.Rule, error) { return hedgerules.New(hedgerules.Finagle(0.01)) }},
	} {
		var needless, cured spread
		for seed := range uint64(seeds) {
			rule, err := of.rule()
			if err != nil {
				return err
			}
			c := Cured(Run(Mimir(100_000, of.tell, first+seed), rule)[200:])
			needless, cured = append(needless, c.Needless), append(cured, c.Cured)
		}
		fmt.Fprintf(t, "%s\t%v%v\n", of.name, needless, cured)
	}
	return t.Flush()
}

// grace prints the answers that a learned grace leaves out, and the time of a query.
func grace(out io.Writer, seeds int, first uint64) error {
	fmt.Fprintf(out, "A query needs 45 of 50 answers and waits for the rest; 20,000 queries; %s\n", means(seeds))
	t := table(out)
	fmt.Fprintln(t, "world\thealthy answers left out in %\t\tmean time / last healthy answer\t\tif it waits for all\t\t")
	fans := Fans(20_000, first)
	for _, name := range slices.Sorted(maps.Keys(fans)) {
		var left, took, all spread
		for seed := range uint64(seeds) {
			f := fans[name]
			f.Seed = first + seed
			c, err := f.Run()
			if err != nil {
				return err
			}
			left, took, all = append(left, 100*c.LeftOut), append(took, c.Took), append(all, c.All)
		}
		fmt.Fprintf(t, "%s\t%v%v%v\n", name, left, took, all)
	}
	return t.Flush()
}

// Storms are the rules that the storm compares, by name. A Hedger with the budget Off sends nothing.
var Storms = []struct {
	Name string
	Rule func() (hedge.Rule, error)
}{
	{"none", func() (hedge.Rule, error) { return hedge.New(hedge.Config{Budget: hedge.Off}) }},
	{"Hedger", func() (hedge.Rule, error) { return hedge.New(hedge.Config{}) }},
	{"fixed 60 ms", func() (hedge.Rule, error) { return hedgerules.New(hedgerules.Fixed(60 * time.Millisecond)) }},
	{"quantile 0.95", func() (hedge.Rule, error) { return hedgerules.New(hedgerules.Quantile(0.95)) }},
	{"Finagle, 5 %", func() (hedge.Rule, error) { return hedgerules.New(hedgerules.Finagle(0.05)) }},
	{"Cassandra, 99p", func() (hedge.Rule, error) { return hedgerules.New(hedgerules.Cassandra(0.99)) }},
	{"gRPC, 60 ms", func() (hedge.Rule, error) { return hedgerules.New(hedgerules.GRPC(60 * time.Millisecond)) }},
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
	t := table(out)
	fmt.Fprint(t, "rule\tp99 before in ms\t\tworst p99\t\tback after s\t\t")
	fmt.Fprintln(t, "back to none's after s\t\tmost in 10 s, in %\t\t")
	alone := make([]float64, seeds)
	for _, of := range Storms {
		var before, worst, back, level, most spread
		for seed := range seeds {
			rule, err := of.Rule()
			if err != nil {
				return err
			}
			w := Weathered(Run(Storm(first+uint64(seed)), rule), alone[seed])
			if alone[seed] == 0 { // the first rule sends nothing
				alone[seed] = w.Before
			}
			before, worst, most = append(before, w.Before), append(worst, w.Worst), append(most, w.Most)
			back, level = append(back, w.Back), append(level, w.Alone)
		}
		fmt.Fprintf(t, "%s\t%v%v%v%v%v\n", of.Name, before, worst, back, level, most)
	}
	return t.Flush()
}
