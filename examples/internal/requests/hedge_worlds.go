package requests

import (
	"math"
	"math/rand/v2"
	"time"
)

// Lognormal draws a lognormal time with the given mean and standard deviation.
func Lognormal(r *rand.Rand, mean, sd float64) float64 {
	v := math.Log1p(sd * sd / mean / mean)
	return math.Exp(math.Log(mean) - v/2 + math.Sqrt(v)*r.NormFloat64())
}

// Most answers take 5 ms with a standard deviation of 2 ms.
const mean, sd = 0.005, 0.002

// mixed draws such a time; with a probability of 5 % it is ten times longer. meanMixed is the mean.
func mixed(r *rand.Rand) float64 {
	x := Lognormal(r, mean, sd)
	if r.IntN(20) == 0 {
		x *= 10
	}
	return x
}

const meanMixed = mean * (0.95 + 0.05*10)

// Alone is a world of requests that do not wait for each other.
func Alone(requests int, seed uint64) World {
	return World{
		Requests: requests, Rate: 1000, Seed: seed,
		Seconds: func(r *rand.Rand, _ float64, _ time.Duration) float64 { return mixed(r) },
	}
}

// A Law is a distribution of times that may change with the time. Quantile is its exact quantile.
type Law struct {
	Name     string
	Draw     func(r *rand.Rand, at time.Duration) float64
	Quantile func(p float64, at time.Duration) float64
}

// drift is the time in which the mean of the drifting law doubles and halves again.
const drift = 2000 * time.Second

// drifted returns the factor of the drifting law: from 1 to 2 and back, as a sine.
func drifted(at time.Duration) float64 {
	return 1.5 - 0.5*math.Cos(2*math.Pi*at.Seconds()/drift.Seconds())
}

// Laws are the five laws under which a percentile is learned.
func Laws() []Law {
	const spread, index, shape, tail = 0.4, 2.2, 0.7, 0.05
	normal := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
	cdf := func(x float64) float64 { return math.Erfc(-math.Log(x/mean)/spread/math.Sqrt2) / 2 }
	return []Law{
		{
			"lognormal",
			func(r *rand.Rand, _ time.Duration) float64 { return mean * math.Exp(spread*r.NormFloat64()) },
			func(p float64, _ time.Duration) float64 { return mean * math.Exp(spread*normal(p)) },
		}, {
			"Pareto, index 2.2",
			func(r *rand.Rand, _ time.Duration) float64 { return mean * math.Pow(1-r.Float64(), -1/index) },
			func(p float64, _ time.Duration) float64 { return mean * math.Pow(1-p, -1/index) },
		}, {
			"Weibull, shape 0.7",
			func(r *rand.Rand, _ time.Duration) float64 { return mean * math.Pow(r.ExpFloat64(), 1/shape) },
			func(p float64, _ time.Duration) float64 { return mean * math.Pow(-math.Log1p(-p), 1/shape) },
		}, {
			"two lognormals, 10 to 1",
			func(r *rand.Rand, _ time.Duration) float64 {
				x := mean * math.Exp(spread*r.NormFloat64())
				if r.Float64() < tail {
					x *= 10
				}
				return x
			},
			func(p float64, _ time.Duration) float64 {
				low, high := 0.0, 1000*mean
				for range 60 {
					if mid := (low + high) / 2; (1-tail)*cdf(mid)+tail*cdf(mid/10) < p {
						low = mid
					} else {
						high = mid
					}
				}
				return high
			},
		}, {
			"drifting lognormal",
			func(r *rand.Rand, at time.Duration) float64 {
				return drifted(at) * mean * math.Exp(spread*r.NormFloat64())
			},
			func(p float64, at time.Duration) float64 { return drifted(at) * mean * math.Exp(spread*normal(p)) },
		},
	}
}

// Mimir is a world of reads, like the reads of Grafana Mimir's ingesters. 5 % of the reads need 3 to 10 s by
// themselves, and the other reads 0.3 s on average. An attempt takes this time with a standard deviation of a fifth,
// and 1 % of the attempts take ten times as long. If tell is true, the rule is told the size.
func Mimir(requests int, tell bool, seed uint64) World {
	return World{
		Requests: requests, Rate: 100, Seed: seed, Tell: tell,
		Size: func(r *rand.Rand) float64 {
			if r.IntN(20) == 0 {
				return 3 + 7*r.Float64()
			}
			return Lognormal(r, 0.3, 0.15)
		},
		Seconds: func(r *rand.Rand, size float64, _ time.Duration) float64 {
			x := Lognormal(r, 1, 0.2) * size
			if r.IntN(100) == 0 {
				x *= 10
			}
			return x
		},
	}
}

// slowed reports whether the first attempt of a call of Mimir takes ten times as long.
func (c *Call) slowed() bool { return c.First > 4*c.Size }

// The storm begins after 30 s and lasts 4 s, in which all servers are three times slower.
const (
	stormFrom, stormTo = 30 * time.Second, 34 * time.Second
	stormSeconds       = 60.0 // of the whole world
	stormSlow          = 3
	stormLoad          = 0.45
)

// Busy is a world of 50 servers with queues at a load, for a time. The servers ignore that a request is cancelled.
func Busy(load, seconds float64, seed uint64) World {
	const servers = 50
	w := Alone(0, seed)
	w.Servers, w.Deaf, w.Rate = servers, true, servers*load/meanMixed
	w.Requests = int(seconds * w.Rate)
	return w
}

// Storm is a world of 50 servers with queues at a load of 0.45. For 4 s all are three times slower.
func Storm(seed uint64) World {
	w := Busy(stormLoad, stormSeconds, seed)
	w.Seconds = func(r *rand.Rand, _ float64, at time.Duration) float64 {
		if x := mixed(r); at < stormFrom || at >= stormTo {
			return x
		} else {
			return stormSlow * x
		}
	}
	return w
}

// median is the median of the times of healthy servers in a fan-out.
var median = mean / math.Sqrt(1+sd*sd/mean/mean)

// Fans are the three worlds of a query that waits for 50 servers.
func Fans(queries int, seed uint64) map[string]Fan {
	healthy := func(r *rand.Rand, times []float64, healthy []bool) {
		for i := range times {
			times[i], healthy[i] = Lognormal(r, mean, sd), true
		}
	}
	fan := func(draw func(r *rand.Rand, times []float64, healthy []bool)) Fan {
		return Fan{Queries: queries, Warmup: queries / 10, Servers: 50, Need: 45, Seconds: draw, Seed: seed}
	}
	return map[string]Fan{
		"all healthy": fan(healthy),
		"one pauses for 20 medians in 1 % of queries": fan(func(r *rand.Rand, times []float64, well []bool) {
			healthy(r, times, well)
			if r.IntN(100) == 0 {
				i := r.IntN(len(times))
				times[i], well[i] = times[i]+20*median, false
			}
		}),
		"one is always 20 times slower": fan(func(r *rand.Rand, times []float64, well []bool) {
			healthy(r, times, well)
			times[7], well[7] = 20*times[7], false
		}),
	}
}
