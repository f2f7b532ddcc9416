package placement

import (
	"cmp"
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/enum"
	"github.com/straggler-go/straggler/internal/wire"
)

// BandwidthRule is a way to estimate what bandwidth a phase may count on. The values and names are stable.
type BandwidthRule uint8

// The rules that the paper compares [Mantri §6.4].
const (
	// Hybrid is Mantri's own: Start for a short phase, Equal for a long one.
	Hybrid BandwidthRule = iota
	// Start takes what was measured when the phase starts. A short phase is over before that changes.
	Start
	// Equal takes all links to be alike. Over a long phase the differences that come and go even out.
	Equal
)

var bandwidthRuleNames = [...]string{"hybrid", "start", "equal"}

// String returns the rule's name.
func (r BandwidthRule) String() string { return enum.Name(bandwidthRuleNames[:], r) }

// MarshalText returns the rule's name, or an error for a value that does not exist.
func (r BandwidthRule) MarshalText() ([]byte, error) { return enum.Text(bandwidthRuleNames[:], r) }

// UnmarshalText takes a rule's name.
func (r *BandwidthRule) UnmarshalText(text []byte) error {
	return enum.Parse(bandwidthRuleNames[:], text, r)
}

// BandwidthConfig estimates the bandwidths that a phase may count on from what was measured at its start [Mantri §5.2,
// §6.4]. Its zero value is Mantri's hybrid rule. Safe for concurrent use.
type BandwidthConfig struct {
	// Rule is the rule to apply. Hybrid is the default.
	Rule BandwidthRule
	// Short is how long a phase may take to count as short: the time that all its input would need at the measured
	// bandwidths if it were spread over the links as evenly as they allow. 0 means a minute; the paper gives no figure.
	// Only Hybrid reads it.
	Short time.Duration
}

// Effective returns the estimator with its defaults filled in, for logs.
func (b BandwidthConfig) Effective() BandwidthConfig {
	if b.Short == 0 {
		b.Short = time.Minute
	}
	return b
}

// Validate reports the first field that is out of range, with its value and its range.
func (b BandwidthConfig) Validate() error {
	const place = "placement: BandwidthConfig"
	return cmp.Or(check.Named(place, "Rule", b.Rule, bandwidthRuleNames[:]), check.Length(place, "Short", b.Short))
}

// MarshalJSON returns the fields that are not zero, kebab-case, in seconds, Off as -1; UnmarshalJSON reads it.
func (b BandwidthConfig) MarshalJSON() ([]byte, error)     { return wire.JSON(wire.Settings(&b)) }
func (b *BandwidthConfig) UnmarshalJSON(data []byte) error { return wire.Read(data, b, wire.Struct) }

// Estimate takes a problem whose Up and Down are as measured when the phase starts and returns it with those that the
// placement should use, and the rule that was applied: Start or Equal. Under Start the problem is returned as it is;
// under Equal every link has the mean of all measured bandwidths, those of 0 counted in, those of +Inf left as they
// are. An error names what is wrong with the estimator or the problem. O(n r); it allocates two slices of r under
// Equal.
func (b BandwidthConfig) Estimate(measured Problem) (Problem, BandwidthRule, error) {
	if err := b.Validate(); err != nil {
		return Problem{}, b.Rule, err
	}
	if err := measured.check(); err != nil {
		return Problem{}, b.Rule, err
	}
	rule := b.Rule
	if rule == Hybrid {
		if rule = Equal; measured.evenly() <= b.Effective().Short.Seconds() {
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

// evenly is the seconds that the input needs if all of it crosses the links and fills them evenly.
func (p *Problem) evenly() float64 {
	bytes := 0.0
	for _, row := range p.Input {
		bytes += sum(row)
	}
	return max(seconds(bytes, sum(p.Up)), seconds(bytes, sum(p.Down)))
}

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

func levelled(bandwidth []float64, mean float64) []float64 {
	out := make([]float64, len(bandwidth))
	for j, v := range bandwidth {
		if out[j] = mean; math.IsInf(v, 1) {
			out[j] = v
		}
	}
	return out
}
