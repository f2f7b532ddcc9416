package hedging

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/straggler-go/straggler/restart/hedge"
	"github.com/straggler-go/straggler/restart/hedge/rules"
)

func lognormal(r *rand.Rand, mean, sd float64) float64 {
	v := math.Log(1 + sd*sd/mean/mean)
	return math.Exp(math.Log(mean) - v/2 + math.Sqrt(v)*r.NormFloat64())
}

func quantile(calls []Call, p float64) float64 {
	var l []float64
	for _, c := range calls {
		l = append(l, c.Took.Seconds())
	}
	slices.Sort(l)
	return l[int(math.Ceil(p*float64(len(l))))-1]
}

func TestAccuracy(t *testing.T) {
	const ms = .001
	laws := map[string]struct {
		draw func(r *rand.Rand, at time.Duration) float64
		q    func(p float64, at time.Duration) float64
	}{
		"lognormal": {func(r *rand.Rand, _ time.Duration) float64 { return .005 * math.Exp(.4*r.NormFloat64()) }, func(p float64, _ time.Duration) float64 { return .005 * math.Exp(.4*math.Sqrt2*math.Erfinv(2*p-1)) }},
		"pareto":    {func(r *rand.Rand, _ time.Duration) float64 { return .005 * math.Pow(1-r.Float64(), -1/2.2) }, func(p float64, _ time.Duration) float64 { return .005 * math.Pow(1-p, -1/2.2) }},
		"weibull":   {func(r *rand.Rand, _ time.Duration) float64 { return .005 * math.Pow(r.ExpFloat64(), 1/.7) }, func(p float64, _ time.Duration) float64 { return .005 * math.Pow(-math.Log(1-p), 1/.7) }},
	}
	for name, l := range laws {
		for _, p := range []float64{.9, .95, .99} {
			for _, b := range []float64{.05, .1} {
				h, _ := hedge.New(hedge.Config{Percentile: .99, Budget: b})
				var worst, sum, in, n float64
				w := World{Requests: 1_000_000, Rate: 1000, Seed: 1, Seconds: func(r *rand.Rand, _ float64, at time.Duration) float64 { return l.draw(r, at) },
					Watch: func(i int, at time.Duration) {
						if i > 20000 && i%1000 == 0 {
							e := h.Quantile(0, 0, p)/l.q(p, at) - 1
							worst = max(worst, math.Abs(e))
							sum += e
							n++
							if math.Abs(e) < .05 {
								in++
							}
						}
					}}
				Run(w, h)
				fmt.Printf("%s p%v b%v: mean %+.2f %%, worst %.1f %%, within %.1f %%  %v\n", name, p, b, 100*sum/n, 100*worst, 100*in/n, h.Ledger())
			}
		}
	}
}

func TestMimir(t *testing.T) {
	for _, tell := range []bool{true, false} {
		for seed := range 3 {
			for _, b := range []float64{.8,.85,.9} {
				for _, k := range []float64{.99, .999} {
					h, _ := hedge.New(hedge.Config{Percentile: k, Wins: b})
					calls := Run(mimir(tell, uint64(seed)), h)
					report(fmt.Sprint(tell, seed, b, k), calls[200:], h.Ledger())
				}
			}
		}
	}
	f, _ := rules.New(rules.Fixed(3 * time.Second))
	report("fixed 3s", Run(mimir(false, 1), f)[200:], nil)
}

func mimir(tell bool, seed uint64) World {
	return World{Requests: 100_000, Rate: 100, Seed: seed, Tell: tell,
		Size: func(r *rand.Rand) float64 {
			if r.IntN(20) == 0 {
				return 3 + 7*r.Float64()
			}
			return lognormal(r, .3, .15)
		},
		Seconds: func(r *rand.Rand, size float64, _ time.Duration) float64 {
			x := lognormal(r, 1, .2) * size
			if r.IntN(100) == 0 {
				x *= 10
			}
			return x
		}}
}

func report(name string, calls []Call, l any) {
	needless, slow, cured, sent := 0, 0, 0, 0
	for _, c := range calls {
		isSlow := c.First > 5*c.Size
		if c.Sent > 0 {
			sent++
			if !isSlow {
				needless++
			}
		}
		if isSlow {
			slow++
			if c.Took.Seconds() < 5*c.Size {
				cured++
			}
		}
	}
	n := float64(len(calls))
	fmt.Printf("%s: sent %.2f %%, needless %.3f %%, slow %.2f %%, cured %.1f %%\n   %v\n", name, 100*float64(sent)/n, 100*float64(needless)/n, 100*float64(slow)/n, 100*float64(cured)/float64(slow), l)
}

func TestStorm(t *testing.T) {
	mk := map[string]func() hedge.Rule{
		"none":      func() hedge.Rule { h, _ := hedge.New(hedge.Config{Budget: hedge.Off}); return h },
		"hedger":    func() hedge.Rule { h, _ := hedge.New(hedge.Config{Percentile: .99, Budget: .05}); return h },
		"fixed":     func() hedge.Rule { h, _ := rules.New(rules.Fixed(20 * time.Millisecond)); return h },
		"quantile":  func() hedge.Rule { h, _ := rules.New(rules.Quantile(.95)); return h },
		"finagle":   func() hedge.Rule { h, _ := rules.New(rules.Finagle(.05)); return h },
		"cassandra": func() hedge.Rule { h, _ := rules.New(rules.Cassandra(.99)); return h },
		"grpc":      func() hedge.Rule { h, _ := rules.New(rules.GRPC(20 * time.Millisecond)); return h },
	}
	for name, f := range mk {
		rule := f()
		w := World{Requests: 300_000, Rate: 50 * .45 / .00725, Servers: 50, Deaf: true, Seed: 1,
			Seconds: func(r *rand.Rand, _ float64, at time.Duration) float64 {
				x := lognormal(r, .005, .002)
				if r.IntN(20) == 0 { x *= 10 }
				if at > 30*time.Second && at < 34*time.Second {
					x *= 3
				}
				return x
			}}
		calls := Run(w, rule)
		win := map[int][]Call{}
		most, per := 0., map[int][2]float64{}
		for _, c := range calls {
			s := int(c.Came / time.Second)
			win[s] = append(win[s], c)
			k := per[s/10]
			k[1]++
			if c.Sent > 0 {
				k[0]++
			}
			per[s/10] = k
		}
		for s, k := range per {
			if s > 0 {
				most = max(most, k[0]/k[1])
			}
		}
		var before []Call
		for s := 10; s < 30; s++ {
			before = append(before, win[s]...)
		}
		base := quantile(before, .99)
		back := 0
		for s := 34; s < 80; s++ {
			if quantile(win[s], .99) <= 1.05*base {
				back = s
				break
			}
		}
		fmt.Printf("%s: p99 before %.1f ms, in storm %.1f, back after %d s; most copies in 10 s %.2f %%", name, 1000*base, 1000*quantile(win[32], .99), back-34, 100*most)
		if h, ok := rule.(*hedge.Hedger); ok {
			fmt.Print(h.Ledger(), h.Plan(0, 0))
		}
		fmt.Println()
	}
}
