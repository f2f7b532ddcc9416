package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parts is the number of parts of equal progress for which an attempt has a time. Hadoop records the time of each
// twelfth.
const Parts = 12

// Splits are the times of the twelve parts of an attempt, in any unit.
type Splits [Parts]float64

// Curve returns the progress that an attempt reports, from 0 to 1, after the share u of its time. A nil Curve never
// reports.
type Curve func(u float64) float64

// Progress is a model of the progress that attempts report. The zero value is linear in time.
type Progress struct {
	name  string
	begin func(r *rand.Rand, p *Phase) draw
}

// draw returns the curve of an attempt that takes the time took. own are the times of the parts of a recorded
// attempt; nil if they are not known.
type draw func(r *rand.Rand, took time.Duration, own *Splits) Curve

// String returns the name of the model, as ParseProgress reads it.
func (p Progress) String() string {
	if p.name == "" {
		return "linear"
	}
	return p.name
}

// The models of progress.
var (
	// Linear progress is the share of its time that an attempt has run.
	Linear = Progress{name: "linear", begin: func(*rand.Rand, *Phase) draw {
		return func(*rand.Rand, time.Duration, *Splits) Curve { return linear }
	}}
	// None is the model in which no attempt reports.
	None = Progress{name: "none", begin: func(*rand.Rand, *Phase) draw {
		return func(*rand.Rand, time.Duration, *Splits) Curve { return nil }
	}}
	// Typical progress follows a random curve for each attempt. The curves of a phase are similar to each other.
	Typical = Progress{name: "typical", begin: typical}
	// Recorded progress is the progress of the recorded attempt. A copy that never ran has the curve of an attempt of
	// its phase. If no attempt of the phase has recorded progress, all attempts have typical progress.
	Recorded = Progress{name: "recorded", begin: recorded}
	// Late progress hides that a task is long. Until 0.9 of the time of a median task, each attempt reports the
	// progress of a median task. In the rest of its time, a longer task reports the missing progress evenly.
	Late = Progress{name: "late", begin: late}
)

// Noisy progress is linear progress multiplied by a random factor of each attempt. The factor is log-normal with the
// given sigma, and its median is 1.
func Noisy(sigma float64) Progress {
	return Progress{name: "noisy=" + strconv.FormatFloat(sigma, 'g', -1, 64), begin: func(*rand.Rand, *Phase) draw {
		return func(r *rand.Rand, _ time.Duration, _ *Splits) Curve {
			factor := math.Exp(sigma * r.NormFloat64())
			return func(u float64) float64 { return min(factor*u, 1) }
		}
	}}
}

// ParseProgress returns the model with a name: linear, noisy=0.3, typical, recorded, late or none.
func ParseProgress(name string) (Progress, error) {
	for _, p := range []Progress{Linear, Typical, Recorded, Late, None} {
		if p.name == name {
			return p, nil
		}
	}
	if text, ok := strings.CutPrefix(name, "noisy="); ok {
		if sigma, err := strconv.ParseFloat(text, 64); err == nil && sigma >= 0 && sigma <= 3 {
			return Noisy(sigma), nil
		}
	}
	return Progress{}, fmt.Errorf("unknown progress %q; there are linear, noisy=SIGMA with a sigma in [0, 3], "+
		"typical, recorded, late, none", name)
}

func linear(u float64) float64 { return u }

// curve returns the curve of an attempt with these times of its parts.
func (s *Splits) curve() Curve {
	var upTo [Parts + 1]float64 // the share of the time at the begin of each twelfth, and at the end
	for i, part := range s {
		upTo[i+1] = upTo[i] + part
	}
	sum := upTo[Parts]
	for i := range upTo {
		upTo[i] /= sum
	}
	return func(u float64) float64 {
		i, _ := slices.BinarySearch(upTo[1:], u)
		if i == Parts {
			return 1
		}
		within := 0.0
		if before, after := upTo[i], upTo[i+1]; after > before {
			within = (u - before) / (after - before)
		}
		return (float64(i) + within) / Parts
	}
}

// The shape of typical progress. It has about the quartiles of 231 attempts of 10 s and more in public Hadoop traces:
// tasks start up and read, rush, and one in eight waits for others early on.
const (
	slowParts   = 5   // number of parts at the beginning that take longer
	slowness    = 1.3 // x the average part; the other parts are shorter
	phaseSigma  = 0.4 // log-normal scatter of each part of a phase
	copySigma   = 0.5 // log-normal scatter of each part of an attempt
	waitShare   = 0.12
	waitParts   = 3 // a wait is in one of this number of first parts
	shortestTie = 0.6
	longestTie  = 0.95 // largest share of an attempt's time in the wait
)

func typical(r *rand.Rand, _ *Phase) draw {
	var shape Splits
	for i := range shape {
		shape[i] = (Parts - slowParts*slowness) / (Parts - slowParts)
		if i < slowParts {
			shape[i] = slowness
		}
		shape[i] *= math.Exp(phaseSigma * r.NormFloat64())
	}
	if r.Float64() < waitShare {
		share := shortestTie + (longestTie-shortestTie)*r.Float64()
		shape[r.IntN(waitParts)] = share / (1 - share) * Parts
	}
	return func(r *rand.Rand, _ time.Duration, _ *Splits) Curve {
		own := shape
		for i := range own {
			own[i] *= math.Exp(copySigma * r.NormFloat64())
		}
		return own.curve()
	}
}

func recorded(r *rand.Rand, p *Phase) draw {
	var pool []*Splits
	for i := range p.Tasks {
		for j := range p.Tasks[i].Attempts {
			if s := p.Tasks[i].Attempts[j].Splits; s != nil {
				pool = append(pool, s)
			}
		}
	}
	if len(pool) == 0 {
		return typical(r, p)
	}
	return func(r *rand.Rand, _ time.Duration, own *Splits) Curve {
		if own == nil {
			own = pool[r.IntN(len(pool))]
		}
		return own.curve()
	}
}

func late(_ *rand.Rand, p *Phase) draw {
	durations := make([]time.Duration, len(p.Tasks))
	for i, t := range p.Tasks {
		durations[i] = t.Attempts[len(t.Attempts)-1].Duration
	}
	slices.Sort(durations)
	const looks = 0.9
	until := looks * durations[len(durations)/2].Seconds()
	return func(_ *rand.Rand, took time.Duration, _ *Splits) Curve {
		knee := until / took.Seconds() // as a share of the attempt's time
		if knee >= looks {
			return linear
		}
		return func(u float64) float64 {
			if u < knee {
				return u / knee * looks
			}
			return looks + (1-looks)*(u-knee)/(1-knee)
		}
	}
}
