package placement

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// BandwidthRule says how to estimate the bandwidths that a phase may count on. The values and names are stable.
type BandwidthRule uint8

// The rules that the paper compares [Mantri §6.4].
const (
	// Hybrid is Mantri's own rule: Start for a short phase, Equal for a long phase.
	Hybrid BandwidthRule = iota
	// Start uses the bandwidths measured at the start of the phase. A short phase ends before the bandwidths change.
	Start
	// Equal gives all links the same bandwidth. Over a long phase, the temporary differences between links even out.
	Equal
)

var bandwidthRuleNames = [...]string{"hybrid", "start", "equal"}

// String returns the rule's name.
func (r BandwidthRule) String() string { return enum.Name(bandwidthRuleNames[:], r) }

// MarshalText returns the rule's name, or an error for a value that does not exist.
func (r BandwidthRule) MarshalText() ([]byte, error) { return enum.Text(bandwidthRuleNames[:], r) }

// UnmarshalText reads a rule's name, and returns an error for any other text.
func (r *BandwidthRule) UnmarshalText(text []byte) error {
	return enum.Parse(bandwidthRuleNames[:], text, r)
}

// BandwidthConfig estimates the bandwidths that a phase may count on from the bandwidths measured at its start [Mantri
// §5.2, §6.4]. The zero value is Mantri's hybrid rule. Safe for concurrent use.
type BandwidthConfig struct {
	// Rule is the rule to apply. The zero value is Hybrid.
	Rule BandwidthRule
	// Short is the longest duration of a short phase. The duration of a phase is an estimate: the time to move all input
	// over the links at the measured bandwidths, if the input is spread as evenly as possible. 0 means one minute; the
	// paper states no value. Only Hybrid reads Short.
	Short time.Duration
}

// Effective returns the configuration with its defaults filled in, for logs.
func (b BandwidthConfig) Effective() BandwidthConfig {
	if b.Short == 0 {
		b.Short = time.Minute
	}
	return b
}

// Validate returns an error for the first field that is out of range. The error names the field, its value and its range.
func (b BandwidthConfig) Validate() error {
	const place = "placement: BandwidthConfig"
	return cmp.Or(check.Named(place, "Rule", b.Rule, bandwidthRuleNames[:]), check.Length(place, "Short", b.Short))
}

// MarshalJSON writes the fields that are not zero: names in kebab-case, durations in seconds. UnmarshalJSON reads this
// format.
func (b BandwidthConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&b)) }
func (b *BandwidthConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, b, wire.Struct) }

// Estimate takes a problem with the bandwidths measured at the start of the phase, in Up and Down. Estimate returns
// the problem with the bandwidths that Assign should use, and the applied rule: Start or Equal.
//
// Under Start the problem stays as it is. Under Equal every link has the mean of all measured bandwidths. A bandwidth of
// 0 counts in the mean. A bandwidth of +Inf does not count, and stays +Inf.
//
// The error names the field of the configuration, or the first ill-formed number of the problem. O(n r) for n tasks and r
// racks. Under Equal, Estimate allocates two slices of length r.
func (b BandwidthConfig) Estimate(measured Problem) (Problem, BandwidthRule, error) {
	if err := b.Validate(); err != nil {
		return Problem{}, b.Rule, err
	}
	if err := measured.check(); err != nil {
		return Problem{}, b.Rule, err
	}
	rule := b.Rule
	if rule == Hybrid {
		rule = Equal
		if measured.evenly() <= b.Effective().Short.Seconds() {
			rule = Start
		}
	}
	if rule == Start {
		return measured, rule, nil
	}
	mean := meanFinite(measured.Up, measured.Down)
	measured.Up = levelled(measured.Up, mean)
	measured.Down = levelled(measured.Down, mean)
	return measured, rule, nil
}

// evenly returns the seconds to move all input over the links, if the input fills the links evenly.
func (p *Problem) evenly() float64 {
	bytes := 0.0
	for _, row := range p.Input {
		bytes += sum(row)
	}
	return max(seconds(bytes, sum(p.Up)), seconds(bytes, sum(p.Down)))
}

// meanFinite returns the mean of all finite bandwidths in the groups, or 0 if no bandwidth is finite.
func meanFinite(groups ...[]float64) float64 {
	mean, count := 0.0, 0.0
	for _, group := range groups {
		for _, v := range group {
			if !math.IsInf(v, 1) {
				count++
				mean += (v - mean) / count // a running mean: the sum of finite bandwidths may overflow
			}
		}
	}
	return mean
}

// levelled returns a copy of the bandwidths, in which mean replaces each finite bandwidth.
func levelled(bandwidth []float64, mean float64) []float64 {
	out := make([]float64, len(bandwidth))
	for j, v := range bandwidth {
		out[j] = mean
		if math.IsInf(v, 1) {
			out[j] = v
		}
	}
	return out
}
